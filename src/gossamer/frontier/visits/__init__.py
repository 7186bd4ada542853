"""Pages that were fetched and are requested again.

kinds.py          what a visit found: unchanged, changed, gone, ...
visit_queues.py   the pages that wait for a visit, and whose turn it is: new URLs or visits
visits.py         asking for a visit, and what a lease needs to know of the stored version
results.py        noting what a visit found
changes.py        telling a change from noise, and keeping a row of it (change_rows.py)
evicting.py       leaving a collection of limited size, and returning
freshness.py      how much of the collection is up to date
"""

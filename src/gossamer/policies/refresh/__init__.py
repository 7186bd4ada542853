"""When is a page visited again? Refresh policies: pure objects that are told the time.

    policy.py        the Protocol of all policies: start here
    pages.py         what is known of each page, as arrays
    estimate.py      how often a page changes, from what its visits saw
    indexed.py       the machinery that the policies share: choose, learn, predict
    uniform.py       every page equally often
    named.py         the policies by name

A page is a slot, a small integer that the caller gives it. Times are seconds on any clock that does
not run backwards; rates are changes per second.
"""

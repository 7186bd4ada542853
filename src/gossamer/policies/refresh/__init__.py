"""When is a page visited again? Refresh policies: pure objects that are told the time.

    policy.py        the Protocol of all policies: start here
    pages.py         what is known of each page and each group of pages, as arrays
    estimate.py      how often a page changes, from what its visits saw: a Gamma posterior
    siblings.py      what a change of a page says about pages of the same directory
    indexed.py       what the policies share: choose, learn, predict
    uniform.py       every page equally often
    proportional.py  every page as often as it changes
    optimal.py       the visits go where they keep most copies fresh
    random_order.py  uniform and proportional in a new order in each round
    lagrange.py      the best frequencies for known rates
    known_rates.py   the references of experiments: policies that know the rates
    named.py         the policies by name

A page is a slot, a small integer that the caller gives it. Times are seconds on any clock that does
not run backwards; rates are changes per second.
"""

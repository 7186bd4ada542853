"""Traps: does a part of a site bring anything new, or only more URLs?

    news.py       how much of a page's text its host has not shown before (asked by workers)
    shared_text.py   the same, of several workers
    patterns.py   the patterns of a URL, by which pages are grouped
    odds.py       how likely it is that a URL lies in a trap, by the pages on the way to it
    earned.py     budgets of wasted requests, of hosts and sites, and what they grow with
    kinds.py      names of kinds of traps, for people
    yields.py     what the pages of one host have brought, by pattern and by line of descent

Pure: no clock, no files.
"""

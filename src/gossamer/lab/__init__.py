"""Experiments on stored data: the policies of a crawl, replayed without a network.

traces.py            reads a change trace: when did which page change
replay.py            lets a refresh policy visit the pages of a trace, and measures freshness
refresh.py           compares refresh policies at several budgets
refresh_worker.py    one budget of it, as a process of its own
plot.py              the result as an SVG picture
duplicates.py        compares the modes of --duplicates on a stored crawl
"""

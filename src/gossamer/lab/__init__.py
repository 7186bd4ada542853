"""Experiments on stored data: the policies of a crawl, replayed without a network.

traces.py            reads a change trace: when did which page change
replay.py            lets a refresh policy visit the pages of a trace, and measures freshness
refresh.py           compares refresh policies at several budgets
refresh_worker.py    one budget of it, as a process of its own
plot.py              the result as an SVG picture
graphs.py, inputs/   read a link graph from files or a collection
virtual_crawler.py   replays an order on a link graph
order/               compares orders
output/              writes results to files
parallel/            crawls by several processes on a link graph
buffers/             ways to keep duplicates out of the buffer of new URLs
tune/                one setting varied on live crawls
scale/               a month on many machines, from measured costs
duplicates.py        compares the modes of --duplicates on a stored crawl
"""

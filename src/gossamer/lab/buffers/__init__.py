"""Ways to keep duplicates out of the buffer of new URLs: `gossamer lab buffers`.

ways.py       the ways
measure.py    crawls a link graph with one of them
worker.py     the same as a process of its own
compare.py    all ways in turn, and the result as tables
"""

"""Parallel crawlers on a stored link graph, without a network: `gossamer lab parallel`.

owners.py       which process owns which page, by the partitions of `policies/partition.py`
modes.py        what a process does with the links to pages of others
reached.py      pages and messages of whole crawls, where the order of fetches does not matter
lockstep.py     processes that crawl at the same speed, step by step
queues.py       the pages that wait in each process
measures.py     overlap, coverage, quality and communication of a crawl
compare.py      all modes, partitions and numbers of processes: the experiment
tables.py       the experiment as tables and plots
"""

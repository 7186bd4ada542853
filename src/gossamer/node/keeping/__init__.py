"""What the importance of fetched pages decides while a crawl runs: stop with a threshold, and a
collection of limited size.

`importance.py` measures, `hot_pages.py` counts and stops, `keeper.py` lets pages leave and return,
`left_pages.py` tells the graph, `restore.py` reads what earlier runs have learned.
"""

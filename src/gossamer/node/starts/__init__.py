"""Starting points of a crawl from a search: in another collection, or in a search engine.

`find_points.py` runs the searches before a crawl begins. `engine.py` sends the requests to an
engine, and `result_urls.py` finds the results in its answer.
"""

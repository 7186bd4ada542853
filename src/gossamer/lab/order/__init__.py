"""Compare orders on a stored link graph: `gossamer lab order`.

queue_keys.py, settled_queue.py, best_queue.py    the queue of the virtual crawler
true_rank.py, known_order.py                      what pages are worth, and the ideal crawler
measures.py, limited_buffer.py                    what a crawl has found
compare.py, tables.py                             the experiment, and its result
"""

"""Orders by what links and pages tell: which queued URL is worth most now?

`column_order.py` is the contract. `columns.py` holds the facts that orders read, `edges.py` the
links of fetched pages. A crawl and the lab fill them and use the same orders.
"""

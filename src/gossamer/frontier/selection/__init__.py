"""Orders by value while a crawl runs: which queued URL is worth most now?

`selection.py` keeps the columns and links of `policies/orders/` up to date with what the crawl
learns, and the queued URLs of each host in the order of their values. All of it is in memory. The
queue on disk stays breadth-first, so a value that changes costs no write, and nothing is lost with
the process.
"""

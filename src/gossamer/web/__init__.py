"""The web interface and the JSON API: `gossamer serve`.

    guard -> routes -> login -> parameters -> JSON or HTML views -> reading, crawls

All displayed content comes from outside. So templates escape every value, scripts come only from
`static/`, and a cached page is shown in a frame that can neither run nor load anything
(`stored_copy.py`). Reading never stops a crawl, and crawls are separate processes that outlive the
server (`crawls.py`).
"""

"""The pages people look at, and the JSON API: `gossamer serve`.

    guard -> routes -> login -> asked -> answers (JSON) or pages (HTML) -> reading, crawls

Everything that is shown was written by strangers. So markup comes from templates that escape all
they are given, scripts come from `static/` alone, and a cached page is shown in a frame that can
neither run nor load anything (`stored_copy.py`). Reading never stops a crawl, and crawls are
processes of their own that outlive the server (`crawls.py`).
"""

"""Packages: what a unit sends to its hub after a job. Both sides use this folder.

    unit:  collection -> filter -> have? -> build -> split -> send
    hub:   pieces -> join -> check -> merge (`hub/merging.py`)

A package is a WACZ whose one WARC file is compressed as a whole. `docs/formats/package.md` has the
format, `format.py` its names.
"""

"""Merge packages into the central collection, in a process of its own.

    merge_queue.py     packages that wait, results: files that hub and process share
    merge_process.py   the process: the one writer of the central collection
    merge_packages.py  one package after the other into the collection
    result_intake.py   the exchanges of a unit, taken as the collection's own
    known_bodies.py    which bodies the collection has, read beside the process

`hub/merging.py` is the hub's side.
"""

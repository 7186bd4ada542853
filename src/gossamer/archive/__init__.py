"""The archive: what servers answered, in WARC/1.1 files, before anything is made of it.

    lease, answer -> warc -> writer -> *.warc.gz -> streams -> record -> reader -> lease, answer
                                          |
                                          +-> cdxj, recover, verify

`fields.py` and `head.py` hold the two places in which our files say more than the standard asks:
the metadata record, and the stored form of a response's head. `docs/formats/archive.md` describes
both for people with other tools.
"""

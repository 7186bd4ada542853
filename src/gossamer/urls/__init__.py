"""URLs: canonical form, key, owner, and whether they belong to the crawl.

`canonical.py` finds the canonical form, `linker.py` does so for the links of pages in bulk,
`keys.py` makes the 16-byte key, `site.py` finds the site, `scope.py` and `bans.py` say whether the
URL is wanted; `query.py` encodes the links of pages in old charsets.
"""

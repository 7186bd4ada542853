"""What a URL is to this program: its one spelling, its name in the state, and where it belongs.

`canonical.py` finds the spelling, `linker.py` does so for the links of pages in bulk, `keys.py`
names it in 16 bytes, `site.py` says whose it is, `scope.py` and `bans.py` whether we want it;
`query.py` spells the links of pages in old charsets.
"""

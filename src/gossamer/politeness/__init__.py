"""How hosts are protected from too many requests: robots.txt, delays and retries.

Pure: the time is passed in, no I/O. `robots.py` parses the file, `access.py` says what an origin's
answer to it means and for how long, `pace.py` when a host and an address may be requested,
`retry.py` what follows a failure.
"""

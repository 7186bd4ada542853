"""How hosts are spared: robots.txt, rests, and when to try again. Pure: told the time, no I/O.

`robots.py` reads the file, `access.py` keeps what an origin's answer to it means and for how long,
`pace.py` says when a host and an address may be asked, `retry.py` what follows a failure.
"""

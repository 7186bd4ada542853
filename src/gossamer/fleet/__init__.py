"""The fleet: a control unit (the hub) gives jobs to crawler units, which send packages back.

    unit:  join -> poll -> crawl a job in a collection of its own -> package -> send -> poll ...
    hub:   jobs -> leases -> packages -> checked -> merged into the central collection

The hub never calls a unit: a unit polls over HTTPS. `protocol.py` has every message between them.

    protocol.py   messages, limits, version of the protocol
    settings.py   settings of the hub and of a unit
    client.py     HTTPS requests of a unit
    packages/     build, send, receive and check packages
    hub/          jobs, units, leases, orders, pace, trust, audit log, merging, HTTP
    unit/         the loop, one job, idle rules, limits, local page
    update/       the single file, signed updates (TUF), enlisting by SSH
    tree/         relays: a unit that is the hub of units below it
"""

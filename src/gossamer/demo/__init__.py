"""A small invented web, so that a newcomer sees a crawl in the first minute, without a network.

    prose -> pages -> one module per host -> web -> server

The world is the valley of the Orrel: its museum, library, newspaper and a gardener's diary, a
twin town that writes German, and a host full of traps. Everything is made from word lists by a
rule without chance: the same pages on every machine, for ever.
"""

"""Relays: units that are the hub of units below them; round-trip times; sync between hubs."""

"""The single file of a unit, signed updates, and bringing a unit to a machine."""

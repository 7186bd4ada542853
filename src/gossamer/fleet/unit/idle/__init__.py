"""When a unit works: measurements of the machine, and the rules of its owner."""

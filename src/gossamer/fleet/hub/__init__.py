"""The control unit: jobs, units, leases, orders, pace, trust, merging, and HTTP for units."""

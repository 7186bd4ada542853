"""`gossamer hub` and `gossamer unit`: the fleet."""

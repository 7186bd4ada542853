"""Pages that are copies of others: numbers that find them, and the comparison that proves it."""

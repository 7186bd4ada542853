"""The duplicates among the pages of a collection: who points to whom."""

"""Delete old captures of a collection that no crawl is writing to."""

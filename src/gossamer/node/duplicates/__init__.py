"""Finds duplicates that need a comparison, beside the crawl."""

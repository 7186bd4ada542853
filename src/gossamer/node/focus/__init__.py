"""A crawl for a topic, while it runs: what it learned is stored, and users mark pages."""

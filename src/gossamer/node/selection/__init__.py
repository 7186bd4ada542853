"""Keep the values of an order up to date while a crawl runs, and read them back at a start."""

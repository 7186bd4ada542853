"""Commands about what a crawl was looking for."""

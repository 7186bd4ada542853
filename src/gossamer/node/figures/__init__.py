"""The figures of a running crawl: for `status`, the terminal, the history and the web page."""

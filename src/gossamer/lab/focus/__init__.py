"""Focused crawls, replayed on stored pages whose topics are known.

stored_pages.py    pages of a folder or a collection: their words and links
topics.py          the truth: which page belongs to which topics
replay.py          one crawl: breadth first, focused, or by an oracle
compare.py         all topics and seed sets, with parts of the focus switched off
tables.py          the result
"""

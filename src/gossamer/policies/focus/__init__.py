"""Focused crawling: fetch what is about a topic first.

words.py            texts as hashed words
topic.py            examples, a query, marks
sample.py           a bounded sample of fetched pages
judge.py            how relevant is a page
link_scorer.py      how relevant will the page behind a link be
distiller.py        hubs, and what they point to
focused_order.py    the order of a crawl, made of these
saving.py           the model as a file
"""

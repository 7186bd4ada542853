"""Find where else in a collection a text stands.

    text -> words -> phrases -> pages with one of them -> runs of same words -> passages

`words.py` splits texts and knows where each word stands in them. `phrases.py` chooses the phrases
to look up, `matching.py` compares the text with one page, and `finder.py` joins them over the
index. `results.py` has the request and the answer.
"""

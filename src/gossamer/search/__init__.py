"""The path of a query, from words to hits. Read `engine.py` first: it is one screen long.

words -> query.py -> plan.py -> index, link ranks -> rank.py -> snippets.py -> hits
          tree        tantivy      candidates         order      passages
"""

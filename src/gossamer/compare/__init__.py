"""Compare two versions of a page: its text word by word, its links, title and status. Pure.

regions.py    two sequences: which parts are the same
lines.py      two texts, line by line
words.py      two lines, word by word
text.py       two texts, line by line and changed lines word by word, with the noise marked
template.py   a number that pages of one template share
versions.py   two versions of a page, as a worker or `gossamer diff` has them
"""

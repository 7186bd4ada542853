"""The words of every page, on disk, so that they can be searched while the crawl goes on.

    entry -> words, stems -> schema -> writer -> (a folder) -> reader -> search/

`words.py` says what a word is, for pages and for queries alike. `writer.py` is the node's side,
`reader.py` everybody else's. The layout is in docs/formats/index.md.
"""

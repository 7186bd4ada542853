"""The full-text index of all pages on disk, searchable while the crawl runs.

    entry -> words, stems -> schema -> writer -> (a folder) -> reader -> search/

`words.py` defines words, for pages and for queries alike. The node uses `writer.py`, all others
`reader.py`. The layout is in docs/formats/index.md.
"""

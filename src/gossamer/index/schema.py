"""The fields of an entry, shared by writer and reader.

There are no stemmed fields: a query asks for all words with the same stem (`stem_variants.py`),
which costs a crawl nothing; docs/adr/0008-index.md has the figures. All texts are normalised, with
spaces between their words (`words.py`). So every field is split at spaces only, by an analyser
built into tantivy: a reader registers nothing, and any other tool that reads tantivy's format can
search this index.

    id          the URL's key, 32 hex digits
    title headings body anchors    words, with positions; anchors are those of *other* pages
    address     words of the URL
    site        the host and every domain above it
    language    as the page's (`records.py`)
    type        MIME type, and a short name for it: html text pdf image audio video other
    at          when it was fetched; for sorting and ranges
    changed     when its content was last seen to change; a page that never did has none
    key_high key_low    the key as two numbers, for iterating over all entries (`batches.py`)
    anchored    which words its anchors field has, as one number (`anchors.py`)
    stored      everything that is shown or needed to rewrite the entry (`entry.py`)

One entry, `HIDDEN`, has only `id` and `stored`: how much of the archive the index covers. It has no
`at`, and `every_entry` excludes it.
"""

from __future__ import annotations

from typing import Final

import tantivy

VERSION: Final = 2  # of the fields and their content; 1 had no `changed`
READABLE: Final = frozenset({1, VERSION})  # the writer rewrites older ones (`generation.py`)

ID: Final = "id"
TITLE: Final = "title"
HEADINGS: Final = "headings"
BODY: Final = "body"
ANCHORS: Final = "anchors"
ADDRESS: Final = "address"
SITE: Final = "site"
LANGUAGE: Final = "language"
TYPE: Final = "type"
AT: Final = "at"
CHANGED: Final = "changed"
KEY_HIGH: Final = "key_high"
KEY_LOW: Final = "key_low"
ANCHORED: Final = "anchored"
STORED: Final = "stored"

HIDDEN: Final = "covered"  # its id; no key has this form

_POSITIONED: Final = (TITLE, HEADINGS, BODY, ANCHORS, ADDRESS)
_WORDS: Final = "whitespace"


def build_schema() -> tantivy.Schema:
    """The schema of every index."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field(ID, tokenizer_name="raw", index_option="basic")
    for name in _POSITIONED:
        builder.add_text_field(name, tokenizer_name=_WORDS, index_option="position")
    for name in (SITE, LANGUAGE, TYPE):
        builder.add_text_field(name, tokenizer_name=_WORDS, index_option="basic")
    for name in (AT, CHANGED):
        builder.add_date_field(name, fast=True)
    for name in (KEY_HIGH, KEY_LOW, ANCHORED):
        builder.add_unsigned_field(name, fast=True)
    builder.add_bytes_field(STORED, stored=True)
    return builder.build()


def every_entry() -> tantivy.Query:
    """All entries but the hidden one."""
    return tantivy.Query.exists_query(AT)


def id_of(key: bytes) -> str:
    """The id of a URL's entry."""
    return key.hex()

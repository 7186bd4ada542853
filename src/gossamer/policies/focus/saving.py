"""The model of a focused crawl as a file: the topic, and what was learned from pages and links.

The file is in NumPy's format (.npz) and holds arrays of numbers alone, so that reading one runs no
code. Another crawl can begin with it: it knows the topic, what ordinary pages look like, and what
evidence for a link is worth. It is independent of the URLs of the crawl that made it.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from gossamer.errors import UsageError
from gossamer.policies.focus.focused_order import ALL_PARTS, FocusedOrder
from gossamer.policies.focus.judge import ByWord
from gossamer.policies.focus.link_scorer import FEATURES, FocusParts
from gossamer.policies.focus.sample import SAMPLE_PAGES, WordTable
from gossamer.policies.focus.topic import Topic
from gossamer.policies.focus.words import BUCKETS, Words

FORMAT: Final = 1
_MAX_BYTES: Final = 64 * 2**20  # of a file; a model with a full sample has about 5 MB
_MAX_WORDS: Final = 20_000_000  # of all pages of a list
# What NumPy, zipfile and zlib raise for a file that is damaged, or is none of ours.
_DAMAGES: Final = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, OSError, EOFError, SyntaxError,
    NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip

Arrays = dict[str, Any]  # arrays by name, as NumPy stores them


def dump_model(order: FocusedOrder) -> bytes:
    """The model as the bytes of a file."""
    judge, links, sample = order.judge, order.links, order.sample
    arrays: Arrays = {
        "format": np.array([FORMAT, BUCKETS, len(FEATURES)]),
        "counts": np.array([judge.pages, sample.seen, order.judged, order.relevant]),
        "weights": links.weights,
        "base_rate": np.array([links.base_rate]),
        "relevance": np.array(sample.relevance, np.float32),
        "query": judge.topic.query,
    }
    for name, pages in (
        ("wanted", judge.topic.wanted),
        ("unwanted", judge.topic.unwanted),
        ("sample", sample.words),
    ):
        arrays |= _packed(name, pages)
    columns = {
        "with_word": judge.with_word,
        "word_pages": links.word_pages,
        "word_sum": links.word_sum,
    }
    for name, column in columns.items():
        arrays |= _sparse(name, column)
    file = io.BytesIO()
    np.savez(file, **arrays)  # to compress it takes a second
    return file.getvalue()


def load_model(raw: bytes, where: str, parts: FocusParts = ALL_PARTS) -> FocusedOrder:
    """The order with a stored model. `where` names the file in messages. Raises UsageError."""
    if len(raw) > _MAX_BYTES:
        raise UsageError(f"{where} is too large for a model of a focused crawl")
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
            return _loaded(dict(arrays), where, parts)
    except _DAMAGES as fault:
        raise UsageError(
            f"{where} is not a model of a focused crawl (`gossamer focus export`): {fault}"
        ) from fault


def _loaded(arrays: Arrays, where: str, parts: FocusParts) -> FocusedOrder:
    if arrays["format"].tolist() != [FORMAT, BUCKETS, len(FEATURES)]:
        raise UsageError(f"{where} is a model of another release. Make it again from its examples.")
    topic = Topic(_unpacked("wanted", arrays), _unpacked("unwanted", arrays), arrays["query"])
    order = FocusedOrder(topic, parts)
    judge, links, sample = order.judge, order.links, order.sample
    judge.pages, sample.seen, order.judged, order.relevant = map(int, arrays["counts"])
    judge.with_word = _dense("with_word", arrays)
    links.word_pages = _dense("word_pages", arrays)
    links.word_sum = _dense("word_sum", arrays)
    links.weights = links.start = _finite(arrays["weights"], len(FEATURES))
    links.base_rate = float(_finite(arrays["base_rate"], 1)[0])
    sample.words = _unpacked("sample", arrays)[:SAMPLE_PAGES]
    sample.relevance = _finite(arrays["relevance"], len(sample.words)).tolist()
    sample.slots = [-1] * len(sample.words)
    sample.relevance = judge.fit(WordTable(sample.words), np.array(sample.relevance)).tolist()
    order.learn_from(order.judged)
    return order


def _packed(name: str, pages: Sequence[Words]) -> Arrays:
    joined = np.concatenate(pages) if pages else np.zeros(0, np.uint32)
    return {name: joined, f"{name}_sizes": np.array([len(words) for words in pages], np.int64)}


def _unpacked(name: str, arrays: Arrays) -> list[Words]:
    joined, sizes = arrays[name], arrays[f"{name}_sizes"]
    is_whole = sizes.min(initial=0) >= 0 and sizes.sum() == len(joined) <= _MAX_WORDS
    if (
        joined.dtype != np.uint32
        or not is_whole
        or (joined >> np.uint32(8)).max(initial=0) >= BUCKETS
    ):
        raise ValueError(f"{name} is damaged")
    return np.split(joined, np.cumsum(sizes)[:-1]) if len(sizes) else []


def _sparse(name: str, column: ByWord) -> Arrays:
    places = np.flatnonzero(column)
    return {f"{name}_places": places.astype(np.int32), name: column[places]}


def _dense(name: str, arrays: Arrays) -> ByWord:
    column: ByWord = np.zeros(BUCKETS + 1, np.float32)
    column[arrays[f"{name}_places"]] = arrays[name]
    column[BUCKETS] = 0.0
    return np.asarray(_finite(column, BUCKETS + 1), np.float32)


def _finite(values: Any, count: int) -> Any:
    """The values, if there are as many, and all are numbers."""
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ValueError("it is damaged")
    return values

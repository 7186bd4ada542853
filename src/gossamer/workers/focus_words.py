"""The words of a page and of its links, for the order of a focused crawl.

With a plug-in the page is judged here, too: it sees the text, which does not travel.
"""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.policies.classifier import ClassifierInput, classifier_named
from gossamer.policies.focus.page_words import NOT_JUDGED, PageWords, words_of_links
from gossamer.policies.focus.words import WordHasher
from gossamer.records import Edge, Found, Page


class FocusWords:
    """Makes the field `focus` of reports."""

    def __init__(self, classifier: str = "") -> None:
        """`classifier` is the name of a plug-in, or NAME:LABEL. Raises PluginError."""
        self._hasher = WordHasher()
        name, _, self._label = classifier.partition(":")
        self._classifier = classifier_named(name) if name else None

    def of(self, url: str, page: Page, new: Sequence[Edge], found: Sequence[Found]) -> bytes:
        """`new` are the links that no earlier page had; `found` the new URLs, which are to be
        admitted. The first link to a URL counts."""
        texts = {edge.key: edge.text for edge in reversed(new)}
        anchors = [texts.get(one.key, "") for one in found]
        links, contexts = words_of_links(
            self._hasher, page.text, anchors, [one.url for one in found]
        )
        words = self._hasher.page(page.title, page.text)
        return PageWords(words, links, contexts, self._judged(url, page)).pack()

    def _judged(self, url: str, page: Page) -> float:
        if self._classifier is None:
            return NOT_JUDGED
        shown = ClassifierInput(url, page.title, page.text, page.language)
        labels = self._classifier.classify(shown)
        return labels.get(self._label, 0.0) if self._label else max(labels.values(), default=0.0)

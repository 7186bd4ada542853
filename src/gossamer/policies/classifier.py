"""What is a page about? A classifier gives it labels. Plug-ins bring them (`gossamer.classifier`),
and a focused crawl can use one in the place of its own judge (`policies/focus/judge.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from gossamer.plugins import CLASSIFIER, Plugin, load_plugin, plugin_fault

Labels = Mapping[str, float]  # how sure the classifier is of each label: 0 not at all, 1 certain
_MEMBERS: Final = ("classify",)


class ClassifierInput(NamedTuple):
    """A page as a classifier sees it. What is not known is empty."""

    url: str
    title: str = ""
    text: str = ""
    language: str = ""  # ISO 639-1 where there is one, else 639-3


class Classifier(Protocol):
    """Labels pages. `classify` depends on its argument alone and has no side effects; it may be
    called in any process, for pages in any order."""

    def classify(self, page: ClassifierInput, /) -> Labels:
        """Labels with a confidence from 0 to 1; a label that is left out has 0."""
        ...


class PluginClassifier:
    """A classifier of another package, whose failures are errors of ours."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._classifier: Classifier = plugin.made

    def classify(self, page: ClassifierInput, /) -> Labels:
        """Raises PluginError; a confidence beyond 0 or 1 is held there."""
        try:
            labels = self._classifier.classify(page)
            return {str(name): min(1.0, max(0.0, float(sure))) for name, sure in labels.items()}
        except Exception as fault:
            raise plugin_fault(self._plugin, f"to classify {page.url}", fault) from fault


def classifier_named(name: str) -> Classifier:
    """Raises PluginError for a plug-in that cannot be used, or is not there."""
    return PluginClassifier(load_plugin(CLASSIFIER, name, _MEMBERS))

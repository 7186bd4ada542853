"""The model of a focused crawl as a collection stores it."""

from __future__ import annotations

from typing import Any

from gossamer.base.packing import pack
from gossamer.frontier.meta_keys import FOCUS_FIGURES_KEY, FOCUS_KEY
from gossamer.frontier.store import StateTable, Store
from gossamer.policies.focus.focused_order import FocusedOrder
from gossamer.policies.focus.saving import dump_model, load_model
from gossamer.policies.focus.topic import Topic


def figures_of(order: FocusedOrder) -> dict[str, Any]:
    """Judged pages, the relevant ones among them, and the share: the harvest rate."""
    topic = order.judge.topic
    return {
        "judged": order.judged,
        "relevant": order.relevant,
        "harvest_rate": round(order.harvest_rate, 4),
        "examples": len(topic.wanted),
        "unwanted": len(topic.unwanted),
    }


def stored_focus(store: Store) -> FocusedOrder:
    """The stored model, or one without a topic."""
    row = store.find(StateTable.META, FOCUS_KEY)
    return FocusedOrder(Topic()) if row is None else load_model(row, "The stored model")


def rows_of(order: FocusedOrder) -> dict[bytes, bytes]:
    """The rows of the state that keep a model."""
    return {FOCUS_KEY: dump_model(order), FOCUS_FIGURES_KEY: pack(figures_of(order))}

"""One class for the state of a URL: its outcome and its HTTP status together.

`fetched` means that a response came and was stored. It does not mean that the page exists: a 404 is
a response, too. Displays show the class beside the outcome, so that a dead page never looks like a
good one. Terminal, web page and reports take class, label and colour from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from http import HTTPStatus
from typing import Final


class AnswerClass(StrEnum):
    """Every known URL is in exactly one of these."""

    SUCCESS = "2xx"
    REDIRECT = "3xx"
    CLIENT_ERROR = "4xx"
    SERVER_ERROR = "5xx"
    OTHER_STATUS = "other"  # a status outside 200 to 599, which some servers invent
    FAILED = "failed"
    REFUSED = "refused"
    QUEUED = "queued"


LABELS: Final[dict[AnswerClass, str]] = {
    AnswerClass.SUCCESS: "success",
    AnswerClass.REDIRECT: "redirect",
    AnswerClass.CLIENT_ERROR: "client error",
    AnswerClass.SERVER_ERROR: "server error",
    AnswerClass.OTHER_STATUS: "unusual status",
    AnswerClass.FAILED: "failed",
    AnswerClass.REFUSED: "refused",
    AnswerClass.QUEUED: "queued",
}

_OF_STATUS: Final = {
    2: AnswerClass.SUCCESS,
    3: AnswerClass.REDIRECT,
    4: AnswerClass.CLIENT_ERROR,
    5: AnswerClass.SERVER_ERROR,
}


def class_of_status(status: int) -> AnswerClass:
    """The class of a response."""
    return _OF_STATUS.get(status // 100, AnswerClass.OTHER_STATUS)


def class_of(outcome: str, status: int = 0) -> AnswerClass:
    """The class of a URL. Raises ValueError for an unknown outcome."""
    return class_of_status(status) if outcome == "fetched" else AnswerClass(outcome)


def status_text(status: int) -> str:
    """`404 Not Found`; the number alone if it has no common name."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def answer_text(outcome: str, status: int = 0, reason: str = "") -> str:
    """Outcome and status: `fetched, 404 Not Found`, `failed: timeout`, `queued`."""
    if outcome == "fetched" and status:
        return f"{outcome}, {status_text(status)}"
    return f"{outcome}: {reason}" if reason else outcome


def count_classes(
    by_status: Mapping[str, int], *, failed: int, refused: int, queued: int
) -> dict[str, int]:
    """The number of URLs in each class; includes every class, and the sum is all known URLs."""
    counts = dict.fromkeys((str(one) for one in AnswerClass), 0)
    for status, count in by_status.items():
        counts[class_of_status(int(status))] += count
    counts[AnswerClass.FAILED] = failed
    counts[AnswerClass.REFUSED] = refused
    counts[AnswerClass.QUEUED] = queued
    return counts

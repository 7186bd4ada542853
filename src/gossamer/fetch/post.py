"""Send one body to an address that the operator named: a webhook. Blocks: run it in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pycurl

from gossamer.version import __version__

_MOST_ANSWER_BYTES: Final = 64 * 2**10  # of an answer, which nobody reads
_PROTOCOLS: Final[int] = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS


def post(url: str, body: bytes, headers: Sequence[str], time_s: float) -> str:
    """Send a POST request. Return an empty text if the status is 2xx, else what went wrong.

    Redirects are not followed: a redirected POST may lose its body.
    """
    curl = pycurl.Curl()
    received = 0

    def discard(piece: bytes) -> int:
        nonlocal received
        received += len(piece)
        return len(piece) if received <= _MOST_ANSWER_BYTES else 0

    try:
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.PROTOCOLS, _PROTOCOLS)
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.POST, 1)
        curl.setopt(pycurl.POSTFIELDS, body)
        curl.setopt(pycurl.HTTPHEADER, [*headers, "Expect:"])
        curl.setopt(pycurl.USERAGENT, f"gossamer/{__version__}")
        curl.setopt(pycurl.TIMEOUT_MS, round(time_s * 1000))
        curl.setopt(pycurl.WRITEFUNCTION, discard)
        try:
            curl.perform()
        except pycurl.error as fault:
            # An answer that is too long was accepted all the same, if its status says so.
            if received <= _MOST_ANSWER_BYTES:
                return str(fault.args[1] if len(fault.args) > 1 else fault) or "the request failed"
        status = curl.getinfo(pycurl.RESPONSE_CODE)
    finally:
        curl.close()
    return "" if 200 <= status < 300 else _refusal(status)


def _refusal(status: int) -> str:
    if 300 <= status < 400:
        return f"it answered {status}, a redirect, which is not followed; use the final address"
    return f"it answered {status}"

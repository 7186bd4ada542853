"""Translate libcurl's errors to reasons. No other module knows their numbers."""

from __future__ import annotations

import errno
import os
from typing import Final

import pycurl

from gossamer.records import Reason

_E_PROXY: Final = 97  # the proxy refused the connection; pycurl has no name for it
_REASONS: Final[dict[int, Reason]] = {
    pycurl.E_COULDNT_RESOLVE_HOST: Reason.DNS,
    pycurl.E_COULDNT_CONNECT: Reason.CONNECT,
    pycurl.E_COULDNT_RESOLVE_PROXY: Reason.CONNECT,
    _E_PROXY: Reason.CONNECT,
    pycurl.E_OPERATION_TIMEDOUT: Reason.TIMEOUT,
    pycurl.E_SSL_CONNECT_ERROR: Reason.TLS,
    pycurl.E_PEER_FAILED_VERIFICATION: Reason.TLS,
    pycurl.E_SSL_CERTPROBLEM: Reason.TLS,
    pycurl.E_SSL_CIPHER: Reason.TLS,
    pycurl.E_SSL_CACERT_BADFILE: Reason.TLS,
    pycurl.E_SSL_ISSUER_ERROR: Reason.TLS,
    pycurl.E_SSL_SHUTDOWN_FAILED: Reason.TLS,
    pycurl.E_SSL_INVALIDCERTSTATUS: Reason.TLS,
    pycurl.E_RECV_ERROR: Reason.RESET,
    pycurl.E_SEND_ERROR: Reason.RESET,
    pycurl.E_GOT_NOTHING: Reason.RESET,
    pycurl.E_PARTIAL_FILE: Reason.RESET,
}


def reason_of(code: int, message: str, system_fault: int = 0) -> tuple[Reason, str]:
    """The reason of a failed transfer, and libcurl's message. Unknown errors count as protocol
    errors.

    `system_fault`: the errno of the system, if there was one.
    """
    if code == pycurl.E_COULDNT_CONNECT and system_fault:
        return Reason.CONNECT, f"{message} ({os.strerror(system_fault)})"
    if code == pycurl.E_RECV_ERROR and message.startswith("chunk"):
        return Reason.PROTOCOL, message  # invalid chunks have no number of their own
    if code == pycurl.E_RECV_ERROR and message.startswith("CONNECT tunnel failed"):
        return Reason.CONNECT, message  # the proxy's response, not the host's
    return _REASONS.get(code, Reason.PROTOCOL), message or f"libcurl error {code}"


def is_refused(detail: str) -> bool:
    """Whether `reason_of` reported a refused connection."""
    return detail.endswith(f"({os.strerror(errno.ECONNREFUSED)})")

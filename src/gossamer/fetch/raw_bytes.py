"""Count the bytes that a server has sent, including those that libcurl discards.

libcurl discards the extensions after a chunk size and does not count them: a server could send them
without end, 11 GB in 20 seconds on one machine. The kernel knows the number of bytes (TCP_INFO,
Linux only). On other systems the minimum speed or the timeout ends such a response.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from typing import Final

import pycurl

# libcurl's number for HTTP/2: its streams share a connection, and there are no chunks
_H2: Final = 3
_BYTES_RECEIVED: Final = struct.Struct("=128xQ")  # offset of the field in struct tcp_info


def raw_bytes(curl: pycurl.Curl) -> int | None:
    """Bytes received on the connection of a transfer since its start; None if unknown."""
    if sys.platform != "linux" or curl.getinfo(pycurl.INFO_HTTP_VERSION) == _H2:
        return None
    descriptor = curl.getinfo(pycurl.ACTIVESOCKET)
    if descriptor < 0:
        return None
    try:
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            size = _BYTES_RECEIVED.size
            told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, size)
    except OSError:
        return None
    return int(_BYTES_RECEIVED.unpack(told)[0]) if len(told) == size else None


def most_for(max_body_bytes: int) -> int:
    """The maximum of raw bytes for a body of that size: TLS, chunks and headers add some."""
    return max_body_bytes + max_body_bytes // 8 + 2**20

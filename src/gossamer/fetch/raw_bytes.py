"""How many bytes has a server sent, whatever libcurl made of them?

libcurl throws away what stands behind the size of a chunk, and counts it nowhere: a server could
send such extensions without end, 11 GB in 20 seconds on one machine. The kernel knows how much came
(TCP_INFO, Linux only). Where it does not tell, a low speed or the time for an answer ends it.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from typing import Final

import pycurl

_H2: Final = 3  # libcurl's number: there streams share a connection, and there are no chunks
_BYTES_RECEIVED: Final = struct.Struct("=128xQ")  # where struct tcp_info has them


def raw_bytes(curl: pycurl.Curl) -> int | None:
    """Bytes that came on the connection of a transfer, from its beginning; None: not known."""
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
    """How many bytes may come for a body of at most that many: TLS, chunks and headers add some."""
    return max_body_bytes + max_body_bytes // 8 + 2**20

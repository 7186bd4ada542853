"""Leases and answers for the tests of the archive: ordinary ones, and any at all."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from gossamer.archive.warc import exchange_bytes, warcinfo_bytes
from gossamer.records import Answer, Failed, Fetched, Lease, Purpose, Reason, Refused

AT_US = 1_767_225_600_123_456
URL = "https://docs.example.org/guide/start.html?part=1"
HEAD = (
    b"HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html; charset=utf-8\r\n"
    b"Content-Length: 14\r\n\r\n"
)
BODY = b"<h1>Hello</h1>"
REQUEST = b"GET /guide/start.html?part=1 HTTP/1.1\r\nHost: docs.example.org\r\n\r\n"


def a_lease(url: str = URL, number: int = 7) -> Lease:
    return Lease(
        number=number,
        url=url,
        key=bytes(range(16)),
        host="docs.example.org",
        address="192.0.2.7",
        depth=2,
        via="https://docs.example.org/",
    )


def a_page(url: str = URL, body: bytes = BODY, head: bytes = HEAD, status: int = 200) -> Fetched:
    return Fetched(
        url=url,
        status=status,
        head=head,
        body=body,
        request=REQUEST,
        address="192.0.2.7",
        protocol="http/1.1",
        at_us=AT_US,
        took_s=0.012345,
    )


def a_failure(url: str = URL) -> Failed:
    return Failed(url, Reason.TIMEOUT, "no answer in 15 s", AT_US, took_s=15.0)


def a_refusal(url: str = URL) -> Refused:
    return Refused(url, Reason.TYPE, "Content-Type: video/mp4", AT_US, took_s=0.2, status=200)


def write_archive(path: Path, *answers: Answer) -> list[int]:
    """A file of the answers, and the byte behind its warcinfo and behind each of them."""
    data = warcinfo_bytes(path.name, AT_US, {"robots": "obey"})
    ends = [len(data)]
    for answer in answers:
        data += exchange_bytes(a_lease(answer.url), answer).data
        ends.append(len(data))
    path.write_bytes(data)
    return ends


ANY_TEXT = st.text(st.characters(), max_size=30) | st.sampled_from(
    [
        "a\r\nWARC-Type: response",
        "\\n",
        " padded ",
        "%0d%0a",
        "\ud800",
        "ключ: значение",
        "\x85\u2028",
    ]
)
ANY_URL = st.just(URL) | ANY_TEXT.map("https://example.org/".__add__)
ANY_TIME_US = st.integers(min_value=0, max_value=4_102_444_800_000_000)
ANY_TOOK_S = st.integers(min_value=0, max_value=10**9).map(lambda us: us / 1e6)
COUNTS = st.integers(min_value=0, max_value=10**6)

_LINES = st.lists(
    st.sampled_from(
        [
            b"Server: nginx",
            b"Transfer-Encoding: chunked",
            b"transfer-encoding : gzip, chunked",
            b"Content-Length: 5",
            b"content-length:0",
            b"Content-Length: -1",
            b"X-Archive-Orig-Content-Length: 9",
            b"Set-Cookie: a=\xff\xfe",
            b" folded",
            b"no colon",
            b": no name",
            b"NUL: \x00",
            b"CR: a\rb",
            b"\t",
            b"WARC/1.1",
        ]
    )
    | st.binary(max_size=12),
    max_size=5,
)
_FIRST_LINES = st.sampled_from(
    [
        b"HTTP/1.1 200 OK",
        b"HTTP/1.0 200",
        b"HTTP/2 200 ",
        b"HTTP/3 200",
        b"HTTP/2.0 200 OK",
        b"ICY 200 OK",
    ]
)


@st.composite
def any_head(draw: st.DrawFn) -> bytes:
    """Heads as servers and attackers send them; sometimes no head at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=40))
    end = draw(st.sampled_from([b"\r\n", b"\n"]))
    lines = [draw(_FIRST_LINES), *draw(_LINES)]
    return end.join([*lines, b"", b""])


ANY_LEASE = st.builds(
    Lease,
    number=COUNTS,
    url=ANY_URL,
    key=st.binary(min_size=16, max_size=16),
    host=ANY_TEXT,
    address=st.sampled_from(["", "192.0.2.7", "2001:db8::1"]),
    purpose=st.sampled_from(Purpose),
    depth=COUNTS,
    tries=COUNTS,
    redirects=COUNTS,
    via=ANY_TEXT,
    is_trusted=st.booleans(),
    max_body_bytes=COUNTS,
)
ANY_FETCHED = st.builds(
    Fetched,
    url=ANY_URL,
    status=st.integers(100, 999),
    head=any_head(),
    body=st.binary(max_size=60)
    | st.sampled_from([BODY, b"\r\n\r\n", b"WARC/1.1\r\n", b"\x1f\x8b\x08"]),
    request=st.sampled_from([REQUEST, b"", b"GET / HTTP/2\r\n\r\n", b"GET / HTTP/3\n\n"])
    | st.binary(max_size=30),
    address=st.sampled_from(["192.0.2.7", "2001:db8::1", ""]),
    protocol=st.sampled_from(["http/1.0", "http/1.1", "h2", "h3"]),
    at_us=ANY_TIME_US,
    took_s=ANY_TOOK_S,
    cut=st.sampled_from(["", "length", "time"]),
)
ANY_FAILED = st.builds(
    Failed,
    url=ANY_URL,
    reason=st.sampled_from(Reason),
    detail=ANY_TEXT,
    at_us=ANY_TIME_US,
    took_s=ANY_TOOK_S,
    status=st.integers(0, 999),
)
ANY_REFUSED = st.builds(
    Refused,
    url=ANY_URL,
    reason=st.sampled_from(Reason),
    detail=ANY_TEXT,
    at_us=ANY_TIME_US,
    took_s=ANY_TOOK_S,
    status=st.integers(0, 999),
)
ANY_ANSWER = ANY_FETCHED | ANY_FAILED | ANY_REFUSED

"""Files are told by their first bytes."""

from gossamer.base.magic import magic_of, one_name
from support.rows import each_row


@each_row(
    ("start", "mime"),
    [
        (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"\0\0\0\x20ftypisom\0\0\2\0", "video/mp4"),
        (b"\0\0\0\x20ftypavif", "image/avif"),
        (b"%PDF-1.7\n", "application/pdf"),
        (b"BM\x36\0\0\0\0\0", "image/bmp"),
        (b"OggS\0\2", "application/ogg"),
        (b"BMW builds cars", ""),
        (b"<!doctype html>", ""),
        (b"RIFF", ""),
        (b"", ""),
    ],
)
def test_a_beginning_tells_the_type(start: bytes, mime: str) -> None:
    assert magic_of(start) == mime


def test_names_that_mean_one_thing_are_one() -> None:
    assert one_name("audio/x-wav") == one_name("audio/wave") == one_name("audio/wav")
    assert one_name("text/html") == "text/html"

"""Recognise a file type by its first bytes, if the declared type is missing or wrong.

The patterns are those of the MIME Sniffing standard, and some formats that it leaves out because
browsers do not show them. Types without such a beginning (text, HTML, scripts) are not recognised
here. Pure.
"""

from __future__ import annotations

from typing import Final

START_BYTES: Final = 64  # enough for every pattern

# At the start of the file, as most are.
_BEGINNINGS: Final = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\0\0\1\0", "image/x-icon"),
    (b"\0\0\2\0", "image/x-icon"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b".snd", "audio/basic"),
    (b"MThd\0\0\0\6", "audio/midi"),
    (b"OggS\0", "application/ogg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"FLV\1", "video/x-flv"),
    (b"FWS", "application/x-shockwave-flash"),
    (b"CWS", "application/x-shockwave-flash"),
    (b"ZWS", "application/x-shockwave-flash"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"PK\3\4", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\7", "application/vnd.rar"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"OTTO", "font/otf"),
    (b"\0\1\0\0", "font/ttf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
)
# Boxes and chunks: a name at byte 0, a length, and another name at byte 8.
_CHUNKS: Final = {
    (b"RIFF", b"WAVE"): "audio/wav",
    (b"RIFF", b"AVI "): "video/x-msvideo",
    (b"RIFF", b"WEBP"): "image/webp",
    (b"FORM", b"AIFF"): "audio/aiff",
}
_BRANDS: Final = {b"avif": "image/avif", b"avis": "image/avif", b"heic": "image/heic",
                  b"M4A ": "audio/mp4", b"qt  ": "video/quicktime"}  # fmt: skip
# Two-byte patterns occur in many texts ("BM" of "BMW"): another check must agree.
_SHORT: Final = frozenset({"image/bmp"})
# Names for one type; the first is the one used here.
_ALIASES: Final = {
    "audio/wave": "audio/wav", "audio/x-wav": "audio/wav", "audio/vnd.wave": "audio/wav",
    "audio/x-pn-wav": "audio/wav", "audio/mp3": "audio/mpeg", "audio/x-mp3": "audio/mpeg",
    "audio/x-mpeg": "audio/mpeg", "audio/mpeg3": "audio/mpeg", "audio/x-flac": "audio/flac",
    "audio/x-aiff": "audio/aiff", "audio/x-midi": "audio/midi", "audio/mid": "audio/midi",
    "audio/x-aac": "audio/aac", "audio/x-m4a": "audio/mp4", "audio/m4a": "audio/mp4",
    "image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png",
    "image/vnd.microsoft.icon": "image/x-icon", "image/x-ms-bmp": "image/bmp",
    "image/x-bmp": "image/bmp", "video/avi": "video/x-msvideo", "video/msvideo": "video/x-msvideo",
    "application/x-pdf": "application/pdf", "application/x-zip-compressed": "application/zip",
    "application/x-zip": "application/zip", "application/x-gzip": "application/gzip",
    "application/x-rar-compressed": "application/vnd.rar",
    "application/x-java-vm": "application/java-vm", "application/x-bzip": "application/x-bzip2",
}  # fmt: skip


def magic_of(start: bytes) -> str:
    """The MIME type of a file with this start; empty if unknown."""
    found = _CHUNKS.get((start[:4], start[8:12]))
    if found:
        return found
    if start[4:8] == b"ftyp":
        return _BRANDS.get(start[8:12], "video/mp4")
    for beginning, mime in _BEGINNINGS:
        if start.startswith(beginning) and (mime not in _SHORT or 0 in start[2:START_BYTES]):
            return mime
    return ""


def one_name(mime: str) -> str:
    """The name used here for a type that has several."""
    return _ALIASES.get(mime, mime)

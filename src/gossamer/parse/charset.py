"""Find the charset of a document, by the rules of the web, in this order:

    byte order mark > charset of the HTTP header > declaration in the document > content

A declaration in HTML is a `meta` found as browsers find it: tags are parsed as tags, so a `meta` in
a comment, script, style or title does not count, and the search goes beyond the first 1,024 bytes
only while the tags belong in a head. If nothing is declared, the standard leaves the choice open.
Then UTF-8 is recognised by its structure, ISO-2022-JP by its escape sequences, other charsets by
the frequency of their letters if the page has enough of them, and the rest is windows-1252.

Names are those of the Encoding standard in lower case, decoding is turbohtml's, and every search is
linear.
"""

from __future__ import annotations

import codecs
import html
import re
from functools import lru_cache
from typing import Final

import turbohtml
from turbohtml.detect import detect

FALLBACK: Final = "windows-1252"

# Browsers search the first 1,024 bytes in any case, and continue while in the head. The search
# stops at 256 KiB; the longest head of 16,304 documentation pages ends at byte 16,337.
_ALWAYS_BYTES: Final = 1024
_HEAD_BYTES: Final = 256 * 2**10
# With fewer non-ASCII bytes, letter frequencies are noise (one byte 0xE6 reads as windows-1250).
# UTF-8 needs no minimum, its structure is proof.
_FEWEST_BYTES: Final = 12
# The detector's confidence is a share among candidates: plain Korean gets 0.28, then Japanese 0.25.
_LEAST_CONFIDENCE: Final = 0.2
_DETECT_BYTES: Final = 64 * 2**10
_AROUND_BYTES: Final = 256  # checked before and after a non-ASCII byte

_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_BOM_STARTS: Final = tuple(bom for bom, _ in _BOMS)
_UTF16: Final = frozenset({"utf-16be", "utf-16le"})
_IN_HEAD: Final = frozenset(
    {b"script", b"noscript", b"style", b"link", b"meta", b"object", b"title", b"base"}
)
_OPENS_HEAD: Final = frozenset({b"html", b"head"})
_RAW: Final = {
    name: re.compile(rb"</" + name + rb"[\t\n\f\r />]", re.IGNORECASE)
    for name in (
        b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes",
    )
}  # fmt: skip

_ATTRIBUTE: Final = (
    rb"[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|(?![\"'])([^\t\n\f\r >]*+))"
    rb"|(?![\t\n\f\r ]*=))"
)
_ATTRIBUTES: Final = re.compile(_ATTRIBUTE)
_TAG: Final = re.compile(
    rb"<(/?)([A-Za-z][^\t\n\f\r />]*+)((?:" + _ATTRIBUTE + rb")*+)[\t\n\f\r /]*+>"
)
_CHARSET_IS: Final = re.compile(rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*", re.IGNORECASE)
_CHARSET_VALUE: Final = re.compile(rb"\"([^\"]*)\"|'([^']*)'|(?![\"'])([^\t\n\f\r ;]*)")
_XML_ENCODING: Final = re.compile(
    rb"<\?xml[^>]*?[\t\n\r ]encoding[\t\n\r ]*=[\t\n\r ]*(?:\"([^\"<>]*)\"|'([^'<>]*)')"
)
# The start of nine of ten heads, up to a `meta` that declares a charset: matched in 2 microseconds,
# where reading tag by tag takes 15. It accepts no more than `_of_meta` would: only `[^<]` comes
# between. Groups are not possessive: Python 3.11.2 loses the start of such groups.
_PLAIN_HEAD: Final = re.compile(
    rb"(?:[^<]*+<[!?](?!--)[^>]*+>)*[^<]*+"
    rb"(?:<html[^<>\"']*+(?:\"[^\"]*+\"[^<>\"']*+|'[^']*+'[^<>\"']*+)*>[^<]*+)?"
    rb"(?:<head>[^<]*+)?(?:<title>[^<]*+</title>[^<]*+)?"
    rb"<meta[\t\n\f\r ]++(?:charset=(?:\"([a-z0-9-]++)\"|([a-z0-9-]++)(?=[\t\n\f\r >]))"
    rb"|http-equiv=(?:\"content-type\"|content-type) content=\"text/html; ?charset=([a-z0-9-]++)\")"
    rb"[\t\n\f\r ]*+/?>",
    re.IGNORECASE,
)
_META: Final = re.compile(rb"<meta", re.IGNORECASE)
_HIGH: Final = re.compile(rb"[^\x00-\x7f]")
_HIGH_BYTES: Final = bytes(range(0x80, 0x100))
_TO_JAPANESE: Final = re.compile(rb"\x1b\$[@B](?:[!-~]{2})+\x1b\([BJ]")


@lru_cache(maxsize=512)
def find_encoding(label: str) -> str | None:
    """The encoding of a label, or None. Case and white space do not matter."""
    label = label.strip("\t\n\f\r ")
    if not label.isascii():
        return None
    try:
        name = turbohtml.parse(b"", encoding=label).encoding
    except (LookupError, ValueError):  # ValueError: it contains a NUL
        return None
    return name.lower() if name else None


def html_charset(body: bytes, transport: str = "") -> str:
    """The charset of an HTML document. `transport` is the label of the HTTP header, if any."""
    return (
        _of_bom(body)
        or find_encoding(transport)
        or _of_meta(body)
        or _of_xml_declaration(body)
        or _of_content(body)
    )


def xml_charset(body: bytes, transport: str = "") -> str:
    """The charset of an XML document: UTF-8 if nothing else is declared."""
    return _of_bom(body) or find_encoding(transport) or _of_xml_declaration(body) or "utf-8"


def text_charset(body: bytes, transport: str = "") -> str:
    """The charset of plain text, which has no declaration of its own."""
    return _of_bom(body) or find_encoding(transport) or _of_content(body)


def decode(body: bytes, charset: str) -> str:
    """The text of `body`, with U+FFFD for invalid bytes, and without one byte order mark."""
    for bom, _ in _BOMS:
        if body.startswith(bom):
            body = body[len(bom) :]
            break
    if charset == "utf-8":  # the same result in a tenth of the time
        return body.decode("utf-8", "replace")
    return codecs.decode(body, "whatwg-" + charset)


def _of_bom(body: bytes) -> str | None:
    if not body.startswith(_BOM_STARTS):
        return None
    return next(name for bom, name in _BOMS if body.startswith(bom))


def _of_meta(body: bytes) -> str | None:
    """The charset of the first `meta` that declares a known one."""
    plain = _PLAIN_HEAD.match(body, 0, _ALWAYS_BYTES)
    if plain is not None and (charset := _meant_by(plain[plain.lastindex or 0])):
        return charset
    at, end = 0, _HEAD_BYTES
    while 0 <= (at := body.find(b"<", at)) < end:
        tag = _TAG.match(body, at)
        if tag is None:
            at = _after_markup(body, at)
            continue
        name = tag[2].lower()
        if not tag[1]:
            if name == b"meta" and (declared := _declared(tag[3])):
                return declared
            if name in _RAW:
                closing = _RAW[name].search(body, tag.end())
                at = closing.start() if closing else len(body)
                continue
        at = tag.end()
        if not (name in _IN_HEAD or (not tag[1] and name in _OPENS_HEAD)):
            end = _ALWAYS_BYTES
    return None


def _after_markup(body: bytes, at: int) -> int:
    """The position at which the search continues after a `<` that begins no whole tag."""
    if body.startswith(b"<!--", at):
        end = body.find(b"-->", at + 2)  # `<!-->` is a whole comment
        return end + 3 if end >= 0 else len(body)
    following = body[at + 1 : at + 2]
    if following in (b"!", b"?") or (following == b"/" and not body[at + 2 : at + 3].isalpha()):
        end = body.find(b">", at)
        return end + 1 if end >= 0 else len(body)
    # A tag without an end is the end of the document; any other `<` is text.
    return len(body) if body[at + 1 : at + 3].lstrip(b"/")[:1].isalpha() else at + 1


def _declared(attributes: bytes) -> str | None:
    """The charset that a `meta` with these attributes declares, if it is a known one."""
    values: dict[bytes, bytes] = {}
    for name, double, single, bare in _ATTRIBUTES.findall(attributes):
        values.setdefault(name.lower(), double or single or bare)
    label = values.get(b"charset")
    if label is None and values.get(b"http-equiv", b"").lower() == b"content-type":
        label = _in_content(values.get(b"content", b""))
    return _meant_by(label) if label is not None else None


@lru_cache(maxsize=512)
def _meant_by(label: bytes) -> str | None:
    """The charset of a label in a `meta`."""
    name = find_encoding(html.unescape(label.decode("latin-1")))
    # A readable `meta` is not in UTF-16, and x-user-defined is meant for scripts.
    return "utf-8" if name in _UTF16 else FALLBACK if name == "x-user-defined" else name


def _in_content(content: bytes) -> bytes | None:
    """The label in `text/html; charset=label`."""
    start = _CHARSET_IS.search(content)
    value = start and _CHARSET_VALUE.match(content, start.end())
    return (value[1] or value[2] or value[3] or b"") if value else None


def _of_xml_declaration(body: bytes) -> str | None:
    """The charset of an XML declaration. A declaration in UTF-16 proves itself."""
    if body.startswith(b"<\x00?\x00x\x00"):
        return "utf-16le"
    if body.startswith(b"\x00<\x00?\x00x"):
        return "utf-16be"
    found = _XML_ENCODING.match(body[:_ALWAYS_BYTES])
    if found is None:
        return None
    name = find_encoding((found[1] or found[2] or b"").decode("latin-1"))
    return "utf-8" if name in _UTF16 else name


def _of_content(body: bytes) -> str:
    """The charset that the bytes look like, if nothing is declared."""
    if body.isascii():
        return "iso-2022-jp" if _is_iso_2022_jp(body) else FALLBACK
    start = _HIGH.search(body)
    assert start is not None  # the body is not ASCII
    # The ASCII bytes before the first other byte tell nothing.
    sample = body[start.start() : start.start() + _DETECT_BYTES]
    if _is_utf8(sample):
        return "utf-8"
    if _is_sparse(sample):
        sample = _gathered(body, start.start())
        if _is_sparse(sample):
            return FALLBACK
    # The detector would trust any `meta`, including those that `_of_meta` did not accept.
    match = detect(_META.sub(b"<    ", sample))
    if match.encoding is None or match.bom or match.confidence < _LEAST_CONFIDENCE:
        return FALLBACK
    return find_encoding(match.encoding) or FALLBACK


def _is_iso_2022_jp(body: bytes) -> bool:
    """Whether ASCII text has the escape sequences of ISO-2022-JP, all of them valid."""
    if _TO_JAPANESE.search(body) is None:
        return False
    text = decode(body[:_DETECT_BYTES].rpartition(b"\n")[0] or body, "iso-2022-jp")
    return "\ufffd" not in text and not text.isascii()


def _is_sparse(sample: bytes) -> bool:
    """Whether there are too few non-ASCII bytes for letter frequencies."""
    return len(sample) - len(sample.translate(None, _HIGH_BYTES)) < _FEWEST_BYTES


def _gathered(body: bytes, at: int) -> bytes:
    """The parts of a body around non-ASCII bytes, if these are far apart."""
    parts: list[bytes] = []
    left = _DETECT_BYTES
    while left > 0 and (found := _HIGH.search(body, at)) is not None:
        start = max(at, found.start() - _AROUND_BYTES)
        at = found.start() + _AROUND_BYTES
        while at < len(body) and body[at] > 0x7F:  # not inside a character
            at += 1
        parts.append(body[start:at])
        left -= len(parts[-1])
    return b"\n".join(parts)


def _is_utf8(sample: bytes) -> bool:
    """Whether the bytes are UTF-8 beyond ASCII. A character cut off at the end is accepted."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return not decoder.decode(sample).isascii()
    except UnicodeDecodeError:
        return False

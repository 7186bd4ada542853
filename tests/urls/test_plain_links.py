"""Plain links in C: joined, named and remembered as in Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.native.extensions import VARIABLE, load
from gossamer.urls.canonical import NormalForm
from gossamer.urls.forgotten import NOTHING, Breadth, Forgotten, Named
from gossamer.urls.keys import Keys
from gossamer.urls.linker import Linker
from support.rows import each_row

_native = load("gossamer.native._page")

pytestmark = pytest.mark.skipif(_native is None, reason="not built: `make native`")

_BASES = [
    "http://h.org/",
    "http://h/",
    "http://h.org/a/b/c?x=/y/",
    "https://h.org:8/a/b/c/d/",
    "http://[::1]:8/a/b",
    "http://h.org/a;sid=1/b/c",
    "about:blank",
]
_plain = st.from_regex(
    r"(\.\./){0,4}/?([a-zA-Z0-9_~.%@!+=*'-]{1,5}/){0,3}[a-zA-Z0-9_.~%2e:;?#é-]{0,5}", fullmatch=True
)
_hosts = st.from_regex(r"(xn--|-)?[a-z0-9-]{1,3}(\.[a-z0-9-]{1,3}){0,2}(\.|\.[a-z]{1,3}|:8)?")
_absolute = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["http://", "https://", "HTTP://", "http:/", "ftp://"]),
    _hosts.map(str.strip),
    st.sampled_from(["", "/", "/x", "/x/", "/x/../y", "//", "/x%2e/", "/?", "/?a=/?:1", "/x?'"]),
    st.text("abx019-._~!$&'()*+,=@%/?:;2eE A#é\\[{|<\"^`\t\x7f\x80\xff", max_size=6),
)
_long = st.builds(
    "{}{}".format,
    st.sampled_from(["", "/", "../", "http://a.com/", "https://a." + "b" * 62, "http://a" * 2]),
    st.integers(190, 205).map(lambda n: "x" * n) | st.integers(0, 2).map(lambda n: "b" * n + "/"),
)
_hrefs = st.one_of(_plain, _absolute, _long)
_FORMS = [NormalForm(), NormalForm("drop"), NormalForm("clean", ("sid",))]


def in_python(form: NormalForm, remember: int, forgotten: Forgotten = NOTHING) -> Linker:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "0")
        return Linker(form, Keys(bytes(16)), remember, forgotten)


@given(
    st.lists(st.tuples(st.sampled_from(_BASES), _hrefs), max_size=30),
    st.sampled_from(_FORMS),
    st.sampled_from([6, 20, 1000]),
)
def test_both_forms_find_and_remember_the_same(
    links: list[tuple[str, str]], form: NormalForm, remember: int
) -> None:
    compiled, plain = Linker(form, Keys(bytes(16)), remember), in_python(form, remember)

    for base, href in links + links:
        assert compiled.resolve(base, href) == plain.resolve(base, href)
        assert compiled.remembered == plain.remembered
        assert compiled.plain is not None
        assert plain.plain is None


@given(st.sampled_from(_BASES[:-1]), st.text("abc/:.?é", max_size=300), st.binary(min_size=16))
def test_a_key_is_the_same(base: str, rest: str, salt: bytes) -> None:
    assert _native is not None
    url = NormalForm().find(rest, base) or base
    made = _native.Generation(salt[:16], 1, True)

    assert made.key(url) == Keys(salt[:16]).of(url)


def test_urls_of_any_length_have_the_same_key() -> None:
    assert _native is not None
    made = _native.Generation(bytes(range(16)), 1, True)

    for size in range(400):  # blocks have 128 bytes
        for url in (f"http://a.org/{'x' * size}", f"http://{'a' * size}b/"):
            assert made.key(url) == Keys(bytes(range(16))).of(url)


@each_row("url", ["", "http://", "http:///", "http://:8/", "http://a", "http://é/"])
def test_what_is_no_canonical_url_has_no_key(url: str) -> None:
    assert _native is not None
    with pytest.raises(ValueError, match="a canonical URL"):
        _native.Generation(bytes(16), 1, True).key(url)


def test_most_links_are_learned_in_c() -> None:
    linker = Linker(NormalForm(), Keys(bytes(16)))
    linker.places("http://h.org/a/b/c", is_canonical=True)
    assert linker.plain is not None

    for href in ("x", "../x.html", "../../../../x/y", "/", "/x_y", "http://a.org/x?y=1"):
        assert linker.plain(href) == linker.resolve("http://h.org/a/b/c", href)
    for href in ("", "?x", "#x", "./x", "x;y", "x:y", "//a.org/", "x//y", "é", "http://a.org:8/"):
        assert linker.plain(href) is NotImplemented


def test_what_was_forgotten_is_no_link_in_either_form() -> None:
    forgotten = Forgotten.of([Named(Breadth.URL, "http://h.org/x")], "2026-01-01")

    for linker in (
        Linker(NormalForm(), Keys(bytes(16)), forgotten=forgotten),
        in_python(NormalForm(), 100, forgotten),
    ):
        assert linker.resolve("http://h.org/", "x") is None
        assert linker.resolve("http://h.org/", "y") is not None


def test_a_full_generation_learns_nothing() -> None:
    assert _native is not None
    made = _native.Generation(bytes(16), 2, True)
    made.enter("http://h.org/", "http://h.org", {}, {}, None, None, None, None)

    assert made.learn("x")[0] == "http://h.org/x"  # and the URL that it was joined to
    assert made.learn("y") is NotImplemented
    assert made.size == 2


def test_without_a_page_nothing_is_learned() -> None:
    assert _native is not None

    assert _native.Generation(bytes(16), 2, True).learn("http://a.org/") is NotImplemented

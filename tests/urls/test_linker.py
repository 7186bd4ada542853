"""Links of pages, each resolved once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.urls.canonical import NormalForm
from gossamer.urls.keys import Keys
from gossamer.urls.linker import Linker
from support.rows import each_row

KEYS = Keys(bytes(16))
CLEAN = NormalForm(query="clean", session_parameters=("sid",))


class CountingForm(NormalForm):
    """Counts how often it is asked."""

    __slots__ = ("asked",)

    def find(self, text: str, base: str = "") -> str | None:
        object.__setattr__(self, "asked", getattr(self, "asked", 0) + 1)
        return super().find(text, base)


def asked(form: NormalForm) -> int:
    return int(getattr(form, "asked", 0))


def test_a_link_becomes_its_url_and_key() -> None:
    linker = Linker(NormalForm(), KEYS)

    assert linker.resolve("https://a.org/x/y", "z#part") == (
        "https://a.org/x/z",
        KEYS.of("https://a.org/x/z"),
    )


def test_what_is_no_url_is_none_and_the_fault_says_why() -> None:
    linker = Linker(NormalForm(), KEYS)

    assert linker.resolve("https://a.org/", "mailto:me") is None
    assert linker.fault("https://a.org/", "mailto:me") == ""
    assert linker.resolve("https://a.org/", "http://a.org:x/") is None
    assert linker.fault("https://a.org/", "http://a.org:x/") == "its port 'x' is not a number"


@each_row(
    ("href", "other_page"),
    [
        ("z;1", "https://a.org/x/other?q=/1"),
        ("/z;1", "https://a.org/another/directory/"),
        ("//b.org/z", "https://a.org/another/directory/"),
        ("https://b.org:8/z", "http://c.org/"),
    ],
)
def test_a_link_that_a_neighbour_has_too_is_resolved_once(href: str, other_page: str) -> None:
    form = CountingForm()
    linker = Linker(form, KEYS)

    first = linker.resolve("https://a.org/x/y", href)
    again = linker.resolve(other_page, href)

    assert first == again
    assert asked(form) == 1


@each_row(
    "href", ["mailto:me", "file:///usr/share/x.html", "data:,x", "Java-Script:x", "file://[", "a:"]
)
def test_what_has_another_scheme_is_no_link_without_being_parsed(href: str) -> None:
    form = CountingForm()
    linker = Linker(form, KEYS)

    assert linker.resolve("https://a.org/x/y", href) is None
    assert linker.fault("https://a.org/x/y", href) == ""
    assert asked(form) == 0
    assert form.find(href, "https://a.org/x/y") is None
    assert form.fault(href, "https://a.org/x/y") == ""


@pytest.mark.parametrize("href", ["\u017fx:y", "http\u017f://b.org/", "\u212a:x"])
def test_what_begins_with_a_letter_outside_ascii_is_relative(href: str) -> None:
    """A long s is an s to whoever does not look at case."""
    linker = Linker(NormalForm(), KEYS)

    for base in ("https://a.org/x/", "https://a.org/y/"):
        found = linker.resolve(base, href)
        assert found is not None
        assert found[0] == NormalForm().find(href, base)


@pytest.mark.parametrize("form", [NormalForm(), CLEAN])
def test_an_empty_link_of_a_page_in_canonical_form_is_the_page(form: NormalForm) -> None:
    linker, url = Linker(form, KEYS), "https://a.org/x?y=/z"
    linker.places(url, is_canonical=True)

    assert linker.learn("") == (url, KEYS.of(url)) == Linker(form, KEYS).resolve(url, "")
    assert linker.learn("?w") == Linker(form, KEYS).resolve(url, "?w")


def test_all_fragments_of_a_page_are_resolved_once() -> None:
    form = CountingForm()
    linker = Linker(form, KEYS)

    found = {linker.resolve("https://a.org/x?y", href) for href in ("#a", "#b", "", " #c")}

    assert found == {("https://a.org/x?y", KEYS.of("https://a.org/x?y"))}
    assert asked(form) == 1


def test_a_base_with_fragment_and_password_is_taken_as_the_page_it_names() -> None:
    linker = Linker(NormalForm(), KEYS)

    assert linker.resolve("HTTPS://me:pw@A.org/x/y#z", "#w") == (
        "https://a.org/x/y",
        KEYS.of("https://a.org/x/y"),
    )


def test_without_a_usable_base_only_absolute_links_lead_somewhere() -> None:
    linker = Linker(NormalForm(), KEYS)

    assert linker.resolve("about:blank", "x") is None
    assert linker.resolve("about:blank", "https://a.org/") is not None


def test_a_memory_that_is_always_full_still_answers_right() -> None:
    small, form = Linker(NormalForm(), KEYS, remember=4), NormalForm()
    pages = [f"https://a.org/{number % 3}/x" for number in range(60)]

    for number, page in enumerate(pages):
        for href in (f"y{number % 7}", f"/z{number % 5}", f"http://b.org/{number % 11}"):
            found = small.resolve(page, href)
            assert found is not None
            assert found[0] == form.find(href, page)


def test_what_is_in_use_survives_the_change_of_generations() -> None:
    form = CountingForm()
    linker = Linker(form, KEYS, remember=200)

    for number in range(1000):
        linker.resolve("https://a.org/", f"unique;{number}")
        linker.resolve("https://a.org/", "/often;")

    assert asked(form) == 1001


def test_memory_is_bounded() -> None:
    linker = Linker(NormalForm(), KEYS, remember=100)

    for number in range(2000):
        linker.resolve(f"https://a.org/{number}/", f"x{number}")

    assert linker.remembered <= 110


bases = st.builds(
    "{}://{}/{}".format,
    st.sampled_from(["http", "https", "HTTPS"]),
    st.sampled_from(["a.org", "b.org:81", "me@a.org"]),
    st.sampled_from(["", "x", "x/", "x/y", "x/y?z/w", "x/y?a", "x//y;sid=1", "?q", "x#y/z"]),
)
hrefs = st.one_of(
    st.text(alphabet="htps:/\\?#. a\t\n;", max_size=8),
    st.sampled_from(
        [
            "",
            "#",
            "?",
            "?a",
            " ?a",
            "\t#b",
            "x",
            "../x",
            "/x",
            "//b.org",
            "/\t/b.org/",
            "\\\\b.org",
            "http:x",
            "https:x",
            "HTTP:x",
            "http:/x",
            "http:\\\\x",
            "mailto:x",
            "ftp:x",
            " /x",
            "https://b.org/x;sid=2",
            ".",
            "..",
            "./?x",
            "\x00/x",
            "javascript:x",
            "a:b",
            "1:b",
        ]
    ),
)


@given(st.lists(st.tuples(bases, hrefs), max_size=30), st.sampled_from([NormalForm(), CLEAN]))
def test_remembering_never_changes_an_answer(
    links: list[tuple[str, str]], form: NormalForm
) -> None:
    linker = Linker(form, KEYS, remember=20)

    for base, href in links + links:
        found = linker.resolve(base, href)

        assert (found and found[0]) == form.find(href, base)


@given(
    href=st.from_regex(r"(\.\./){0,4}/?([a-zA-Z0-9_~.%@!+=*-]{1,5}/){0,3}[a-zA-Z0-9_.~%2e-]{0,5}"),
    base=st.sampled_from(
        (
            "http://h.org/",
            "http://h.org/a",
            "http://h.org/a/b/c?x=/y/",
            "https://h.org:8/a/b/c/d/",
            "http://h.org/a;sid=1/b/c",
        )
    ),
    form=st.sampled_from((NormalForm(), CLEAN)),
)
def test_a_plain_link_leads_where_the_standard_says(href: str, base: str, form: NormalForm) -> None:
    href = href.strip()
    resolved = Linker(form, KEYS).resolve(base, href)

    assert (resolved and resolved[0]) == form.find(href, base)


@given(
    st.sampled_from(["http://", "https://", "HTTP://", "http:/"]),
    st.sampled_from(
        [
            "a.com",
            "xn--a.com",
            "a.xn--p1ai",
            "a-b.co.uk",
            "1.2.3.4",
            "a.b1",
            "-a.com",
            "a.com.",
            "a",
        ]
    ),
    st.sampled_from(["/", "/x", "", ":80/", "/a/../", "/./", "/x?"]),
    st.text("abx019-._~!$&'()*+,=@%/?:;2eE A#é\\[{|<\"^`\t", max_size=8),
    st.sampled_from([NormalForm(), CLEAN]),
)
def test_an_absolute_link_leads_where_the_standard_says(
    scheme: str, host: str, path: str, rest: str, form: NormalForm
) -> None:
    href = scheme + host + path + rest

    found = Linker(form, Keys(bytes(16))).resolve("http://h.example/d/p", href)

    assert (found and found[0]) == form.find(href, "http://h.example/d/p")

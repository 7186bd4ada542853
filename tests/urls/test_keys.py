"""Keys: one range per host, no collisions to craft."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.urls.canonical import NormalForm, host_of
from gossamer.urls.keys import KEY_BYTES, Keys

SALT = bytes(range(16))
FORM = NormalForm()

hosts = st.sampled_from(["a.org", "b.org", "a.org.b.org", "[::1]", "1.2.3.4"])
urls = st.builds(
    "{}://{}{}/{}".format,
    st.sampled_from(["http", "https", "HTTP"]),
    hosts,
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.text(alphabet="ab/?.:#", max_size=5),
)


@given(urls, urls)
def test_two_urls_have_one_key_exactly_when_they_have_one_spelling(one: str, other: str) -> None:
    first, second = FORM.find(one), FORM.find(other)
    assert first is not None
    assert second is not None
    keys = Keys(SALT)

    assert (keys.of(first) == keys.of(second)) == (first == second)


@given(urls)
def test_a_host_is_one_range_of_keys(text: str) -> None:
    url = FORM.find(text) or ""
    keys = Keys(SALT)

    assert keys.of(url)[:8] == keys.host(host_of(url))
    assert len(keys.of(url)) == KEY_BYTES


def test_http_and_https_and_all_ports_of_a_host_lie_in_one_range() -> None:
    keys = Keys(SALT)
    spellings = ("http://a.org/", "https://a.org/", "http://a.org:8080/", "https://a.org/b?c")

    assert len({keys.of(url)[:8] for url in spellings}) == 1
    assert len({keys.of(url) for url in spellings}) == 4


def test_another_collection_has_other_keys() -> None:
    mine, yours = Keys(SALT), Keys(bytes(16))

    assert mine.of("http://a.org/")[:8] != yours.of("http://a.org/")[:8]
    assert mine.of("http://a.org/")[8:] != yours.of("http://a.org/")[8:]


def test_all_who_share_the_salt_share_the_keys_for_ever() -> None:
    # Written down: another value would make every stored collection unreadable.
    assert Keys(SALT).of("https://example.org/a?b").hex() == "809b5509fae1380ebe9c0b46aac40aff"


def test_forgetting_hosts_changes_no_key() -> None:
    keys = Keys(SALT)
    before = keys.of("http://first.org/")

    for number in range(50_001):
        keys.host(f"h{number}.org")

    assert keys.of("http://first.org/") == before


def test_a_salt_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="16 bytes, not 3"):
        Keys(b"abc")

"""What differs at each visit by nature is masked; what may be content is not."""

from __future__ import annotations

from datetime import UTC, datetime
from time import process_time

import pytest

from gossamer.policies.masks import MASK, is_masked, mask, mask_link
from support.rows import each_row

THEN = datetime(2026, 11, 10, 9, 12, 44, tzinfo=UTC)
NOW = datetime(2026, 11, 18, 22, 41, 7, tzinfo=UTC)


def us(moment: datetime) -> int:
    return round(moment.timestamp() * 1e6)


def collapsed(text: str, moment: datetime) -> list[str]:
    """The words that are compared, with adjacent masked ones as one."""
    words = mask(text, us(moment)).split()
    return [w for n, w in enumerate(words) if not (n and is_masked(w) and is_masked(words[n - 1]))]


@each_row(
    ("old", "new"),
    [
        ("Posted 3 hours ago by Ann", "Posted 8 days ago by Ann"),
        ("changed just now", "changed 2 minutes ago"),
        ("(vor 5 Minuten)", "(vor 2 Tagen)"),
        ("il y a 2 heures", "il y a 8 jours"),
        ("hace 3 horas", "hace 8 días"),
        ("Today is 2026-11-10", "Today is 2026-11-18"),
        ("10 November 2026", "18 November 2026"),
        ("Tuesday, 10 November 2026", "Wednesday, 18 November 2026"),
        ("Nov 10, 2026", "Nov 18, 2026"),
        ("Dienstag, 10. November 2026", "Mittwoch, 18. November 2026"),
        ("10.11.2026 09:12", "18.11.2026 22:41"),
        ("11/10/2026", "11/18/2026"),
        ("made 2026-11-10T09:12:44Z", "made 2026-11-18T22:41:06Z"),
        ("it is 10:12 Uhr", "it is 23:41 Uhr"),  # another time zone
        ("stamp 1794301964", "stamp 1795041667"),
        ("© 2026 Museum", "© 2026 Museum"),
        ("Page generated in 0.031 s", "Page generated in 1.2 s"),
        ("12 queries in 4 ms, rendered", "9 queries in 31 ms, rendered"),
        ("1,204 views", "1,377 views"),
        ("Visitors: 99", "Visitors: 100"),
        ("You are visitor number 12345", "You are visitor number 12398"),
        ("3 users online", "14 users online"),
        ("Besucher: 17", "Besucher: 1.023"),
        ("read 40 times", "read 41 times"),
        ("id 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "id 9b2c04e0-4f89-11d3-9a0c-0305e82c3302"),
        ("nonce 9f86d081884c7d659a2f", "nonce 60303ae22b998861bce3"),
        ("key aGVsbG8gd29ybGQ0OTIzMjM4Nzk4", "key Zm9vYmFyOTg3NjU0MzIxMTIzNDU2"),
    ],
)
def test_noise_of_two_visits_is_the_same_when_masked(old: str, new: str) -> None:
    assert collapsed(old, THEN) == collapsed(new, NOW)
    assert MASK in mask(new, us(NOW))
    assert len(mask(new, us(NOW)).split()) == len(new.split())


@each_row(
    ("old", "new"),
    [
        ("Concert on 5 June 2027", "Concert on 7 June 2027"),
        ("Price: 12.99 €", "Price: 14.99 €"),
        ("open 10:00 to 17:00", "open 10:00 to 18:00"),
        ("Cook for 10 seconds", "Cook for 20 seconds"),
        ("Version 3.1", "Version 3.2"),
        ("a licence for 5 users", "a licence for 10 users"),
        ("ISBN 9783161484100", "ISBN 9783161484117"),
        ("founded in 1998", "founded in 1989"),
        ("the day before yesterday", "the day after tomorrow"),
        ("internationalization", "internationalisation"),
    ],
)
def test_what_may_be_content_is_not_masked(old: str, new: str) -> None:
    assert mask(old, us(THEN)) != mask(new, us(NOW))
    assert MASK not in mask(new, us(NOW))


@each_row(
    ("old", "new"),
    [
        ("/a?token=8f3a91", "/a?token=77bc02"),
        ("/style.css?v=17", "/style.css?v=18"),
        ("/a;jsessionid=AB12CD34", "/a;jsessionid=FF00AA11"),
        ("/img/9f86d081884c7d659a2f.png", "/img/60303ae22b998861bce3.png"),
    ],
)
def test_tokens_in_links_are_masked(old: str, new: str) -> None:
    assert mask_link(old) == mask_link(new) != old


@pytest.mark.parametrize(("old", "new"), [("/a?id=5", "/a?id=6"), ("/2026/11/1", "/2026/11/2")])
def test_links_to_other_pages_differ(old: str, new: str) -> None:
    assert mask_link(old) != mask_link(new)


@each_row(
    "line",
    [
        "1" * 2_000,
        "1,234 " * 330,
        "a1 " * 660,
        "© " * 1_000,
        "11 novemberx " * 150,
        "vor 1 " * 330,
        "aB3" * 660,
        "12:34 " * 330,
        "1 000 " * 330 + "x",
    ],
)
def test_a_line_made_to_be_slow_is_masked_at_once(line: str) -> None:
    began_s = process_time()
    for _ in range(20):
        mask(line, us(NOW))

    assert process_time() - began_s < 1.0

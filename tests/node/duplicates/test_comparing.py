"""Pages compared beside a crawl: whatever order they come in, the result is that of one pass."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from frontier.frontier_model import found, judge, lease_of, report_of
from gossamer.duplicates.sketch import sketch_of
from gossamer.frontier.duplicates.pointers import all_pointers
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import Standing, UrlRow, time_key
from gossamer.frontier.store import MemoryStore, StateTable, walk
from gossamer.node.duplicates.background import apply, compare_all
from gossamer.node.duplicates.comparing import Comparing
from gossamer.policies.duplicates import GroupedDuplicates
from gossamer.policies.policies import Policies
from gossamer.records import Outcome
from gossamer.settings import Frontier as FrontierSettings

BASES = {
    name: "".join(f"<p>{name} says {n * 7919 % 1009}</p>" for n in range(120)) for name in "ab"
}
# Versions of a page: neighbours are similar, those far apart are not.
CONTENTS = {
    f"{name}{step}": (base[: -160 * step or None] + f"<p>{name} changed in step {step}</p>" * step)
    for name, base in BASES.items()
    for step in range(4)
}


class Crawl:
    """A crawl of pages in memory."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.html: dict[bytes, bytes] = {}
        self.open()

    def open(self) -> None:
        """Start, or start again after a kill."""
        policies = Policies(duplicates=GroupedDuplicates("html95"))
        self.frontier = Frontier(self.store, FrontierSettings(), judge, policies=policies)
        self.comparing = Comparing(self.store, self.html.get, 0.95)

    def fetch(self, page: int, content: str, at_us: int, status: int = 200) -> None:
        url = f"http://a.example/{page}"
        html = CONTENTS[content].encode()
        report = report_of(lease_of(url), Outcome.FETCHED, at_us)
        self.frontier.admit([found(url)], at_us)
        sketch = b"<" + sketch_of(html) if status == 200 else b""
        self.html[time_key(at_us) + report.lease.key] = html
        self.frontier.report(
            structs.replace(
                report, status=status, size_bytes=len(html), digest="sha1:" + content, sketch=sketch
            )
        )

    def commit(self) -> None:
        changes = self.frontier.begin_commit()
        self.store.write(changes)
        self.frontier.end_commit(changes)

    def compare(self, until_us: int) -> None:
        """As a running crawl does: pages that are not committed by now are of the next time."""
        self.frontier.duplicates.judged_us = max(self.frontier.duplicates.judged_us, until_us)
        self.commit()
        apply(self.frontier, self.comparing.run(until_us))

    def compare_all(self) -> dict[bytes, bytes]:
        self.commit()
        compare_all(self.comparing, self.frontier, self.commit)
        return self.pointers()

    def pointers(self) -> dict[bytes, bytes]:
        return {key: row.first for key, row in all_pointers(self.store)}

    def rebuilt(self) -> dict[bytes, bytes]:
        """The pointers of a crawl that fetched the present pages only, once, in their order."""
        other = Crawl()
        rows = [UrlRow.decode(row) for _, row in walk(self.store, StateTable.URL)]
        for row in sorted(rows, key=lambda one: one.at_us):
            if row.standing == Standing.FETCHED and row.status == 200:
                number = int(row.url.rsplit("/", 1)[1])
                other.fetch(number, row.digest.removeprefix("sha1:"), row.at_us)
        return other.compare_all()


def key_of(page: int) -> bytes:
    return found(f"http://a.example/{page}").key


def test_a_page_points_to_the_first_that_is_similar() -> None:
    crawl = Crawl()
    for page, content in enumerate(["a0", "b0", "a1", "a0", "a3", "b1"]):
        crawl.fetch(page, content, page + 1)

    assert crawl.compare_all() == {
        key_of(2): key_of(0),
        key_of(3): key_of(0),
        key_of(5): key_of(1),
    }
    row = dict(all_pointers(crawl.store))[key_of(2)]
    assert row.mode == "html95"
    assert 0.95 <= row.similarity < 1
    assert crawl.frontier.counts.duplicates == 3


def test_when_a_first_page_changes_those_that_point_to_it_are_judged_again() -> None:
    crawl = Crawl()
    for page in range(3):
        crawl.fetch(page, "a0", page + 1)
    crawl.compare_all()
    crawl.fetch(0, "b0", 10)

    assert crawl.compare_all() == {key_of(2): key_of(1)}
    crawl.fetch(0, "a0", 11)
    assert crawl.compare_all() == {key_of(2): key_of(1), key_of(0): key_of(1)}


def test_after_a_kill_pages_that_were_not_compared_are_compared() -> None:
    crawl = Crawl()
    crawl.fetch(0, "a0", 1)
    crawl.compare(5)
    crawl.commit()
    crawl.fetch(1, "a1", 6)
    crawl.commit()
    crawl.open()

    assert crawl.compare_all() == {key_of(1): key_of(0)}


STEPS = st.one_of(
    st.tuples(st.just("fetch"), st.integers(0, 7), st.sampled_from(sorted(CONTENTS))),
    st.tuples(st.just("late"), st.integers(0, 7), st.sampled_from(sorted(CONTENTS))),
    st.tuples(st.just("gone"), st.integers(0, 7), st.just("a0")),
    st.sampled_from([("commit",), ("compare",), ("all",), ("kill",)]),
)


@given(st.lists(STEPS, max_size=25))
def test_whatever_happens_the_pointers_are_those_of_a_rebuilt_state(
    steps: list[tuple[object, ...]],
) -> None:
    crawl = Crawl()
    for number, step in enumerate(steps):
        at_us = 1000 + 10 * number
        match step:
            case ("fetch", int(page), str(content)):
                crawl.fetch(page, content, at_us)
            case ("late", int(page), str(content)):
                crawl.fetch(page, content, at_us - 95)
            case ("gone", int(page), str(content)):
                crawl.fetch(page, content, at_us, status=404)
            case ("commit",):
                crawl.commit()
            case ("compare",):
                crawl.compare(at_us - 20)
            case ("all",):
                crawl.compare_all()
            case _:
                crawl.open()

    assert crawl.compare_all() == crawl.rebuilt()
    assert crawl.frontier.counts.duplicates == len(crawl.pointers())

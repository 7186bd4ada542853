"""A host: which queue it belongs in after every event, and who may change it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import gossamer.schedule.host as host_module
from gossamer.politeness.pace import HostPace
from gossamer.records import Reason
from gossamer.schedule.host import Host, RobotsFetch, SitemapFetch
from gossamer.schedule.moves import Move, Queue, QueuedHost
from gossamer.settings import Politeness
from support.rows import each_row

NOW_S = 100.0
POLITENESS = Politeness()
ORIGIN = "http://a.example"
FETCH = RobotsFetch("http://b.example", "http://a.example/robots.txt", b"b", 1)
SITEMAP = SitemapFetch(f"{ORIGIN}/sitemap.xml", f"{ORIGIN}/robots.txt")

# -- the table in the docstring


def idle() -> Host:
    host = Host(b"a", "a.example", POLITENESS)
    host.addresses_found(("192.0.2.1", "192.0.2.2"), NOW_S + 1000)
    return host


def delayed() -> Host:
    host = idle()
    host.delayed_until(NOW_S + 5)
    return host


def full() -> Host:
    host = idle()
    host.leased(1)
    return host


def resolving() -> Host:
    host = idle()
    host.name_requested()
    return host


def waiting_for_robots() -> Host:
    host = idle()
    host.robots_needed(ORIGIN)
    host.robots_fetch_taken()
    host.leased(1)
    return host


def given_up() -> Host:
    host = idle()
    host.given_up(Reason.CONNECT, "no connection")
    return host


STATES: dict[str, Callable[[], Host]] = {
    "IDLE": idle,
    "READY": idle,
    "DELAYED": delayed,
    "FULL": full,
    "NAME": resolving,
    "ROBOTS": waiting_for_robots,
    "GIVEN_UP": given_up,
}
EVENTS: dict[str, Callable[[Host], object]] = {
    "restored": lambda h: h.restored(crawl_delay_s=0.0, busy_in_a_row=0, free_at_s=NOW_S + 9),
    "named": lambda h: h.named("a.example", "a.example"),
    "name_requested": lambda h: h.name_requested(),
    "name_answered": lambda h: h.name_answered(must_be_public=False),
    "addresses_found": lambda h: h.addresses_found(("192.0.2.1",), NOW_S + 9),
    "opened": lambda h: h.opened(is_open=True),
    "address_failed": lambda h: h.address_failed("192.0.2.1"),
    "reached": lambda h: h.reached(),
    "turn_taken": lambda h: h.turn_taken(by_page=True),
    "leased": lambda h: h.leased(2),
    "answered": lambda h: h.answered(NOW_S, 0.1),
    "busy": lambda h: h.busy(NOW_S, 0.1, 1, 60.0, "status 503"),
    "busy (for days)": lambda h: h.busy(NOW_S, 0.1, 1, 9e6, "status 503"),
    "delayed_until": lambda h: h.delayed_until(NOW_S + 9),
    "hastened": lambda h: h.hastened(NOW_S),
    "faulted": lambda h: h.faulted(Reason.CONNECT, is_new=True),
    "given_up": lambda h: h.given_up(Reason.DNS, "no such name"),
    "emptied": lambda h: h.emptied(),
    "robots_needed": lambda h: h.robots_needed(ORIGIN),
    "robots_fetch_added": lambda h: h.robots_fetch_added(FETCH),
    "robots_failed": lambda h: h.robots_failed(),
    "robots_known": lambda h: h.robots_known(0.0, NOW_S),
    "robots_known (5 s)": lambda h: h.robots_known(5.0, NOW_S),
    "rules_entered": lambda h: h.rules_entered(0.0),
    "sitemap_added": lambda h: h.sitemap_added(SITEMAP),
}
# They take back what an event of the table gave, and change nothing without it.
INVERSE = {"robots_fetch_taken", "robots_fetches_dropped", "sitemap_taken"}


def queue_after(state: str, event: str) -> str:
    host = STATES[state]()
    EVENTS[event](host)
    return host.move(NOW_S, lambda _: None if state == "IDLE" else b"key").queue.name


def table() -> dict[str, list[str]]:
    """The rows of the table in the docstring, by event."""
    text = host_module.__doc__ or ""
    lines = iter(text.splitlines())
    head = next(line for line in lines if line.split()[:1] == ["event"])
    assert head.split()[1:] == list(STATES)
    rows = {}
    for line in lines:
        if not line.strip():
            break
        cells = line.split()[-len(STATES) :]
        rows[" ".join(line.split()[: -len(STATES)])] = cells
    return rows


@each_row("state", STATES)
def test_the_states_of_the_table_are_what_they_are_called(state: str) -> None:
    move = STATES[state]().move(NOW_S, lambda _: None if state == "IDLE" else b"key")

    assert move.queue.name == state


@each_row("event", EVENTS)
def test_every_event_in_every_state_leads_to_the_queue_of_the_table(event: str) -> None:
    assert [queue_after(state, event) for state in STATES] == table()[event]


def test_the_table_has_every_event_of_a_host() -> None:
    source = ast.parse(Path(host_module.__file__).read_text(encoding="utf-8"))
    text = Path(host_module.__file__).read_text(encoding="utf-8")
    first_event = text[: text.index("# -- Events")].count("\n")
    (cls,) = (n for n in source.body if isinstance(n, ast.ClassDef) and n.name == "Host")
    methods = {
        n.name for n in cls.body if isinstance(n, ast.FunctionDef) and n.lineno > first_event
    }

    assert {event.split()[0] for event in table()} == methods - INVERSE
    assert set(table()) == set(EVENTS)


# -- details of a move


def test_a_host_that_asked_for_days_is_given_up_with_its_words() -> None:
    host = idle()
    host.busy(NOW_S, 0.1, 1, 9e6, "status 503, Retry-After: 9000000")

    assert host.move(NOW_S, lambda _: b"key").queue is Queue.GIVEN_UP
    assert host.why_given_up == (Reason.BUSY, "status 503, Retry-After: 9000000")


def test_a_sitemap_waits_under_the_empty_key_and_a_page_under_its_own() -> None:
    host = idle()
    host.sitemap_added(SITEMAP)

    assert host.move(NOW_S, lambda _: None) == Move(Queue.READY, key=b"")
    assert host.move(NOW_S, lambda _: b"key") == Move(Queue.READY, key=b"key")


def test_sitemaps_and_pages_take_turns() -> None:
    host = idle()
    host.sitemap_added(SITEMAP)
    assert not host.is_sitemap_next(has_page=True)
    assert host.is_sitemap_next(has_page=False)

    host.turn_taken(by_page=True)
    assert host.is_sitemap_next(has_page=True)

    host.turn_taken(by_page=False)
    assert not host.is_sitemap_next(has_page=True)


def test_leases_in_flight_together_count_as_one_trouble() -> None:
    host = idle()
    host.leased(7)
    host.leased(8)
    assert not host.was_in_flight(7)

    host.faulted(Reason.CONNECT, is_new=True)

    assert host.was_in_flight(7)
    assert host.was_in_flight(8)
    assert not host.was_in_flight(9)


# -- one owner

SCHEDULE = Path(host_module.__file__).parent
OWN = {*Host.__slots__} - {"key", "name", "is_typed"}
QUEUED = {*QueuedHost.__slots__} - {"site"}
LISTS = {"robots_fetches", "sitemaps"}
PACE = {name for name, value in vars(HostPace).items() if callable(value)} - {"may_request"}


def writes(path: Path) -> set[str]:
    """Names of attributes that a file writes on anything but `self` and rows, fills or empties."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Attribute):
            continue
        target = node.value
        is_other = not isinstance(target, ast.Name) or target.id not in ("self", "row")
        if isinstance(node.ctx, ast.Store) and is_other:
            found.add(node.attr)
        inner = target.attr if isinstance(target, ast.Attribute) else ""
        if inner in LISTS and node.attr in ("append", "pop", "insert", "extend", "clear", "remove"):
            found.add(inner)
        if inner == "pace" and node.attr in PACE:
            found.add("pace")
    return found


@each_row("path", sorted(SCHEDULE.glob("*.py")))
def test_only_a_host_writes_its_state_and_only_the_queues_write_its_place(path: Path) -> None:
    written = writes(path)
    if path.name != "host.py":
        allowed = {"pace"} if path.name == "host_queues.py" else set()  # that of an address
        assert not written & OWN - allowed
    if path.name != "host_queues.py":
        assert not written & QUEUED


ROW = {"free_us", "faults", "busy", "trouble", "crawl_delay_s", "name"}


def rows_written(path: Path) -> set[str]:
    """Names of attributes that a file writes on `row`, or on the row that `touch` gave."""
    return {
        node.attr
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and (ast.unparse(node.value) == "row" or ".touch(" in ast.unparse(node.value))
    }


@each_row("path", sorted(SCHEDULE.glob("*.py")))
def test_only_the_host_cache_writes_the_rows_of_hosts(path: Path) -> None:
    written = rows_written(path)

    assert written == ROW if path.name == "host_cache.py" else not written


# -- a model: any events in any order


class HostModel(RuleBasedStateMachine):
    """Random events; what must hold of a host at every moment."""

    def __init__(self) -> None:
        super().__init__()
        self.host = Host(b"a", "a.example", POLITENESS, is_typed=True)
        self.now_s = 0.0
        self.number = 0
        self.in_flight: list[int] = []
        self.free_at_s = 0.0  # the longest delay that was asked for
        self.has_page = False
        self.fetches = 0

    @property
    def move(self) -> Move:
        return self.host.move(self.now_s, lambda _: b"key" if self.has_page else None)

    @rule(seconds=st.floats(0.0, 100.0))
    def pass_time(self, seconds: float) -> None:
        self.now_s += seconds

    @rule()
    def queue_or_empty(self) -> None:
        self.has_page = not self.has_page

    @precondition(lambda self: self.move.queue is Queue.READY)
    @rule()
    def lease(self) -> None:
        if self.host.robots_fetches:
            self.host.robots_fetch_taken()
            self.fetches -= 1
        elif self.host.is_sitemap_next(has_page=self.has_page):
            self.host.sitemap_taken()
            self.host.turn_taken(by_page=False)
            self.fetches -= 1
        else:
            self.host.turn_taken(by_page=True)
        self.number += 1
        self.host.leased(self.number)
        self.in_flight.append(self.number)

    @precondition(lambda self: self.in_flight)
    @rule(took_s=st.floats(0.0, 10.0))
    def answer(self, took_s: float) -> None:
        self.in_flight.pop()
        self._delay(self.now_s + self.host.delay_after(took_s))
        self.host.answered(self.now_s, took_s)

    @precondition(lambda self: self.in_flight)
    @rule(wait_s=st.sampled_from([0.0, 5.0, 300.0, 9e6]))
    def say_busy(self, wait_s: float) -> None:
        number = self.in_flight.pop()
        self._delay(self.now_s + wait_s)
        self.host.busy(self.now_s, 0.1, number, wait_s, "status 503")

    @precondition(lambda self: self.move.queue is Queue.READY)
    @rule()
    def request_name(self) -> None:
        self.host.name_requested()

    @precondition(lambda self: self.host.is_resolving)
    @rule(is_found=st.booleans(), is_open=st.booleans())
    def answer_name(self, *, is_found: bool, is_open: bool) -> None:
        self.host.name_answered(must_be_public=False)
        if is_found:
            self.host.addresses_found(("192.0.2.1",), self.now_s + 10)
            self.host.opened(is_open=is_open)
        else:
            self.host.faulted(Reason.DNS, is_new=True)
            self.host.delayed_until(self.now_s + 60)
            self._delay(self.now_s + 60)

    @precondition(lambda self: self.move.queue is Queue.READY)
    @rule()
    def need_robots(self) -> None:
        self.host.robots_needed(ORIGIN)
        self.fetches += 1

    @precondition(lambda self: self.host.waits_for_robots)
    @rule(delay_s=st.sampled_from([0.0, 5.0]))
    def know_robots(self, delay_s: float) -> None:
        self.host.robots_known(delay_s, self.now_s)
        self._delay(self.now_s + delay_s)

    @rule()
    def add_fetch(self) -> None:
        self.host.sitemap_added(SITEMAP)
        self.fetches += 1

    @rule()
    def give_up(self) -> None:
        self.host.given_up(Reason.PRIVATE, "it is private")

    @precondition(lambda self: self.move.queue is Queue.GIVEN_UP)
    @rule()
    def empty(self) -> None:
        self.fetches -= len(self.host.robots_fetches_dropped()) + len(self.host.sitemaps)
        while self.host.sitemaps:
            self.host.sitemap_taken()
        self.has_page = False
        self.host.emptied()

    def _delay(self, until_s: float) -> None:
        self.free_at_s = max(self.free_at_s, until_s)

    @invariant()
    def no_delay_is_cut_short(self) -> None:
        assert self.host.pace.free_at_s >= self.free_at_s - 1e-6

    @invariant()
    def requests_in_flight_are_counted(self) -> None:
        assert self.host.pace.under_way == len(self.in_flight)

    @invariant()
    def fetches_are_neither_lost_nor_doubled(self) -> None:
        assert len(self.host.robots_fetches) + len(self.host.sitemaps) == self.fetches

    @invariant()
    def a_ready_host_may_be_requested(self) -> None:
        if self.move.queue is Queue.READY:
            host = self.host
            assert host.verdict is None
            assert not host.is_resolving
            assert self.now_s >= self.free_at_s - 1e-6
            assert len(self.in_flight) < max(1, POLITENESS.per_host)

    @invariant()
    def a_host_with_work_is_never_idle(self) -> None:
        if self.move.queue is Queue.IDLE:
            assert not self.has_page
            assert not self.fetches

    @invariant()
    def time_or_an_event_that_is_owed_moves_it_on(self) -> None:
        queue, until_s, _ = self.move
        if queue is Queue.DELAYED:
            assert until_s > self.now_s
            later = self.host.move(until_s, lambda _: b"key")
            assert later.queue in (Queue.READY, Queue.GIVEN_UP)
        elif queue is Queue.FULL:
            assert self.in_flight


TestHostModel = HostModel.TestCase
TestHostModel.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)

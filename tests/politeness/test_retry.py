from gossamer.politeness.retry import RETRY, retries_of, wait_before_retry
from gossamer.records import Reason
from gossamer.settings import Politeness
from support.rows import each_row

REFUSALS = frozenset(
    {
        *(Reason.SCOPE, Reason.DEPTH, Reason.BANNED, Reason.ROBOTS, Reason.NOFOLLOW, Reason.TYPE),
        *(Reason.SIZE, Reason.TRAP, Reason.UNSAFE, Reason.BUDGET, Reason.PRIVATE, Reason.PORT),
        *(Reason.REDIRECTS, Reason.MALFORMED, Reason.CONTACT),
    }
)
FAILURES = tuple(reason for reason in Reason if reason not in REFUSALS)
USUAL = Politeness()


@each_row("reason", FAILURES)
def test_every_failure_has_a_row_that_ends(reason: Reason) -> None:
    retries = retries_of(reason, USUAL)

    assert retries <= 5
    assert wait_before_retry(reason, retries, USUAL) is None


def test_the_wait_doubles() -> None:
    waits = [wait_before_retry(Reason.CONNECT, tries, USUAL) for tries in range(4)]

    assert waits == [30.0, 60.0, 120.0, None]


def test_retries_and_their_waits_are_settings() -> None:
    chosen = Politeness(retries=1, busy_retries=2, retry_wait_s=6.0)

    assert [wait_before_retry(Reason.CONNECT, n, chosen) for n in range(2)] == [6.0, None]
    assert [wait_before_retry(Reason.RESET, n, chosen) for n in range(2)] == [2.0, None]
    assert [wait_before_retry(Reason.BUSY, n, chosen) for n in range(3)] == [12.0, 24.0, None]
    assert wait_before_retry(Reason.TIMEOUT, 0, Politeness(retries=0)) is None


@each_row("reason", sorted(REFUSALS))
def test_a_refusal_is_never_tried_again(reason: Reason) -> None:
    assert reason not in RETRY
    assert wait_before_retry(reason, 0, USUAL) is None

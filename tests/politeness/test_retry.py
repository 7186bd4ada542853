import pytest

from gossamer.politeness.retry import RETRY, wait_before_retry
from gossamer.records import Reason

REFUSALS = frozenset(
    {
        *(Reason.SCOPE, Reason.DEPTH, Reason.BANNED, Reason.ROBOTS, Reason.NOFOLLOW, Reason.TYPE),
        *(Reason.SIZE, Reason.TRAP, Reason.UNSAFE, Reason.BUDGET, Reason.PRIVATE, Reason.PORT),
        *(Reason.REDIRECTS, Reason.MALFORMED, Reason.CONTACT),
    }
)
FAILURES = tuple(reason for reason in Reason if reason not in REFUSALS)


@pytest.mark.parametrize("reason", FAILURES)
def test_every_failure_has_a_row_that_ends(reason: Reason) -> None:
    assert wait_before_retry(reason, tries=RETRY[reason].tries) is None
    assert RETRY[reason].tries <= 5


def test_the_wait_doubles() -> None:
    waits = [wait_before_retry(Reason.CONNECT, tries) for tries in range(4)]

    assert waits == [30.0, 60.0, 120.0, None]


@pytest.mark.parametrize("reason", sorted(REFUSALS))
def test_a_refusal_is_never_tried_again(reason: Reason) -> None:
    assert reason not in RETRY
    assert wait_before_retry(reason, tries=0) is None

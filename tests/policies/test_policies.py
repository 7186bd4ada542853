"""The policies of a crawl as one value, and the simplest of each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policies.duplicates import Duplicates, ExactDuplicates, NoDuplicates
from gossamer.policies.order import BreadthFirst
from gossamer.policies.partition import OnePartition, Partition
from gossamer.policies.policies import Policies
from gossamer.policies.stop import Allowance, Stop
from gossamer.settings import Limits


def test_without_a_choice_each_policy_is_the_simplest() -> None:
    policies = Policies()

    assert isinstance(policies.order, BreadthFirst)
    assert policies.duplicates.mode == "exact"
    assert policies.partition.count == 1
    assert policies.stop.reached(fetched=10**9, bytes_had=10**15, ran_s=1e9) == ""


def test_two_runs_do_not_share_what_they_have_promised() -> None:
    one, other = Policies(), Policies()

    one.stop.matches += 1

    assert other.stop.matches == 0


@given(st.binary(min_size=16, max_size=16))
def test_one_partition_owns_every_url(key: bytes) -> None:
    policy: Partition = OnePartition()

    assert policy.owner_of(key, "http://a.example/") == policy.own


@pytest.mark.parametrize(
    ("status", "size_bytes", "digest"), [(404, 9, "sha1:A"), (200, 0, "sha1:A"), (200, 9, "")]
)
def test_an_answer_without_a_page_is_no_duplicate(
    status: int, size_bytes: int, digest: str
) -> None:
    assert ExactDuplicates().group(status, size_bytes, digest, b"") == b""


def test_the_same_body_has_the_same_group_in_every_version() -> None:
    policy: Duplicates = ExactDuplicates()

    assert policy.group(200, 9, "sha1:ABCDEFGH", b"") == b"=ABCDEFGH"
    assert policy.group(200, 10, "sha1:ABCDEFGH", b"") == b"=ABCDEFGH"
    assert policy.group(200, 9, "sha1:ABCDEFGI", b"") == b"=ABCDEFGI"
    assert policy.group(200, 9, "sha1:ABCDEFGI", b"F") == b""


def test_where_duplicates_are_not_counted_no_page_has_a_group() -> None:
    policy: Duplicates = NoDuplicates()

    assert policy.group(200, 9, "sha1:A", b"") == b""


def test_the_limits_of_a_crawl_are_a_policy_to_stop() -> None:
    policy: Stop = Allowance(Limits(max_pages=1))

    assert policy.reached(fetched=1, bytes_had=0, ran_s=0.0) == "max-pages"

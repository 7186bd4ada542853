"""The work of a new unit is compared with that of others, and a fault sets it back."""

import random
from pathlib import Path

import pytest

from gossamer.fleet.hub.faults import UnitRefusal
from gossamer.fleet.hub.trust import chosen_pages, judge_sample, judge_three
from support.a_hub import TestHub, TestUnit, a_hub, notice_of, pages_of, site

URLS = tuple(f"https://example.org/{at}" for at in range(10))
TRUE, FALSE, OTHER = (pages_of(*URLS, text=text) for text in ("true", "false", "other"))


def test_two_units_agree_if_nearly_all_pages_are_the_same() -> None:
    mixed = (*TRUE[:9], FALSE[9])

    assert judge_sample(TRUE, TRUE) == "same"
    assert judge_sample(TRUE, mixed) == "same"
    assert judge_sample(TRUE, (*TRUE[:8], *FALSE[8:])) == "different"
    assert judge_sample(TRUE, TRUE[:5]) == "same"
    assert judge_sample(TRUE, TRUE[:4]) == "unclear"
    assert judge_sample(TRUE, ()) == "unclear"


def test_a_third_unit_decides_who_was_wrong() -> None:
    assert judge_three(FALSE, TRUE, TRUE) == "first"
    assert judge_three(TRUE, FALSE, TRUE) == "second"
    assert judge_three(TRUE, FALSE, OTHER) == "unclear"


def test_only_pages_with_an_answer_are_chosen() -> None:
    chosen = chosen_pages(TRUE, 3, random.Random(1))

    assert len(chosen) == 3
    assert set(chosen) <= set(TRUE)


def a_fleet(tmp_path: Path, *names: str) -> tuple[TestHub, list[TestUnit]]:
    test = a_hub(tmp_path, good_jobs=2, check_share=1.0, check_pages=10)
    units = [test.new_unit(name) for name in names]
    for unit in units:
        unit.poll()
    return test, units


def test_a_package_of_a_new_unit_is_merged_when_another_has_got_the_same_pages(
    tmp_path: Path,
) -> None:
    test, (new, other) = a_fleet(tmp_path, "new", "other")
    test.hub.add_jobs([site("example.org")])
    new.finish(new.ask(), TRUE)

    assert test.pieces.merged == []
    assert new.poll(wants_job=True).job is None
    check = other.ask()
    assert set(check.spec.seeds) == set(URLS)
    other.finish(check, TRUE)

    assert len(test.pieces.merged) == 1
    assert (new.row.good_in_row, new.row.jobs_done) == (1, 1)
    assert test.hub.state.packages["j1-" + test.pieces.merged[0].partition("-")[2]].state == (
        "accepted"
    )


def test_a_unit_that_invents_pages_is_found_and_its_job_is_done_again(tmp_path: Path) -> None:
    test, (liar, two, three) = a_fleet(tmp_path, "liar", "two", "three")
    test.hub.add_jobs([site("example.org")])
    liar.row.good_in_row = 1
    liar.finish(liar.ask(), FALSE)
    two.finish(two.ask(), TRUE)
    assert two.poll(wants_job=True).job is None
    three.finish(three.ask(), TRUE)

    assert test.pieces.merged == []
    assert (liar.row.good_in_row, liar.row.faults, liar.row.jobs_done) == (0, 1, 0)
    job = test.hub.giving.job("j1")
    assert (job.state, job.not_for) == ("unallocated", (liar.row.id,))
    assert liar.poll(wants_job=True).job is None
    assert two.ask().job == "j1"


def test_a_wrong_check_is_a_fault_of_the_checker(tmp_path: Path) -> None:
    test, (honest, liar, three) = a_fleet(tmp_path, "honest", "liar", "three")
    test.hub.add_jobs([site("example.org")])
    honest.finish(honest.ask(), TRUE)
    liar.finish(liar.ask(), FALSE)
    three.finish(three.ask(), TRUE)

    assert (honest.row.good_in_row, honest.row.faults, liar.row.faults) == (1, 0, 1)
    assert len(test.pieces.merged) == 1


def test_pages_that_differ_for_everyone_say_nothing(tmp_path: Path) -> None:
    test, (one, two, three) = a_fleet(tmp_path, "one", "two", "three")
    test.hub.add_jobs([site("example.org")])
    one.finish(one.ask(), TRUE)
    two.finish(two.ask(), FALSE)
    three.finish(three.ask(), OTHER)

    assert [unit.row.faults for unit in (one, two, three)] == [0, 0, 0]
    assert one.row.good_in_row == 0
    assert len(test.pieces.merged) == 1


def test_a_trusted_unit_is_not_checked_and_makes_the_checks(tmp_path: Path) -> None:
    test, (new, other, trusted) = a_fleet(tmp_path, "new", "other", "trusted")
    trusted.row.good_in_row = 2
    test.hub.add_jobs([site("example.org"), site("example.net")])
    new.finish(new.ask(), TRUE)

    job = trusted.ask()
    assert job.spec.name == "check of j1"
    trusted.finish(job, TRUE)
    trusted.finish(trusted.ask(), pages_of("https://example.net/"))
    assert len(test.pieces.merged) == 2
    assert other.poll(wants_job=True).job is None


def test_a_unit_that_is_alone_is_not_checked_and_a_check_that_nobody_makes_ends(
    tmp_path: Path,
) -> None:
    test, (alone,) = a_fleet(tmp_path, "alone")
    test.hub.add_jobs([site("example.org"), site("example.net")])
    alone.finish(alone.ask(), TRUE)
    assert len(test.pieces.merged) == 1
    test.new_unit("other").poll()
    alone.finish(alone.ask(), pages_of("https://example.net/"))
    assert len(test.pieces.merged) == 1

    test.later(3_601)
    test.hub.merge_released()
    assert len(test.pieces.merged) == 2
    assert len(test.hub.state.checks) == 0


def test_a_refused_package_is_a_fault_and_the_job_goes_to_another_unit(tmp_path: Path) -> None:
    test, (bad, other) = a_fleet(tmp_path, "bad", "other")
    test.hub.add_jobs([site("example.org")])
    bad.row.good_in_row = 1
    job = bad.ask()

    with pytest.raises(UnitRefusal) as refused:
        test.hub.take_package(bad.row, notice_of(job.job, job.fence, b"never sent"))

    assert refused.value.status == 422
    assert (bad.row.good_in_row, bad.row.faults) == (0, 1)
    assert bad.poll(wants_job=True).job is None
    assert other.ask().fence == 2

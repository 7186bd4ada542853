"""What a `rel` says."""

from gossamer.parse.relations import relation_of


def test_of_a_rel_without_end_the_beginning_is_read() -> None:
    relation = relation_of("Next " + "x" * 1_000_000)

    assert relation.is_followed
    assert len(relation.words) == 1000

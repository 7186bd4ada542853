"""Which files are merged when: seldom enough to be cheap, often enough to be quick."""

from gossamer.graph.manifest import LinkPart, Manifest, MergedSet
from gossamer.graph.tiers import FAN_IN, MAX_ROWS, RAW_PARTS, RAW_ROWS, next_merge


def parts(count: int, rows: int) -> tuple[LinkPart, ...]:
    return tuple(LinkPart(f"links-{number}.parquet", rows) for number in range(count))


def a_set(number: int, rows: int) -> MergedSet:
    return MergedSet(f"links-m{number}", rows, rows, rows // 100)


def test_a_small_graph_stays_as_it_is() -> None:
    assert next_merge(Manifest()) == []
    assert next_merge(Manifest(parts(3, 200_000))) == []
    assert next_merge(Manifest(parts(4, 200_000)), is_final=True) == []


def test_of_a_million_rows_the_oldest_half_is_merged() -> None:
    names = next_merge(Manifest(parts(10, RAW_ROWS // 10)))

    assert names == [part.name for part in parts(6, RAW_ROWS // 10)]


def test_a_merge_holds_no_more_rows_than_fit_in_memory() -> None:
    assert len(next_merge(Manifest(parts(300, RAW_ROWS // 100)))) == 62


def test_many_small_parts_are_merged_too() -> None:
    assert len(next_merge(Manifest(parts(RAW_PARTS, 100)))) == RAW_PARTS
    assert next_merge(Manifest(parts(RAW_PARTS - 1, 100))) == []


def test_at_the_end_less_will_do() -> None:
    assert len(next_merge(Manifest(parts(RAW_PARTS // 4, 100)), is_final=True)) == RAW_PARTS // 4


def test_a_single_part_is_merged_only_when_it_is_large() -> None:
    assert next_merge(Manifest(parts(1, RAW_ROWS * 3 // 4)), is_final=True) == []
    assert next_merge(Manifest(parts(1, RAW_ROWS * 3))) == ["links-0.parquet"]


def test_a_small_part_before_large_ones_keeps_nobody_waiting() -> None:
    small = LinkPart("links-small.parquet", 100)
    large = parts(3, RAW_ROWS)

    assert next_merge(Manifest((small, *large))) == [small.name, large[0].name]


def test_a_large_graph_is_left_with_few_raw_rows() -> None:
    large = (a_set(1, RAW_ROWS),)

    assert next_merge(Manifest(parts(2, RAW_ROWS // 16), sets=large)) == []
    assert len(next_merge(Manifest(parts(2, RAW_ROWS // 16), sets=large), is_final=True)) == 2


def test_sets_of_a_size_become_one_of_the_next() -> None:
    small = tuple(a_set(number, RAW_ROWS) for number in range(FAN_IN))
    large = a_set(99, RAW_ROWS * FAN_IN)

    assert next_merge(Manifest(sets=(large, *small))) == [merged.name for merged in small]
    assert next_merge(Manifest(sets=(large, *small[1:]))) == []


def test_sets_do_not_grow_for_ever() -> None:
    large = tuple(a_set(number, MAX_ROWS // 2) for number in range(FAN_IN))

    assert next_merge(Manifest(sets=large)) == []


def test_every_graph_comes_to_rest() -> None:
    graph, merges = Manifest(parts(3000, 100_000)), 0
    while names := next_merge(graph, is_final=True):
        rows = sum(part.rows for part in graph.parts if part.name in names)
        rows += sum(merged.rows for merged in graph.sets if merged.name in names)
        graph = graph.with_merged(names, a_set(merges, rows), at_us=0)
        merges += 1

    assert sum(merged.rows for merged in graph.sets) + sum(p.rows for p in graph.parts) == 3 * 10**8
    assert len(graph.sets) < 40

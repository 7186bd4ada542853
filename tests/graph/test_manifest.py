"""The manifest: whole or named as damaged, and the only truth about parts."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import CorruptFile, WrongVersion
from gossamer.graph import manifest
from gossamer.graph.manifest import LinkPart, Manifest

A_PART = LinkPart("links-1.parquet", 12, "w1.warc.gz", 0, 900)
parts = st.builds(
    LinkPart,
    name=st.from_regex(r"[0-9a-z]{1,8}\.parquet", fullmatch=True),
    rows=st.integers(0, 2**40),
    file=st.text(max_size=20),
    start=st.integers(0, 2**50),
    end=st.integers(0, 2**50),
)
manifests = st.builds(
    Manifest,
    parts=st.lists(parts, max_size=5).map(tuple),
    covered=st.dictionaries(st.text(max_size=20), st.integers(0, 2**50)),
)


def test_a_folder_without_a_manifest_has_an_empty_graph(tmp_path: Path) -> None:
    assert manifest.read(tmp_path) == Manifest()


@given(given=manifests)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, given: Manifest
) -> None:
    folder = tmp_path_factory.mktemp("graph")

    manifest.replace(folder, given)

    assert manifest.read(folder) == given


def test_a_part_is_added_with_the_files_that_moved_on() -> None:
    before = Manifest((), {"w1.warc.gz": 100, "w2.warc.gz": 50})

    after = before.with_part(A_PART, {"w1.warc.gz": 900})

    assert after == Manifest((A_PART,), {"w1.warc.gz": 900, "w2.warc.gz": 50})


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version": 1}',
        b'{"version": 1, "parts": [{}], "covered": {}}',
        b'{"version": 1, "parts": [], "covered": {"w": -1}}',
        b'{"version": 1, "parts": [], "covered": []}',
        b'{"version": "1", "parts": [], "covered": {}}',
        b'{"version": 1, "parts": [{"name": "../x.parquet", "rows": 1, "file": "", "start": 0, "end": 0}], "covered": {}}',  # noqa: E501
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_named(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(damage)

    with pytest.raises(CorruptFile, match=r"manifest\.json, byte \d+"):
        manifest.read(tmp_path)


def test_the_place_of_the_damage_is_said(tmp_path: Path) -> None:
    manifest.replace(tmp_path, Manifest((A_PART,), {"w1.warc.gz": 900}))
    whole = (tmp_path / "manifest.json").read_bytes()
    (tmp_path / "manifest.json").write_bytes(whole[:30])

    with pytest.raises(CorruptFile) as caught:
        manifest.read(tmp_path)

    assert caught.value.offset == 30


def test_another_version_is_refused_not_misread(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"version": 3, "links": []}))

    with pytest.raises(WrongVersion, match="has format 3, but this release reads format 2"):
        manifest.read(tmp_path)


def test_parts_that_no_manifest_names_are_deleted_and_nothing_else(tmp_path: Path) -> None:
    for name in (
        "links-1.parquet",
        "links-2.parquet",
        "links-3.parquet.new",
        "notes.txt",
        "ranks-1.parquet",
    ):
        (tmp_path / name).write_bytes(b"x")

    gone = manifest.delete_unlisted(tmp_path, Manifest((A_PART,)))

    assert gone == ["links-2.parquet", "links-3.parquet.new"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "links-1.parquet",
        "notes.txt",
        "ranks-1.parquet",
    ]

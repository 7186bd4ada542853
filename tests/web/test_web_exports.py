"""Exports of the page: the same choice of pages and columns as on the command line."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest

from gossamer.graph.arrow import pq
from gossamer.transfer.export_schemas import SCHEMAS
from gossamer.web.views import exports
from web.a_browser import TOKEN, Browser, Served
from web.conftest import Garden


def test_pages_are_chosen_by_status_outcome_and_columns(server: Served, garden: Garden) -> None:
    owner = Browser(server, token=TOKEN)

    answer = owner.get(
        "/export", what="pages", outcome="fetched", status="2xx", columns="url,status,h1"
    )

    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert answer.status_code == 200
    assert list(rows[0]) == ["url", "status", "h1"]
    assert {row["status"] for row in rows} == {"200"}
    assert garden.url("/roses") in {row["url"] for row in rows}


def test_a_choice_that_cannot_be_is_told(server: Served) -> None:
    owner = Browser(server, token=TOKEN)

    for name, value in (("status", "4x"), ("outcome", "lost"), ("columns", "titel")):
        answer = owner.get("/export", what="pages", **{name: value})
        assert answer.status_code == 400, name
        assert value in answer.text
    assert owner.get("/export", what="hosts", status="404").status_code == 400


def test_parquet_of_the_page_has_timestamps(server: Served) -> None:
    answer = Browser(server, token=TOKEN).get("/export", **{"what": "pages", "as": ".parquet"})

    table = pq.read_table(io.BytesIO(answer.content))
    assert str(table.schema.field("fetched_at").type) == "timestamp[us, tz=UTC]"
    assert {"h1", "description", "canonical", "words", "took_ms", "redirect_to"} <= set(
        table.column_names
    )


def test_of_a_large_collection_no_page_is_read_for_a_browser(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MOST_READ", 0)
    owner = Browser(server, token=TOKEN)

    names = owner.get("/export", what="pages").text.splitlines()[0]
    asked = owner.get("/export", what="pages", columns="h1").text.splitlines()[0]

    assert "h1" not in names
    assert "took_ms" in names
    assert asked == '"h1"'


def test_all_tables_come_in_one_zip(
    server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    owner = Browser(server, token=TOKEN)

    answer = owner.get("/export", what="all")

    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.namelist() == [f"{what}-00000.parquet" for what in SCHEMAS]
        pages = pq.read_table(io.BytesIO(archive.read("pages-00000.parquet")))
    assert pages.column_names == SCHEMAS["pages"].names
    assert owner.get("/export", what="all", status="404").status_code == 400
    assert owner.get("/export", **{"what": "all", "as": ".csv"}).status_code == 400
    assert owner.get("/export", **{"what": "pages", "as": ".zip"}).status_code == 400
    assert list(tmp_path.glob("gossamer-web-*")) == []


def test_all_tables_together_are_bounded(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MOST_BYTES", 5_000)

    answer = Browser(server, token=TOKEN).get("/export", what="all")

    assert answer.status_code == 400
    assert "export all -o DIR/" in answer.text


def test_the_page_of_exports_offers_the_choice(server: Served) -> None:
    page = Browser(server).get("/exports").text

    assert 'name="status"' in page
    assert "<option>refused</option>" in page
    assert "export all" in page

"""Processes that read PDF share one limit of memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gossamer.parse.documents.pdf_process import LEAST_MEMORY_MB, PdfReader
from gossamer.settings import Settings, with_values
from gossamer.workers.build_worker import with_shared_memory
from support.a_pdf import a_pdf
from support.rows import each_row


@each_row("workers", [1, 2, 4, 8])
def test_the_processes_of_all_workers_have_one_limit_together(workers: int) -> None:
    settings = with_values(Settings(), {"parse.pdf_memory_mb": 1000})

    each = with_shared_memory(settings, workers).parse.pdf_memory_mb

    assert each * workers <= 1000
    assert each >= LEAST_MEMORY_MB


def test_a_pdf_is_read_with_the_least_memory() -> None:
    reader = PdfReader(memory_mb=LEAST_MEMORY_MB)

    assert reader.read(a_pdf([("Read this", "")]), 10, 10, time_s=30.0).texts == ["Read this"]


@pytest.mark.skipif(sys.platform != "linux", reason="limits are read in /proc")
def test_the_process_has_the_limit_that_it_was_given() -> None:
    reader = PdfReader(memory_mb=LEAST_MEMORY_MB)
    reader.read(a_pdf([("Read this", "")]), 10, 10, time_s=30.0)
    process = reader._process
    assert process is not None

    limits = Path(f"/proc/{process.pid}/limits").read_text(encoding="ascii")
    [line] = [line for line in limits.splitlines() if line.startswith("Max address space")]

    assert int(line.split()[3]) == LEAST_MEMORY_MB * 2**20

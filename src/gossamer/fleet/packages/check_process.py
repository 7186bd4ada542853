"""Check a package in a process of its own, with limits on memory and CPU time.

Whatever a package does to the code that reads it, it does it there. The question is one JSON object
on stdin, the answer one on stdout.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import msgspec

from gossamer.base.processes import (
    PIPE,
    StillRunning,
    die_with_parent,
    end,
    last_line,
    set_limit,
    start,
)
from gossamer.fleet.packages.check import check_package
from gossamer.fleet.packages.format import CheckedPackage, PackageLimits, PackageRefused
from gossamer.fleet.protocol import JobSpec

_WALL: Final = 4  # times the CPU time


class _Question(msgspec.Struct, frozen=True):
    file: str
    spec: JobSpec
    hosts: tuple[str, ...]
    limits: dict[str, float]
    job: str
    fence: int
    salt: str
    now_us: int


class _Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    checked: CheckedPackage | None = None
    reason: str = ""
    what: str = ""


def check_apart(
    file: Path,
    spec: JobSpec,
    hosts: Sequence[str],
    limits: PackageLimits,
    *,
    job: str,
    fence: int,
    salt: str = "",
    now_us: int = 0,
) -> CheckedPackage:
    """Do the same as `check_package` in another process. Raises PackageRefused; `limits` if the
    process died or took too long."""
    given = {name: float(value) for name, value in asdict(limits).items()}
    question = _Question(str(file), spec, tuple(hosts), given, job, fence, salt, now_us)
    process = start("gossamer.fleet.packages.check_process", stdin=PIPE, stdout=PIPE, stderr=PIPE)
    try:
        out, errors = process.communicate(
            msgspec.json.encode(question), timeout=_WALL * limits.max_cpu_s
        )
    except StillRunning:
        raise PackageRefused("limits", "checking the package takes too long") from None
    finally:
        end(process)
    try:
        answer = msgspec.json.decode(out, type=_Answer)
    except msgspec.DecodeError:
        why = last_line(errors) or f"exit code {process.returncode}"
        raise PackageRefused("limits", f"checking the package failed ({why[:200]})") from None
    if answer.checked is None:
        raise PackageRefused(answer.reason, answer.what)
    return answer.checked


def _checked(question: _Question) -> _Answer:
    whole = {
        name: value if name.endswith("_s") else int(value)
        for name, value in question.limits.items()
    }
    limits = PackageLimits(**whole)  # type: ignore[arg-type]  # its own fields
    _limit(limits)
    try:
        return _Answer(
            check_package(
                Path(question.file),
                question.spec,
                question.hosts,
                limits,
                job=question.job,
                fence=question.fence,
                salt=question.salt,
                now_us=question.now_us,
            )
        )
    except PackageRefused as fault:
        return _Answer(None, fault.reason, str(fault))
    except MemoryError:
        return _Answer(None, "limits", "checking the package takes too much memory")


def _limit(limits: PackageLimits) -> None:
    if sys.platform == "win32":
        return
    import resource

    set_limit(resource.RLIMIT_AS, limits.max_memory_bytes)
    set_limit(resource.RLIMIT_CPU, max(1, round(limits.max_cpu_s)))


def main() -> None:
    die_with_parent()
    question = msgspec.json.decode(sys.stdin.buffer.read(), type=_Question)
    sys.stdout.buffer.write(msgspec.json.encode(_checked(question)))


if __name__ == "__main__":
    main()

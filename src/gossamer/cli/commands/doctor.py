"""`gossamer doctor`: check this machine."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from gossamer.cli.show.tables import print_table
from gossamer.upkeep.check_machine import MachineCheck, doctor


def run_doctor(path: Path, *, as_json: bool) -> int:
    """Print every check; return 1 if any fails."""
    checks = doctor(path)
    is_well = all(check.is_ok for check in checks)
    if as_json:
        print(json.dumps({"schema": 1, "ok": is_well, "checks": [asdict(c) for c in checks]}))
    else:
        print_table(("", "check", "found"), [_row(check) for check in checks])
    return 0 if is_well else 1


def _row(check: MachineCheck) -> tuple[str, str, str]:
    says = check.says if check.is_ok else f"{check.says}; {check.todo}"
    return "ok" if check.is_ok else "NOT OK", check.name, says

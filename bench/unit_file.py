"""Size of the single file of a unit, and the CPU time of its first and of later starts.

python bench/unit_file.py [FILE]     without FILE the file is built
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from gossamer.fleet.update.bundle import build_unit_file

LATER = 9


def cpu_s(file: Path, home: str) -> float:
    """Seconds of CPU of `--version` with Python alone."""
    before = os.times()
    subprocess.run(
        [os.path.realpath(sys.executable), "-I", "-S", file, "--version"],
        env={"HOME": home},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        file = Path(sys.argv[1]) if sys.argv[1:] else build_unit_file(Path(home) / "u.pyz").path
        first = cpu_s(file, home)
        later = median(cpu_s(file, home) for _ in range(LATER))
        figures = {"bytes": file.stat().st_size, "first_s": first, "later_s": later}
        print(json.dumps({key: round(value, 3) for key, value in figures.items()}))


if __name__ == "__main__":
    main()

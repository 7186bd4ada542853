"""`python -m gossamer`, and the start of the single file of a unit."""

import os
import sys
from pathlib import Path

from gossamer.base.processes import die_with_parent, run_single_file
from gossamer.cli.main import main


def start_single_file() -> None:
    run_single_file(_main)


def _main() -> None:
    """The commands; `unit run` under a launcher, which can replace the file."""
    if sys.argv[1:3] == ["unit", "run"]:
        from gossamer.fleet.update.launcher import LAUNCHED, launch, must_launch
        from gossamer.fleet.update.start_file import DIRECTORY

        if must_launch(sys.argv[1:]):
            sys.exit(launch(Path(os.environ[DIRECTORY]), sys.argv[1:]))
        if os.environ.get(LAUNCHED):
            die_with_parent()
    main()


if __name__ == "__main__":
    main()

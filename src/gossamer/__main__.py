"""`python -m gossamer`, and the start of the single file of a unit."""

from gossamer.base.processes import run_single_file
from gossamer.cli.main import main


def start_single_file() -> None:
    run_single_file(main)


if __name__ == "__main__":
    main()

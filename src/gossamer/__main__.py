"""`python -m gossamer` is `gossamer`."""

from gossamer.cli.main import run

run()

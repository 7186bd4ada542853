"""`python -m gossamer` is `gossamer`."""

from gossamer.cli.main import main

main()

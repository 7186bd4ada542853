# Thin: run.py does the work, and runs where there is no make.

PYTHON ?= python3
INSIDE = .venv/bin/python

.PHONY: demo check bench faults

demo:  ## crawl the bundled web and show it
	$(PYTHON) run.py

check:  ## format, lint, types, unit tests, slow tests: what CI runs
	$(PYTHON) run.py test

bench: .venv  ## the figures; one line of JSON each
	$(INSIDE) -m bench.crawl

faults: .venv  ## kills, full disks, hostile servers
	$(INSIDE) -m pytest -m slow

.venv:
	$(PYTHON) run.py test --collect-only

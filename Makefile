# Thin: run.py does the work, and runs where there is no make.

PYTHON ?= python3
INSIDE = .venv/bin/python

.PHONY: demo check bench bench-known bench-hosts bench-vary bench-graph bench-buffers bench-search bench-load screenshots soak faults fuzz native realsites properties

demo:  ## crawl the bundled web and show it
	$(PYTHON) run.py

check:  ## format, lint, types, unit tests, slow tests: what CI runs
	$(PYTHON) run.py test

bench: .venv  ## the figures; one line of JSON each
	$(INSIDE) -m bench.crawl
	$(INSIDE) -m bench.known --quick
	$(INSIDE) -m bench.hosts --quick

bench-known: .venv  ## rate and memory with 10^5, 10^6 and 10^7 known URLs
	$(INSIDE) -m bench.known

bench-hosts: .venv  ## cost of a page with 2,000 and 20,000 hosts
	$(INSIDE) -m bench.hosts

bench-vary: .venv  ## one setting varied at a time; curves in bench/out
	$(INSIDE) -m bench.vary

bench-graph: .venv  ## ranks of real and generated graphs, links into a URL among ten million
	$(INSIDE) -m bench.ranks
	$(INSIDE) -m bench.links

bench-buffers: .venv  ## three ways to keep duplicates out of the buffer of URLs
	$(INSIDE) -m bench.buffers

bench-search: .venv  ## how good and how fast answers are
	$(INSIDE) -m bench.search
	$(INSIDE) -m bench.search_speed

bench-load: .venv  ## searches and live views during a crawl, and what they cost it
	$(INSIDE) -m bench.serve_load

screenshots: .venv  ## pictures of every page of the web page, for docs/
	$(INSIDE) -m bench.screenshots

soak: .venv  ## an hour of an endless, misbehaving web
	$(INSIDE) -m bench.soak

realsites: .venv  ## all eight sites of sites.py in one crawl; `sites.py fetch $$TEST_SITES` brings them
	EIGHT_SITES=1 $(INSIDE) -m pytest -s -m slow tests/realsites/test_eight_sites.py

properties: .venv  ## every property with new examples, 1,200 each where `make check` tries the same 40
	$(INSIDE) -m pytest -n auto -m "not slow" --hypothesis-profile=many

native:  ## the parts in C, built again after a change of theirs; `INSIDE=python` for another environment
	$(INSIDE) -W ignore -c "import setuptools; setuptools.setup()" -q build_ext --inplace --force
	@$(INSIDE) -m gossamer doctor | grep "inner loops"

fuzz: .venv  ## ten minutes of mutated pages for each part in C, with the sanitizers of gcc
	$(INSIDE) -m bench.fuzz_native --seconds 600

faults: .venv  ## a thousand kills, a fault of the disk at each of the first writes: an hour or two
	FAULTS_LONG=1 $(INSIDE) -m pytest -m slow tests/faults

.venv:
	$(PYTHON) run.py test --collect-only

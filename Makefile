# The two commands of a newcomer: `make demo` and `make test`. Both set everything up by themselves.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_SPARK := $(VENV)/.ready-spark
READY_FUZZ := $(VENV)/.ready-fuzz
READY_BROWSER := $(VENV)/.ready-browser
SECONDS ?= 600
WORKERS ?= auto
FOLDER = $(if $(KIND),tests/$(KIND))
LOCKED := --upgrade --generate-hashes --no-emit-index-url --no-header --python-version 3.11 --quiet

.DEFAULT_GOAL := help
.PHONY: help setup setup-spark setup-browser peers demo test test-slow evidence fuzz bench bench-quick lint docs reference errata lock clean

help:  ## This list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: $(READY)  ## Create .venv with everything pinned

$(READY): requirements/locked.txt pyproject.toml papers/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Veil needs Python 3.11 or newer; found $$($(PYTHON) --version). Set PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/locked.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . --editable papers
	@touch $@

setup-spark: $(READY_SPARK)  ## Spark as well, for its tests (needs Java 17)

$(READY_SPARK): requirements/spark.txt $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/spark.txt
	@touch $@

setup-browser: $(READY_BROWSER)  ## What the tests drive a browser with (needs Chromium)

$(READY_BROWSER): requirements/browser.txt $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/browser.txt
	@touch $@

$(READY_FUZZ): requirements/fuzz.txt $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/fuzz.txt
	@touch $@

peers: $(READY)  ## Libraries to compare with, each in its own .venv-peers/<name>
	$(BIN)/python -m bench.peers

demo: $(READY)  ## Release sample data and write a report to look at
	$(BIN)/veil demo --folder demo --force

# Tests that share a server ask to be run by one worker (--dist loadgroup); otherwise each would start its own.
# Each worker has a core of its own; linear algebra with more threads would only get in the way.
test test-slow evidence bench bench-quick: export OPENBLAS_NUM_THREADS = 1

# Keep bytecode whatever the environment says: the tests start hundreds of processes, and each would compile again.
unexport PYTHONDONTWRITEBYTECODE

test: $(READY)  ## The tests, in minutes; of one folder with KIND=graphs
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup -m "not slow and not evidence" $(FOLDER)

test-slow: $(READY)  ## The long statistical suites; of one folder with KIND=graphs
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup -m "slow and not evidence" $(FOLDER)

evidence: $(READY)  ## Long studies, outside CI: coverage, repetitions of audits, sweeps
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup -m evidence $(FOLDER)
	$(BIN)/python -m bench.audit_repetitions

fuzz: $(READY_FUZZ)  ## Ten minutes of hostile files for the parsers (SECONDS=600)
	$(BIN)/python -m tests.fuzz.long_run --seconds $(SECONDS)

bench: $(READY)  ## The benchmarks against peers, in full, into build/bench/
	$(BIN)/python -m bench

bench-quick: $(READY)  ## The same rows on smaller data, in minutes
	$(BIN)/python -m bench --quick

lint: $(READY)  ## Style, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY)  ## The documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

reference: $(READY)  ## The reference pages, from the stubs and the requests
	$(BIN)/python docs/reference/make.py

errata: $(READY)  ## The errata page, from the code of its counterexamples
	$(BIN)/python -m veil_papers.errata > docs/errata.md.new && mv docs/errata.md.new docs/errata.md

lock: $(READY)  ## Pin the newest allowed versions, with hashes
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra pandas --extra polars --extra postgres --extra graphs --extra learn --extra exact --extra rigorous --extra studio --extra h3 \
		--extra bench --extra dev --extra docs $(LOCKED) -o requirements/locked.txt
	$(BIN)/uv pip compile pyproject.toml --extra spark --constraints requirements/locked.txt $(LOCKED) \
		-o requirements/spark.txt
	$(BIN)/uv pip compile pyproject.toml --extra browser --constraints requirements/locked.txt $(LOCKED) \
		-o requirements/browser.txt
	$(BIN)/uv pip compile pyproject.toml --extra fuzz --constraints requirements/locked.txt $(LOCKED) \
		-o requirements/fuzz.txt
	for peer in requirements/peers/*.in; do \
		$(BIN)/uv pip compile $$peer $(LOCKED) -o $${peer%.in}.txt || exit 1; done

clean:  ## Remove what the other commands made
	rm -rf $(VENV) .venv-peers demo site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

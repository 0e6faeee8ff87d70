# Two commands do everything on a machine with python3 (3.11 or newer, with venv) and make:
#   make demo    set up, then run a whole rollout on built-in evidence
#   make test    set up, then lint, types, imports and all tests
# Others: make test-fast (about a minute on two cores, without servers and slow tests), make bench, make format,
# make clean, make contract (when a release is cut: docs/contract/README.md)
# Tests run in two processes; PROCESSES=4 behind a command takes four, PROCESSES=0 none but pytest's own.

PYTHON ?= python3
PROCESSES ?= 2
VENV := .venv
BIN := $(VENV)/bin
LOCK := constraints/dev.txt
WORKFLOWS := $(wildcard .github/workflows/*.yml docs/examples/workflows/*.yml gatekeeper/cli/starter/*.yml)
PYTEST := $(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder
ACTIONS := $(wildcard .github/actions/*/action.yml)
PIP := $(BIN)/python -m pip --disable-pip-version-check

# What pytest makes of the tests' modules is kept for the next run, whatever the caller's environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-fast lint servers bench contract format clean
.DEFAULT_GOAL := test

demo: $(VENV)/.runtime
	$(BIN)/gatekeeper demo

test: servers lint
	$(PYTEST)

test-fast: $(VENV)/.dev
	$(BIN)/ruff check .
	@echo "Left out: slow tests, and those against a real Prometheus, VictoriaMetrics or PostgreSQL. make test runs them."
	$(PYTEST) -q -m "not slow and not server"

# What the tests ask: from Debian's packages when the programs are missing. Fails where they cannot be had.
servers:
	@.ci/install-servers

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows $(WORKFLOWS)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions $(ACTIONS)
	$(BIN)/zizmor --quiet --offline --strict-collection --config .github/zizmor.yml $(WORKFLOWS) $(ACTIONS) \
		.pre-commit-hooks.yaml

bench: $(VENV)/.dev
	$(BIN)/python bench/run.py

# Takes over what is new since the last release; refuses what breaks it.
contract: $(VENV)/.dev
	$(BIN)/python -m tests.frozen

format: $(VENV)/.dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

# Set-up runs again only when what it depends on has changed. pip is upgraded first: the console
# script that old ones write starts slower (docs/adr/0006).
$(VENV)/.pip:
	@$(PYTHON) -c 'import sys; sys.exit("gatekeeper needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade pip
	@touch $@

$(VENV)/.runtime: $(VENV)/.pip pyproject.toml $(LOCK)
	$(PIP) install --quiet --constraint $(LOCK) --editable .
	$(BIN)/python -m compileall -q gatekeeper
	@touch $@

$(VENV)/.dev: $(VENV)/.pip pyproject.toml $(LOCK)
	$(PIP) install --quiet --constraint $(LOCK) --editable '.[dev]'
	$(BIN)/python -m compileall -q gatekeeper
	@touch $@ $(VENV)/.runtime

# Every target sets up what it needs in .venv; a second call finds the stamps and does nothing.

PYTHON ?= python3
ARGS   ?=

BIN     := .venv/bin
RUNTIME := .venv/.runtime-stamp
DEV     := .venv/.dev-stamp
SPARK   := .venv/.spark-stamp

PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --quiet
LOCK := $(BIN)/uv pip compile pyproject.toml --group build --quiet --no-config --universal \
	--python-version 3.11 --generate-hashes --no-header --no-annotate $(if $(UPGRADE),--upgrade)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-long lint format lock bench clean

help: ## Print this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo: $(RUNTIME) $(SPARK) ## Walk through the retail example: lattice, plan, cost table, picture
	$(BIN)/cubekeeper demo $(ARGS)

test: $(DEV) $(SPARK) ## Run the fast tests and doctests (ARGS="-k name" to choose)
	$(BIN)/python -m pytest $(ARGS)

test-long: $(DEV) $(SPARK) ## Run all tests, the slow ones and many more random cases included
	$(BIN)/python -m pytest -m "" --hypothesis-profile=long $(ARGS)

lint: $(DEV) ## Check style, types and import directions
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python tests/import_directions.py

format: $(DEV) ## Rewrite the code in the house format and apply safe fixes
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

lock: $(DEV) ## Compile the three lock files from pyproject.toml (UPGRADE=1 for newest versions)
	$(LOCK) --output-file requirements.lock
	$(LOCK) --constraint requirements.lock --extra dev --output-file requirements-dev.lock
	$(LOCK) --constraint requirements.lock --extra airflow --output-file requirements-airflow.lock

bench: $(DEV) $(SPARK) ## Run the benchmarks
	$(BIN)/cubekeeper bench $(ARGS)

clean: ## Remove .venv, caches and everything built
	rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUNTIME): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "cubekeeper needs Python 3.11 or newer, and '$(PYTHON)' is not: name one with make PYTHON=..." >&2; \
		exit 1; }
	$(PYTHON) -m venv .venv
	$(PIP_INSTALL) --require-hashes -r requirements.lock
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements-dev.lock $(RUNTIME)
	$(PIP_INSTALL) --require-hashes -r requirements-dev.lock
	@touch $@

# Java, Delta's jars, the class-data archive; what is there already is left as it is.
$(SPARK): $(RUNTIME)
	$(BIN)/cubekeeper setup
	@touch $@

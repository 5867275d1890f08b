# Everything a user or CI needs. Each target makes .venv and installs into it first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test check clean

install: .venv/installed

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Byline needs Python 3.11 or later; try make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: install
	$(BIN)/byline demo

test: install
	$(BIN)/python -m pytest

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache

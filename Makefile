# Everything a user or CI needs. Each target makes .venv and installs into it first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test check docs soak clean browser

install: .venv/installed

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Byline needs Python 3.11 or later; try make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: install
	$(BIN)/byline demo

test: install browser
	$(BIN)/python -m pytest

# What the tests of the report want: a browser, and axe-core in node_modules. Where they can't be had, those tests say so and are skipped.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium; } >/dev/null 2>&1 || \
		echo "no browser could be installed: tests of the report in a browser are skipped"
	@[ -e tests/node_modules/axe-core/axe.min.js ] || ! command -v npm >/dev/null || \
		npm install --prefix tests --silent --no-audit --no-fund --no-package-lock >/dev/null 2>&1 || \
		echo "axe-core could not be installed: tests of accessibility are skipped"

# Hours rather than minutes: a million hostile cases, every fault many times, large jobs. Results go to benchmarks/results.
soak: install browser
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'atheris>=2.3'
	$(BIN)/python benchmarks/faults.py
	$(BIN)/python benchmarks/fuzz.py
	$(BIN)/python benchmarks/load.py
	$(BIN)/python benchmarks/processors.py

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The documentation as a site, in build/docs. A warning is an error, a link that leads nowhere too.
docs: install
	$(BIN)/python -m sphinx -q -W --keep-going -c docs -d build/doctrees . build/docs
	@echo "build/docs/index.html"

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache tests/node_modules

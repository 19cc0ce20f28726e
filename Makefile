# make run: opens the window. make check: lint, type checks and the fast tests. make test: the tests of every change.
# make nightly: all tests. make pytest ARGS="tests/render --update-golden": pytest with these arguments.
# make bench AGAINST=COMMIT: performance figures of this tree and of another commit, measured alternately.
# make record, make document, make release: list what WHAT= can be, such as make record WHAT=speeds.
# You need only Python 3.11+ and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QT := QT_QPA_PLATFORM=offscreen
PYTEST := $(QT) $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync)

MINUTES ?= 10

# Compiled modules halve the start of each process; a container may have turned them off.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run check test nightly pytest lint types bench fuzz docs record document release translations wheel clean

run: $(VENV)/installed
	@$(BIN)/python packaging/environment.py libraries window
	@$(BIN)/python -m gemmviz

check: $(VENV)/installed-dev
	@$(BIN)/python packaging/environment.py libraries
	@$(MAKE) --no-print-directory --jobs=2 $(TOGETHER) lint types
	$(PYTEST) --quiet -m "not slow and not nightly and not gpu"
	@$(BIN)/python -m tests.budget

test: $(VENV)/installed-dev
	@$(BIN)/python packaging/environment.py libraries tests
	@$(MAKE) --no-print-directory --jobs=3 lint types pytest

nightly: $(VENV)/installed-dev
	@$(BIN)/python packaging/environment.py libraries nightly
	@$(MAKE) --no-print-directory --jobs=2 $(TOGETHER) lint types
	$(PYTEST)

pytest: $(VENV)/installed-dev
	$(PYTEST) $(or $(ARGS),-m "not nightly and not gpu")

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(VENV)/installed-dev
	$(BIN)/mypy

bench: $(VENV)/installed-dev
	@$(BIN)/python packaging/environment.py libraries
	$(QT) $(BIN)/python -m tests.bench $(if $(AGAINST),--against $(AGAINST))

fuzz: $(VENV)/installed-dev
	@$(BIN)/python packaging/environment.py libraries
	$(QT) $(BIN)/python -m tests.fuzz --minutes $(MINUTES)

document: $(VENV)/installed-dev
	@$(BIN)/python packaging/document.py $(WHAT)

record: $(VENV)/installed
	@$(BIN)/python packaging/record.py $(WHAT)

release:
	@$(PYTHON) packaging/release.py $(WHAT)

translations: $(VENV)/installed-dev
	$(BIN)/python packaging/translations.py $(if $(NEW),--language $(NEW)) $(if $(LESSON),--lesson $(LESSON))

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'gemmviz needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[film,slides]"
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable ".[dev]"
	@touch $@ $(VENV)/installed

docs: $(VENV)/installed-docs
	$(BIN)/python -m sphinx --fail-on-warning --quiet docs out/docs
	@echo out/docs/index.html

$(VENV)/installed-docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@ $(VENV)/installed

wheel: $(VENV)/installed-dev
	$(BIN)/python -m hatchling build -d dist

clean:
	rm -rf $(VENV) build dist out *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

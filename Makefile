# make run: opens the window. make check: lint, type checks and the fast tests. make test: the tests of every change.
# make nightly: all tests. make durations: the longest of them, into tests/durations.toml.
# make bench AGAINST=COMMIT: performance figures of this tree and of another commit, measured alternately.
# make record WHAT=speeds: repeats recordings; make record lists them. make document WHAT=gallery: writes documentation.
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

.PHONY: run check test nightly durations pytest lint types bench fuzz docs site wheel test-wheel deb archive appimage release-notes checksums check-tag only-python-packages record document translations golden clean

run: $(VENV)/installed
	@$(BIN)/python packaging/system_packages.py --for-window
	@$(BIN)/python -m gemmviz

check: $(VENV)/installed-dev
	@$(BIN)/python packaging/system_packages.py
	@$(MAKE) --no-print-directory --jobs=2 $(TOGETHER) lint types
	$(PYTEST) --quiet -m "not slow and not nightly and not gpu"

test: $(VENV)/installed-dev
	@$(BIN)/python packaging/system_packages.py --for-tests
	@$(MAKE) --no-print-directory --jobs=3 lint types pytest

nightly: $(VENV)/installed-dev
	@$(BIN)/python packaging/system_packages.py --for-nightly
	@$(MAKE) --no-print-directory --jobs=2 $(TOGETHER) lint types
	$(PYTEST)

durations: $(VENV)/installed-dev
	$(PYTEST) --record-durations

pytest: $(VENV)/installed-dev
	$(PYTEST) -m "not nightly and not gpu"

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(VENV)/installed-dev
	$(BIN)/mypy

bench: $(VENV)/installed-dev
	@$(BIN)/python packaging/system_packages.py
	$(QT) $(BIN)/python -m tests.bench $(if $(AGAINST),--against $(AGAINST))

fuzz: $(VENV)/installed-dev
	@$(BIN)/python packaging/system_packages.py
	$(QT) $(BIN)/python -m tests.fuzz --minutes $(MINUTES)

document: $(VENV)/installed-dev
	@$(BIN)/python packaging/document.py $(WHAT)

record: $(VENV)/installed
	@$(BIN)/python packaging/record.py $(WHAT)

translations: $(VENV)/installed-dev
	$(BIN)/python packaging/translations.py $(if $(NEW),--language $(NEW)) $(if $(LESSON),--lesson $(LESSON))

golden: $(VENV)/installed-dev
	$(QT) $(BIN)/python -m pytest tests/render --update-golden

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

test-wheel: $(VENV)/installed-dev
	$(QT) $(BIN)/python -m pytest --quiet tests/test_installed.py tests/test_packages.py

deb archive appimage:
	$(PYTHON) packaging/build.py $@

release-notes: $(VENV)/installed
	$(BIN)/python packaging/release.py notes

checksums: $(VENV)/installed
	$(BIN)/python packaging/release.py checksums

check-tag: $(VENV)/installed
	$(BIN)/python packaging/release.py tag $(TAG)

# PyPI takes wheels and sources alone.
only-python-packages:
	find dist -type f ! -name '*.whl' ! -name 'gemmviz-*.tar.gz' -delete

site: $(VENV)/installed-docs
	$(BIN)/python packaging/versions_site.py out/site

clean:
	rm -rf $(VENV) build dist out *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

# make run: opens the window. make test: everything that must hold. Both need nothing but Python 3.11+ and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test bench lint pictures table record registers wavefronts golden clean

run: $(VENV)/installed
	@$(BIN)/python packaging/system_packages.py --for-window
	@$(BIN)/python -m gemmviz

test: $(VENV)/installed-dev
	@$(BIN)/python packaging/system_packages.py
	$(MAKE) lint
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/installed-dev
	@$(BIN)/python packaging/system_packages.py
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m tests.bench

pictures: $(VENV)/installed
	$(BIN)/python packaging/pictures.py

record: $(VENV)/installed
	$(BIN)/python packaging/record.py

registers: $(VENV)/installed
	$(BIN)/python packaging/registers.py

wavefronts: $(VENV)/installed
	$(BIN)/python packaging/wavefronts.py

table: $(VENV)/installed
	$(BIN)/python packaging/table.py

golden: $(VENV)/installed-dev
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest tests/render --update-golden

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'gemmviz needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist out *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

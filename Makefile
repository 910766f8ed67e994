# Thin names for what people and CI run. Needs only Python 3.11+ with venv, and make.
PYTHON ?= python3
UV_VERSION := 0.13.9
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.synced

RUNS ?= 200
PYTEST := $(BIN)/pytest --cov --numprocesses auto --maxprocesses 8

.PHONY: run kill-test demo test lint eval bench clean

demo: $(STAMP)
	$(BIN)/k3triage diagnose tests/cases/nixl_missing.log

run: $(STAMP)
	$(BIN)/k3triage run

kill-test: $(STAMP)
	$(BIN)/python -m tests.kill_test --runs $(RUNS)

# In two runs, so that threads of bots that were stopped cannot disturb the property tests. The tests of a file that
# starts bots stay together: they share them.
test: $(STAMP)
	$(PYTEST) --dist worksteal tests --ignore=tests/e2e --ignore=tests/handlers --cov-report=
	$(PYTEST) --dist loadfile tests/handlers tests/e2e --cov-append --cov-report=term:skip-covered

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/k3triage kb lint

eval: $(STAMP)
	$(BIN)/python -m tests.evaluation

bench: $(STAMP)
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.bench_slack

$(STAMP): pyproject.toml uv.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -x $(BIN)/uv || $(BIN)/pip install --quiet uv==$(UV_VERSION)
	$(BIN)/uv sync --quiet --frozen --inexact --python $(BIN)/python
	touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache

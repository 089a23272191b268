# Each target works on a fresh clone with Python 3.11 or later and make: uv comes from PyPI into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
# --universal resolves for every supported Python at once.
COMPILE := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-annotate --custom-compile-command "make lock"
PYTEST := $(BIN)/pytest
# pytest ends with 5 where ARGS choose no test of this part.
NONE_IS_GOOD := || [ $$? -eq 5 ]
INSTALL := $(BIN)/uv pip install --quiet --require-hashes

.DEFAULT_GOAL := help
.PHONY: help setup sweep test check bench pictures articles render cluster-up cluster-down cluster-shell lock clean

help: ## show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

setup: $(VENV)/.sweep ## make .venv with podscale, its load and its sweep

sweep: setup ## measure real processes on this machine, say how many are needed (ARGS="--sizes 1,2,4")
	$(BIN)/podscale sweep $(ARGS)

test: check ## run all checks, then all tests (ARGS="-k primes" for some of them)
	$(PYTEST) -m "not waits and not alone" --numprocesses 2 --dist loadfile $(ARGS) $(NONE_IS_GOOD)
	$(PYTEST) -m "waits and not alone" --numprocesses 3 --dist loadfile $(ARGS) $(NONE_IS_GOOD)
	$(PYTEST) -m alone $(ARGS) $(NONE_IS_GOOD)

check: $(VENV)/.dev ## lint, format, types, the arrows between the rooms
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --cache-dir $(VENV)/.import_linter

bench: $(VENV)/.dev ## time the pod against bare Starlette, weigh an idle pod
	$(BIN)/python -m benchmarks.pod $(ARGS)

pictures: $(VENV)/.dev ## measure this machine for the pictures and the sentence in README.md
	rm -rf results/example
	$(BIN)/podscale sweep --stage-seconds 15 --repeats 3 --out results/example
	mkdir -p docs/example
	cp results/example/result.json results/example/scaling.png results/example/latency.png docs/example/
	$(BIN)/python -m tests.pictures.report
	$(BIN)/python -m tests.pictures.watch
	$(BIN)/python -m tests.pictures.locust

articles: setup ## write docs/articles.md from the runs in docs/articles, which full runs may replace (LOCAL=, CLUSTER=)
	$(if $(LOCAL),mkdir -p docs/articles/local && cp $(LOCAL)/reproduce.json docs/articles/local/)
	$(if $(CLUSTER),mkdir -p docs/articles/cluster && cp $(CLUSTER)/reproduce.json docs/articles/cluster/)
	$(BIN)/python -m podscale.report.reproduction docs/articles/* > docs/articles.md.partial
	mv docs/articles.md.partial docs/articles.md

render: $(VENV)/.dev ## write what is made from monitoring/ and helm/podscale: dashboards, rules, k8s/, READMEs
	$(BIN)/python -m tests.chart.render

cluster-up: $(VENV)/.dev ## start a Kubernetes of two nodes on this machine, as root, with podscale's images on it
	@$(BIN)/python -m tests.cluster up

cluster-down: $(VENV)/.dev ## remove it, or what a killed test run left of one
	@$(BIN)/python -m tests.cluster down

cluster-shell: $(VENV)/.dev ## a shell in it with kubectl and helm (CMD="kubectl get pods")
	@$(BIN)/python -m tests.cluster shell $(CMD)

lock: $(VENV)/.bootstrap ## choose versions anew, one lock with hashes for each purpose
	$(COMPILE) --group bootstrap --output-file requirements/bootstrap.txt
	$(COMPILE) pyproject.toml --output-file requirements/pod.txt
	$(COMPILE) pyproject.toml --extra load --output-file requirements/load.txt
	$(COMPILE) pyproject.toml --extra load --extra sweep --output-file requirements/sweep.txt
	$(COMPILE) pyproject.toml --all-extras --group dev --group bootstrap --output-file requirements/dev.txt

clean: ## remove what the targets made (not results/)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.bootstrap:
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("podscale needs Python 3.11 or later; choose one with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/bootstrap.txt
	@touch $@

$(VENV)/.sweep: requirements/sweep.txt pyproject.toml | $(VENV)/.bootstrap
	$(INSTALL) --requirement $<
	$(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.sweep
	$(INSTALL) --requirement $<
	@touch $@

# demo   sets up and runs a whole search on recorded answers: no GPU and no key needed
# test   sets up and passes the tests
# check  lint, types, imports, wheel
#
# PYTHON=    the interpreter to build the environment from
# TORCH=     auto: use the CUDA torch that PYTHON has, if it has one; pinned: always install constraints.txt's
# PIP_ARGS=  wheel folders and the like

PYTHON ?= python3
TORCH ?= auto
PIP_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp

.PHONY: demo test test-slow test-gpu test-clients check lint types imports wheel setup clean

demo: $(STAMP)
	@$(BIN)/pike demo

setup: $(STAMP)

# What is timed, compiles with torch or fills a terminal goes alone; the rest goes two at a time.
test: $(STAMP)
	$(BIN)/python -m pytest -m "(torch or terminal or alone) and not slow and not gpu and not paid" --durations 15
	$(BIN)/python -m pytest -m "not torch and not terminal and not alone and not slow and not gpu and not paid" -n 2 --dist loadfile \
	    --durations 15
	@$(BIN)/python -m tests.gpu_note

test-slow: $(STAMP)
	PIKE_PROPERTY_EXAMPLES=500 $(BIN)/python -m pytest -m "not gpu and not paid" --ignore tests/clients --timeout 900

test-gpu: $(STAMP)
	$(BIN)/python -m pytest -m gpu --timeout 900

# Claude Code, Codex, Gemini CLI and opencode, unchanged; npm installs them on first use (1 GB in all).
test-clients: $(STAMP)
	$(BIN)/python -m pytest tests/clients -m "slow and not gpu and not paid" --timeout 900

check: lint types imports wheel

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/typos

types: $(STAMP)
	$(BIN)/pyright

imports: $(STAMP)
	$(BIN)/lint-imports

wheel: $(STAMP)
	$(BIN)/python -m tests.contract.wheel_smoke

# Made again only when what it is made from is newer, so that a second run starts at once.
$(STAMP): pyproject.toml constraints.txt
	@PYTHON="$(PYTHON)" TORCH="$(TORCH)" VENV="$(VENV)" PIP_ARGS="$(PIP_ARGS)" sh .ci/setup
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info

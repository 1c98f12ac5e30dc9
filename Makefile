# The menu. Everything that is built or installed lies outside the checkout, in CLEW_CACHE.
CLEW_CACHE ?= $(HOME)/.cache/clew
export CARGO_TARGET_DIR ?= $(CLEW_CACHE)/target
VENV := $(CLEW_CACHE)/venv
PYTHON := $(VENV)/bin/python
RELEASE := $(CARGO_TARGET_DIR)/release/clew
DEBUG := $(CARGO_TARGET_DIR)/debug/clew

.PHONY: help demo test test-rust test-clients check bench-log bench-vectors build deny doc clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: ## build, serve, collect this machine's logs, load vectors and ask five questions
	cargo build --release --locked -p clew
	python3 demo/demo.py --bin $(RELEASE)

test: check test-rust test-clients ## run every test

test-rust: ## unit, property and simulation tests
	cargo test --workspace --locked

test-clients: $(VENV)/.installed ## the real binary with real clients
	cargo build --workspace --bins --tests --locked # as `test-rust` has built it, so that nothing is built twice
	CLEW_BIN=$(DEBUG) $(PYTHON) -m unittest discover -s tests -t tests -v

check: ## formatting and lints
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

bench-log: build ## the log beside Varlog's storage and the disk; writes bench/RESULTS.md
	python3 bench/log/run.py --bin $(RELEASE)

bench-vectors: build $(CLEW_CACHE)/venv-bench/.installed ## vector search beside hnswlib, faiss and usearch; ARGS="--rows 20000" for a short one
	CLEW_CACHE=$(CLEW_CACHE) $(CLEW_CACHE)/venv-bench/bin/python bench/vectors/run.py --bin $(RELEASE) $(ARGS)

build: ## the release binary
	cargo build --release --locked -p clew
	@echo $(RELEASE)

deny: ## licences, sources and bans of all dependencies
	@command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny check bans licenses sources

doc: ## API documentation
	cargo doc --workspace --no-deps --locked

clean: ## remove everything built and installed
	rm -rf $(CLEW_CACHE)

REQUIREMENTS := tests/opensearch/requirements.txt tests/log/requirements.txt

$(VENV)/.installed: $(REQUIREMENTS)
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check $(REQUIREMENTS:%=-r %)
	touch $@

$(CLEW_CACHE)/venv-bench/.installed: bench/vectors/requirements.txt
	python3 -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r bench/vectors/requirements.txt
	touch $@

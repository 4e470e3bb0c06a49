# `make` alone explains. Everything that is built goes outside of the checkout, so that a fresh clone builds fast.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run cluster install interop million million-fronts test test-rust test-widget test-browser test-interop lint lint-rust lint-files build-linted capacity docs fmt fuzz bench peers attacks faults instructions instructions-check clean

export CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kith/target

HTTP ?= 127.0.0.1:8080
DATA ?= ./data
SLOTS ?= 1
PREFIX ?= $(HOME)/.local
SECONDS_EACH ?= $(or $(SECONDS),60)
MILLION_DIR ?= $(or $(TMPDIR),/var/tmp)
MILLION_SET ?=
# Each report has a place of its own.
REPORT ?=
REPORTS ?= ./reports
ROUNDS ?= 10
SEED ?=
FAULTS ?=
NPM := npm --prefix widget

help: ## Explain
	@echo "Kith. Commands:"
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 28
	@echo "Settings: HTTP=$(HTTP) DATA=$(DATA) CARGO_TARGET_DIR=$(CARGO_TARGET_DIR)"

run: widget/dist/kith.js ## Build everything quickly and start the demo community (HTTP=127.0.0.1:8080, DATA=./data)
	cargo build --locked --profile tryout --package server
	"$(CARGO_TARGET_DIR)/tryout/kith" demo --http "$(HTTP)" --data "$(DATA)"

cluster: widget/dist/kith.js ## Start NATS, PostgreSQL, two homes and two fronts on this machine, with the demo community (DATA=./data, SLOTS=1)
	cargo build --locked --profile tryout --package server
	SLOTS="$(SLOTS)" KITH_BIN="$(CARGO_TARGET_DIR)/tryout/kith" scripts/cluster.sh "$(DATA)"

install: widget/dist/kith.js ## Build everything fully optimised; install kith, its man pages and bash completions (PREFIX=~/.local)
	cargo build --locked --release --package server
	install -D -m 755 "$(CARGO_TARGET_DIR)/release/kith" "$(DESTDIR)$(PREFIX)/bin/kith"
	"$(CARGO_TARGET_DIR)/release/kith" man "$(DESTDIR)$(PREFIX)/share/man/man1"
	mkdir -p "$(DESTDIR)$(PREFIX)/share/bash-completion/completions"
	"$(CARGO_TARGET_DIR)/release/kith" completions bash >"$(DESTDIR)$(PREFIX)/share/bash-completion/completions/kith"
	@echo "kith is $(DESTDIR)$(PREFIX)/bin/kith"
	@command -v kith >/dev/null || echo "To call it by its name: export PATH=\"$(PREFIX)/bin:\$$PATH\""

million: widget/dist/kith.js ## A million members on this machine: 2 cores, 24 GB, 18 GB of disk, some 40 minutes (MILLION_DIR, REPORT)
	@echo "Needs 16 GB of free memory, and 18 GB of disk in $(MILLION_DIR) until it ends. Report: $(or $(REPORT),docs/million)"
	cargo build --locked --release --package server
	mkdir -p "$(MILLION_DIR)"
	TMPDIR="$(MILLION_DIR)" "$(CARGO_TARGET_DIR)/release/kith" load run million $(MILLION_SET) --report "$(or $(REPORT),docs/million)"

million-fronts: widget/dist/kith.js ## A million members over three fronts, one of which is killed: some 40 minutes (MILLION_DIR, MILLION_SET, REPORT)
	@echo "Needs 16 GB of free memory, and 18 GB of disk in $(MILLION_DIR) until it ends. Report: $(or $(REPORT),docs/million-fronts)"
	cargo build --locked --release --package server
	mkdir -p "$(MILLION_DIR)"
	NATS_SERVER="$$(scripts/nats.sh)" TMPDIR="$(MILLION_DIR)" "$(CARGO_TARGET_DIR)/release/kith" load run million-fronts $(MILLION_SET) \
		--report "$(or $(REPORT),docs/million-fronts)"

interop: widget/dist/kith.js ## Foreign XMPP clients against a node of their own (tests/interop/README.md says what they need)
	cargo build --locked --package server
	KITH_BIN="$(CARGO_TARGET_DIR)/debug/kith" tests/interop/run.sh

test: test-rust test-widget test-browser test-interop ## Every test: Rust, TypeScript, browser, and the XMPP clients in JavaScript

# Also builds the binary that the browser tests start. Tests of whole nodes wait more than they compute, so three of them share a
# processor.
test-rust: export RUST_TEST_THREADS ?= $(shell expr 3 \* $$(getconf _NPROCESSORS_ONLN))
test-rust: widget/dist/kith.js
	cargo test --locked --workspace --quiet

test-widget: widget/node_modules/.package-lock.json
	$(NPM) run types
	$(NPM) test
	$(NPM) run test:faults

# The binary comes with the tests of the node, built with the features of `test-rust`, so that nothing is compiled again.
test-browser: widget/dist/kith.js
	cargo test --locked --workspace --test node --no-run --quiet
	CHROMIUM="$$(scripts/chromium.sh)" CHROMIUM_SHELL="$$(scripts/chromium.sh shell)" \
		KITH_BIN="$(CARGO_TARGET_DIR)/debug/kith" $(NPM) run test:browser

# The clients that Node alone can run; `make interop` runs all.
test-interop: widget/dist/kith.js
	cargo test --locked --workspace --test node --no-run --quiet
	CLIENTS="xmppjs stanza strophe" KITH_BIN="$(CARGO_TARGET_DIR)/debug/kith" tests/interop/run.sh

lint: lint-rust lint-files ## Format and lint checks, as CI does

lint-rust: widget/dist/kith.js
	cargo clippy --locked --workspace --all-targets --quiet -- -D warnings

# The checks of `lint-rust`, on code that `test-rust` then runs: CI names clippy's driver as the compiler of the workspace.
build-linted: widget/dist/kith.js
	@[ "$${RUSTC_WORKSPACE_WRAPPER:-}" = clippy-driver ] || { echo "set RUSTC_WORKSPACE_WRAPPER and CLIPPY_ARGS as .ci/run does"; exit 1; }
	cargo test --locked --workspace --all-targets --no-run --quiet

lint-files: widget/dist/kith.js
	cargo fmt --all --check
	$(NPM) run types
	$(NPM) run lint
	node scripts/reference.mjs --check
	node scripts/links.mjs

capacity: widget/dist/kith.js ## Measure the figures of docs/capacity.md on this machine (some 35 minutes, REPORTS=./reports)
	cargo build --locked --release --package server
	"$(CARGO_TARGET_DIR)/release/kith" load run sizing --report "$(REPORTS)/sizing"
	"$(CARGO_TARGET_DIR)/release/kith" load run papers --report "$(REPORTS)/papers"

docs: ## The documentation as a website: docs/book/index.html (builds mdBook once, some minutes)
	node scripts/reference.mjs
	node scripts/links.mjs
	"$$(scripts/mdbook.sh)" build docs
	@echo "docs/book/index.html"

fmt: widget/node_modules/.package-lock.json ## Format the code
	cargo fmt --all
	$(NPM) run format

fuzz: ## Fuzz every parser (SECONDS=60 each)
	fuzz/run.sh "$(SECONDS_EACH)"

bench: ## Benches, judged by ratios and counts in one run
	cargo bench --locked --workspace

instructions: ## Count the instructions of the hot paths (crates/bench/instructions.txt)
	cargo build --locked --release --package bench
	BENCH_BIN="$(CARGO_TARGET_DIR)/release/bench" scripts/instructions.sh

instructions-check: ## Fail where a hot path has grown by more than 2 %
	cargo build --locked --release --package bench
	BENCH_BIN="$(CARGO_TARGET_DIR)/release/bench" scripts/instructions.sh --check

attacks: widget/dist/kith.js ## Attack a release build on this machine, and print what each attack costs others (two minutes)
	cargo build --locked --release --package server
	KITH_BIN="$(CARGO_TARGET_DIR)/release/kith" node tests/attacks/attacks.mjs

faults: widget/dist/kith.js ## Kill, freeze and cut off processes of real clusters, and judge the history (ROUNDS=10, SEED, FAULTS='--topology postgres')
	cargo build --locked --profile tryout --package server
	KITH_BIN="$(CARGO_TARGET_DIR)/tryout/kith" node tests/faults/run.mjs --rounds "$(ROUNDS)" $(if $(SEED),--seed "$(SEED)") $(FAULTS)

peers: widget/dist/kith.js ## The widget's files beside Debian's nginx, messages and logins beside Centrifugo (ten minutes)
	cargo build --locked --release --package server
	KITH_BIN="$(CARGO_TARGET_DIR)/release/kith" tests/peers/nginx.sh
	KITH_BIN="$(CARGO_TARGET_DIR)/release/kith" tests/peers/centrifugo.sh

clean: ## Remove what was built
	rm -rf widget/dist widget/node_modules "$(CARGO_TARGET_DIR)"

widget/dist/kith.js: widget/node_modules/.package-lock.json $(shell find widget -path '*/node_modules' -prune -o -path widget/dist -prune -o -type f -print 2>/dev/null)
	$(NPM) run build
	@touch $@

widget/node_modules/.package-lock.json: widget/package-lock.json
	@scripts/node.sh
	$(NPM) ci --no-fund --no-audit
	@touch $@

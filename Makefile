# The only doors: people and CI use the same. `make` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Where rustup puts cargo, for a shell that started before it was there; and what deploy/setup unpacks.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH):/usr/sbin:$(CURDIR)/.thetis/tools/usr/sbin

# One profile for everything, so that a fresh machine compiles its dependencies once.
PROGRAMS := --bin thetis --bin mock-llm
NEXTEST := $(shell command -v cargo-nextest)
TEST := $(if $(NEXTEST),cargo nextest run,cargo test)

ifdef CI
# Nobody builds twice there, and what incremental builds keep is half of the disk.
export CARGO_INCREMENTAL := 0
endif

.PHONY: help
help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name text; do printf '  make %-8s %s\n' "$$name" "$$text"; done

.PHONY: demo
demo: build ## Install what is missing, build, run the sample's conversation with the mock model and print it
	@deploy/demo

.PHONY: up
up: build ## The same, and keep serving on http://127.0.0.1:7777
	@deploy/demo serve

.PHONY: test
test: setup-test fmt-check aspects lint ## Install what is missing; format, lints, and every test
	cargo build --locked $(PROGRAMS)
	$(TEST) --locked --workspace
	cd aspects && $(TEST) --locked

.PHONY: setup
setup: ## Install what is missing on this machine
	@deploy/setup

.PHONY: setup-test
setup-test:
	@deploy/setup test

.PHONY: build
build: setup aspects
	@cargo build --locked $(PROGRAMS)

.PHONY: aspects
aspects: setup ## Build the guests: aspects/target/components
	@aspects/build

.PHONY: bench
bench: aspects ## Measure, beside what the same machine needs for the bare parts in the same run
	cargo run --locked --release --package thetis-store --example append_bench
	cargo bench --locked --workspace --bench '*'
	cargo run --locked --release --bin bench

.PHONY: crds
crds: setup ## Generate the object kinds' definitions and their chart
	UPDATE_EXPECT=1 cargo test --locked --package thetis-crds

.PHONY: lint
lint: setup ## Clippy, every warning an error
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cd aspects && cargo clippy --locked --workspace --all-targets -- -D warnings

.PHONY: fmt
fmt: setup ## Format everything
	cargo fmt --all
	cd aspects && cargo fmt --all

.PHONY: fmt-check
fmt-check:
	cargo fmt --all --check
	cd aspects && cargo fmt --all --check

.PHONY: clean
clean: ## Remove what was built and what the demo keeps
	cargo clean
	@for link in .thetis/*/postgres .thetis/*/*/postgres; do if [ -L "$$link" ]; then rm -rf "$$(readlink "$$link")"; fi; done
	rm -rf aspects/target .thetis

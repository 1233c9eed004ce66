# The one door. Each target is a line over a preset or a script in tools/; CI comes in here, too.
PREFIX ?= /usr/local
ARGS ?=
T ?= 60

.DEFAULT_GOAL := build
.PHONY: build run test check bench fuzz soak debug fmt tidy install setup packages clean help

build: packages ## build everything: clang 19, optimised, with symbols (build/dev)
	tools/build.sh dev

run: packages ## the main job: a store, images, an epoch; the store stays until ^C; ARGS="…"
	@exec tools/run.sh $(ARGS)

test: setup ## all tests: check, both compilers, sanitizers, fuzzers, real processes
	@tools/test.sh

check: packages ## what every commit must pass, in under two minutes
	@tools/check.sh

bench: packages ## list the benchmarks, or run one: make bench ARGS="http_get --quick"
	@benchmarks/run $(or $(ARGS),--list)

fuzz: packages ## run the fuzzers for T seconds each (default 60), or some: ARGS="name…"
	@tools/fuzz.sh $(T) $(ARGS)

soak: setup ## ten minutes of load under each sanitizer, every fault, 5 GiB by S3, long model runs
	@tools/soak.sh

debug: packages ## build with the address and undefined-behaviour sanitizers (build/asan)
	tools/build.sh asan

fmt: packages ## format all C++ files
	@tools/format.sh

tidy: packages ## clang-tidy on all files; check looks at changed ones only
	@tools/build.sh dev && tools/tidy.sh --all

install: packages ## install the release under PREFIX (default /usr/local)
	tools/build.sh release
	cmake --install build/release --prefix $(PREFIX)

setup: packages ## install what is missing: Debian packages, and S3 clients for the tests
	@tools/setup_clients.sh

packages:
	@tools/setup.sh

clean: ## remove all builds
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

# make help lists the targets. They need Go, npm for the page, and gcc for the race detector.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
export CGO_ENABLED := 0
# As releases are built, so that each package is compiled once for all targets.
export GOFLAGS += -trimpath
# The oldest Node that builds the page.
NODE := $(shell sed -n 's/.*"node": ">=\(.*\)".*/\1/p' web/package.json)
have = $(shell command -v $(1) 2>/dev/null)

.PHONY: help run build web web-check setup test test-long test-page test-deploy soak vet lint bench bench-compare bench-http pictures mosaics fuzz vulncheck release release-twice clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build and serve the demo (FLAGS="..." adds flags)
	@./bin/limnomap serve $(FLAGS)

build: web ## Build bin/limnomap, one static binary
	@VERSION=$(VERSION) .ci/compile

web: ## Build the page into web/dist with npm (without npm the binary serves a plain page)
ifeq ($(call have,npm),)
	@echo "npm is not installed: building without the page. Node $(NODE) or newer has it: https://nodejs.org/" >&2
else
	@$(MAKE) --no-print-directory web/dist/index.html
endif

web/dist/index.html: web/package-lock.json $(wildcard web/*.mjs) web/rivers.json web/nearrivers.json $(shell find web/src -type f)
	@.ci/versions npm
	@echo "Building the page: npm gets the packages that web/package-lock.json names, and runs none of their scripts." >&2
	@cd web && ../.ci/patiently npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier && echo "Bundling the scripts and styles of the page." >&2 && ../.ci/patiently npm run --silent build

setup: ## Install the programs that make test needs (on Debian as root; elsewhere only list them) and start PostgreSQL
	.ci/setup

test: ## Run vet, staticcheck, the checks of the page, govulncheck, and one case of each kind of test; set up what they need
	.ci/test

test-long: ## Run all cases: matrices against GDAL, every language in a browser, long faults and attacks, other processors, a release (PACKAGES="./deploy" only those)
	.ci/setup long
	.ci/test long $(PACKAGES)

test-page: setup web ## Run only the tests of the page
	.ci/test ./web/...

test-deploy: setup web ## Run only the tests of deploy and docs: clients, proxies, examples
	.ci/test ./deploy/... ./docs/...

# Without the race detector, which needs memory of its own.
soak: ## Serve a mixed load for DURATION (10m), with wrk if it is installed; fail on errors and growth
	LIMNOMAP_TEST_DURATION=$(or $(DURATION),10m) go test -tags long -run '^TestSoak$$' -count 1 -v -timeout 0 ./cmd/limnomap/faulttest

# The tag adds the long tests.
vet:
	go vet -tags long ./...

web-check: web ## Lint the scripts of the page, and test those that need no browser
ifeq ($(call have,npm),)
	@echo "npm is not installed: the scripts of the page are not checked" >&2
else
	cd web && npm run --silent lint && npm test
endif

lint: vet ## Run vet, staticcheck and gofmt
	go tool staticcheck -tags long ./...
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; } >&2

bench: ## Run the benchmarks; the output is for benchstat
	go test -run '^$$' -bench . -benchmem -count $(or $(COUNT),1) ./...

bench-compare: ## Compare the hot paths with a commit, BASE=HEAD~1, by benchstat (COUNT=10 PATHS="heat tile" and others)
	.ci/bench-compare

bench-http: build ## Compare with a plain net/http handler and nginx, using wrk (ROUNDS=9 CASES="tile crowd" and others)
	.ci/bench-http

pictures: web ## Make the pictures of the README (with Chromium) and of docs/heat-field.md
	go test ./render -run '^TestDocPictures$$' -count 1 -docs "$(CURDIR)/docs"
	go test -tags long ./web/pagetest -run '^TestPagePictures$$' -count 1 -pictures "$(CURDIR)/docs"

mosaics: ## Draw many tiles of zoom 0 to 12 over several maps into the folder bin/mosaics, to look at them
	mkdir -p bin/mosaics
	go test ./render -run '^TestMosaics$$' -count 1 -mosaics "$(CURDIR)/bin/mosaics"

FUZZTIME ?= 20s
fuzz: ## Run each fuzz target for FUZZTIME (20s), or only those that match FUZZ=REGEXP; report findings
	FUZZTIME=$(FUZZTIME) .ci/fuzz "$(or $(FUZZ),.)"

vulncheck: ## Look for known vulnerabilities in Go modules and npm packages (GOVULNDB names another database: a URL, a folder or a .tar.gz)
	.ci/vulncheck

release: web ## Build the archives, SBOMs and checksums of a release in bin/release
	.ci/release bin/release

release-twice: ## Build the committed files as a release in two clones without a cache, and compare (slow)
	.ci/release-twice

clean: ## Remove built files, and the PostgreSQL of the tests
	.ci/postgres remove "$$(.ci/postgres folder)"
	rm -rf bin web/node_modules tiles/archive/testdata/reader/node_modules cmd/limnomap/testdata/mvtreader/node_modules cmd/limnomap/testdata/telling/node_modules deploy/examples/node_modules
	find web/dist -mindepth 1 ! -name .keep -delete

# make help lists what there is. Needs Go; npm for the page; gcc for the race detector.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
export CGO_ENABLED := 0
have = $(shell command -v $(1) 2>/dev/null)

.PHONY: help run build web setup test test-page test-deploy test-faults soak vet lint bench bench-http pictures fuzz vulncheck release release-twice clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build and serve the demo (FLAGS="..." are passed on)
	./bin/limnomap serve $(FLAGS)

build: web ## Build bin/limnomap, one static binary
	go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/limnomap ./cmd/limnomap

web: ## Build the page into web/dist (with npm; without it the binary serves a plain page)
ifeq ($(call have,npm),)
	@echo "npm is not installed: the page is left out, everything else is served" >&2
else
	@$(MAKE) --no-print-directory web/dist/index.html
endif

web/dist/index.html: web/package-lock.json $(wildcard web/*.mjs) $(shell find web/src -type f)
	cd web && npm ci --no-audit --no-fund && npm run build

setup: ## Install what the tests need (on Debian as root; elsewhere name what is missing), start their PostgreSQL
	.ci/setup

test: setup web lint vulncheck ## Run vet, staticcheck, govulncheck, and all tests with the race detector, a browser and all that is named in .ci/setup
	.ci/test

test-page: setup web ## Run the tests of the page alone
	.ci/test ./web/...

test-deploy: setup web ## Run the tests of deploy and docs alone: clients, Prometheus, proxies, examples
	.ci/test ./deploy/... ./docs/...

# make test has them too, at a length that every change can bear.
test-faults: ## Run the tests of faults on real processes at full length: kills, disks, clients, databases
	LIMNOMAP_FAULTS=full go test -run '^TestFault' -count 1 -v -timeout 30m ./...

# The plain binary: the race detector's memory tells nothing.
soak: ## Serve a mixed load for DURATION (10m), with wrk if there is one; fail on errors and growth
	LIMNOMAP_SOAK=$(or $(DURATION),10m) go test -tags soak -run '^TestSoak$$' -count 1 -v -timeout 0 ./cmd/limnomap

vet:
	go vet ./...
	go vet -tags soak ./cmd/limnomap

lint: vet ## Run vet, staticcheck and gofmt
	go tool staticcheck ./...
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; } >&2

bench: ## Run the benchmarks, in benchstat's form
	go test -run '^$$' -bench . -benchmem -count $(or $(COUNT),1) ./...

bench-http: build ## Compare with a bare net/http handler and nginx over HTTP, by wrk (FLAGS="-rounds 5" and others)
	go run ./cmd/benchhttp $(FLAGS)

pictures: web ## Take the README's pictures of the page anew, with Chromium, and draw those of docs/heat-field.md
	go test ./render -run '^TestDocPictures$$' -count 1 -docs "$(CURDIR)/docs"
	go test ./web/pagetest -run '^TestPagePictures$$' -count 1 -pictures "$(CURDIR)/docs"

FUZZTIME ?= 20s
fuzz: ## Run each fuzz target for FUZZTIME (20s); FUZZ=REGEXP picks some; exits with 1 and names what it found
	FUZZTIME=$(FUZZTIME) .ci/fuzz "$(or $(FUZZ),.)"

vulncheck: ## Look for known vulnerabilities in Go modules and npm packages (GOVULNDB names another database)
	.ci/vulncheck

release: web ## Build the archives, lists of parts and checksums of a release into bin/release
	.ci/release bin/release

release-twice: ## Build what is committed as a release in two clones without a cache, and compare (takes long)
	.ci/release-twice

clean: ## Remove what was built, and the tests' PostgreSQL
	.ci/postgres remove "$$(.ci/postgres folder)"
	rm -rf bin web/node_modules tiles/archive/testdata/reader/node_modules cmd/limnomap/testdata/mvtreader/node_modules deploy/examples/node_modules
	find web/dist -mindepth 1 ! -name .keep -delete

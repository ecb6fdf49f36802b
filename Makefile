# Every target is one short script under scripts/; CI calls the same ones.
.DEFAULT_GOAL := help
.PHONY: help dev sdk test check soak fmt lint fuzz bench docs pictures release

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dev: ## run an edge on localhost with fresh tokens and the commands to try it
	@scripts/dev.sh

sdk: ## build the SDKs for JavaScript and React, for npm install ../millrace/sdk/js in an app's folder
	@scripts/npm.sh sdk/react build

test: ## the tests of all Go packages and of the SDKs: minutes
	@scripts/test.sh

check: ## all that CI checks: make test, lint, races, browsers, clusters, faults
	@scripts/check.sh

soak: ## what is too long for make check: hours; NAMES='one two' runs some of it
	@scripts/soak.sh $(NAMES)

fmt: ## format the Go code
	@scripts/fmt.sh

lint: ## run the linters named in .golangci.yml
	@scripts/lint.sh

fuzz: ## run every fuzz target for FUZZTIME each (default 10s)
	@scripts/fuzz.sh

bench: ## the benchmarks of the hot path, and the edge beside other servers
	@scripts/bench.sh

docs: ## the documentation as a site, in dist/docs; scripts/docs.sh preview serves it
	@scripts/docs.sh

release: ## archives, packages, SBOMs and checksums of this checkout, in dist/release
	@scripts/release.sh

pictures: ## the pictures of the documents again, from the real pages in Chromium
	@scripts/pictures.sh

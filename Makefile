# Everything that `go run` and `go test` alone do not do. `make` lists the targets.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# The linter is pinned in a module of its own, so that its hundreds of dependencies stay out of ours.
LINT := go tool -modfile=$(CURDIR)/tools/golangci-lint/go.mod golangci-lint
FUZZTIME ?= 30s

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the commands into bin/
	@mkdir -p bin
	go build -trimpath -o bin/ ./cmd/...

.PHONY: test
test: ## Run the tests under the race detector (needs a C compiler; `go test ./...` needs none)
	go test -race -timeout 30m ./...

.PHONY: lint
lint: ## Run every linter of .golangci.yml on both modules
	$(LINT) run ./...
	cd test/e2e && $(LINT) run ./...

.PHONY: format
format: ## Format the code as lint wants it
	$(LINT) fmt ./...
	cd test/e2e && $(LINT) fmt ./...

.PHONY: fix
fix: format ## Let the linters repair what they can
	$(LINT) run --fix ./...
	cd test/e2e && $(LINT) run --fix ./...

.PHONY: tidy
tidy: ## Bring go.mod and go.sum of every module up to date; needed in test/e2e after each change of the main module's
	go mod tidy
	cd test/e2e && go mod tidy
	cd tools/golangci-lint && go mod tidy

.PHONY: bench
bench: ## Run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (30s)
	@grep -rnoE --include='*_test.go' 'func Fuzz[A-Za-z0-9_]*' cmd internal | sed -E 's|^(.*)/[^/]*:[0-9]+:func (.*)$$|./\1 \2|' | sort | \
	while read -r package target; do \
		echo "fuzzing $$package $$target"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" </dev/null; \
	done

.PHONY: generate
generate: ## Write the generated files: docs/reasons.md, docs/metrics.md, and the rules, their tests and the Alertmanager configuration in deploy/
	go run ./internal/docgen
	go run ./cmd/slogen all

.PHONY: check-generated
check-generated: generate ## Fail when a generated file is stale or not committed (run it on a clean work tree)
	git diff --exit-code
	@untracked=$$(git ls-files --others --exclude-standard); \
	if [[ -n $$untracked ]]; then printf 'generated, but not committed:\n%s\n' "$$untracked"; exit 1; fi

.PHONY: check-rules
check-rules: ## Hold the generated rules against Debian's promtool and amtool (packages prometheus and prometheus-alertmanager)
	promtool check rules deploy/prometheus/rules/*.yaml
	promtool test rules deploy/prometheus/rules/tests/*.yaml
	amtool check-config deploy/prometheus/alertmanager.yaml
	go test ./internal/slo/sloth -run TestPromtool -count=1 -promtool
	go test ./internal/slo/alertmanager -count=1 -amtool

.PHONY: e2e
e2e: ## Run the tests against a real etcd, kube-apiserver and aws-iam-authenticator (the first build of these takes about 10 minutes)
	cd test/e2e && go run ./cmd/build
	@rm -rf test/e2e/_artifacts && mkdir -p test/e2e/_artifacts
	cd test/e2e && go test ./... -count=1 -timeout 45m -artifacts -outputdir "$(CURDIR)/test/e2e/_artifacts"

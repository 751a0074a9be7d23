# Footfall. `make run` starts a broker; `make test check` is what a change must pass.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c

GO   ?= go
TOOL := $(GO) tool -modfile=tools.mod
BIN  := bin/footfall
# How long each fuzz target runs, how often a broker under load is killed, and by how much
# the random histories are multiplied.
FUZZTIME     ?= 5s
CRASH_ROUNDS ?= 20
ROUNDS       ?= 5
# Narrow a target down: make fuzz PACKAGES=./frames, make bench BENCH=Commit.
PACKAGES ?= ./...
BENCH    ?= .

.PHONY: run build clients integration test check format vet staticcheck layout tidy deadcode fuzz bench crash nightly cover clean help

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 14

run: build ## build the broker and start it, with its data in ./data
	./$(BIN) serve

build: ## build ./bin/footfall as it is released: static, without paths of this machine
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN) ./cmd/footfall

clients: ## install the clients of other languages that the tests use, below .build/clients
	integration/clients/install

integration: clients ## try the client libraries feature by feature, and print the table
	$(GO) test -count 1 -timeout 10m -run '^(TestClientsDoWhatTheTableShows|TestTheTableHasEveryClientAndFeature|TestTheLinesOfEveryClientWork)$$' ./integration
	@cat .build/clients/table.md

test: clients ## run all tests with the race detector
	$(GO) test -race -timeout 25m ./...

check: format vet staticcheck layout tidy deadcode fuzz ## everything but the tests: form, analysis, a few seconds of each fuzz target

format: ## fail when a file is not formatted
	@echo '$(TOOL) gofumpt -l .'
	@files=$$($(TOOL) gofumpt -l .) && test -z "$$files" || { echo "not formatted:"; echo "$$files"; exit 1; }

vet: ## the compiler's own analysis
	$(GO) vet ./...

staticcheck: ## all checks of staticcheck.conf
	$(TOOL) staticcheck ./...

layout: ## the rules of docs/architecture.md that a program can check
	$(GO) test -run 'TestTheRepositoryKeepsItsRules|TestEveryRuleFindsItsBreach|TestNothingNamesTheMachine' ./integration

tidy: ## fail when go.mod or go.sum is not what the code needs
	$(GO) mod tidy -diff
	$(GO) mod verify

deadcode: ## fail when a function is called by nothing, tests included
	@echo '$(TOOL) deadcode -test ./...'
	@dead=$$($(TOOL) deadcode -test ./...) && test -z "$$dead" || { echo "never called:"; echo "$$dead"; exit 1; }

# The engine of fuzzing now and then reports its own time limit as a failure; such a one leaves no
# input behind and is tried again, a failure with an input is not.
fuzz: ## run every fuzz target for FUZZTIME
	@for package in $$($(GO) list $(PACKAGES)); do \
	  targets=$$($(GO) test -list '^Fuzz' $$package) || { echo "$$targets"; exit 1; }; \
	  for target in $$(grep '^Fuzz' <<<"$$targets" || true); do \
	    command="$(GO) test -run ^$$ -fuzz ^$$target$$ -fuzztime $(FUZZTIME) $$package"; \
	    echo "$$command"; \
	    out=$$($$command 2>&1) || { \
	      case "$$out" in \
	        *"Failing input"*) echo "$$out"; exit 1;; \
	        *"context deadline exceeded"*) $$command || exit 1;; \
	        *) echo "$$out"; exit 1;; \
	      esac; }; \
	  done; \
	done

bench: ## run the benchmarks, and compare with BASE when it is given
	@mkdir -p .build
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count 6 $(PACKAGES) | tee .build/bench.txt
	$(if $(BASE),$(TOOL) benchstat $(BASE) .build/bench.txt,$(TOOL) benchstat .build/bench.txt)

crash: ## run the crash and fault tests for more rounds: CRASH_ROUNDS, ROUNDS
	FOOTFALL_CRASH_ROUNDS=$(CRASH_ROUNDS) FOOTFALL_ROUNDS=$(ROUNDS) $(GO) test -count 1 -timeout 8h ./store/... ./broker/... ./integration/...

nightly: ## what takes hours: many crashes, deep queues, long fuzzing
	FOOTFALL_DEEP=1 $(MAKE) crash CRASH_ROUNDS=200 ROUNDS=50
	$(MAKE) fuzz FUZZTIME=10m

cover: ## tell what the tests reach
	@mkdir -p .build
	$(GO) test -coverpkg ./... -coverprofile .build/cover.out ./...
	$(GO) tool cover -func .build/cover.out | tail -1
	$(GO) tool cover -html .build/cover.out -o .build/cover.html

clean: ## remove what was built
	rm -rf bin .build

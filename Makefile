# make        build/out_hdfs.so, the plugin, and build/out-hdfs, its command
# make test   everything that can be checked on one machine
# make tools  installs what the tests need and is missing, or says what to type
# make demo   a few thousand log events into hourly files, shown step by step
# make demo-hdfs  the same on a real HDFS, which needs Java and Maven
# make bench  the sink and the formats beside the least that can be done, and others
# make clean

GO        ?= go
FUZZTIME  ?= 5000x
BENCHTIME ?= 1s
TIMEOUT   ?= 20m

# Everything is built with cgo and as position independent code, so that plugin,
# command and tests use one compilation of the standard library.
export CGO_ENABLED = 1
export GOFLAGS = -trimpath -buildmode=pie

.DELETE_ON_ERROR:
.PHONY: all test compilers tools format vet lint reference unit process fuzz demo demo-hdfs bench mutants clean FORCE

all: build/out_hdfs.so build/out-hdfs

# Go knows best what is up to date.
build/out_hdfs.so: compilers FORCE
	@echo "  GO    $@"
	@$(GO) build -buildmode=c-shared -o $@ .

build/out-hdfs: compilers FORCE
	@echo "  GO    $@"
	@$(GO) build -o $@ ./cmd/out-hdfs

build/host: $(wildcard tests/host/csrc/*.c tests/host/csrc/*.h) | compilers
	@echo "  CC    $@"
	@mkdir -p build
	@cc -std=gnu11 -Wall -Wextra -Werror -O1 -g -rdynamic -o $@ tests/host/csrc/*.c -lpthread -ldl

compilers:
	@tests/tools.sh compilers

tools:
	@tests/tools.sh all

test: tools format vet lint reference all unit process fuzz
	@echo "  OK    all tests passed"

format:
	@echo "  FMT"
	@files=$$(gofmt -l .) && test -z "$$files" || { echo "gofmt these: $$files" >&2; exit 1; }

vet:
	@echo "  VET"
	@$(GO) vet ./...

lint:
	@echo "  LINT"
	@$(GO) tool staticcheck ./...

reference:
	@echo "  DOCS  the option reference is current"
	@$(GO) run ./instance/reference -check

# What runs inside one process. With the race detector what has goroutines; the
# long enumerations of the sink are shortened there and whole without it. The
# detector takes no position independent code.
unit:
	@echo "  TEST  packages, with the race detector"
	@$(GO) test -race -buildmode=exe -short -timeout $(TIMEOUT) . ./cmd/... ./conf/... ./fluentbit/... ./instance/... ./sink/...
	@echo "  TEST  packages"
	@$(GO) test -timeout $(TIMEOUT) ./assigner/... ./codec/... ./rolling/... ./sink ./sink/disk/... ./sink/journal/...

# What runs the plugin in processes of its own, on a real HDFS and for real
# readers, where the detector sees nothing. One after the other: each fills the
# machine. Go doesn't know that they depend on the plugin, so nothing is cached.
process:
	@echo "  TEST  processes"
	@$(GO) test -count=1 -p 1 -timeout $(TIMEOUT) ./tests/...

# Each fuzz target for a moment, on what it has found before and beyond. Counted,
# since a time that runs out in the middle of an input is reported as a failure.
fuzz:
	@for file in $$(grep -rl --include='*_test.go' '^func Fuzz' . | sort); do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do \
	    echo "  FUZZ  $$(dirname $$file) $$target"; \
	    log=$$($(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$(dirname $$file) 2>&1) || { echo "$$log" >&2; exit 1; }; \
	  done; \
	done

demo: all build/host
	@tests/demo/demo.sh

demo-hdfs: tools all build/host
	@GO="$(GO)" tests/demo/demo-hdfs.sh

bench: tools
	@$(GO) run ./tests/bench
	@$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./codec/... ./sink/journal

# mutants plants one bug at a time in a copy of the code: the tests must notice each.
mutants:
	@$(GO) run ./tests/mutants

clean:
	@rm -rf build

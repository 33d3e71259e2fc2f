# Nothing but git, make and root is needed to start: `make deps` brings the rest.
.DEFAULT_GOAL := help
.PHONY: help deps build images package check conformance demo test bench bench-smoke soak format lint clean

# Debian's tools, whatever else the user's PATH holds.
export PATH := /usr/sbin:/usr/bin:/sbin:/bin:$(PATH)
# A clone in another folder finds what was compiled in this one.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

deps: ## install the Debian packages of deps/packages.txt (as root)
	@deps/install

build: deps ## build the programs: operator, device plugin, launcher, preflight and command line, in build/bin, and the limiter
	@cmake --preset release
	@cmake --build --preset release --target gpupool_vgpu gpupool_vgpu_alias gpupool_vgpu_nvml gpupool-operator gpupool-device-plugin gpupool-launch gpupool-preflight gpupool-carry gpupool-web gpupool-keeper gpupool-ledger kubectl-gpupool

images: build ## make the container images, as archives in build/images
	@deploy/images/build

package: deps ## make the Debian packages of gpupool-preflight and kubectl-gpupool, in build/packages
	@cmake --preset release
	@cmake --build --preset release --target gpupool-preflight kubectl-gpupool
	@cd build && SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct || echo 0)} cpack -G DEB

demo: build ## run the examples on a cluster of nodes; KEEP=1 leaves it up; PART=data shows sources and results, PART=checkpoint a drain, PART=queue two groups, PART=slices limits of memory, PART=billing bills and books
	@cmake --build --preset release --target gpupool_fake_nvml gpupool_fake_cuda $(if $(filter data,$(PART)),carry-s3-tool)
	@demo/run

test: deps ## build and run the tests (single parts: tests/run --help)
	@tests/run

bench: build ## measure everything, beside the least work there is; RUNS=n (3). bench-smoke: tiny
	@cmake --build --preset release --target bench
	@bench/run --runs $(or $(RUNS),3)

bench-smoke: build
	@cmake --build --preset release --target bench
	@bench/run --smoke

conformance: ## compare the limiter with driver libraries: DRIVERS="FOLDER..." with libcuda.so.* and libnvidia-ml.so.*; needs no GPU
	@tests/limiter/conformance --list $(DRIVERS)
	@$(MAKE) --no-print-directory build
	@cmake --build --preset release --target ask-driver
	@tests/limiter/conformance $(DRIVERS)

soak: build ## faults, crashes and races: MINUTES=n for so long, else each crash point and 10,000 submissions; 10,000 kills of users of a region, 1,000,000 calls of the limiter, 10 minutes of each of its parsers; 100 kills of the keeper under 1,000 launchers, 200 kills of the ledger, once with a file and once with PostgreSQL; SEED=s
	@cmake --build --preset release --target all
	@REGION_KILLS=10000 REGION_TIMES=10 REGION_SEED=$(or $(SEED),1) tests/limiter/run test_region
	@build/bin/limiter-tests/region-times
	@STRICT_TIMES=1 tests/limiter/run proxy.test_cost
	@TRACE_STEPS=1000000 TRACE_SEED=$(or $(SEED),1) tests/limiter/run cuda.test_trace
	@cmake --preset fuzz && cmake --build --preset fuzz --target fuzz_limits_file fuzz_region_view
	@tests/fuzz/run 600 limits_file region_view
	@FETCH_KILLS=100 tests/data/run test_fetch_kills
	@KEEPER_KILLS=100 tests/keeper/run test_the_keeper_is_killed
	@LEDGER_KILLS=200 tests/integration/operator/run test_what_jobs_held_is_in_the_books_once
	@LEDGER_POSTGRES=1 LEDGER_KILLS=200 tests/integration/operator/run test_ledger test_accounts test_bill_readers
	@tests/faults/run --soak --seed $(or $(SEED),1) $(if $(MINUTES),--minutes $(MINUTES))

fuzz: deps ## fuzz each parser for SECONDS=n (60), one after the other
	@cmake --preset fuzz
	@cmake --build --preset fuzz
	@tests/fuzz/run $(or $(SECONDS),60)

format: deps ## format the C++ files in place
	@.ci/format

check: deps ## build, format, layers, unit tests and launcher: what to run before each commit, under 3 minutes warm
	@tests/run build format layers unit

lint: deps ## check format, layers and clang-tidy, changing nothing
	@tests/run format layers tidy

clean: ## remove what was built; caches outside the tree stay
	@rm -rf build

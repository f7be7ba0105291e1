# Without an active virtual environment every target makes .venv in this directory and works in it.
# PYTHON names the interpreter that .venv is made with.
PYTHON ?= python3
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PIP_NO_INPUT = 1
# what is run is what lies in this folder
unexport PYTHONSAFEPATH
# what was translated once is kept: otherwise each process that a test starts takes three times as long to import lodcore
unexport PYTHONDONTWRITEBYTECODE
# five examples of a property, the same every time; `make soak` draws others, and more
export HYPOTHESIS_PROFILE ?= handful

ifdef VIRTUAL_ENV
ENVIRONMENT := $(VIRTUAL_ENV)
READY := build/ready-$(firstword $(shell ls -di "$(VIRTUAL_ENV)" | cksum))
INSTALLED := $(READY)-
else
ENVIRONMENT := $(CURDIR)/.venv
READY := .venv/ready
INSTALLED := .venv/installed-
endif
export PATH := $(ENVIRONMENT)/bin:$(PATH)
RUN := "$(ENVIRONMENT)/bin/python"

# What to install before anything is built, as pyproject.toml has it: "setuptools>=..." "cython>=..." ...
REQUIRES := $(shell sed -n '/^requires = /{ s/.*\[\(.*\)\]/\1/; s/", "/" "/g; p; }' pyproject.toml)
SOURCES := setup.py $(shell find lodcore -name '*.pyx' -o -name '*.pxd' -o -name '*.h')

# Of older Pythons the compiler would complain, after minutes, and in words of its own.
OF_AGE = import sys; sys.version_info >= (3, 10) or sys.exit(sys.executable + ": lodcore needs Python 3.10 or newer; make PYTHON=... names one")

# Targets install into one environment; what is compiled is compiled in parallel by setup.py.
.NOTPARALLEL:

.PHONY: help installed demo test twins soak elsewhere doors engines extras lint types bench bench-compare peers judge docs pages plain asan hunt leaks build-costs coverage mutants wheel pythons clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

$(READY): pyproject.toml
	@echo "setting up $(ENVIRONMENT)"
	@mkdir -p build
	@test -x $(RUN) || { $(PYTHON) -c '$(OF_AGE)' && $(PYTHON) -m venv .venv; }
	@$(RUN) -c '$(OF_AGE)'
	@$(RUN) -m pip --version > /dev/null 2>&1 || $(RUN) -m ensurepip > /dev/null
	@$(RUN) -m pip install -qq $(REQUIRES)
	@touch $@

build/built: $(READY) $(SOURCES)
	@$(RUN) setup.py -q build_ext --inplace
	@touch $@

# What a target needs is an extra of pyproject.toml, which is installed once. The package itself is this folder, whose
# modules pip does not build once more.
$(INSTALLED)%: pyproject.toml $(READY)
	@echo "installing what '$*' needs"
	@LODCORE_BUILD=none $(RUN) -m pip install -qq --no-build-isolation -e '.[$*]'
	@touch $@

installed: build/built $(addprefix $(INSTALLED),test lint types bench wheel) ## install what the targets of .ci/run need

demo: build/built ## learn from real recordings and from real text, in two acts
	@OPENBLAS_NUM_THREADS=1 $(RUN) -m lodcore demo # small products gain nothing from waiting threads

# one thread for products: those of the other processes need the other processors
test: build/built $(INSTALLED)test ## run all tests, and the examples of docstrings and README, in as many processes as processors
	OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -n auto --dist worksteal

twins: build/built $(INSTALLED)test ## run all tests with the kernels replaced by the reference
	OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -n auto --dist worksteal --kernels reference.kernels -m 'not not_on_reference'

soak: build/built $(INSTALLED)test ## draw other examples than `make test` does, for MINUTES=m (30), beginning with SEED=n (1)
	$(RUN) -m tests.builds.soak $(or $(SEED),1) $(or $(MINUTES),30)

elsewhere: build/built $(INSTALLED)test ## run the tests in an environment drawn from NUMBER (any): locales, folders, limits; SAMPLE=1 runs a part
	$(RUN) -m tests.builds.elsewhere $(NUMBER) $(if $(COMMIT),--commit) $(if $(SAMPLE),--sample $(SAMPLE))

DOORS := $(if $(SMALL),small-doors,doors)
SMALL_DOORS := awkward,duckdb,h5py,nanoarrow,netCDF4,pandas,polars,pyarrow,scipy,xarray,zarr

doors: build/built ## install the libraries of docs/doors.md into build/doors, and run every door against its own; SMALL=1 those that are quickly installed
	@test -x build/$(DOORS)/bin/python || $(PYTHON) -m venv build/$(DOORS)
	@build/$(DOORS)/bin/python -m pip install -qq $(REQUIRES)
	@LODCORE_BUILD=none build/$(DOORS)/bin/python -m pip install -qq --no-build-isolation -e '.[$(DOORS)]'
	LODCORE_DOORS=$(if $(SMALL),$(SMALL_DOORS),1) build/$(DOORS)/bin/python -m pytest tests/doors tests/numpy_api/test_with_awkward.py

engines: build/built ## install Ray, Dask and Spark into build/engines, and run each on two workers (Spark needs Java 17)
	@java -version > /dev/null 2>&1 || { echo "Spark needs Java 17: apt-get install default-jre-headless"; false; }
	@test -x build/engines/bin/python || $(PYTHON) -m venv build/engines
	@build/engines/bin/python -m pip install -qq $(REQUIRES)
	@LODCORE_BUILD=none build/engines/bin/python -m pip install -qq --no-build-isolation -e '.[engines]'
	LODCORE_DOORS=1 build/engines/bin/python -m pytest tests/doors/test_engines*.py

extras: build/built $(INSTALLED)wheel ## install each extra alone, from nothing, and run its tests; EXTRA=name chooses, OLDEST=1 takes the oldest libraries
	$(RUN) -m tests.builds.extras $(if $(OLDEST),--oldest) $(EXTRA)

lint: $(INSTALLED)lint ## check style: ruff, cython-lint
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	cython-lint lodcore

types: build/built $(INSTALLED)types ## check types: mypy, pyright on lines of users, and the stubs against the compiled modules
	$(RUN) -m mypy
	$(RUN) -m mypy tests/types/lines.py
	basedpyright
	$(RUN) -m mypy.stubtest --mypy-config-file pyproject.toml $(subst /,.,$(basename $(shell find lodcore -name '*.pyx' | sort)))

# a quarter of the files of benchmarks, by the first digit of the commit
QUARTERS = ^[a-f] ^[g-l] ^[mno] ^[p-z]
DIGIT = $(shell printf '%d' "0x$$(git rev-parse HEAD 2> /dev/null | cut -c 1)" 2> /dev/null)
QUARTER = --bench "$(word $(shell expr $(DIGIT) % 4 + 1),$(QUARTERS))"

bench: build/built $(INSTALLED)bench ## run every benchmark once, to see that it works; SAMPLE=1 those of a quarter of the files
	sed 's|"results"|"../.asv/quick"|' asv_benchmarks/asv.conf.json > asv_benchmarks/.quick.json
	cd asv_benchmarks && asv machine --yes --config .quick.json && \
	    asv run --config .quick.json --python=same --quick --dry-run --show-stderr $(if $(SAMPLE),$(QUARTER))

bench-compare: build/built ## what became slower since BASE (the last commit but one), in five minutes; ONLY="names" chooses, SHORT=1 takes a fifth
	$(RUN) asv_benchmarks/compare.py $(or $(BASE),HEAD~1) $(NEW) $(if $(SHORT),--short) $(if $(ONLY),--only $(ONLY))

peers: build/built $(INSTALLED)bench ## compare with the installed peers: the table of the README
	$(RUN) asv_benchmarks/peers/run.py

judge: build/built $(INSTALLED)test ## install other libraries into build/judge, hold them against our cases, and write docs/judge.md
	$(RUN) asv_benchmarks/judge/run.py --install

docs: build/built $(INSTALLED)docs ## build the site into docs/_build/html; warnings are errors, and no network is needed
	$(RUN) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

pages: build/built $(INSTALLED)test ## write what is derived anew: types of kernels, methods and operators, dtypes of results, rows of docs/operators.md, names in docs/coming-from
	$(RUN) -m tests.builds.kernel_types
	$(RUN) -m tests.builds.method_types
	$(RUN) -m tests.helpers.dtypes_of_results
	$(RUN) -m tests.builds.operator_types
	$(RUN) -m tests.builds.operators_page
	$(RUN) -m tests.builds.other_names_pages

plain: build/built $(INSTALLED)test ## build without x86 instructions, as for other processors, and compare the bits
	$(RUN) -m tests.builds.plain

asan: build/built $(INSTALLED)test ## run kernels, error table and kept memory under the sanitizers; SAMPLE=1 a quarter of the properties and rows of tables
	$(RUN) -m tests.builds.asan $(if $(SAMPLE),--sample)

leaks: build/built $(INSTALLED)test ## call each operator, vjp, loop and Program up to a million times, and see that memory is where it was
	$(RUN) -m tests.builds.leaks

hunt: build/built $(INSTALLED)test ## change what calls work on while they run, for SECONDS (600), here and under the sanitizers
	$(RUN) -X faulthandler -m tests.robustness.injection --seconds $(or $(SECONDS),600) --seed $(or $(SEED),0) --log build/hunt.log
	$(RUN) -X faulthandler -m tests.robustness.liars --seconds $(or $(SECONDS),600) --seed $(or $(SEED),0) --log build/hunt.log
	$(RUN) -m tests.robustness.recordings
	$(RUN) -m tests.robustness.stores --seconds $(or $(SECONDS),60) --seed $(or $(SEED),0)
	$(RUN) -m tests.robustness.interrupts
	$(RUN) -m tests.robustness.costs
	$(RUN) -m tests.builds.asan soak $(or $(SECONDS),600)

build-costs: $(READY) ## build a copy in one process, and print what each module costs
	$(RUN) -m tests.builds.build_costs

coverage: build/built $(INSTALLED)coverage ## measure the lines of .py and .pyx that the tests run; at least 95 %
	$(RUN) -m tests.builds.coverage

mutants: build/built $(INSTALLED)test ## plant defects, see that the tests find each: those that SEEDS="7 8" draws (COMPILED=1: in compiled files), or a fixed list and the listed ones
	$(RUN) -m tests.mutants --drawn $(if $(COMPILED),--compiled) $(SEEDS)
	$(if $(SEEDS),,$(RUN) -m tests.mutants)

wheel: build/built $(INSTALLED)wheel ## build sdist and wheel, and test the wheel away from the checkout, also with the oldest NumPy; REUSE=1 compiles nothing again, SAMPLE=1 runs a quarter of the tests
	$(RUN) -m tests.builds.wheel $(if $(REUSE),--reuse) $(if $(SAMPLE),--sample)

pythons: build/built $(INSTALLED)wheel ## install the sdist on every promised Python that the machine has, with its oldest and newest NumPy, and test it; ENDS=1 the oldest and the newest, SAMPLE=1 compiles quickly, and runs a part of the tests
	$(RUN) -m tests.builds.pythons $(if $(ENDS),--ends) $(if $(SAMPLE),--sample)

clean: ## remove what was built, but not .venv
	rm -rf build dist .asv .coverage lodcore.egg-info
	find lodcore \( -name '*.so' -o -name '*.c' \) -delete

# make run    sets up on first use and opens the app (STREAMLIT_SERVER_PORT and its like are honoured)
# make check  lints and tests what is computed, within two minutes: for working
# make test   sets up and runs every test, real browser included
# make bench  prints the budget table for the running app
# make mutants changes one thing in core at a time, 300 times, and says which changes no test noticed (half an hour)
# make format formats and lints
#
# Set what you need, once, when the environment is made: make run PYTHON=python3.12 TORCH_INDEX=...
# PYTHON       the Python to use, 3.11 or newer
# TORCH_INDEX  where torch comes from. On Linux the public index brings 2.9 GB of CUDA parts along; without them:
#              make run TORCH_INDEX=https://download.pytorch.org/whl/cpu
# LOCKED=1     exact versions, each with its hash, from deploy/*.lock: what CI uses
PYTHON ?= python3
TORCH_INDEX ?=
LOCKED ?=
VENV := .venv
NODE := tests/js/node_modules/.package-lock.json
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
TORCH := $(shell grep '^torch==' requirements.txt)
WORKERS ?= 2
# Threads that each keep a heap of their own cost a server 120 MB here (glibc; elsewhere without effect).
export MALLOC_ARENA_MAX ?= 2

.PHONY: run check test bench mutants format chromium train record pictures lock
.DEFAULT_GOAL := run

run: $(VENV)/app
	$(BIN)/python -m streamlit run app.py

# One line a tool; what takes longer than seconds belongs to `test`.
check: $(VENV)/tests $(NODE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -m "not long" -n $(WORKERS) --dist worksteal tests/core tests/js tests/test_house.py tests/test_project.py

test: $(VENV)/tests $(NODE) chromium
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest --durations=10 -n $(WORKERS) --dist worksteal

bench: $(VENV)/tests chromium
	$(BIN)/python -m tests.bench

MUTANTS ?= 300
mutants: $(VENV)/tests
	$(BIN)/python -m tests.mutants -n $(MUTANTS)

format: $(VENV)/tests
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# What ships trained is trained again: about three quarters of an hour on one core.
train: $(VENV)/app
	$(BIN)/python -m core.make dates cheat neighbours healed places moe ssm line by_heart

# What ships recorded is written anew: an hour, most of it for losses on stories.
record: $(VENV)/app
	$(BIN)/python -m core.make home sharing_losses place_losses long_losses story_losses reach_losses \
		norms norm_losses neurons needed cache_losses patterns instead bank sinks swaps blanks whatifs sky scaling superposition

# The pictures of the README, taken from the running app.
pictures: $(VENV)/tests chromium
	$(BIN)/python -m tests.bench.pictures

# The environment is made on first use, and anew when the requirements change. torch first: most that can fail, fails there.
$(VENV)/app: requirements.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and "Python 3.11 or newer is needed; \
	$(PYTHON) is %d.%d. With another one: make run PYTHON=python3.12" % v[:2])'
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(if $(LOCKED),$(PIP) --require-hashes -r deploy/app.lock)
	@$(PIP) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(TORCH) || { rm -rf $(VENV); echo >&2; \
	echo "$(TORCH) could not be installed. Is there a network? If there is, PyTorch has no wheel for" >&2; \
	echo "this Python or this machine: it has for 64-bit Python 3.11 to 3.14 on Linux (glibc 2.28 or newer), Windows and" >&2; \
	echo "Macs with Apple chips (macOS 14 or newer). With another Python: make run PYTHON=python3.12" >&2; exit 1; }
	$(if $(LOCKED),,$(PIP) -r requirements.txt)
	touch $@

$(VENV)/tests: $(VENV)/app tests/requirements.txt
	$(PIP) $(if $(LOCKED),--require-hashes -r deploy/tests.lock,-r tests/requirements.txt)
	touch $@

# torch and its CUDA parts are in no lock: their files differ from index to index. `torch==` in requirements.txt is exact.
lock: $(VENV)/tests
	$(PIP) uv
	for of in requirements.txt:app tests/requirements.txt:tests; do \
	  { echo "# Written by 'make lock'; for Python 3.11 and newer on any system. Install: pip install --require-hashes -r"; \
	    echo "# this file, then the torch of requirements.txt. Neither torch nor its CUDA parts are locked: their files"; \
	    echo "# differ between PyPI and PyTorch's own index, which TORCH_INDEX chooses. All else torch needs is here."; \
	    $(BIN)/uv pip compile --quiet --no-config --no-header --universal --python-version 3.11 --generate-hashes \
	    --no-emit-package torch --excludes deploy/cuda.txt $${of%%:*}; } > deploy/$${of##*:}.lock || exit 1; done

# What lints, types and tests the pictures' scripts; the app itself needs no Node.
$(NODE): tests/js/package-lock.json
	@if ! command -v npm >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nodejs npm >/dev/null; \
	fi
	@command -v npm >/dev/null || { echo "npm is needed to test the pictures' scripts: install Node.js 20 or newer" >&2; exit 1; }
	cd tests/js && npm ci --silent --no-audit --no-fund
	touch $@

# Debian's Chromium where we may install it. Where there is none the browser tests fail, loudly; they never skip.
chromium:
	@if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null \
	    && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-noto-cjk >/dev/null; \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell >/dev/null \
	    || echo "no chromium-headless-shell here: the tests run in Chromium with its windows, and take longer" >&2; \
	fi

# make run    sets up on first use and opens the app (STREAMLIT_SERVER_PORT and its like are honoured)
# make test   sets up and runs every test, real browser included
# make bench  prints the budget table for the running app
# make mutants changes one thing in core at a time, 300 times, and says which changes no test noticed (half an hour)
# make format formats and lints
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
# Threads that each keep a heap of their own cost a server 120 MB here (glibc; elsewhere without effect).
export MALLOC_ARENA_MAX ?= 2

.PHONY: run test bench mutants format chromium train record
.DEFAULT_GOAL := run

run: $(VENV)/app
	$(BIN)/python -m streamlit run app.py

test: $(VENV)/tests chromium
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
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
	$(BIN)/python -m core.make dates cheat neighbours healed places

# What ships recorded is written anew: half an hour, most of it for the story losses.
record: $(VENV)/app
	$(BIN)/python -m core.make home sharing_losses place_losses long_losses story_losses

# The environment is made on first use, and anew when the requirements change.
$(VENV)/app: requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed")'
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/tests: $(VENV)/app tests/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	touch $@

# Debian's Chromium where we may install it. Where there is none the browser tests fail, loudly; they never skip.
chromium:
	@if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null \
	    && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-noto-cjk >/dev/null; \
	fi

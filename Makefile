# The menu. Everything that is built or installed lies outside the checkout, in CLEW_CACHE.
CLEW_CACHE ?= $(HOME)/.cache/clew
export CARGO_TARGET_DIR ?= $(CLEW_CACHE)/target
VENV := $(CLEW_CACHE)/venv
PYTHON := $(VENV)/bin/python
BUILT := $(CARGO_TARGET_DIR)/release/clew
RELEASE := $(CARGO_TARGET_DIR)/dist/clew
QUICK := $(CARGO_TARGET_DIR)/quick/clew
PACKAGE := $(CARGO_TARGET_DIR)/dist/packaged/clew
DEBUG := $(CARGO_TARGET_DIR)/debug/clew
PGO := $(CARGO_TARGET_DIR)/pgo

SPEC := $(CLEW_CACHE)/rest-api-spec-2.19.0
ELASTICSEARCH_PY := $(addprefix $(CLEW_CACHE)/elasticsearch-py-,7.10.1 7.17.12 8.17.2 9.5.1)
MILVUS_NODE := $(CLEW_CACHE)/milvus-node-3.0.6
MILVUS_GO := $(CLEW_CACHE)/milvus-go-2.6.2/session
MILVUS_JAVA := $(CLEW_CACHE)/milvus-java-2.6.6/Session.class
MILVUS_CLIENTS := $(CLEW_CACHE)/venv-langchain-milvus/.installed $(CLEW_CACHE)/venv-llama-index-milvus/.installed $(CLEW_CACHE)/venv-pymilvus-bulk/.installed $(MILVUS_NODE)/session.js $(MILVUS_GO) $(MILVUS_JAVA)
PYMILVUS := $(addprefix $(CLEW_CACHE)/pymilvus-,2.6.17 3.0.2)
GO_SESSION := $(CLEW_CACHE)/go-elasticsearch-8.17.0/session
NODE_LOGGERS := $(CLEW_CACHE)/node-loggers-1
JAVA_SESSION := $(CLEW_CACHE)/opensearch-java-2.22.0/Session.class
ZIPKIN := $(CLEW_CACHE)/zipkin-3.4.4/zipkin-server-3.4.4-exec.jar
FILEBEAT := filebeat-7.17.28
SYSLOG := $(CLEW_CACHE)/syslog
# Two programs that Debian does not install beside each other, and what they need that not every machine has.
SYSLOG_PACKAGES := rsyslog rsyslog-gnutls rsyslog-openssl liblognorm5 libestr0 libfastjson4 syslog-ng-core libivykis0 libjson-c5 libnet1 libwrap0 libnsl2 libpcre3

.PHONY: help demo test test-rust test-kafka test-clients clients conformance differential fuzz-rest fuzz-filter faults kill-log torture soak check bench-log bench-vectors bench-msmarco bench-shards bench-at-once bench-text bench-collect bench-opensearch bench-milvus bench-restart bench-under-merge bench-serve bench-growth bench-always-on bench-reports bench-turns bench-instructions build package pgo pgo-build pgo-server deny doc clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: ## build what is soon there, serve, collect this machine's logs, load vectors and ask six questions
	cargo build --profile quick --locked -p clew --no-default-features # without the remap language, which it does not use
	python3 demo/demo.py --bin $(QUICK)

test: check test-rust test-clients ## run every test

test-rust: ## unit, property and simulation tests
	cargo build --workspace --bins --tests --locked # with the program, which takes a minute where it is built alone afterwards
	cargo test --workspace --locked

test-kafka: ## the collector's input and output `kafka`, which other tests leave out, against librdkafka's own servers of Kafka
	cargo test --locked -p clew-collect --features kafka kafka

test-clients: $(VENV)/.installed ## the real binary with real clients
	-@$(MAKE) --no-print-directory $(SPEC)/.installed $(ELASTICSEARCH_PY) $(PYMILVUS) # tests that lack one of these say that they are skipped
	cargo build --workspace --bins --tests --locked # as `test-rust` has built it, so that nothing is built twice
	CLEW_BIN=$(DEBUG) CLEW_CACHE=$(CLEW_CACHE) CLEW_REST_SPEC=$(SPEC)/rest-api-spec \
		$(PYTHON) -m unittest_parallel --level class -s tests -t tests -p longest_first.py -v # on all cores: mostly one of both waits, client or server

clients: $(SYSLOG)/.installed $(CLEW_CACHE)/venv-opensearch-benchmark/.installed $(CLEW_CACHE)/venv-vectordb-bench/.installed $(MILVUS_CLIENTS) $(GO_SESSION) $(JAVA_SESSION) $(ZIPKIN) $(NODE_LOGGERS)/session.js $(CLEW_CACHE)/$(FILEBEAT)/filebeat ## big clients, half an hour once; `test-clients` then uses them

conformance: build $(VENV)/.installed $(SPEC)/.installed ## OpenSearch's own REST tests; ARGS="--only scroll -v" for some of them
	CLEW_BIN=$(RELEASE) $(PYTHON) -m tests.conformance --spec $(SPEC)/rest-api-spec $(ARGS)

fuzz-rest: build $(VENV)/.installed ## requests generated from the served description of the API; ARGS="--cases 1000 --only _search"
	CLEW_BIN=$(RELEASE) $(PYTHON) -m tests.fuzz_rest.fuzz $(ARGS)

fuzz-filter: ## filter expressions of Milvus' API, cut and mixed for a minute; ARGS="CLEW_FUZZ_SECONDS=600 CLEW_SEED=1"
	CLEW_FUZZ_SECONDS=60 CLEW_SEED=$$(date +%s) $(ARGS) cargo test --locked -p clew-milvus mutated_expressions -- --nocapture

differential: build $(VENV)/.installed ## the same requests to Clew and to a real OpenSearch; ARGS="--seeds 5 --only aggregations"
	CLEW_CACHE=$(CLEW_CACHE) CLEW_BIN=$(RELEASE) $(PYTHON) -m tests.differential $(ARGS)

faults: build ## crashes, power cuts, damaged files, failing disks, clocks, hostile requests; ARGS="kill --rounds 500 --seed 1", ARGS="damage disk"
	CLEW_BIN=$(RELEASE) python3 -m tests.faults $(ARGS)

kill-log: ## SIGKILL of what appends to a log, for some minutes; ARGS="CLEW_LOG_KILLS=100000" for longer
	CLEW_LOG_KILLS=5000 $(ARGS) cargo test --locked -p clew-log --test log sigkill -- --nocapture

torture: build ## the collector under rotations, kills and a failing output; ARGS="--seed 1 --seeds 100 --steps 1000"
	CLEW_BIN=$(RELEASE) python3 -m tests.collect.rotation
	CLEW_BIN=$(RELEASE) python3 -m tests.collect.torture $(ARGS)

soak: build ## a steady mixed load whose curves may not grow; ARGS="--minutes 60"
	CLEW_BIN=$(RELEASE) python3 -m tests.faults.soak --out $(CLEW_CACHE)/soak $(ARGS)

check: ## formatting and lints
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

bench-log: build ## the log beside Varlog's storage and the disk; writes bench/RESULTS.md
	python3 bench/log/run.py --bin $(RELEASE)

bench-collect: build ## the collector, file to file in memory, lines a second of processor time; ARGS="--lines 100000" for a short one
	CLEW_CACHE=$(CLEW_CACHE) python3 bench/collect/run.py --bin $(RELEASE) $(ARGS)

bench-vectors: build $(CLEW_CACHE)/venv-bench/.installed $(CLEW_CACHE)/venv-bench-diskann/.installed ## vector search beside hnswlib, faiss, usearch, ScaNN and DiskANN, of one set; ARGS="--sets all --rows 0 --ef-max 0 --rounds 4" for hours
	CLEW_CACHE=$(CLEW_CACHE) $(CLEW_CACHE)/venv-bench/bin/python bench/vectors/run.py --bin $(RELEASE) $(ARGS)

bench-msmarco: build $(CLEW_CACHE)/venv-bench/.installed ## an index of 18 shards of 1,024 dimensions over REST, effort by clients; ARGS="--rows 1000000" for a large one
	$(CLEW_CACHE)/venv-bench/bin/python bench/vectors/msmarco.py --bin $(RELEASE) $(ARGS)

bench-shards: build $(CLEW_CACHE)/venv-bench/.installed ## vectors in 18 shards beside the same in one, over REST; ARGS="--sets 30000x128" for a short one
	$(CLEW_CACHE)/venv-bench/bin/python bench/vectors/shards.py --bin $(RELEASE) $(ARGS)

bench-at-once: build $(CLEW_CACHE)/venv-bench/.installed ## vectors of lists one by one and a hundred at once, as Milvus' nq; ARGS="--sets 200000x128/1024/128" for a short one
	$(CLEW_CACHE)/venv-bench/bin/python bench/vectors/at_once.py --bin $(RELEASE) $(ARGS)

bench-milvus: build $(CLEW_CACHE)/venv-bench-milvus/.installed ## Milvus' API beside milvus-lite, asked by pymilvus; ARGS="--rows 5000" for a short one
	cargo build --release --locked -p clew-bench-milvus
	$(CLEW_CACHE)/venv-bench-milvus/bin/python bench/milvus/run.py --bin $(RELEASE) \
		--beside $(CARGO_TARGET_DIR)/release/clew-bench-milvus $(ARGS)

bench-restart: build $(CLEW_CACHE)/venv-bench-milvus/.installed ## from a kill amid 200,000 vectors to the first answer; ARGS="--rows 20000 --dims 128" for a short one
	$(CLEW_CACHE)/venv-bench-milvus/bin/python bench/milvus/restart.py --bin $(RELEASE) $(ARGS)

bench-under-merge: build $(CLEW_CACHE)/venv-bench/.installed ## latency of vector searches while a merge builds a graph; ARGS="--rows 20000"
	CLEW_CACHE=$(CLEW_CACHE) $(CLEW_CACHE)/venv-bench/bin/python bench/vectors/under_merge.py --bin $(RELEASE) $(ARGS)

bench-serve: build ## a server under load: vectors, questions and writes by clients; ARGS="--seconds 1 --rounds 1" for a short one
	python3 bench/serve/run.py --bin $(RELEASE) $(ARGS)

bench-growth: build ## cost of a question and of a write as documents, shards and clients become more; `growth.py --help` has the whole of it
	CLEW_CACHE=$(CLEW_CACHE) python3 bench/serve/growth.py --bin $(RELEASE) $(ARGS)

bench-always-on: build ## what a profile that is always on costs, to a hundredth of a percent; ARGS="--rounds 4" for a short one
	python3 bench/serve/always_on.py --bin $(RELEASE) $(ARGS)

bench-reports: build pgo-build ## the reports that Clew's benchmarks are modelled on, beside what Clew does at their jobs
	python3 bench/reports.py --bin $(RELEASE) --pgo $(PGO)/clew $(ARGS)

bench-turns: ## two builds in turns (ABBA), and what differs by more than chance; ARGS="--old A --new B -- serve search --seconds 2"
	python3 bench/turns.py $(ARGS)

bench-instructions: ## two builds by callgrind: instructions a search and a document, and which functions differ; ARGS="--old A --new B"
	python3 bench/instructions.py $(ARGS)

bench-opensearch: pgo-build $(VENV)/.installed ## Clew, as `pgo` builds it, beside a real OpenSearch over HTTP; ARGS=--quick for a short one
	CLEW_CACHE=$(CLEW_CACHE) $(PYTHON) bench/opensearch/run.py --bin $(PGO)/clew $(ARGS)

bench-text: ## text search beside tantivy, Lucene and Xapian; ARGS="--rows 100000" for a short one, "--rows 0 --rounds 5" for all texts
	cargo build --release --locked -p clew-bench-text
	CLEW_CACHE=$(CLEW_CACHE) python3 bench/text/run.py --worker $(CARGO_TARGET_DIR)/release/clew-bench-text $(ARGS)

build: ## the release binary, and beside it `clew.debug` with its symbols
	cargo build --release --locked -p clew
	@$(MAKE) --no-print-directory $(RELEASE)
	@echo $(RELEASE)

package: ## the binary to give away, and `clew.debug`: as `build`, with all crates optimised as one, which takes minutes more
	cargo build --profile packaged --locked -p clew
	@$(MAKE) --no-print-directory $(PACKAGE)
	@echo $(PACKAGE)

# Without symbols the binary is a sixth of its size. Debuggers, profilers and backtraces find them in `clew.debug`, by the
# link that the binary has, for as long as both lie in one folder. Older binutils do not know Zstandard, which is ten times as
# fast as what they have and saves a twelfth; where variables are, nothing here asks.
define without_symbols
@mkdir -p $(@D)
objcopy --only-keep-debug --remove-section=.debug_loc --compress-debug-sections=zstd $< $@.debug || objcopy --only-keep-debug --compress-debug-sections $< $@.debug
objcopy --strip-all --add-gnu-debuglink=$@.debug $< $@
endef

$(RELEASE): $(BUILT)
	$(without_symbols)

$(PACKAGE): $(CARGO_TARGET_DIR)/packaged/clew
	$(without_symbols)

pgo: pgo-build build ## the fastest binary, and what it brings: built twice, the second time with what the first one did most; PROFILES="a.profraw" trains it by what `pgo-server` counted
	python3 bench/pgo/run.py --old $(RELEASE) --new $(PGO)/clew $(ARGS)

pgo-build:
	bench/pgo/build.sh $(PGO) $(PROFILES)

pgo-server: ## the binary that counts, where its work is real, what `pgo` is to be trained by; `clew profile training` fetches it
	bench/pgo/build.sh $(PGO) --counting

deny: ## licences, sources and bans of all dependencies
	@command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny check bans licenses sources

doc: ## API documentation
	cargo doc --workspace --no-deps --locked

clean: ## remove everything built and installed
	rm -rf $(CLEW_CACHE)

REQUIREMENTS := tests/requirements.txt tests/opensearch/requirements.txt tests/log/requirements.txt tests/collect/requirements.txt tests/conformance/requirements.txt tests/fuzz_rest/requirements.txt tests/profile/requirements.txt

$(VENV)/.installed: $(REQUIREMENTS)
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check $(REQUIREMENTS:%=-r %)
	touch $@

$(CLEW_CACHE)/elasticsearch-py-%:
	python3 -m pip install --quiet --disable-pip-version-check --target $@.part elasticsearch==$*
	mv $@.part $@

$(CLEW_CACHE)/pymilvus-%:
	python3 -m pip install --quiet --disable-pip-version-check --target $@.part pymilvus==$*
	mv $@.part $@

$(CLEW_CACHE)/venv-opensearch-benchmark/.installed $(CLEW_CACHE)/venv-vectordb-bench/.installed: $(CLEW_CACHE)/venv-%/.installed: tests/clients/requirements-%.txt
	python3 -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(CLEW_CACHE)/venv-langchain-milvus/.installed $(CLEW_CACHE)/venv-llama-index-milvus/.installed $(CLEW_CACHE)/venv-pymilvus-bulk/.installed: $(CLEW_CACHE)/venv-%/.installed: tests/milvus/requirements-%.txt
	python3 -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(MILVUS_NODE)/session.js: $(wildcard tests/milvus/node_session/*)
$(NODE_LOGGERS)/session.js: $(wildcard tests/clients/node_session/*)
# The packages that a session names, and behind them the session, whose folder is that of its package.json.
$(MILVUS_NODE)/session.js $(NODE_LOGGERS)/session.js:
	@command -v npm >/dev/null || { echo "npm is missing: the packages of $(firstword $(^D)) cannot be installed"; exit 1; }
	mkdir -p $(@D)
	cp $(filter %/package.json,$^) $(@D)
	npm install --silent --no-audit --no-fund --prefix $(@D)
	cp $(filter %/session.js,$^) $@

$(MILVUS_GO): $(wildcard tests/milvus/go_session/*)
	@command -v go >/dev/null || { echo "Go is missing: Milvus' SDK for Go cannot be built"; exit 1; }
	cd tests/milvus/go_session && go build -trimpath -o $@ .

$(MILVUS_JAVA): $(wildcard tests/milvus/java_session/*)
	@command -v mvn >/dev/null && command -v javac >/dev/null || { echo "Maven or a JDK is missing: Milvus' SDK for Java cannot be installed"; exit 1; }
	mvn -q -B -f tests/milvus/java_session/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(@D)/lib
	javac -cp '$(@D)/lib/*' -d $(@D) tests/milvus/java_session/Session.java

$(GO_SESSION): $(wildcard tests/clients/go_session/*)
	@command -v go >/dev/null || { echo "Go is missing: go-elasticsearch cannot be built"; exit 1; }
	cd tests/clients/go_session && go build -trimpath -o $@ .

$(JAVA_SESSION): $(wildcard tests/clients/java_session/*)
	@command -v mvn >/dev/null && command -v javac >/dev/null || { echo "Maven or a JDK is missing: OpenSearch's clients for Java cannot be installed"; exit 1; }
	mvn -q -B -f tests/clients/java_session/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(@D)/lib
	javac -cp '$(@D)/lib/*' -d $(@D) tests/clients/java_session/Session.java

$(ZIPKIN):
	@command -v mvn >/dev/null || { echo "Maven is missing: Zipkin cannot be installed"; exit 1; }
	mvn -q -B dependency:copy -Dartifact=io.zipkin:zipkin-server:3.4.4:jar:exec -DoutputDirectory=$(@D)

# The module's own folder has the replacements that it is built with.
$(CLEW_CACHE)/$(FILEBEAT)/filebeat:
	@command -v go >/dev/null || { echo "Go is missing: Filebeat cannot be built"; exit 1; }
	go mod download github.com/elastic/beats/v7@v$(FILEBEAT:filebeat-%=%)
	cd $$(go env GOMODCACHE)/github.com/elastic/beats/v7@v$(FILEBEAT:filebeat-%=%) && go build -trimpath -ldflags '-s -w' -o $@ ./filebeat

# Unpacked, not installed: nothing of the system changes, and no rights are needed.
$(SYSLOG)/.installed:
	@command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { echo "apt-get is missing: rsyslog and syslog-ng cannot be fetched"; exit 1; }
	mkdir -p $(@D)/packages
	cd $(@D)/packages && apt-get download $(SYSLOG_PACKAGES)
	for package in $(@D)/packages/*.deb; do dpkg-deb -x $$package $(@D) || exit 1; done
	touch $@

$(SPEC)/.installed:
	@command -v mvn >/dev/null || { echo "Maven is missing: OpenSearch's REST tests cannot be fetched"; exit 1; }
	mvn -q -B dependency:copy -Dartifact=org.opensearch:rest-api-spec:2.19.0:jar -DoutputDirectory=$(@D)
	cd $(@D) && python3 -m zipfile -e rest-api-spec-2.19.0.jar .
	touch $@

$(CLEW_CACHE)/venv-bench-milvus/.installed: bench/milvus/requirements.txt
	python3 -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r bench/milvus/requirements.txt
	touch $@

$(CLEW_CACHE)/venv-bench-diskann/.installed: bench/vectors/requirements-diskann.txt
	python3 -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r bench/vectors/requirements-diskann.txt
	touch $@

$(CLEW_CACHE)/venv-bench/.installed: bench/vectors/requirements.txt
	python3 -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r bench/vectors/requirements.txt
	touch $@

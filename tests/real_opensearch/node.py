"""Starts and stops the node: a process of its own over a folder of its own, at a free port."""

import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading

from opensearchpy import OpenSearch

from .home import HERE, Missing, assemble

START_SECONDS_MAX = 300
STOP_SECONDS_MAX = 60
JAVA_LEAST = 21
VECTOR_MODULE = "jdk.incubator.vector"


class RealOpenSearch:
    """One node; a context manager."""

    def __init__(self, heap="1g", data=None, cpus=None):
        self.home = assemble()
        self.java, self.version = find_java()
        self.heap = heap
        self.cpus = cpus
        self.own_data = data is None
        self.run = pathlib.Path(data or tempfile.mkdtemp(prefix="real-opensearch-"))
        self.process = None
        self.address = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
        if self.own_data:
            shutil.rmtree(self.run, ignore_errors=True)

    @property
    def url(self):
        return f"http://{self.address}"

    @property
    def pid(self):
        return self.process.pid

    def client(self, **options):
        host, port = self.address.rsplit(":", 1)
        settings = {"timeout": 300, "max_retries": 0, "retry_on_timeout": False, **options}
        return OpenSearch(hosts=[{"host": host, "port": int(port)}], **settings)

    def start(self):
        config = self.run / "config"
        for folder in (config, self.run / "tmp", self.run / "repository"):
            folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "config" / "log4j2.properties", config)
        (config / "opensearch.yml").write_text(self.settings())
        self.log = open(self.run / "node.log", "ab")
        command = [*(["taskset", "-c", self.cpus] if self.cpus else []), *self.command(config)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, cwd=self.run)
        listening = queue.Queue()
        threading.Thread(target=self._read_output, args=(listening,), daemon=True).start()
        try:
            self.address = listening.get(timeout=START_SECONDS_MAX)
        except queue.Empty:
            self.address = None
        if self.address is None:
            self.stop()
            raise RuntimeError(f"OpenSearch did not start:\n{(self.run / 'node.log').read_text()[-4000:]}")
        return self

    def settings(self):
        lines = {
            "cluster.name": "real", "node.name": "real-0", "discovery.type": "single-node",
            "http.port": 0, "transport.port": 0, "network.host": "127.0.0.1",
            "path.data": self.run / "data", "path.logs": self.run / "logs", "path.repo": f"[ {self.run / 'repository'} ]",
            # A disk that is nearly full must not stop the comparison.
            "cluster.routing.allocation.disk.threshold_enabled": "false",
            "script.max_compilations_rate": "2048/1m",
            "cluster.max_shards_per_node": 5000,
        }
        return "".join(f"{name}: {value}\n" for name, value in lines.items())

    def command(self, config):
        """The options of a distribution's `jvm.options`, as far as they matter for speed and memory."""
        modules = subprocess.run([self.java, "--list-modules"], capture_output=True, text=True, check=True).stdout
        vectors = [f"--add-modules={VECTOR_MODULE}"] if VECTOR_MODULE in modules else []
        classes = f"{self.home / 'classes'}:{self.home / 'lib'}/*"
        return [
            self.java, f"-Xms{self.heap}", f"-Xmx{self.heap}", "-XX:+UseG1GC", "-XX:G1ReservePercent=25",
            "-XX:InitiatingHeapOccupancyPercent=30", "-XX:+AlwaysPreTouch", "-Xss1m", *vectors,
            # Lucene asks for a Java that it knows before it maps files the fast way.
            f"-Dorg.apache.lucene.vectorization.upperJavaFeatureVersion={self.version}",
            "--enable-native-access=ALL-UNNAMED", f"-Djava.io.tmpdir={self.run / 'tmp'}", "-Djava.awt.headless=true",
            "-Dfile.encoding=UTF-8", "-Djna.nosys=true", "-Dlog4j.shutdownHookEnabled=false", "-Dlog4j2.disable.jmx=true",
            "-Dio.netty.noUnsafe=true", "-Dio.netty.noKeySetOptimization=true",
            "-Dio.netty.recycler.maxCapacityPerThread=0", "-Dopensearch.distribution.type=tar",
            "-Djava.locale.providers=SPI,CLDR", "-cp", classes, "RealNode", str(self.home), str(config),
        ]

    def _read_output(self, listening):
        for line in self.process.stdout:
            try:
                listening.put(json.loads(line)["listening"]["http"])
            except (ValueError, KeyError, TypeError):
                continue
        listening.put(None)

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()
        self.process = None


def find_java():
    """The newest Java of JAVA_HOME, of those that the system has installed, and of the path; with its version.

    It must be a whole one: a Java that was stripped of its languages' data cannot make an index.
    """
    found = list(pathlib.Path("/usr/lib/jvm").glob("*/bin/java"))
    if "JAVA_HOME" in os.environ:
        found.append(pathlib.Path(os.environ["JAVA_HOME"]) / "bin" / "java")
    if shutil.which("java"):
        found.append(pathlib.Path(shutil.which("java")))
    versions = [(java_version(java), str(java)) for java in found]
    version, java = max(versions, default=(0, ""), key=lambda pair: pair[0])
    if version < JAVA_LEAST:
        raise Missing(f"a Java of version {JAVA_LEAST} or newer is not installed")
    return java, version


def java_version(java):
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    number = re.search(r'version "(\d+)', said)
    return int(number.group(1)) if number else 0

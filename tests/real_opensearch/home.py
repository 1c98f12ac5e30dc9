"""The folder that a node runs from: `lib`, `modules`, `plugins` and the launcher's class.

Maven's own client fetches the jars. The modules of a distribution are published as jars alone, so that each gets the
descriptor that makes a module of it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import zipfile

HERE = pathlib.Path(__file__).parent
VERSION = "2.19.0"
CACHE = pathlib.Path(os.environ.get("CLEW_CACHE") or pathlib.Path.home() / ".cache" / "clew")

# The last two are optional to the server: without them it does not know `geo_shape`.
LIBRARIES = [
    ("org.opensearch", "opensearch", VERSION),
    ("org.opensearch", "opensearch-plugin-classloader", VERSION),
    ("org.apache.logging.log4j", "log4j-core", "2.21.0"),
    ("org.locationtech.jts", "jts-core", "1.15.0"),
    ("org.locationtech.spatial4j", "spatial4j", "0.7"),
]
PAINLESS = "lang-painless"
# Artifact, class, the modules it extends.
MODULES = [
    ("transport-netty4-client", "org.opensearch.transport.Netty4Plugin", ""),
    ("analysis-common", "org.opensearch.analysis.common.CommonAnalysisPlugin", PAINLESS),
    (PAINLESS, "org.opensearch.painless.PainlessPlugin", ""),
    ("mapper-extras-client", "org.opensearch.index.mapper.MapperExtrasPlugin", ""),
    ("reindex-client", "org.opensearch.index.reindex.ReindexPlugin", ""),
    ("percolator-client", "org.opensearch.percolator.PercolatorPlugin", ""),
    ("parent-join-client", "org.opensearch.join.ParentJoinPlugin", ""),
    ("aggs-matrix-stats-client", "org.opensearch.search.aggregations.matrix.MatrixAggregationPlugin", ""),
    ("ingest-common", "org.opensearch.ingest.common.IngestCommonPlugin", PAINLESS),
    ("lang-mustache-client", "org.opensearch.script.mustache.MustachePlugin", ""),
    ("rank-eval-client", "org.opensearch.index.rankeval.RankEvalPlugin", ""),
    ("geo", "org.opensearch.geo.GeoModulePlugin", ""),
    ("search-pipeline-common", "org.opensearch.search.pipeline.common.SearchPipelineCommonModulePlugin", PAINLESS),
]
KNN = ("org.opensearch.plugin", "opensearch-knn", "2.19.0.0")


class Missing(Exception):
    """What this machine lacks to run a real OpenSearch."""


def assemble():
    """The home folder, made when it is not there. Takes a minute and 150 MB of downloads the first time."""
    home = CACHE / f"opensearch-{VERSION}"
    done = home / ".assembled"
    if done.exists():
        return home
    if not shutil.which("mvn"):
        raise Missing("Maven (mvn) is not installed")
    if not shutil.which("javac"):
        raise Missing("a Java compiler (javac) is not installed")
    shutil.rmtree(home, ignore_errors=True)
    work = home / "work"
    fetch(work)
    shutil.copytree(work / "server" / "target" / "dependency", home / "lib")
    for artifact, plugin, extended in MODULES:
        make_module(home, work / artifact / "target" / "dependency", artifact, plugin, extended)
    with zipfile.ZipFile(next(work.glob("*.zip"))) as archive:
        archive.extractall(home / "plugins" / KNN[1])
    shutil.rmtree(work)
    # A release that both an old compiler and a new runtime know.
    command = ["javac", "-proc:none", "--release", "17", "-cp", f"{home}/lib/*", "-d", f"{home}/classes"]
    subprocess.run([*command, str(HERE / "RealNode.java")], check=True)
    done.touch()
    return home


def fetch(work):
    """One run of Maven for everything: a project for the server and one for each module."""
    wanted = {"server": LIBRARIES}
    wanted |= {artifact: [("org.opensearch.plugin", artifact, VERSION)] for artifact, _, _ in MODULES}
    for name, dependencies in wanted.items():
        write_project(work / name, name, "jar", "".join(map(dependency, dependencies)))
    modules = "".join(f"<module>{name}</module>" for name in wanted)
    write_project(work, "all", "pom", "", f"<modules>{modules}</modules>")
    maven = ["mvn", "-q", "-B", "-f", str(work / "pom.xml")]
    subprocess.run([*maven, "dependency:copy-dependencies"], check=True, stdout=subprocess.DEVNULL)
    plugin = f"-Dartifact={':'.join(KNN)}:zip"
    copy = ["dependency:copy", plugin, f"-DoutputDirectory={work}", "--non-recursive"]
    subprocess.run([*maven, *copy], check=True, stdout=subprocess.DEVNULL)


def dependency(coordinates):
    group, artifact, version = coordinates
    return (f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version></dependency>")


def write_project(folder, name, packaging, dependencies, rest=""):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        f"<groupId>clew.real</groupId><artifactId>{name}</artifactId><version>1</version>"
        f"<packaging>{packaging}</packaging><dependencies>{dependencies}</dependencies>{rest}</project>")


def make_module(home, jars, artifact, plugin, extended):
    """A module's own jars: what the server or Painless has already must not be there twice."""
    name = artifact.removesuffix("-client")
    folder = home / "modules" / name
    folder.mkdir(parents=True)
    base = lambda jar: re.sub(r"-\d.*", "", jar.name)
    elsewhere = {base(jar) for jar in (home / "lib").iterdir()}
    for jar in jars.iterdir():
        of_painless = base(jar).startswith((PAINLESS, "antlr4-runtime", "asm", "opensearch-scripting-painless-spi"))
        if base(jar) not in elsewhere and (name == PAINLESS or not of_painless):
            shutil.copy(jar, folder)
    (folder / "plugin-descriptor.properties").write_text(
        f"name={name}\ndescription={name}\nversion={VERSION}\nopensearch.version={VERSION}\njava.version=11\n"
        f"classname={plugin}\nextended.plugins={extended}\nhas.native.controller=false\n")

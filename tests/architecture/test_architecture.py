"""The map of ARCHITECTURE.md holds: crates and rooms point downwards, and below the protocols nobody speaks OpenSearch."""

import functools
import pathlib
import re
import tempfile
import tomllib
import unittest

from .imports import Crate

ROOT = pathlib.Path(__file__).parents[2]
CRATES = ROOT / "crates"

# What is still OpenSearch's below its crate: names of exceptions, and of settings. May only become less. The collector's own door
# speaks `_bulk`, too: how it refuses who may not send is a word of that protocol.
WORDS_LEFT = {"clew-collect": 1}
WORDS = re.compile(r'_exception\b|"index\.')
# Below the engine, and yet in OpenSearch's words: tests describe mappings in them. Only the API may build on it.
SPOKEN_BELOW = "clew-opensearch-mapping"
# What a protocol never names: it asks the engine for documents by their ids, and for hits.
PROTOCOLS = ["clew-opensearch", "clew-log-grpc", "clew-opensearch-sql", "clew-ism", "clew-milvus"]
# Parts of the API that stand by themselves: they see one module of its crate, and nobody sees them but the binary.
WINGS = ["clew-opensearch-sql", "clew-ism"]
BEHIND_THE_WINGS = re.compile(r"\bclew_opensearch\s*(?:::\s*(?!wing\b)|as\b|;)")
INSIDES = re.compile(r"\btantivy\b|\bDocId\b|\bSegment(?:Bits|Reader|View)\b|\.snapshot\(\)|clew_search::Snapshot")


@functools.cache
def crate_of(name):
    """A crate's modules, read once for all tests."""
    return Crate(CRATES / name / "src")


def order_of_crates():
    """The crates in the order of the map, lowest first."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    return re.findall(r"(?m)^\| `([\w-]+)` \|", text)


def upward(crate):
    """What rooms import from rooms that the crate's front page lists behind them: the module, the path, and that room."""
    rank = {room: number for number, room in enumerate(crate.rooms())}
    return [
        ("::".join(module), "::".join(path), target[0])
        for module, target, path in crate.imports()
        if module and target and rank.get(target[0], -1) > rank.get(module[0], len(rank))
    ]


def lines_of(crate):
    """How many lines of code a crate has, without tests and comments."""
    return sum(bool(line.strip()) for text in crate.code.values() for line in text.splitlines())


class ArchitectureTest(unittest.TestCase):
    def test_the_map_has_every_crate(self):
        self.assertEqual(sorted(order_of_crates()), sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml")))

    def test_crates_point_downwards(self):
        order = order_of_crates()
        for number, crate in enumerate(order):
            manifest = tomllib.loads((CRATES / crate / "Cargo.toml").read_text())
            for other in manifest.get("dependencies", {}):
                if other.startswith("clew"):
                    self.assertLess(order.index(other), number, f"{crate} imports {other}")

    def test_rooms_point_downwards(self):
        for name in order_of_crates():
            crate = crate_of(name)
            self.assertGreater(len(crate.rooms()), 1, name)
            self.assertEqual(upward(crate), [], name)

    def test_a_room_that_looks_up_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder)
            (source / "lib.rs").write_text("mod low;\npub mod high;\n")
            (source / "high.rs").write_text("use crate::low::Floor;\npub struct Roof(Floor);\n")
            (source / "low").mkdir()
            (source / "low" / "mod.rs").write_text("mod inside;\npub struct Floor;\n#[cfg(test)]\nmod tests {\n    use crate::high::Roof;\n}\n")
            inside = source / "low" / "inside.rs"
            inside.write_text("// use crate::high::Roof;\n")
            self.assertEqual(upward(Crate(source)), [])
            for looks in ("use crate::high::Roof;", "use super::super::high;", "fn f() {\n    let _ = crate::high::Roof::new();\n}"):
                inside.write_text(looks + "\n")
                seen = [(module.split("::")[0], room) for module, _, room in upward(Crate(source))]
                self.assertEqual(seen, [("low", "high")], looks)
            inside.write_text("#[cfg(all(test, unix))]\nmod tests {\n    use crate::high::Roof;\n}\n")
            self.assertEqual(upward(Crate(source)), [])

    def test_no_crate_is_more_than_a_fifth_of_the_house(self):
        lines = {name: lines_of(crate_of(name)) for name in order_of_crates()}
        biggest = max(lines, key=lines.get)
        self.assertGreater(lines[biggest], 10_000)
        self.assertLessEqual(lines[biggest] * 5, sum(lines.values()), biggest)

    def test_below_the_protocols_nobody_learns_new_words_of_opensearch(self):
        order = order_of_crates()
        for name in order[: order.index("clew-opensearch")]:
            if name == SPOKEN_BELOW:
                continue
            texts = crate_of(name).texts
            found = {"::".join(module): len(WORDS.findall(" ".join(all))) for module, all in texts.items()}
            found = {module: count for module, count in found.items() if count}
            self.assertEqual(sum(found.values()), WORDS_LEFT.get(name, 0), found)

    def test_mappings_in_words_of_opensearch_are_for_its_api_and_for_tests(self):
        for manifest in CRATES.glob("*/Cargo.toml"):
            if SPOKEN_BELOW in tomllib.loads(manifest.read_text()).get("dependencies", {}):
                self.assertEqual(manifest.parent.name, "clew-opensearch")

    def test_protocols_see_no_segments(self):
        for name in PROTOCOLS:
            code = crate_of(name).code
            found = {"::".join(module): INSIDES.findall(text) for module, text in code.items()}
            self.assertEqual({module: names for module, names in found.items() if names}, {})
            manifest = tomllib.loads((CRATES / name / "Cargo.toml").read_text())
            self.assertNotIn("tantivy", manifest["dependencies"])
        # It would be seen.
        code = " ".join(crate_of("clew-engine").code.values())
        self.assertGreater(len(INSIDES.findall(code)), 20)

    def test_wings_see_what_is_meant_for_them_and_only_the_binary_sees_wings(self):
        for name in WINGS:
            code = crate_of(name).code
            found = {"::".join(module): BEHIND_THE_WINGS.findall(text) for module, text in code.items()}
            self.assertEqual({module: names for module, names in found.items() if names}, {})
            self.assertTrue(any("clew_opensearch::wing::" in text for text in code.values()))
        for manifest in CRATES.glob("*/Cargo.toml"):
            seen = set(tomllib.loads(manifest.read_text()).get("dependencies", {})) & set(WINGS)
            self.assertEqual(seen, set(WINGS) if manifest.parent.name == "clew" else set(), manifest)
        # It would be seen.
        self.assertTrue(BEHIND_THE_WINGS.search("use clew_opensearch::{RestOptions, wing::Call};"))

    def test_the_reader_sees_imports(self):
        crate = crate_of("clew-engine")
        seen = {(module[-1], target[-1]) for module, target, _ in crate.imports() if module and target}
        self.assertIn(("recovery", "engine"), seen)
        self.assertNotIn(("engine", "recovery_tests"), seen)


if __name__ == "__main__":
    unittest.main()

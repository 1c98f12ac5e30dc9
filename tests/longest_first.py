"""All tests, for `unittest_parallel -p longest_first.py`: classes that take long begin before the others.

Else one of them is what everybody waits for at the end, on one core. What they wait for, captures of seconds and loads of a length
of their own, others fill meanwhile."""

import importlib
import pathlib
import unittest

HERE = str(pathlib.Path(__file__).parent)
FIRST = [
    "profile.test_profile.ProfileTest",
    "faults.test_memory_cap.MemoryCap",
    "bench.test_scripts.Scripts",
    "profile.test_kept.KeptTest",
    "profile.test_symbols.SymbolsTest",
]


class Listed(unittest.TestCase):
    def test_what_begins_first_is_there(self):
        for name in FIRST:
            module, _, of = name.rpartition(".")
            self.assertTrue(issubclass(getattr(importlib.import_module(module), of), unittest.TestCase), name)


def classes(suite):
    """The suites of one class each."""
    for part in suite:
        if isinstance(part, unittest.TestCase):
            yield suite
            return
        yield from classes(part)


def place(suite):
    """Where a class stands: those that are not listed behind those that are, as they were found."""
    case = type(next(iter(suite)))
    name = f"{case.__module__}.{case.__qualname__}"
    return FIRST.index(name) if name in FIRST else len(FIRST)


def load_tests(loader, own, _):
    found = unittest.TestLoader()
    found.testNamePatterns = loader.testNamePatterns
    return unittest.TestSuite(sorted([*classes(found.discover(HERE, top_level_dir=HERE)), *classes(own)], key=place))

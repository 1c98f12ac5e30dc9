"""The files of tests: which of their tests apply, and how one is run."""

import fnmatch
import pathlib
import re
import signal
import time
from dataclasses import dataclass

import yaml

from .api import Spec
from .java import Loader
from .steps import Fail, Run, TimeUp
from .wipe import wipe

LISTED = pathlib.Path(__file__).parent / "listed.txt"
VERSION = "2.19.0"
FEATURES = {"allowed_warnings", "allowed_warnings_regex", "arbitrary_key", "catch_unauthorized", "close_to", "contains",
            "default_shards", "embedded_stash_key", "headers", "node_selector", "stash_in_key", "stash_in_path",
            "stash_path_replacement", "transform_and_set", "warnings", "warnings_regex", "yaml"}


def vnum(s):
    """Versions with a major of 5, 6 or 7 come before 1.0 (they name the older product line)."""
    n = [int(x) for x in re.findall(r"\d+", s)[:3]]
    n += [0] * (3 - len(n))
    return tuple([-1 if n[0] >= 5 else 0] + n)


def skip_reason(section, version):
    """Why tests of this section do not apply, or None."""
    for s in section:
        if "skip" not in s:
            continue
        sk = s["skip"] or {}
        feats = sk.get("features") or []
        feats = [f.strip() for f in (feats if isinstance(feats, list) else str(feats).split(","))]
        miss = [f for f in feats if f not in FEATURES]
        if miss:
            return "feature " + ",".join(miss)
        for rng in str(sk.get("version") or "").split(","):
            if not rng.strip():
                continue
            if rng.strip() == "all":
                return "version all"
            lo, _, hi = rng.partition("-")
            if (not lo.strip() or vnum(lo) <= vnum(version)) and (not hi.strip() or vnum(version) <= vnum(hi)):
                return f"version {rng.strip()}"
    return None


def load(path):
    """Setup, teardown and named tests of a file."""
    setup, teardown, tests = [], [], []
    for doc in yaml.load_all(open(path, encoding="utf-8"), Loader):
        for name, steps in (doc or {}).items():
            steps = steps or []
            if name == "setup":
                setup = steps
            elif name == "teardown":
                teardown = steps
            else:
                tests.append((name, steps))
    return setup, teardown, tests


@dataclass
class Result:
    """How a test went: pass, fail or skip."""

    name: str
    state: str
    why: str = ""
    seconds: float = 0.0


def listed():
    """The names of the tests that are to pass."""
    lines = (line.strip() for line in LISTED.read_text(encoding="utf-8").splitlines())
    return {line for line in lines if line and not line.startswith("#")}


def select(folder, names, only):
    """The tests to run, by file: those named, or all when `names` is None, that fit one of `only`."""
    chosen = {}
    root = folder / "test"
    for path in sorted(root.rglob("*.yml")):
        file = path.relative_to(root).as_posix()
        setup, teardown, tests = load(path)
        fits = lambda name: not only or any(part in name or fnmatch.fnmatch(name, part) for part in only)
        wanted = [(f"{file}::{name}", steps) for name, steps in tests]
        wanted = [(name, steps) for name, steps in wanted if (names is None or name in names) and fits(name)]
        if wanted:
            chosen[file] = (setup, teardown, wanted)
    return chosen


def run_all(folder, url, chosen, timeout, say=lambda line: None):
    """Runs them, one result each; says a line for each file."""
    spec = Spec(str(folder / "api"))
    before = signal.signal(signal.SIGALRM, time_up)
    try:
        for file, (setup, teardown, tests) in chosen.items():
            results = []
            for name, steps in tests:
                started = time.monotonic()
                run = Run(spec, url, time.time() + timeout, VERSION)
                state, why = run_test(run, timeout, (setup, steps, teardown))
                results.append(Result(name, state, why, round(time.monotonic() - started, 3)))
            passed = sum(result.state == "pass" for result in results)
            say(f"{file}: {passed}/{len(results)} passed")
            yield from results
    finally:
        signal.signal(signal.SIGALRM, before)


def time_up(signum, frame):
    raise TimeUp()


def run_test(run, timeout, sections):
    """Setup, steps and teardown of one test, then a clean server."""
    setup, steps, teardown = sections
    why = skip_reason(setup, VERSION) or skip_reason(steps, VERSION)
    if why:
        return "skip", why
    state, why, where = "pass", "", ""
    signal.setitimer(signal.ITIMER_REAL, timeout)  # also stops a slow pattern
    try:
        for part, section in (("setup", setup), ("test", steps)):
            for at, step in enumerate(section):
                for kind, argument in step.items():
                    where = f"{part}[{at}] {kind}: "
                    run.step(kind, argument)
    except TimeUp:
        state, why = "fail", f"{where}timed out after {timeout} s"
    except Fail as failure:
        state, why = "fail", f"{where}{failure}"
    except Exception as error:  # a bad pattern or an odd step: report it, go on with the next test
        state, why = "fail", f"{where}{type(error).__name__}: {error}"
    signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        run.deadline = max(run.deadline, time.time() + 60)
        for step in teardown:
            for kind, argument in step.items():
                run.step(kind, argument)
    except Exception as error:
        if state == "pass":
            state, why = "fail", f"teardown: {type(error).__name__}: {error}"
    wipe(run)
    run.http.close()
    return state, why

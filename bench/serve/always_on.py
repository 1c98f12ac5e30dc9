"""What a profile that is always on (`profile.continuous`) costs, told more exactly than turns with and without it can be told
apart: they differ by percents by themselves, and it costs a fraction of one.

- **Interruptions**: the same searches in turns (ABBA) with and without a capture of many looks a second, on one server. What
  that costs is the cost of an interruption so many times; of a profile of 19 looks it is 19 in so many, and so is its spread.
- **Watching**: processor time of a server that does nothing, with the profile and without.
- **Naming**: processor time of the end of the first capture, for which the program's symbols are read; done once in five
  minutes.

Processor time is that of the server's process to the nanosecond, the kernel's work for it included.

    python3 bench/serve/always_on.py --bin CLEW [--rounds 40] [--searches 500] [--idle 20]
"""

import argparse
import contextlib
import math
import pathlib
import statistics
import sys
import threading
import time
import urllib.error
import urllib.request

BENCH = pathlib.Path(__file__).parents[1]
RESULTS = BENCH / "RESULTS.md"
sys.path[:0] = [str(BENCH), str(BENCH / "pgo")]
import results  # noqa: E402
from server import Server  # noqa: E402
from train import MAPPING, Texts, batches, documents, searches  # noqa: E402

# Looks a second of the profile that is always on, and of the captures: of those no more than any kernel's clock ticks (250).
ALWAYS, OFTEN = 19, 199
NAMED_EVERY_S = 300
BOUND = 0.005
SEED = 1919
CAPTURE_MAX_S = 300


def cpu_s(server):
    """Processor time of the server's process, by the clock that `clock_getcpuclockid` gives for it."""
    return time.clock_gettime((~server.process.pid << 3) | 2)


class Captured(threading.Thread):
    """A capture of a server while a block of code runs, which must be long enough for it to begin."""

    def __init__(self, server):
        super().__init__()
        self.server = server
        self.address = f"http://{server.address}/debug/pprof/profile"
        self.samples = self.failed = self.naming_s = None

    def run(self):
        try:
            asked = f"{self.address}?seconds={CAPTURE_MAX_S}&rate={OFTEN}&format=collapsed"
            with urllib.request.urlopen(asked, timeout=2 * CAPTURE_MAX_S) as answer:
                stacks = answer.read().decode().splitlines()
            self.samples = sum(int(stack.rsplit(" ", 1)[1]) for stack in stacks)
        except (OSError, ValueError, IndexError) as error:
            self.failed = error

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        # What was seen until now is named and answered before anything else is measured.
        before = cpu_s(self.server)
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(urllib.request.Request(self.address, method="DELETE"), timeout=60).close()
        self.join()
        self.naming_s = cpu_s(self.server) - before


def searched(server, client, bodies):
    """Processor time of so many searches, after some that are not counted."""
    for body in bodies[:len(bodies) // 5]:
        client.call("POST", "/logs/_search", body)
    before = cpu_s(server)
    for body in bodies:
        client.call("POST", "/logs/_search", body)
    return cpu_s(server) - before


def interruptions(given, found):
    """The ratios of neighbours, and what it took to name the first capture."""
    ratios, named = [], None
    with Server(given.bin) as server:
        client = server.client
        client.call("PUT", "/logs", MAPPING)
        for body in batches(list(documents(Texts(SEED), given.documents))):
            client.call("POST", "/logs/_bulk", body, "application/x-ndjson")
        client.call("POST", "/logs/_refresh")
        client.call("POST", "/logs/_forcemerge?max_num_segments=1")
        texts = Texts(SEED + 1)
        bodies = []
        while len(bodies) < given.searches:
            bodies += searches(texts)
        searched(server, client, bodies)
        for number in range(given.rounds):
            took = {}
            for captured in (False, True) if number % 2 == 0 else (True, False):
                if captured:
                    with Captured(server) as capture:
                        took[captured] = searched(server, client, bodies)
                    if not capture.samples:
                        raise SystemExit(f"a capture has seen nothing: {capture.failed}")
                    named = named or capture.naming_s
                else:
                    took[captured] = searched(server, client, bodies)
            for captured, seconds in took.items():
                rate = OFTEN if captured else 0
                found.add("search", {"looks_per_s": rate}, {"cpu_us": 1e6 * seconds / len(bodies)})
            ratios.append(took[True] / took[False])
    return ratios, named


def idle(given, is_on):
    """Processor time a second of a server that does nothing."""
    with Server(given.bin, env={"CLEW_PROFILE__CONTINUOUS": str(is_on).lower()}) as server:
        # What a start leaves to be done is done by then.
        time.sleep(given.idle / 4)
        began, before = time.monotonic(), cpu_s(server)
        time.sleep(given.idle)
        return (cpu_s(server) - before) / (time.monotonic() - began)


def share(ratios):
    """Part of the processor time that looks of the rate that is always on take, and the half of its 95 % interval."""
    logarithms = [math.log(ratio) for ratio in ratios]
    middle = statistics.mean(logarithms)
    half = 1.96 * statistics.stdev(logarithms) / math.sqrt(len(logarithms))
    return middle * ALWAYS / OFTEN, half * ALWAYS / OFTEN


def report(given):
    found = results.Rows()
    ratios, named = interruptions(given, found)
    looks, spread = share(ratios)
    watched = {is_on: idle(given, is_on) for is_on in (False, True)}
    watching, names = max(watched[True] - watched[False], 0), named / NAMED_EVERY_S
    found.add("always_on", {}, {"interruptions": looks, "interruptions_spread": spread, "watching": watching, "naming": names})
    machine = results.machine()
    found.save(given.json, given.bin, machine)
    percent = lambda part: f"{100 * part:.3f} %"
    total = looks + watching + names
    verdict = "no more than" if total + spread <= BOUND else "more than" if total - spread > BOUND else "not told apart from"
    lines = [
        f"{given.rounds} pairs of {given.searches} searches, in turns; a capture of {OFTEN} looks a second costs "
        f"{100 * (math.exp(statistics.mean(map(math.log, ratios))) - 1):.2f} % of their processor time.", "",
        "| what | cost | of what |", "| --- | --- | --- |",
        f"| interruptions, {ALWAYS} a second | {percent(looks)} ± {percent(spread)} (95 %) | the processor time that the program takes |",
        f"| watching for threads | {percent(watching)} | one processor |",
        f"| naming, {named:.2f} s in {NAMED_EVERY_S // 60} minutes | {percent(names)} | one processor |",
        f"| together, of a server that keeps one processor busy | {percent(total)} | {verdict} {percent(BOUND)} |",
    ]
    results.publish(given.results, "Profiles that are always on", "make bench-always-on", machine, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--rounds", type=int, default=100, help="pairs with and without a capture")
    parser.add_argument("--searches", type=int, default=500, help="of each measurement")
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--idle", type=float, default=20, help="seconds in which a server does nothing")
    parser.add_argument("--results", default=str(RESULTS), help="where the section is written; - for nowhere")
    results.add_json(parser)
    given = results.given(parser, "bin")
    if given.rounds < 2:
        parser.error("one pair has no spread: --rounds has to be 2 or more")
    report(given)


if __name__ == "__main__":
    main()

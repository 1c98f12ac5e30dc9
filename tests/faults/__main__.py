"""The long forms of the fault tests.

    CLEW_BIN=target/release/clew python -m tests.faults [SCENE ...] [--rounds 500] [--seed 1]

Without scenes all of them. Exit status: 0 when every promise was kept, or a scene says why it cannot run here.
"""

import argparse
import importlib
import signal
import sys
import traceback

from .missing import Missing

# Each with its rounds where none are given.
SCENES = {"kill": 500, "disk": 200, "damage": 1000, "power": 100, "hostile": 10, "memory": 2, "clock": 24, "ends": 3}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=", ".join(SCENES))
    parser.add_argument("--rounds", type=int, help="of each scene; what a round is, the scene says")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    # Ends by `SystemExit`, so that servers, mounts and folders are cleaned up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    broken = []
    for scene in arguments.scenes or SCENES:
        rounds = arguments.rounds or SCENES[scene]
        print(f"== {scene}: {rounds} rounds, seed {arguments.seed}", flush=True)
        module = importlib.import_module(f".{scene}", __package__)
        try:
            module.run(argparse.Namespace(rounds=rounds, seed=arguments.seed))
        except Missing as missing:
            print(f"skipped: {missing}")
        except Exception:
            traceback.print_exc()
            broken.append(scene)
    if broken:
        sys.exit(f"broken: {', '.join(broken)}")


if __name__ == "__main__":
    main()

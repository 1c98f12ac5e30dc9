"""Seeded lines for the collector's benchmark: the same seed, the same bytes."""

import datetime
import json
import random

START = datetime.datetime(2025, 3, 1, tzinfo=datetime.timezone.utc)
LEVELS = ["INFO"] * 14 + ["DEBUG"] * 3 + ["WARN"] * 2 + ["ERROR"]
CLASSES = [f"org.shop.{part}.{name}" for part in ("basket", "ledger", "people", "depot", "edge")
           for name in ("BasketService", "LedgerController", "SessionGuard", "CacheKeeper", "CallRouter", "StatementTemplate")]
THREADS = [f"http-nio-9000-exec-{n}" for n in range(1, 65)] + [f"worker-{a}-thread-{b}" for a in range(1, 5) for b in range(1, 9)]
WORDS = "accepted declined stored repeated fetched opened sealed moved counted matched".split()
THINGS = "parcel basket invoice session voucher picture page route ticket shelf".split()
ENDS = ["near dock 14 of hall 3", "for customer north wind", "after 3 attempts in all", "with state 200 OK given", 'under plan "silver" today',
        "from upstream 10.1.2.3:7443", "path /api/v3/things?id=9&y=2", "and nothing more is left", "key=left\\right is missing", "queue=12 size=4096 bytes"]
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
          "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
          "curl/8.7.1", "python-requests/2.32.3", "Mozilla/5.0 (compatible; ExampleBot/1.0; +https://bot.example/)"]
PATHS = ["/", "/index.html", "/api/v3/things?id={}", "/static/site.{}.css", "/sign-in", "/find?q=blue+hat&page={}", "/picture/{}.webp"]


def _times(dice, count):
    at = 0
    for _ in range(count):
        at += dice.randrange(40)
        yield START + datetime.timedelta(milliseconds=at)


def fixed(count, seed):
    """Lines of 229 bytes on average: time, level, host, thread, trace, class, duration, user, text."""
    dice = random.Random(seed)
    for time in _times(dice, count):
        stamp = f"{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03}"
        text = (f"{dice.choice(WORDS)} {dice.choice(THINGS)} {dice.choice(ENDS)} {dice.choice(ENDS)} "
                f"id={dice.randrange(10**8)}")
        yield (f"{stamp} {dice.choice(LEVELS)} shop-{dice.randrange(200):03}.prod [{dice.choice(THREADS)}] "
               f"[{dice.getrandbits(128):032x}] {dice.choice(CLASSES)} {int(dice.expovariate(1 / 40))}ms "
               f"uid={dice.randrange(10**6, 10**9)} - {text}")


def combined(count, seed):
    """nginx' combined format."""
    dice = random.Random(seed)
    for time in _times(dice, count):
        address = ".".join(str(dice.randrange(1, 224)) for _ in range(4))
        path = dice.choice(PATHS).format(dice.randrange(10**5))
        method = dice.choice(["GET"] * 8 + ["POST", "HEAD"])
        status = dice.choice([200] * 14 + [304, 301, 404, 404, 500, 403])
        user = "-" if dice.random() < 0.95 else f"user{dice.randrange(1000)}"
        referrer = dice.choice(["-", "-", "https://www.example.org/start", "https://www.example.net/?from=mail"])
        yield (f"{address} - {user} [{time:%d/%b/%Y:%H:%M:%S +0000}] \"{method} {path} HTTP/1.1\" {status} "
               f"{dice.randrange(200000)} \"{referrer}\" \"{dice.choice(AGENTS)}\"")


def objects(count, seed):
    """One JSON object a line, of ten members, one of them an object."""
    dice = random.Random(seed)
    for time, line in zip(_times(random.Random(seed), count), fixed(count, seed)):
        event = {
            "ts": f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}Z", "level": dice.choice(LEVELS).lower(),
            "host": {"name": f"shop-{dice.randrange(200):03}.prod", "ip": "10.0.0.7"}, "thread": dice.choice(THREADS),
            "trace_id": f"{dice.getrandbits(128):032x}", "logger": dice.choice(CLASSES),
            "duration_ms": int(dice.expovariate(1 / 40)), "user_id": dice.randrange(10**6, 10**9), "ok": dice.random() < 0.9,
            "message": line.split(" - ", 1)[1],
        }
        yield json.dumps(event, separators=(",", ":"))


def traces(count, seed):
    """The fixed format, where every eighth event has a Java trace of eight more lines."""
    dice = random.Random(seed)
    lines = fixed(count, seed)
    left = count
    while left > 0:
        yield next(lines)
        left -= 1
        if dice.random() < 1 / 8 and left > 8:
            yield "java.lang.IllegalStateException: the shelf is empty"
            for depth in range(7):
                name = dice.choice(CLASSES)
                yield f"\tat {name}.step{depth}({name.rsplit('.', 1)[1]}.java:{dice.randrange(20, 900)})"
            left -= 8


KINDS = {"fixed": fixed, "combined": combined, "objects": objects, "traces": traces}


def write(path, kind, count, seed):
    """Writes a file of lines; returns its size."""
    with open(path, "w", buffering=1 << 20) as file:
        for line in KINDS[kind](count, seed):
            file.write(line + "\n")
    return path.stat().st_size

"""Curves of measurements over time: a line through each, a bound on its growth, a table and a picture."""

import csv
import html
from typing import NamedTuple

WIDTH, HEIGHT, GAP, LEFT = 640, 90, 28, 180
WARM_UP_SHARE = 0.3


class Bound(NamedTuple):
    """How much a curve may grow from the end of its warm-up to its end: a share of its mean and a constant."""

    share: float
    more: float
    unit: str


class Line(NamedTuple):
    """The least-squares line through a curve after its warm-up."""

    mean: float
    growth: float

    def breaks(self, bound):
        return self.growth > bound.share * self.mean + bound.more


def fit(times, values):
    """The line, with its growth over the time that it covers; the warm-up is left out."""
    first = int(len(times) * WARM_UP_SHARE)
    times, values = times[first:], values[first:]
    mean_time, mean = sum(times) / len(times), sum(values) / len(values)
    spread = sum((t - mean_time) ** 2 for t in times)
    slope = sum((t - mean_time) * (v - mean) for t, v in zip(times, values, strict=True)) / spread if spread else 0.0
    return Line(mean, slope * (times[-1] - times[0]))


def write_csv(path, rows):
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


def write_svg(path, rows, bounds):
    """One small picture for each curve, one below the other."""
    times = [row["seconds"] for row in rows]
    parts = []
    for number, (name, bound) in enumerate(bounds.items()):
        values = [row[name] for row in rows]
        top, most = number * (HEIGHT + GAP) + GAP, max(*values, 1e-9)
        points = " ".join(f"{LEFT + WIDTH * t / max(times[-1], 1e-9):.1f},{top + HEIGHT * (1 - v / most):.1f}"
                          for t, v in zip(times, values, strict=True))
        line = fit(times, values)
        label = f"{name} ({bound.unit})" if bound.unit else name
        parts.append(
            f'<text x="4" y="{top + 14}">{html.escape(label)}</text>'
            f'<text x="4" y="{top + 32}" fill="#555">max {most:.4g}, mean {line.mean:.4g}</text>'
            f'<text x="4" y="{top + 50}" fill="#555">growth {line.growth:+.3g}</text>'
            f'<path d="M{LEFT},{top}v{HEIGHT}h{WIDTH}" fill="none" stroke="#aaa"/>'
            f'<polyline points="{points}" fill="none" stroke="#06c" stroke-width="1.5"/>')
    height = len(bounds) * (HEIGHT + GAP) + GAP
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" height="{height}" '
                   f'font-family="sans-serif" font-size="12">{"".join(parts)}</svg>\n')

"""What docs/compatibility.md says does not pass, held against what was seen."""

import pathlib
import re

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "compatibility.md"
ROW = re.compile(r"^\| `([^`]+\.yml::[^`]+)` \| (\S.*) \|$", re.MULTILINE)


def known(text=None):
    """The tests that the page names, each with its reason."""
    return dict(ROW.findall(PAGE.read_text() if text is None else text))


def surprises(results, expected):
    """A line for each test that went otherwise than the page says."""
    lines = []
    for result in results:
        if result.state == "fail" and result.name not in expected:
            lines.append(f"does not name {result.name}, which failed: {first_line(result.why)}")
        if result.state == "pass" and result.name in expected:
            lines.append(f"names {result.name}, which passed")
    return lines


def first_line(why):
    """Enough of a reason to recognise it."""
    return why.partition("\n")[0][:300]

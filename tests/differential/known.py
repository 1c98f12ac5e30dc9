"""The differences that docs/compatibility.md names, with the requests that may show them."""

import pathlib

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "compatibility.md"


def known(family, body, found):
    """The reason for a difference, or None."""
    return None

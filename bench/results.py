"""`RESULTS.md`: one section for each benchmark, replaced as a whole by its next run."""

import datetime
import pathlib
import re

TITLE = "# Results\n\nEach section is written by the command it names; ratios are of one run, programs in turns.\n"


def write(path, title, command, machine, lines):
    """Replaces the section `title`, or adds it at the end."""
    path = pathlib.Path(path)
    text = path.read_text() if path.exists() else TITLE
    machine = ", ".join(f"{key} {value}" for key, value in machine.items())
    head = [f"## {title}", "", f"`{command}`, {datetime.date.today()}: {machine}.", ""]
    section = "\n".join([*head, *lines]).rstrip() + "\n"
    known = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.M | re.S)
    if known.search(text):
        text = known.sub(lambda _: section + "\n", text)
    else:
        text = text.rstrip() + "\n\n" + section
    path.write_text(text.rstrip() + "\n")

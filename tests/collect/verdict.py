"""What arrived, held against what was written."""

import bisect
import collections


class Verdict:
    """Counts of one or several logs whose lines went to one server."""

    def __init__(self, server, logs):
        arrived = collections.Counter(document["message"] for document in server.documents.values())
        expected = {log.line(number) for log in logs for number in range(log.written)}
        self.written = len(expected)
        self.missing = sorted(expected - arrived.keys())
        self.foreign = sorted(arrived.keys() - expected)
        self.lost = len(self.missing)
        self.duplicated = sum(arrived.values()) - len(arrived)
        self.twice = [f"{document['message']} as {name} of {document['log']['file']['path']}"
                      for name, document in server.documents.items() if arrived[document["message"]] > 1]
        self.wrong = list(server.wrong)
        self.disordered = disordered(server, {log.path.name: log for log in logs})

    def is_clean(self):
        return not (self.lost or self.duplicated or self.foreign or self.wrong or self.disordered)

    def __str__(self):
        parts = [f"written={self.written} lost={self.lost} duplicated={self.duplicated} foreign={len(self.foreign)} "
                 f"disordered={len(self.disordered)} wrong={len(self.wrong)}"]
        for name in ("missing", "twice", "foreign", "wrong", "disordered"):
            parts += [f"  {name}: {text}" for text in getattr(self, name)[:3]]
        return "\n".join(parts)


def disordered(server, logs):
    """Lines that were sent for the first time after a later line of the same content of their file."""
    last, found = {}, []
    for message in server.seen:
        _, name, number, *_ = message.split(" ")
        content = name, bisect.bisect(logs[name].starts, int(number))
        if int(number) < last.get(content, 0):
            found.append(message)
        last[content] = int(number)
    return found

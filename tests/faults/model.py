"""What must be there after a fault: the last acknowledged value, or one of those in doubt.

A value is anything comparable: a document's state, or a definition of the catalog; `None` is *absent*."""


class Possible:
    """The values that one thing may have. Its owner is one thread, so that changes have an order."""

    __slots__ = ("values", "history")

    def __init__(self, value=None):
        self.values = [value]
        self.history = [value]

    @property
    def known(self):
        """Whether only one value is possible."""
        return len(self.values) == 1

    @property
    def value(self):
        """The value, where there is no doubt about it."""
        assert self.known, self.values
        return self.values[0]

    def acknowledged(self, value):
        """The server said that it has this value now."""
        self.values = [value]
        self.history.append(value)

    def acknowledged_one_of(self, values):
        """It has one of these now: what it held before was in doubt."""
        self.values = list(values)
        self.history += self.values

    def doubtful(self, value):
        """A change was asked for and not acknowledged: refused after it began, or never answered."""
        if value not in self.values:
            self.values.append(value)
            self.history.append(value)

    def mark(self):
        """A point in time, for `since`. (The history ends with the values that are possible now.)"""
        return len(self.history) - len(self.values)

    def since(self, mark):
        """Every value that a reader may have seen who began at the mark."""
        return self.history[mark:]

    def settle(self, value):
        """A reader saw this value after the fault: the doubt is over."""
        self.values = [value]
        self.history = [value]

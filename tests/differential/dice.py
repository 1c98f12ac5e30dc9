"""Seeded choices: one seed, one run."""

import random


class Dice(random.Random):
    """Random numbers with the questions that generators ask."""

    def maybe(self, chance=0.5):
        return self.random() < chance

    def some(self, items, least=1, most=3):
        """Between `least` and `most` different items."""
        items = list(items)
        return self.sample(items, min(len(items), self.randint(least, most)))

    def options(self, chance=0.3, **values):
        """Some of these options, each taken with the chance; a callable is called for its value."""
        taken = {name: value for name, value in values.items() if self.maybe(chance)}
        return {name: value() if callable(value) else value for name, value in taken.items()}

    def weighted(self, choices):
        """One of the functions of a table of function to weight."""
        return self.choices(list(choices), list(choices.values()))[0]

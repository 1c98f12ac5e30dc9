"""A thread that asks a server for what chance chooses, until it is told to stop or nobody answers."""

import random
import threading

from .client import Unanswered


class ByChance(threading.Thread):
    """`weights` says how often each of its methods is chosen, beside the others.

    A `patient` one goes on when the server refuses with a 5xx or 429; any other takes that for a failure of the test."""

    def __init__(self, name, client, weights, seed, progress=None, patient=False):
        super().__init__(name=name, daemon=True)
        self.client, self.weights, self.progress, self.patient = client, weights, progress, patient
        self.random = random.Random(seed)
        self.stopping = threading.Event()
        self.acknowledged = self.refused = 0
        self.refusals = {}
        self.failure = None

    def run(self):
        try:
            while not self.stopping.is_set():
                self.step()
                if self.progress:
                    self.progress.release()
        except Unanswered:
            pass  # Killed. What was asked for is in doubt.
        except BaseException as error:  # The main thread reports it.
            self.failure = error
        finally:
            self.client.close()
            if self.progress:
                self.progress.release()

    def step(self):
        operation = self.random.choices(list(self.weights), list(self.weights.values()))[0]
        getattr(self, operation)()

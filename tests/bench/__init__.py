"""`clew bench`: the tools around measurements, run as they are. No test asserts a time."""

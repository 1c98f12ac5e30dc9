"""What a test needs and this machine lacks."""


class Missing(Exception):
    """The test is skipped, and the message is the reason."""

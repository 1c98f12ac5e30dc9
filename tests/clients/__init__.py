"""Clients that others wrote, unmodified, against the real server."""

"""The collector and the log reader, as processes beside a real server."""

"""The same generated documents and requests for Clew and for a real OpenSearch, and a comparison of the answers."""

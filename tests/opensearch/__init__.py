"""Whole-program tests of the OpenSearch REST API: the real binary, the usual Python client."""

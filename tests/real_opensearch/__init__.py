"""A real OpenSearch 2.19.0 of one node, put together from what its project publishes on Maven.

It is what Clew is held against: tests/differential compares answers, bench/opensearch compares cost. Neither is needed
to build or to test Clew otherwise; where Maven or a Java of version 21 is missing, `Missing` says which.
"""

from .home import Missing, assemble
from .node import RealOpenSearch

__all__ = ["Missing", "RealOpenSearch", "assemble"]

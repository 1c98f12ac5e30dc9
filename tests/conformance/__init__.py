"""OpenSearch's own REST tests (YAML), run against the binary.

The tests and the descriptions of the API come from the artifact org.opensearch:rest-api-spec at set-up time
(`make conformance`). `listed.txt` names those that are to pass here: they pass on a real OpenSearch 2.19.0 of one node.
What does not pass, and why, is told in docs/compatibility.md; the run fails when that page is not true.
"""

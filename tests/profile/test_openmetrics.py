"""`/_metrics` in OpenMetrics' format, read by Prometheus' own parser: the same figures, with examples of slow requests."""

import re
import time
import unittest
import urllib.request

from opensearch.base import ClewTest

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open
    from prometheus_client.parser import text_string_to_metric_families as read_plain
except ImportError:
    read_open = None

OPEN = "application/openmetrics-text"
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@unittest.skipIf(read_open is None, "prometheus_client is not installed")
class OpenMetricsTest(ClewTest):
    def page(self, accept):
        request = urllib.request.Request(self.server.url + "/_metrics", headers={"accept": accept})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.headers["content-type"], answer.read().decode()

    def families(self):
        """Families by name, as the parser reads them, which refuses what is against the format."""
        kind, page = self.page(OPEN)
        self.assertEqual(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(page.endswith("\n# EOF\n"))
        return {family.name: family for family in read_open(page)}

    def ask(self, path, trace=None):
        headers = {"traceparent": f"00-{trace}-{PARENT}-01"} if trace else {}
        urllib.request.urlopen(urllib.request.Request(self.server.url + path, headers=headers), timeout=60).read()

    def exemplars(self, family, **labels):
        """Of the buckets of a series, by their upper ends."""
        wanted = [sample for sample in self.families()[family].samples
                  if sample.name.endswith("_bucket") and labels.items() <= sample.labels.items()]
        self.assertTrue(wanted)
        return {sample.labels["le"]: sample.exemplar for sample in wanted if sample.exemplar}

    def test_both_formats_tell_the_same_figures(self):
        self.ask("/_search")
        names = lambda families: {sample.name for family in families for sample in family.samples}
        until = time.monotonic() + 60
        while True:
            kind, plain = self.page("text/plain")
            families = self.families()
            # A figure may be there for the first time in the second page.
            if names(read_plain(plain)) == names(families.values()) or time.monotonic() > until:
                break
        self.assertEqual(kind, "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(self.page("*/*")[0], kind)
        self.assertNotIn("# EOF", plain)
        self.assertNotIn("trace_id", plain)
        self.assertEqual(names(read_plain(plain)), names(families.values()))
        for name in ("rest_requests", "log_entries", "memory_refused"):
            self.assertEqual(families[name].type, "counter", name)
        self.assertEqual(families["http_connections_open"].type, "gauge")
        # A counter has its type in both: none is called like another family with `_total` behind it.
        types = dict(re.findall(r"(?m)^# TYPE (\S+) (.+)$", plain))
        self.assertEqual({name.removesuffix("_total"): kind for name, kind in types.items()},
                         {family.name: family.type for family in families.values()})
        asked = {sample.labels["status"]: sample.value for sample in families["rest_requests"].samples
                 if sample.labels["endpoint"] == "search"}
        self.assertGreaterEqual(asked["ok"], 1)

    def test_each_figure_is_described_once_and_is_what_its_name_says(self):
        self.ask("/_search")
        asked = urllib.request.Request(f"http://{self.server.grpc_address}/v2/vectordb/collections/list", b"{}", {"content-type": "application/json"})
        urllib.request.urlopen(asked, timeout=60).close()
        _, page = self.page("text/plain")
        helps, types = (re.findall(rf"(?m)^# {word} (\S+) (.+)$", page) for word in ("HELP", "TYPE"))
        self.assertEqual([name for name, _ in helps], [name for name, _ in types])
        self.assertEqual(len(dict(types)), len(types))
        for name, kind in types:
            self.assertEqual(kind == "counter", name.endswith("_total"), name)
            self.assertRegex(page, rf"(?m)^{name}(_bucket)?[{{ ]", name)
        # One alone is understood: none says what the one before it was about.
        texts = [text for _, text in helps]
        self.assertEqual(len(set(texts)), len(texts))
        for text in texts:
            self.assertNotRegex(text, r"(?i)^those\b|\bthat (they|this) took\b|\bof (it|them)\b")

    def test_the_process_tells_what_the_clients_of_prometheus_do(self):
        def figures():
            names = re.findall(r"(?m)^(process_\w+) (\S+)$", self.page("text/plain")[1])
            return {name: float(value) for name, value in names}
        first = figures()
        self.assertLess(abs(time.time() - first["process_start_time_seconds"]), 600)
        self.assertGreater(first["process_cpu_seconds_total"], 0)
        self.assertGreater(first["process_resident_memory_bytes"], 1 << 20)
        self.assertGreater(first["process_virtual_memory_bytes"], first["process_resident_memory_bytes"])
        self.assertGreater(first["process_threads"], 1)
        self.assertGreater(first["process_max_fds"], first["process_open_fds"])
        second = figures()
        self.assertEqual(second["process_start_time_seconds"], first["process_start_time_seconds"])
        self.assertGreaterEqual(second["process_cpu_seconds_total"], first["process_cpu_seconds_total"])

    def test_buckets_bear_a_slow_request_of_late_with_its_trace(self):
        before = time.time()
        self.ask("/_search", TRACE)
        # Requests that are no part of a trace are no examples.
        self.ask("/_search")
        for family, labels in (
            ("rest_request_seconds", {"endpoint": "search"}),
            ("rest_request_part_seconds", {"endpoint": "search", "part": "wall"}),
            ("rest_request_part_seconds", {"endpoint": "search", "part": "cpu"}),
        ):
            found = self.exemplars(family, **labels)
            (le, exemplar), = ((le, one) for le, one in found.items() if one.labels["trace_id"] == TRACE)
            self.assertRegex(exemplar.labels["span_id"], "^[0-9a-f]{16}$")
            self.assertNotEqual(exemplar.labels["span_id"], PARENT)
            self.assertLessEqual(exemplar.value, float(le))
            self.assertTrue(before - 1 <= float(exemplar.timestamp) <= time.time() + 1, exemplar)

    def test_the_slowest_of_a_bucket_stays_and_there_is_one_for_each(self):
        traces = [f"{number:032x}" for number in range(1, 60)]
        for trace in traces:
            self.ask("/", trace)
        found = self.exemplars("rest_request_seconds", endpoint="cluster")
        self.assertTrue(found)
        for exemplar in found.values():
            self.assertIn(exemplar.labels["trace_id"], traces)
        _, page = self.page(OPEN)
        # As many as there are buckets at most, however many requests.
        series = re.findall(r'(?m)^rest_request_seconds_bucket{endpoint="cluster",.*trace_id', page)
        self.assertLessEqual(len(series), 17)
        self.assertEqual(len(series), len(found))

"""Templates, rollovers, data streams: what indexes begin with and how they follow each other."""

import threading

from opensearchpy.exceptions import TransportError

from .base import ClewTest


class TemplateTest(ClewTest):
    def setUp(self):
        for path in ("/_data_stream/*", "/*?expand_wildcards=all"):
            self.raw("DELETE", path)
        for kind in ("_template", "_index_template", "_component_template"):
            self.raw("DELETE", f"/{kind}/*")

    def settings(self, index):
        return self.client.indices.get_settings(index=index)[index]["settings"]["index"]

    def fields(self, index):
        return self.client.indices.get_mapping(index=index)[index]["mappings"]["properties"]


class TestTemplates(TemplateTest):
    def test_patterns_that_no_template_fits_find_none(self):
        for path, name in (("/_index_template/no*", "index_templates"), ("/_component_template/no*", "component_templates")):
            with self.assertRaises(TransportError) as caught:
                self.raw("GET", path)
            self.assertEqual((caught.exception.status_code, caught.exception.info), (404, {name: []}))
        with self.assertRaises(TransportError) as caught:
            self.raw("GET", "/_template/no*")
        self.assertEqual((caught.exception.status_code, caught.exception.info), (404, {}))

    def test_components_template_and_request_are_laid_on_top_of_each_other(self):
        self.client.cluster.put_component_template(
            name="base",
            body={
                "template": {
                    "settings": {"number_of_shards": 2, "refresh_interval": "5s"},
                    "mappings": {"properties": {"a": {"type": "keyword"}, "o.x": {"type": "long"}}},
                }
            },
        )
        self.client.indices.put_index_template(
            name="logs",
            body={
                "index_patterns": ["logs-*"],
                "composed_of": ["base"],
                "priority": 5,
                "template": {
                    "settings": {"refresh_interval": "7s"},
                    "mappings": {"properties": {"a": {"type": "text"}, "o.y": {"type": "long"}}},
                    "aliases": {"all-{index}": {}},
                },
            },
        )
        self.client.indices.create(
            index="logs-1", body={"mappings": {"properties": {"b": {"type": "date"}}}}
        )
        settings = self.settings("logs-1")
        self.assertEqual(settings["number_of_shards"], "2")
        self.assertEqual(settings["refresh_interval"], "7s")
        fields = self.fields("logs-1")
        self.assertEqual(fields["a"], {"type": "text"})
        self.assertEqual(sorted(fields["o"]["properties"]), ["x", "y"])
        self.assertEqual(fields["b"], {"type": "date"})
        self.assertTrue(self.client.indices.exists_alias(name="all-logs-1", index="logs-1"))
        with self.refused(400, "illegal_argument_exception", "still in use by index templates"):
            self.client.cluster.delete_component_template(name="base")

    def test_a_write_makes_its_index_by_the_template(self):
        self.client.indices.put_template(
            name="old",
            body={
                "index_patterns": ["auto*"],
                "settings": {"number_of_shards": 3},
                "mappings": {"properties": {"n": {"type": "integer"}}},
                "aliases": {"through": {"routing": "r"}},
            },
        )
        reply = self.client.bulk(body=[{"create": {"_index": "auto-1"}}, {"n": 1}], refresh=True)
        self.assertFalse(reply["errors"], reply)
        self.assertEqual(self.settings("auto-1")["number_of_shards"], "3")
        self.assertEqual(self.fields("auto-1")["n"], {"type": "integer"})
        alias = self.client.indices.get_alias(name="through")["auto-1"]["aliases"]["through"]
        self.assertEqual(alias, {"index_routing": "r", "search_routing": "r"})

    def test_legacy_templates_are_taken_by_their_order_and_not_beside_a_composable_one(self):
        for order, shards in ((1, 2), (2, 4)):
            body = {
                "index_patterns": ["x*"],
                "order": order,
                "settings": {"number_of_shards": shards, f"index.routing.allocation.require.o{order}": "yes"},
            }
            self.client.indices.put_template(name=f"t{order}", body=body)
        self.client.indices.create(index="x1")
        self.assertEqual(self.settings("x1")["number_of_shards"], "4")
        self.assertEqual(self.settings("x1")["routing"]["allocation"]["require"]["o1"], "yes")
        self.client.indices.put_index_template(name="new", body={"index_patterns": ["x*"]})
        self.client.indices.create(index="x2")
        self.assertEqual(self.settings("x2")["number_of_shards"], "1")

    def test_what_leaves_the_choice_open_is_refused(self):
        body = {"index_patterns": ["a*"], "priority": 3}
        self.client.indices.put_index_template(name="one", body=body)
        with self.refused(400, "illegal_argument_exception", "that have the same priority [3]"):
            self.client.indices.put_index_template(
                name="two", body={"index_patterns": ["*b"], "priority": 3}
            )
        with self.refused(400, "invalid_index_template_exception", "that do not exist"):
            self.client.indices.put_index_template(
                name="two", body={"index_patterns": ["c*"], "composed_of": ["nothing"]}
            )
        with self.refused(400, "illegal_argument_exception", "already exists"):
            self.client.indices.put_index_template(name="one", body=body, create=True)
        with self.refused(404, "index_template_missing_exception", "index_template [no] missing"):
            self.client.indices.delete_index_template(name="no")
        with self.refused(400, "illegal_argument_exception", "after composition is invalid"):
            self.client.indices.put_index_template(
                name="bad",
                body={
                    "index_patterns": ["z*"],
                    "template": {"mappings": {"properties": {"a": {"type": "nonsense"}}}},
                },
            )

    def test_settings_that_no_index_could_have_are_refused_with_the_template(self):
        for settings, told in (
            ({"number_of_shards": "x"}, "Failed to parse value [x] for setting [index.number_of_shards]"),
            ({"index.priority": -1}, "Failed to parse value [-1] for setting [index.priority] must be >= 0"),
            ({"store.type": "x"}, "Unknown store type [x]"),
        ):
            whole = f"index_template [bad] invalid, cause [Validation Failed: 1: {told};]"
            with self.subTest(settings=settings):
                with self.refused(400, "invalid_index_template_exception", whole):
                    body = {"index_patterns": ["z*"], "template": {"settings": settings}}
                    self.client.indices.put_index_template(name="bad", body=body)
                with self.refused(400, "illegal_argument_exception", told):
                    self.client.cluster.put_component_template(name="bad", body={"template": {"settings": settings}})
        with self.refused(400, "illegal_argument_exception", "unknown setting [index.foo]"):
            self.client.cluster.put_component_template(name="bad", body={"template": {"settings": {"foo": 1}}})

    def test_what_a_template_of_the_first_generation_says_wrong_is_told_as_there(self):
        put = lambda **says: self.client.indices.put_template(name="bad", body={"index_patterns": ["z*"], **says})
        illegal, malformed = "illegal_argument_exception", "Malformed [{}] {}"
        for says, kind, told in (
            ({"order": "x"}, "number_format_exception", 'For input string: "x"'),
            ({"version": "x"}, illegal, malformed.format("version", "value, should be an integer")),
            ({"settings": 5}, illegal, malformed.format("settings", "section, should include an inner object")),
            ({"index_patterns": 5}, illegal, malformed.format("template", "value, should be a string or a list of strings")),
            ({"settings": {"analysis": {"analyzer": {"a": {"type": "no"}}}}}, illegal, "Unknown analyzer type [no] for [a]"),
        ):
            with self.subTest(says), self.refused(400, kind, told):
                put(**says)

    def test_aliases_of_templates_could_be_those_of_an_index(self):
        indices, cluster = self.client.indices, self.client.cluster
        for alias, kind, told in (
            ({"a b": {}}, "invalid_alias_name_exception", "Invalid alias name [a b]"),
            ({"a": {"routing": "x,y"}}, "illegal_argument_exception", "alias [a] has several index routing values"),
        ):
            for put in (
                lambda: indices.put_template(name="bad", body={"index_patterns": ["z*"], "aliases": alias}),
                lambda: indices.put_index_template(name="bad", body={"index_patterns": ["z*"], "template": {"aliases": alias}}),
                lambda: cluster.put_component_template(name="bad", body={"template": {"aliases": alias}}),
            ):
                with self.subTest(alias), self.refused(400, kind, told):
                    put()

    def test_what_is_simulated_has_the_aliases_that_an_index_would_have(self):
        body = {"index_patterns": ["z*"], "template": {"aliases": {"{index}-all": {}}}}
        self.client.indices.put_index_template(name="named", body=body)
        self.client.indices.put_index_template(name="bare", body={"index_patterns": ["y*"]})
        found = self.client.indices.simulate_index_template(name="z1")
        self.assertEqual(found["template"], {"settings": {}, "aliases": {"z1-all": {}}})
        shown = self.client.indices.get_index_template(name="*")["index_templates"]
        shown = {each["name"]: each["index_template"] for each in shown}
        self.assertEqual(shown, {"named": {**body, "composed_of": []}, "bare": {"index_patterns": ["y*"]}})

    def test_templates_outlive_a_restart(self):
        body = {"index_patterns": ["keep*"], "template": {"settings": {"number_of_shards": 2}}}
        self.client.indices.put_index_template(name="keep", body=body)
        self.restart()
        found = self.client.indices.get_index_template(name="keep")["index_templates"]
        settings = found[0]["index_template"]["template"]["settings"]
        self.assertEqual(settings, {"index": {"number_of_shards": "2"}})


class TestRollover(TemplateTest):
    def test_an_alias_moves_to_the_next_index_when_a_condition_is_met(self):
        self.client.indices.create(
            index="logs-1", body={"aliases": {"logs": {"is_write_index": True}}}
        )
        body = {"conditions": {"max_docs": 1, "max_age": "7d"}}
        reply = self.client.indices.rollover(alias="logs", body=body)
        self.assertFalse(reply["rolled_over"])
        self.client.index(index="logs", body={"n": 1}, refresh=True)
        reply = self.client.indices.rollover(alias="logs", body=body, dry_run=True)
        self.assertFalse(reply["rolled_over"])
        self.assertTrue(reply["conditions"]["[max_docs: 1]"])
        self.assertFalse(self.client.indices.exists(index="logs-000002"))
        reply = self.client.indices.rollover(alias="logs", body=body)
        self.assertTrue(reply["rolled_over"])
        self.assertEqual((reply["old_index"], reply["new_index"]), ("logs-1", "logs-000002"))
        written = self.client.index(index="logs", body={"n": 2}, refresh=True)
        self.assertEqual(written["_index"], "logs-000002")
        # The alias moves as it was.
        reply = self.client.indices.rollover(alias="logs", body={"aliases": {"logs": {"is_write_index": False}}})
        self.assertEqual(reply["new_index"], "logs-000003")
        held = self.client.indices.get_alias(name="logs")
        says = {index: shown["aliases"]["logs"]["is_write_index"] for index, shown in held.items()}
        self.assertEqual(says, {"logs-1": False, "logs-000002": False, "logs-000003": True})
        self.assertEqual(self.client.count(index="logs")["count"], 2)
        with self.refused(400, "illegal_argument_exception", "does not exist"):
            self.client.indices.rollover(alias="nobody")

    def test_an_alias_that_rolls_over_keeps_its_filter_and_its_routing(self):
        alias = {"filter": {"term": {"n": 1}}, "index_routing": "1", "search_routing": "1"}
        for name, said in (("kept", {}), ("moved", {"is_write_index": True})):
            self.client.indices.create(index=f"{name}-1", body={"aliases": {name: {**alias, **said}}})
            self.client.indices.rollover(alias=name)
            found = self.client.indices.get_alias(name=name)[f"{name}-000002"]["aliases"][name]
            self.assertEqual(found, {**alias, **said})

    def test_a_data_stream_grows_by_rollovers_and_takes_only_new_documents(self):
        self.client.indices.put_index_template(
            name="metrics",
            body={"index_patterns": ["metrics-*"], "data_stream": {}, "priority": 1},
        )
        document = {"@timestamp": "2026-01-01T00:00:00Z", "v": 1}
        reply = self.client.bulk(
            body=[{"create": {"_index": "metrics-a"}}, document], refresh=True
        )
        self.assertFalse(reply["errors"], reply)
        self.assertEqual(reply["items"][0]["create"]["_index"], ".ds-metrics-a-000001")
        with self.refused(400, "illegal_argument_exception", "op_type of create"):
            self.client.index(index="metrics-a", id="1", body=document)
        with self.refused(400, "illegal_argument_exception", "op_type of create"):
            self.client.index(index="metrics-a", body=document, op_type="index")
        words = "documents must contain a single-valued timestamp field '@timestamp' of date type"
        for wrong in ({"v": 1}, {"@timestamp": None}, {"@timestamp": ["2026-01-01", "2026-01-02"]}):
            with self.refused(400, "mapper_parsing_exception", "failed to parse") as caught:
                self.client.index(index="metrics-a", body=wrong)
            self.assertEqual(caught.exception.info["error"]["caused_by"]["reason"], words)
        reply = self.client.bulk(body=[{"create": {"_index": "metrics-a"}}, {"v": 1}])
        self.assertEqual(reply["items"][0]["create"]["error"]["caused_by"]["reason"], words)
        reply = self.client.indices.rollover(alias="metrics-a")
        self.assertEqual(reply["new_index"], ".ds-metrics-a-000002")
        for index, shown in self.client.indices.get_mapping(index="metrics-a").items():
            self.assertEqual(shown["mappings"]["_data_stream_timestamp"], {"enabled": True}, index)
        # Without an id, a document is created.
        reply = self.client.index(index="metrics-a", body=document, refresh=True)
        self.assertEqual(reply["_index"], ".ds-metrics-a-000002")
        self.assertEqual(self.client.count(index="metrics-a")["count"], 2)
        # A stream is no hidden name: what asks for everything asks for its documents.
        for everything in (None, "_all", "*", "met*"):
            self.assertEqual(self.client.count(index=everything)["count"], 2, everything)
            self.assertEqual(len(self.client.indices.get_settings(index=everything)), 2, everything)
        for nothing in ("*,-metrics-*", "*,-.ds*"):
            self.assertEqual(self.client.count(index=nothing)["count"], 0, nothing)
        stats = self.raw("GET", "/_data_stream/metrics-a/_stats")["data_streams"][0]
        self.assertEqual((stats["backing_indices"], stats["maximum_timestamp"]), (2, 1767225600000))
        stream = self.client.indices.get_data_stream(name="metrics-a")["data_streams"][0]
        self.assertEqual(stream["generation"], 2)
        names = [index["index_name"] for index in stream["indices"]]
        self.assertEqual(names, [".ds-metrics-a-000001", ".ds-metrics-a-000002"])
        with self.refused(400, "illegal_argument_exception", "in use by a data streams"):
            self.client.indices.delete_index_template(name="metrics")
        with self.refused(400, "illegal_argument_exception", "is the write index"):
            self.client.indices.delete(index=".ds-metrics-a-000002")
        self.client.indices.delete_data_stream(name="metrics-a")
        self.assertEqual(self.client.indices.get_data_stream()["data_streams"], [])
        # What is not there is deleted already.
        self.client.indices.delete_data_stream(name="metrics-a")

    def test_a_data_stream_is_deleted_with_what_a_rollover_makes_meanwhile(self):
        body = {"index_patterns": ["metrics-*"], "data_stream": {}, "priority": 1}
        self.client.indices.put_index_template(name="metrics", body=body)

        def roll_over_while_it_is_there():
            try:
                while True:
                    self.client.indices.rollover(alias="metrics-a")
            except TransportError:
                pass

        for _ in range(10):
            self.client.indices.create_data_stream(name="metrics-a")
            rolling = threading.Thread(target=roll_over_while_it_is_there)
            rolling.start()
            self.until(lambda: self.client.indices.get_data_stream(name="metrics-a")["data_streams"][0]["generation"] > 3, True)
            self.client.indices.delete_data_stream(name="metrics-a")
            rolling.join()
            self.assertEqual(self.client.indices.get_data_stream()["data_streams"], [])

    def test_a_data_stream_tells_in_its_mapping_which_field_has_its_times(self):
        body = {"index_patterns": ["timed-*"], "data_stream": {"timestamp_field": {"name": "at"}}}
        self.client.indices.put_index_template(name="timed", body=body)
        self.client.indices.create_data_stream(name="timed-a")
        self.addCleanup(self.client.indices.delete_data_stream, name="timed-a")
        [shown] = self.client.indices.get_mapping(index="timed-a").values()
        told = {"enabled": True, "timestamp_field": {"name": "at"}}
        self.assertEqual(shown["mappings"], {"_data_stream_timestamp": told, "properties": {"at": {"type": "date"}}})

    def test_a_data_stream_keeps_the_index_that_it_writes_to_and_has_no_aliases(self):
        template = {"index_patterns": ["metrics-*"], "data_stream": {}, "priority": 1}
        self.client.indices.put_index_template(name="metrics", body=template)
        self.client.indices.create_data_stream(name="metrics-a")
        # Nor does it go with its only index, unless a pattern means all of it.
        with self.refused(400, "illegal_argument_exception", "is the write index"):
            self.client.indices.delete(index=".ds-metrics-a-000001")
        self.client.indices.create_data_stream(name="metrics-b")
        self.client.indices.delete(index=".ds-metrics-b*", expand_wildcards="all")
        self.client.indices.rollover(alias="metrics-a")
        self.client.indices.create(index="metrix")
        with self.refused(400, "invalid_alias_name_exception", "Invalid alias name [metrics-a]"):
            self.client.indices.create(index="metric", body={"aliases": {"metrics-a": {}}})
        first, newest = ".ds-metrics-a-000001", ".ds-metrics-a-000002"
        change = lambda **action: self.client.indices.update_aliases(body={"actions": [action]})
        for name in ("metrics-a", "met*-a"):
            with self.refused(404, "index_not_found_exception", f"no such index [{name}]"):
                change(add={"index": name, "alias": "other"})
        for action in ({"add": {"index": first, "alias": "other"}},
                       {"remove": {"index": newest, "alias": "metrics-a"}},
                       {"remove_index": {"index": newest}}):
            with self.refused(400, "illegal_argument_exception", "don't support aliases"):
                change(**action)
        for method, path in (("POST", "/metrics-a/_close"), ("PUT", "/metrics-a/_block/write"),
                             ("DELETE", "/metrics-a")):
            with self.refused(404, "index_not_found_exception", "no such index [metrics-a]"):
                self.raw(method, path)
        reason = f"cannot close the following data stream write indices [{newest}]"
        with self.refused(400, "illegal_argument_exception", reason):
            self.client.indices.close(index=newest)
        # Patterns pass streams over.
        closed = self.client.indices.close(index="met*")
        self.assertEqual(list(closed["indices"]), ["metrix"])
        self.client.indices.close(index=first)
        document = {"@timestamp": "2026-01-01T00:00:00Z"}
        self.assertEqual(self.client.index(index="metrics-a", body=document)["_index"], newest)

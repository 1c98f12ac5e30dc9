"""Pipelines of documents and of searches, templates, and writes to all documents of a search."""

from mmdb_writer import MMDBWriter
from netaddr import IPSet
from opensearchpy.exceptions import TransportError

from .base import ClewTest


class PipelineTest(ClewTest):
    def test_documents_are_changed_on_their_way(self):
        steps = [
            {"set": {"field": "greeting", "value": "hello {{name}}"}},
            {"rename": {"field": "old", "target_field": "new.deep", "ignore_missing": True}},
            {"convert": {"field": "n", "type": "integer", "ignore_missing": True}},
            {"split": {"field": "list", "separator": ",", "ignore_missing": True}},
            {"date": {"field": "at", "formats": ["yyyy/MM/dd"], "ignore_failure": True}},
            {"remove": {"field": "secret", "ignore_missing": True}},
        ]
        self.client.ingest.put_pipeline(id="p", body={"processors": steps})
        source = {"name": "Ann", "old": 1, "n": "7", "list": "a,b", "at": "2024/02/03", "secret": 1}
        self.client.index(index="d", id="1", body=source, params={"pipeline": "p"}, refresh=True)
        found = self.client.get(index="d", id="1")["_source"]
        self.assertEqual(found["greeting"], "hello Ann")
        self.assertEqual(found["new"], {"deep": 1})
        self.assertEqual((found["n"], found["list"]), (7, ["a", "b"]))
        self.assertEqual(found["@timestamp"], "2024-02-03T00:00:00.000Z")
        self.assertNotIn("secret", found)
        shown = self.client.ingest.simulate(id="p", body={"docs": [{"_source": {"name": "Bo"}}]})
        self.assertEqual(shown["docs"][0]["doc"]["_source"]["greeting"], "hello Bo")

    def test_what_doubles_with_each_step_is_refused_before_it_is_made(self):
        def failed(steps, source):
            body = {"pipeline": {"processors": steps}, "docs": [{"_source": source}]}
            return self.client.ingest.simulate(body=body)["docs"][0]["error"]["reason"]

        doubling = {"gsub": {"field": "m", "pattern": "^.*$", "replacement": "$0$0"}}
        # Sixteen million, or an eighth more than there was.
        self.assertIn("[18874368] are allowed", failed([doubling] * 40, {"m": "a"}))
        copies = [{"set": {"field": f"f{n + 1}", "value": f"{{{{f{n}}}}}{{{{f{n}}}}}"}} for n in range(40)]
        self.assertIn("more than [10485760] bytes", failed(copies, {"f0": "a"}))
        copies = [{"set": {"field": f"f{n}", "value": "{{m}}"}} for n in range(100)]
        self.assertIn("may set [67108864] bytes", failed(copies, {"m": "a" * (4 << 20)}))
        inside = {f"P{n}": f"%{{P{n + 1}}}%{{P{n + 1}}}" for n in range(40)} | {"P40": "a"}
        grok = {"grok": {"field": "m", "patterns": ["%{P0:x}"], "pattern_definitions": inside}}
        for ask in (
            lambda: self.client.ingest.put_pipeline(id="g", body={"processors": [grok]}),
            lambda: failed([grok], {"m": "a"}),
        ):
            with self.refused(400) as caught:
                ask()
            self.assertIn("may become [262144] bytes", caught.exception.info["error"]["reason"])
        deep = {"source": "{{#x}}" * 40 + "{{/x}}" * 40, "params": {"x": [1, 1]}}
        with self.refused(400) as caught:
            self.client.render_search_template(body=deep)
        self.assertIn("more than [10000000] parts", str(caught.exception.info["error"]))

    def test_many_pairs_and_values_become_lists(self):
        steps = [
            {"kv": {"field": "m", "field_split": " ", "value_split": "=", "include_keys": ["a", "b"]}},
            {"foreach": {"field": "a", "processor": {"append": {"field": "in.c", "value": "{{_ingest._value}}"}}}},
            {"foreach": {"field": "a", "processor": {"append": {
                "field": "d", "value": "{{_ingest._value}}{{b}}", "allow_duplicates": False}}}},
        ]
        line = " ".join(f"a={n % 500}" for n in range(2000)) + " b=x other=y"
        body = {"pipeline": {"processors": steps}, "docs": [{"_source": {"m": line}}]}
        made = self.client.ingest.simulate(body=body)["docs"][0]["doc"]["_source"]
        self.assertEqual((made["a"], made["b"]), ([str(n % 500) for n in range(2000)], "x"))
        self.assertEqual(made["in"]["c"], made["a"])
        self.assertEqual(made["d"], [f"{n}x" for n in range(500)])
        self.assertNotIn("other", made)

    def test_what_is_wrong_with_a_simulation_or_a_circle_is_told_as_there(self):
        pipeline = {"processors": [{"date": {"field": "at", "formats": ["MMM dd HH:mm:ss"], "timezone": "{{zone}}"}}]}
        body = {"pipeline": pipeline, "docs": [{"_source": {"at": "Jan 12 10:11:12", "zone": "Asia/Tokyo"}}]}
        [shown] = self.client.ingest.simulate(body=body)["docs"]
        self.assertRegex(shown["doc"]["_source"]["@timestamp"], r"^20\d\d-01-12T10:11:12.000\+09:00$")
        for docs, reason in (([], "must specify at least one document in [docs]"), ([{"_id": "1"}], "[_source] required property is missing")):
            with self.assertRaises(TransportError) as refused:
                self.client.ingest.simulate(body={"pipeline": pipeline, "docs": docs})
            self.assertEqual((refused.exception.status_code, refused.exception.info["error"]["reason"]), (400, reason))
        for wrong, reason in (
            ({"processors": [], "on_failure": []}, "cannot have an empty on_failure option defined"),
            ({"processors": [], "speed": 1}, "doesn't support one or more provided configuration parameters [speed]"),
        ):
            for ask, name in (
                (lambda: self.client.ingest.put_pipeline(id="wrong", body=wrong), "wrong"),
                (lambda: self.client.ingest.simulate(body={**body, "pipeline": wrong}), "_simulate_pipeline"),
            ):
                with self.assertRaises(TransportError) as refused:
                    ask()
                self.assertEqual(refused.exception.info["error"]["reason"], f"pipeline [{name}] {reason}")
        for name, other in (("one", "two"), ("two", "one")):
            self.client.ingest.put_pipeline(id=name, body={"processors": [{"pipeline": {"name": other}}]})
        with self.assertRaises(TransportError) as refused:
            self.client.index(index="circle", body={}, params={"pipeline": "one"})
        self.assertEqual(refused.exception.info["error"]["reason"], "Cycle detected for pipeline: one")

    def test_patterns_may_look_around(self):
        processors = [
            {"gsub": {"field": "digits", "pattern": r"(\d)(?=(\d{3})+$)", "replacement": "$1,"}},
            {"gsub": {"field": "twice", "pattern": r"\b(\w+) \1\b", "replacement": "$1"}},
            {"split": {"field": "name", "separator": "(?<!^)(?=[A-Z])"}},
            {"kv": {"field": "line", "field_split": r" (?=\w+=)", "value_split": "="}},
        ]
        source = {"digits": "1234567", "twice": "the the cat", "name": "ThisIsCamel", "line": "a=1 2 b=x y z"}
        body = {"pipeline": {"processors": processors}, "docs": [{"_source": source}]}
        made = self.client.ingest.simulate(body=body)["docs"][0]["doc"]["_source"]
        self.assertEqual(made, {
            "digits": "1,234,567", "twice": "the cat", "name": ["This", "Is", "Camel"],
            "line": source["line"], "a": "1 2", "b": "x y z",
        })

    def test_a_verbose_simulation_shows_what_each_step_made(self):
        inner = {"processors": [{"uppercase": {"field": "a"}}]}
        self.client.ingest.put_pipeline(id="inner", body=inner)
        pipeline = {
            "processors": [
                {"set": {"field": "a", "value": "x", "tag": "first", "description": "sets a"}},
                {"rename": {"field": "none", "target_field": "b", "ignore_failure": True}},
                {"pipeline": {"name": "inner"}},
                {"foreach": {"field": "list", "processor": {"lowercase": {"field": "_ingest._value"}}}},
                {"fail": {"message": "no", "on_failure": [{"set": {"field": "c", "value": 1}}]}},
                {"drop": {}},
            ]
        }
        body = {"pipeline": pipeline, "docs": [{"_source": {"list": ["A"]}}]}
        [shown] = self.client.ingest.simulate(body=body, params={"verbose": "true"})["docs"]
        steps = [(step["processor_type"], step["status"]) for step in shown["processor_results"]]
        self.assertEqual(
            steps,
            [
                ("set", "success"),
                ("rename", "error_ignored"),
                ("pipeline", "success"),
                ("uppercase", "success"),
                ("foreach", "success"),
                ("fail", "error"),
                ("set", "success"),
                ("drop", "dropped"),
            ],
        )
        first, renamed, call, upper, each, failed, mended, dropped = shown["processor_results"]
        self.assertEqual((first["tag"], first["description"]), ("first", "sets a"))
        self.assertEqual(first["doc"]["_source"], {"list": ["A"], "a": "x"})
        self.assertEqual(first["doc"]["_ingest"]["pipeline"], "_simulate_pipeline")
        self.assertEqual(renamed["ignored_error"]["error"]["type"], "illegal_argument_exception")
        self.assertNotIn("doc", call)
        self.assertEqual(upper["doc"]["_source"]["a"], "X")
        self.assertEqual(each["doc"]["_source"]["list"], ["a"])
        self.assertEqual(failed["error"]["reason"], "no")
        self.assertNotIn("doc", failed)
        self.assertEqual(mended["doc"]["_source"]["c"], 1)
        self.assertNotIn("doc", dropped)
        self.assertEqual([step["doc"]["_ingest"]["pipeline"] for step in (upper, each)], ["inner", "_simulate_pipeline"])
        about = {key: value for key, value in mended["doc"]["_ingest"].items() if key.startswith("on_failure")}
        self.assertEqual(about, {"on_failure_message": "no", "on_failure_processor_tag": None, "on_failure_processor_type": "fail"})

    def test_a_simulation_shows_what_steps_have_set_beside_the_document(self):
        steps = [{"set": {"field": "_ingest.x", "value": "y"}}]
        body = {"pipeline": {"processors": steps}, "docs": [{"_source": {}}]}
        [shown] = self.client.ingest.simulate(body=body)["docs"]
        self.assertEqual(shown["doc"]["_ingest"]["x"], "y")
        self.assertEqual(sorted(shown["doc"]["_ingest"]), ["timestamp", "x"])

    def test_what_pipelines_did_is_counted(self):
        steps = [
            {"set": {"field": "a", "value": 1, "tag": "first"}},
            {"trim": {"field": "n", "ignore_failure": True}},
            {"fail": {"message": "no", "if": "ctx.bad == true"}},
        ]
        for name in ("counted", "counted-unused"):
            self.client.ingest.put_pipeline(id=name, body={"processors": steps})
            self.addCleanup(self.client.ingest.delete_pipeline, id=name)
        for number in range(3):
            self.client.index(index="d", body={"n": number}, params={"pipeline": "counted"})
        with self.assertRaises(TransportError):
            self.client.index(index="d", body={"n": 3, "bad": True}, params={"pipeline": "counted"})
        (node,) = self.client.nodes.stats(metric="ingest")["nodes"].values()
        self.assertGreaterEqual(node["ingest"]["total"]["count"], 4)
        pipelines = node["ingest"]["pipelines"]
        counts = {name: [one[key] for key in ("count", "failed", "current")] for name, one in pipelines.items()}
        self.assertEqual((counts["counted"], counts["counted-unused"]), ([4, 1, 0], [0, 0, 0]))
        shown = [(name, one["type"], one["stats"]["count"], one["stats"]["failed"])
                 for step in pipelines["counted"]["processors"] for name, one in step.items()]
        self.assertEqual(shown, [("set:first", "set", 4, 0), ("trim", "trim", 4, 4), ("fail", "fail", 1, 1)])
        kinds = self.client.cluster.stats()["nodes"]["ingest"]["processor_stats"]
        self.assertGreaterEqual(kinds["trim"]["failed"], 4)
        (node,) = self.client.nodes.info(metric="ingest")["nodes"].values()
        self.assertIn({"type": "geoip"}, node["ingest"]["processors"])

    def test_a_pipeline_that_cannot_be_read_any_more_is_named(self):
        self.client.put_script(id="gone", body={"script": {"lang": "painless", "source": "ctx.a = 1"}})
        self.client.ingest.put_pipeline(id="broken", body={"processors": [{"script": {"id": "gone"}}]})
        self.addCleanup(self.client.ingest.delete_pipeline, id="broken")
        self.client.delete_script(id="gone")
        with self.assertRaises(TransportError) as refused:
            self.client.index(index="d", body={"n": 1}, params={"pipeline": "broken"})
        self.assertIn("pipeline with id [broken] could not be loaded", refused.exception.info["error"]["reason"])

    def test_documents_go_to_the_index_of_their_month_and_get_a_hash(self):
        steps = [
            {"date_index_name": {"field": "at", "date_rounding": "M", "index_name_prefix": "by-{{kind}}-", "date_formats": ["yyyy-MM-dd"]}},
            {"fingerprint": {"fields": ["at", "kind"]}},
        ]
        self.client.ingest.put_pipeline(id="months", body={"processors": steps})
        written = self.client.index(index="any", id="1", body={"at": "2024-02-23", "kind": "log"}, pipeline="months", refresh=True)
        self.assertEqual(written["_index"], "by-log-2024-02-01")
        found = self.client.get(index="by-log-2024-02-01", id="1")["_source"]
        self.assertRegex(found["fingerprint"], r"^SHA-1@2\.16\.0:\S{27}=$")
        self.assertFalse(self.client.indices.exists(index="any"))

    def test_texts_are_cut_in_pieces(self):
        way = {"fixed_token_length": {"token_limit": 3, "overlap_rate": 0.4}}
        step = {"text_chunking": {"field_map": {"text": "pieces"}, "algorithm": way}}
        self.client.ingest.put_pipeline(id="pieces", body={"processors": [step]})
        self.client.index(index="books", id="1", body={"text": "It was the best of times."}, pipeline="pieces")
        source = self.client.get(index="books", id="1")["_source"]
        self.assertEqual(source["pieces"], ["It was the ", "the best of ", "of times."])
        with self.refused(400, reason="neither string nor nested type"):
            self.client.index(index="books", id="2", body={"text": 1}, pipeline="pieces")

    def test_lines_are_taken_apart_by_patterns(self):
        grok = {"field": "message", "patterns": ["%{IP:client.ip} %{WORD:verb} %{NUMBER:took:float}", "%{GREEDYDATA:rest}"]}
        self.client.ingest.put_pipeline(id="lines", body={"processors": [{"grok": grok}]})
        self.client.index(index="lines", id="1", body={"message": "10.0.0.1 GET 0.25"}, pipeline="lines")
        source = self.client.get(index="lines", id="1")["_source"]
        self.assertEqual(source["client"], {"ip": "10.0.0.1"})
        self.assertEqual((source["verb"], source["took"]), ("GET", 0.25))
        self.client.index(index="lines", id="2", body={"message": "else"}, pipeline="lines")
        self.assertEqual(self.client.get(index="lines", id="2")["_source"]["rest"], "else")
        with self.refused(400, "parse_exception", "Invalid regex pattern found in: [%{NO:x}]"):
            bad = {"field": "message", "patterns": ["%{NO:x}"]}
            self.client.ingest.put_pipeline(id="bad", body={"processors": [{"grok": bad}]})
        self.assertIn("IP", self.client.ingest.processor_grok()["patterns"])

    def test_addresses_and_browsers_are_described(self):
        folder = self.server.data / "geoip"
        folder.mkdir()
        writer = MMDBWriter(4, "Test-City", languages=["en"], description="made for a test")
        place = {"country": {"iso_code": "SE", "names": {"en": "Sweden"}}, "city": {"names": {"en": "Linköping"}},
                 "subdivisions": [{"iso_code": "E"}], "location": {"latitude": 58.4, "longitude": 15.6}}
        writer.insert_network(IPSet(["89.160.20.0/24"]), place)
        writer.to_db_file(str(folder / "city.mmdb"))
        steps = [{"geoip": {"field": "ip", "database_file": "city.mmdb"}},
                 {"user_agent": {"field": "agent", "ignore_missing": True}}]
        self.client.ingest.put_pipeline(id="origin", body={"processors": steps})
        agent = "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0"
        documents = [{"ip": "89.160.20.7", "agent": agent}, {"ip": "10.0.0.1"}, {"ip": "nowhere"}]
        shown = self.client.ingest.simulate(id="origin", body={"docs": [{"_source": one} for one in documents]})["docs"]
        first = shown[0]["doc"]["_source"]
        self.assertEqual(first["geoip"], {
            "country_iso_code": "SE", "country_name": "Sweden", "city_name": "Linköping",
            "region_iso_code": "SE-E", "location": {"lat": 58.4, "lon": 15.6}})
        self.assertEqual((first["user_agent"]["name"], first["user_agent"]["version"]), ("Firefox", "115.0"))
        self.assertNotIn("geoip", shown[1]["doc"]["_source"])
        self.assertIn("is not an IP string literal", shown[2]["error"]["reason"])
        old = {"field": "agent", "ecs": False, "properties": ["name", "MAJOR", "os", "device", "original"]}
        pipeline = {"processors": [{"user_agent": old}]}
        [shown_flat] = self.client.ingest.simulate(body={"pipeline": pipeline, "docs": [{"_source": documents[0]}]})["docs"]
        told = shown_flat["doc"]["_source"]["user_agent"]
        self.assertEqual((told["name"], told["major"], set(told)), ("Firefox", "115", {"name", "major", "os", "device"}))
        self.assertTrue(told["os"].startswith("Linux"))
        for step, reason in (
            ({"user_agent": {"field": "a", "properties": ["nose"]}}, "[properties] illegal property value [nose]. valid values are [NAME, MAJOR, "),
            ({"geoip": {"field": "a", "properties": ["nose"]}}, "[properties] illegal property value [nose]. valid values are [IP, COUNTRY_ISO_CODE, "),
            ({"fingerprint": {"fields": [None]}}, "[fields] field name cannot be null nor empty"),
            ({"fingerprint": {"exclude_fields": ["a", ""]}}, "[exclude_fields] field name cannot be null nor empty"),
        ):
            with self.subTest(step=step), self.refused(400, "parse_exception", reason):
                self.client.ingest.put_pipeline(id="wrong", body={"processors": [step]})
        missing = {"pipeline": {"processors": [{"geoip": {"field": "ip"}}]}, "docs": [{"_source": {"ip": "::1"}}]}
        refused = self.client.ingest.simulate(body=missing)["docs"][0]["error"]["reason"]
        self.assertIn("database file [GeoLite2-City.mmdb] doesn't exist", refused)

    def test_failures_are_handled_or_told(self):
        body = {
            "processors": [
                {"fail": {"message": "no {{x}}", "on_failure": [{"set": {"field": "bad", "value": "{{_ingest.on_failure_message}}"}}]}},
                {"json": {"field": "text"}},
            ]
        }
        self.client.ingest.put_pipeline(id="f", body=body)
        self.client.index(index="d", id="1", body={"x": 3, "text": "{\"a\":1}"}, params={"pipeline": "f"})
        found = self.client.get(index="d", id="1")["_source"]
        self.assertEqual((found["bad"], found["text"]), ("no 3", {"a": 1}))
        lines = [
            {"index": {"_index": "d", "_id": "2", "pipeline": "f"}},
            {"x": 1},
            {"index": {"_index": "d", "_id": "3", "pipeline": "none"}},
            {},
            {"index": {"_index": "d", "_id": "4"}},
            {},
        ]
        reply = self.client.bulk(body=lines)
        self.assertTrue(reply["errors"])
        statuses = [item["index"]["status"] for item in reply["items"]]
        self.assertEqual(statuses, [400, 400, 201])
        reason = reply["items"][1]["index"]["error"]["reason"]
        self.assertEqual(reason, "pipeline with id [none] does not exist")

    def test_an_index_has_its_own_pipelines(self):
        self.client.ingest.put_pipeline(
            id="own", body={"processors": [{"foreach": {"field": "l", "processor": {"uppercase": {"field": "_ingest._value"}}}}]}
        )
        self.client.ingest.put_pipeline(id="away", body={"processors": [{"drop": {}}]})
        self.client.indices.create(
            index="own", body={"settings": {"index.default_pipeline": "own"}}
        )
        self.client.index(index="own", id="1", body={"l": ["a", "b"]})
        self.assertEqual(self.client.get(index="own", id="1")["_source"]["l"], ["A", "B"])
        reply = self.client.index(index="own", id="2", body={}, params={"pipeline": "away"})
        self.assertEqual(reply["result"], "noop")
        self.assertFalse(self.client.exists(index="own", id="2"))

    def mark(self, name, **fields):
        """A pipeline that sets fields."""
        steps = [{"set": {"field": field, "value": value}} for field, value in fields.items()]
        self.client.ingest.put_pipeline(id=name, body={"processors": steps})

    def source(self, index, id):
        return self.client.get(index=index, id=id)["_source"]

    def test_pipelines_are_those_of_the_index_that_takes_the_write(self):
        self.mark("first", first=1)
        self.mark("last", last=1)
        both = {"index.default_pipeline": "first", "index.final_pipeline": "last"}
        self.client.indices.create(index="one", body={"settings": both, "aliases": {"alone": {}}})
        self.client.indices.create(index="two", body={"aliases": {"several": {}}})
        self.client.indices.put_alias(index="one", name="several", body={"is_write_index": True})
        for name in ("one", "alone", "several"):
            for way in ("index", "create", "bulk"):
                id = f"{name}-{way}"
                if way == "bulk":
                    reply = self.client.bulk(body=[{"index": {"_index": name, "_id": id}}, {}])
                    self.assertFalse(reply["errors"])
                else:
                    getattr(self.client, way)(index=name, id=id, body={})
                self.assertEqual(self.source("one", id), {"first": 1, "last": 1}, id)
        self.client.index(index="alone", id="n", body={}, params={"pipeline": "_none"})
        self.assertEqual(self.source("one", "n"), {"last": 1})

    def test_pipelines_are_those_of_the_index_that_a_write_makes(self):
        self.mark("first", first=1)
        self.mark("last", last=1)
        parts = {"template": {"settings": {"index.final_pipeline": "last"}}}
        self.client.cluster.put_component_template(name="ends", body=parts)
        settings = {"settings": {"index": {"default_pipeline": "first"}}}
        template = {"index_patterns": ["new-*"], "composed_of": ["ends"], "template": settings}
        self.client.indices.put_index_template(name="new", body=template)
        legacy = {"index_patterns": ["old-*"], "settings": {"default_pipeline": "first", "final_pipeline": "last"}}
        self.client.indices.put_template(name="old", body=legacy)
        stream = {**template, "index_patterns": ["stream"], "data_stream": {}}
        self.client.indices.put_index_template(name="stream", body=stream)
        for name in ("new-1", "old-1", "<new-{now/d}>"):
            for id in ("1", "2"):
                self.client.index(index=name, id=id, body={})
                self.assertEqual(self.source(name, id), {"first": 1, "last": 1}, name)
        for _ in range(2):
            body = {"@timestamp": "2026-01-01"}
            self.client.index(index="stream", body=body, params={"refresh": "true", "op_type": "create"})
        hits = self.client.search(index="stream")["hits"]["hits"]
        for hit in hits:
            self.assertEqual((hit["_source"]["first"], hit["_source"]["last"]), (1, 1))
        self.assertEqual(len(hits), 2)

    def test_a_pipeline_may_send_a_document_elsewhere_but_not_the_last_one(self):
        self.mark("away", _index="there", way=1)
        self.mark("mine", mine=1)
        self.mark("theirs", theirs=1)
        self.client.indices.create(index="here", body={"settings": {"default_pipeline": "away", "final_pipeline": "mine"}})
        self.client.indices.create(index="there", body={"settings": {"default_pipeline": "mine", "final_pipeline": "theirs"}})
        self.client.index(index="here", id="1", body={})
        self.assertEqual(self.source("there", "1"), {"way": 1, "theirs": 1})
        self.client.indices.create(index="last", body={"settings": {"final_pipeline": "away"}})
        with self.refused(400, "illegal_argument_exception", "final pipeline [away] can't change the target index"):
            self.client.index(index="last", id="1", body={})

    def test_what_an_update_writes_anew_goes_through_pipelines(self):
        self.mark("first", first=1)
        self.client.indices.create(index="u", body={"settings": {"default_pipeline": "first"}})
        self.client.update(index="u", id="1", body={"doc": {"a": 1}, "upsert": {"b": 2}})
        self.assertEqual(self.source("u", "1"), {"b": 2, "first": 1})
        self.client.update(index="u", id="2", body={"doc": {"a": 1}, "doc_as_upsert": True})
        self.assertEqual(self.source("u", "2"), {"a": 1, "first": 1})
        lines = [{"update": {"_index": "u", "_id": "3"}}, {"doc": {}, "upsert": {"c": 3}}]
        self.assertFalse(self.client.bulk(body=lines)["errors"])
        self.assertEqual(self.source("u", "3"), {"c": 3, "first": 1})

    def test_what_an_update_alone_writes_goes_through_pipelines(self):
        self.client.ingest.put_pipeline(id="count", body={"processors": [{"script": {"source": "ctx.sum = ctx.a + ctx.b"}}]})
        self.client.index(index="u", id="1", body={"a": 1, "b": 2})
        self.client.indices.put_settings(index="u", body={"index.default_pipeline": "count"})
        for body, want in (
            ({"doc": {"b": 3}}, {"a": 1, "b": 3, "sum": 4}),
            ({"script": "ctx._source.a = 5"}, {"a": 5, "b": 3, "sum": 8}),
        ):
            self.assertEqual(self.client.update(index="u", id="1", body=body)["result"], "updated")
            self.assertEqual(self.source("u", "1"), want)
        reply = self.client.update(index="u", id="1", body={"doc": {"b": 3}})
        self.assertEqual((reply["result"], reply["_version"]), ("noop", 3))
        body = {"script": "ctx._source.a = 1; ctx._source.b = 2", "upsert": {}, "scripted_upsert": True}
        self.assertEqual(self.client.update(index="u", id="2", body=body)["result"], "created")
        self.assertEqual(self.source("u", "2"), {"a": 1, "b": 2, "sum": 3})
        # In a bulk only what is written where there is no document.
        self.client.bulk(body=[{"update": {"_index": "u", "_id": "2"}}, {"doc": {"a": 9}}])
        self.assertEqual(self.source("u", "2"), {"a": 9, "b": 2, "sum": 3})
        self.assertEqual(self.client.update(index="u", id="2", body={"script": "ctx.op = 'delete'"})["result"], "deleted")
        with self.refused(404, "document_missing_exception"):
            self.client.update(index="u", id="2", body={"doc": {"a": 1}})
        params = {"if_seq_no": 0, "if_primary_term": 1}
        with self.refused(409, "version_conflict_engine_exception"):
            self.client.update(index="u", id="1", body={"doc": {"a": 1}}, params=params)
        with self.refused(400, "action_request_validation_exception", "compare and write operations can not be retried"):
            self.client.update(index="u", id="1", body={"doc": {"a": 1}}, params={**params, "retry_on_conflict": 2})

    def test_members_with_the_names_of_what_goes_with_a_document_are_not_of_its_source(self):
        self.client.ingest.put_pipeline(id="p", body={"processors": [{"set": {"field": "x", "value": 1}}]})
        for id, routing, body in (("1", None, {"_id": "abc", "_index": "z", "n": 1}), ("2", "r", {"_routing": "r", "n": 1})):
            self.client.index(index="v", id=id, body=body, params={"pipeline": "p"})
            found = self.client.get(index="v", id=id, params={"routing": routing} if routing else {})
            self.assertEqual((found["_source"], found.get("_routing")), ({"n": 1, "x": 1}, routing))
        with self.refused(400, "mapper_parsing_exception", "failed to parse field [_id]"):
            self.client.index(index="v", id="3", body={"_id": "abc"})

    def test_pipelines_say_which_version_a_document_has_or_is_to_have(self):
        write = lambda id: self.client.index(index="v", id=id, body={}, params={"pipeline": "version"})
        self.mark("version", _version=1, _version_type="internal")
        with self.refused(409, "version_conflict_engine_exception", "document does not exist (expected version [1])"):
            write("1")
        self.client.index(index="v", id="1", body={})
        self.assertEqual(write("1")["_version"], 2)
        with self.refused(409, "version_conflict_engine_exception", "current version [2] is different than the one provided [1]"):
            write("1")
        self.mark("version", _version=7, _version_type="external", seen="{{_version}}")
        self.assertEqual(write("2")["_version"], 7)
        self.assertEqual(self.source("v", "2"), {"seen": "7"})
        with self.refused(409, "version_conflict_engine_exception", "is higher or equal to the one provided [7]"):
            write("2")
        self.mark("version", _if_seq_no=100, _if_primary_term=1)
        with self.refused(409, "version_conflict_engine_exception", "required seqNo [100]"):
            write("2")
        self.mark("version", _version_type="foo")
        with self.refused(400, "illegal_argument_exception", "No version type match [foo]"):
            write("2")
        self.client.ingest.put_pipeline(id="version", body={"processors": [{"script": {"source": "ctx.is = ctx._version + ' ' + ctx._version_type"}}]})
        write("3")
        self.assertEqual(self.source("v", "3"), {"is": "-3 internal"})

    def test_documents_that_are_written_again_go_through_pipelines(self):
        self.mark("first", first=1)
        self.mark("named", named=1)
        self.client.ingest.put_pipeline(id="drop", body={"processors": [{"drop": {}}]})
        self.index_all("from", {"1": {}, "2": {}})
        self.client.indices.create(index="to", body={"settings": {"default_pipeline": "first"}})
        body = {"source": {"index": "from"}, "dest": {"index": "to"}}
        self.client.reindex(body=body, params={"refresh": "true"})
        self.assertEqual(self.source("to", "1"), {"first": 1})
        body["dest"]["pipeline"] = "named"
        self.client.reindex(body=body)
        self.assertEqual(self.source("to", "2"), {"named": 1})
        params = {"pipeline": "named", "refresh": "true"}
        self.client.update_by_query(index="from", params=params)
        self.assertEqual(self.source("from", "2"), {"named": 1})
        reply = self.client.update_by_query(index="from", params={"pipeline": "drop"})
        self.assertEqual((reply["updated"], reply["noops"], reply["total"]), (0, 2, 2))

    def test_a_filter_of_a_pipeline_holds_of_queries_in_the_uri_too(self):
        self.index_all("s", {"1": {"k": "a"}, "2": {"k": "b"}})
        steps = [{"filter_query": {"query": {"term": {"k.keyword": "a"}}}}, {"oversample": {"sample_factor": 2}}]
        body = {"request_processors": steps, "response_processors": [{"truncate_hits": {}}]}
        self.raw("PUT", "/_search/pipeline/p", body=body)
        params = {"search_pipeline": "p", "q": "*:*", "size": 5}
        hits = self.raw("GET", "/s/_search", params=params)["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in hits], ["1"])
        self.raw("DELETE", "/_search/pipeline/p")

    def test_scripts_change_searches(self):
        self.index_all("s", {str(n): {"n": n} for n in range(5)})
        step = lambda source, **rest: {"request_processors": [{"script": {"source": source, **rest}}]}
        found = lambda pipeline, **body: self.client.search(
            index="s", body={"sort": ["n"], "search_pipeline": pipeline, **body}
        )["hits"]["hits"]
        more = step("ctx._source['size'] += params.by", params={"by": 2})
        self.assertEqual(len(found(more, size=1)), 3)
        kept = step("ctx.request_context['mine.original_size'] = 2")
        self.assertEqual(len(found({**kept, "response_processors": [{"truncate_hits": {"context_prefix": "mine"}}]})), 2)
        with self.refused(400, "script_exception", "runtime error"):
            found(step("ctx._source.sort = 1"))
        with self.refused(400, "script_exception", "compile error"):
            self.raw("PUT", "/_search/pipeline/p", body=step("ctx._source."))
        with self.refused(404, "resource_not_found_exception", "unable to find script [none] in cluster state"):
            self.raw("PUT", "/_search/pipeline/p", body={"request_processors": [{"script": {"id": "none"}}]})

    def test_a_search_is_told_what_each_step_of_its_pipeline_did(self):
        self.index_all("s", {"1": {"n": 1}, "2": {"n": 2}})
        steps = {
            "request_processors": [{"oversample": {"tag": "o", "sample_factor": 2}}],
            "response_processors": [{"truncate_hits": {}}, {"rename_field": {"field": "none", "target_field": "m"}}],
        }
        body = {"sort": ["n"], "size": 1, "search_pipeline": steps, "verbose_pipeline": True}
        shown = self.client.search(index="s", body=body)
        self.assertEqual([hit["_id"] for hit in shown["hits"]["hits"]], ["1"])
        before, cut, renamed = shown["processor_results"]
        self.assertEqual((before["processor_name"], before["tag"], before["status"]), ("oversample", "o", "success"))
        self.assertEqual((before["input_data"]["size"], before["output_data"]["size"]), (1, 2))
        self.assertEqual((len(cut["input_data"]), len(cut["output_data"])), (2, 1))
        self.assertEqual((renamed["status"], renamed["output_data"]), ("fail", None))
        self.assertEqual(renamed["error"], "Document with id 1 is missing field none")
        with self.refused(400, "illegal_argument_exception", "requires a search pipeline to be defined"):
            self.raw("GET", "/s/_search", params={"verbose_pipeline": "true"})

    def test_a_search_pipeline_is_that_of_the_indexes_that_are_meant(self):
        body = {"request_processors": [{"filter_query": {"query": {"range": {"n": {"gte": 2}}}}}]}
        self.raw("PUT", "/_search/pipeline/p", body=body)
        settings = {"settings": {"index.search.default_pipeline": "p"}}
        for index in ("logs-1", "logs-2"):
            self.client.indices.create(index=index, body={**settings, "aliases": {f"a-{index}": {}}})
            self.index_all(index, {str(n): {"n": n} for n in range(3)})
        self.index_all("other", {"1": {"n": 0}})
        for expression, count in (("logs-1", 1), ("a-logs-1", 1), ("logs-1*", 1), ("logs-*", 2), ("logs-*,other", 7)):
            total = self.client.search(index=expression)["hits"]["total"]["value"]
            self.assertEqual(total, count, expression)

    def test_searches_are_changed_before_and_answers_after(self):
        self.index_all("s", {str(n): {"n": n, "old": f"x{n}"} for n in range(6)})
        body = {
            "request_processors": [{"filter_query": {"query": {"range": {"n": {"gte": 2}}}}}],
            "response_processors": [{"rename_field": {"field": "old", "target_field": "new"}}],
        }
        self.raw("PUT", "/_search/pipeline/p", body=body)
        reply = self.client.search(
            index="s", params={"search_pipeline": "p"}, body={"sort": [{"n": "asc"}]}
        )
        hits = reply["hits"]["hits"]
        self.assertEqual([hit["_id"] for hit in hits], ["2", "3", "4", "5"])
        self.assertEqual(hits[0]["_source"], {"n": 2, "new": "x2"})
        with self.refused(400, "illegal_argument_exception", "is not defined"):
            self.client.search(index="s", params={"search_pipeline": "q"})

    def test_searches_come_from_templates(self):
        self.index_all("s", {"1": {"t": "fox"}, "2": {"t": "dog"}})
        source = '{"query":{"match":{"t":"{{word}}"}},"size":{{#size}}{{size}}{{/size}}{{^size}}5{{/size}}}'
        self.client.put_script(id="t", body={"script": {"lang": "mustache", "source": source}})
        found = self.client.search_template(index="s", body={"id": "t", "params": {"word": "dog"}})
        self.assertEqual(found["status"], 200)
        self.assertEqual([hit["_id"] for hit in found["hits"]["hits"]], ["2"])
        shown = self.client.render_search_template(body={"id": "t", "params": {"word": "a\"b", "size": 3}})
        self.assertEqual(
            shown["template_output"], {"query": {"match": {"t": "a\"b"}}, "size": 3}
        )
        self.client.delete_script(id="t")
        with self.refused(404, "resource_not_found_exception"):
            self.client.search_template(index="s", body={"id": "t"})

    def test_what_pipelines_of_searches_did_is_told(self):
        def told():
            (node,) = self.raw("GET", "/_nodes/stats/search_pipeline")["nodes"].values()
            return node["search_pipeline"]
        def count(stats):
            return stats["count"], stats["current"], stats["failed"]
        self.index_all("s", {"1": {"t": "fox"}, "2": {"t": "dog"}})
        before = told()
        steps = {
            "request_processors": [{"filter_query": {"tag": "f", "query": {"term": {"t": "fox"}}}}],
            "response_processors": [
                {"rename_field": {"field": "t", "target_field": "u"}},
                {"rename_field": {"field": "none", "target_field": "v", "ignore_failure": True}},
            ],
        }
        self.raw("PUT", "/_search/pipeline/counted", body=steps)
        self.assertEqual(count(told()["pipelines"]["counted"]["request"]), (0, 0, 0))
        for _ in range(2):
            self.client.search(index="s", params={"search_pipeline": "counted"})
        # One that comes with its search is not counted.
        self.client.search(index="s", body={"search_pipeline": steps})
        now = told()
        own = now["pipelines"]["counted"]
        self.assertEqual([count(own[half]) for half in ("request", "response")], [(2, 0, 0), (2, 0, 0)])
        (one,) = own["request_processors"]
        self.assertEqual((list(one), one["filter_query:f"]["type"]), (["filter_query:f"], "filter_query"))
        self.assertEqual(count(one["filter_query:f"]["stats"]), (2, 0, 0))
        renamed, missing = (step["rename_field"]["stats"] for step in own["response_processors"])
        self.assertEqual((count(renamed), count(missing)), ((2, 0, 0), (2, 0, 2)))
        for half in ("total_request", "total_response"):
            self.assertEqual(now[half]["count"], before[half]["count"] + 2)
        self.raw("DELETE", "/_search/pipeline/counted")
        self.assertNotIn("counted", told()["pipelines"])

    def test_templates_are_read_as_mustache_java_reads_them(self):
        params = {"n": 7, "l": ["a", "b"], "o": {"p": [1, {"q": "z"}]}, "s": "x\"y"}
        for source, output in (
            ('{"a":"<% n %>{{=<% %>=}}<% n %>"}', {"a": "<% n %>7"}),
            ('{"a":"{{l.size}} {{l}} {{o}}"}', {"a": "2 {0=a, 1=b} {p=[1, {q=z}]}"}),
            ('{"a":{{#toJson}}o{{/toJson}},"b":"{{#toJson}}n{{/toJson}}{{#toJson}}none{{/toJson}}"}', {"a": params["o"], "b": "7"}),
            ('{"a":"{{#join}}l{{/join}}","b":"{{#join}}{{n}}{{/join}}"}', {"a": "a,b", "b": "7"}),
            ('{"a":"{{$x}}d{{/x}}"}', {"a": "d"}),
        ):
            with self.subTest(source=source):
                told = self.client.render_search_template(body={"source": source, "params": params})
                self.assertEqual(told["template_output"], output)
        for source, kind, why in (
            ("{{#a}}x", "mustache_exception", "Failed to close 'a' tag @[query-template:1]"),
            ("\n{{n", "mustache_exception", "Improperly closed variable @[query-template:2]"),
            ("x{{{ n }} {{{n}}}", "mustache_exception", "Improperly closed variable: n in query-template:1@9 @[query-template:1]"),
            ("{{}}", "mustache_exception", "Empty mustache @[query-template:1]"),
            ("{{#n}}{{/m}}", "mustache_exception", "Mismatched start/end tags: n != m in query-template:1 @[query-template:1]"),
            ("{{=<%=}}", "mustache_exception", "Invalid delimiter string: <% @[query-template:1]"),
            ("{{>p}}", "mustache_not_found_exception", "Template p not found"),
        ):
            with self.subTest(source=source), self.refused(400, "script_exception", why) as caught:
                self.client.render_search_template(body={"source": source})
            error = caught.exception.info["error"]
            self.assertEqual((error["lang"], error["script"]), ("mustache", source))
            self.assertEqual(error["caused_by"], {"type": kind, "reason": why})
        with self.refused(400, "action_request_validation_exception", "template is missing"):
            self.client.render_search_template(body={"source": ""})
        for source, kind, why in (
            ('{"query": {"match_{{n}}": {}', "json_e_o_f_exception", "Unexpected end-of-input: expected close marker for Object"),
            ('{"size": {{n}}, }', "json_parse_exception", "was expecting double-quote to start field name"),
        ):
            with self.subTest(source=source), self.refused(400, kind, why):
                self.client.search_template(body={"source": source, "params": params})


class ToldTest(ClewTest):
    def test_a_grok_tells_which_pattern_matched(self):
        grok = {"field": "line", "patterns": ["%{NUMBER:n:int}", "%{WORD:w}"], "trace_match": True}
        body = {"pipeline": {"processors": [{"grok": grok}]}, "docs": [{"_source": {"line": line}} for line in ("7", "seven")]}
        shown = self.client.ingest.simulate(body=body)["docs"]
        self.assertEqual([one["doc"]["_ingest"]["_grok_match_index"] for one in shown], ["0", "1"])
        [step] = self.client.ingest.simulate(body=body, params={"verbose": "true"})["docs"][1]["processor_results"]
        self.assertEqual(step["doc"]["_ingest"]["_grok_match_index"], "1")
        sorted_by_name = self.client.transport.perform_request("GET", "/_ingest/processor/grok?s=true")["patterns"]
        self.assertEqual(list(sorted_by_name), sorted(sorted_by_name))

    def test_a_bulk_tells_how_long_its_pipelines_took(self):
        self.client.ingest.put_pipeline(id="p", body={"processors": [{"set": {"field": "seen", "value": True}}]})
        lines = [{"index": {"_index": "told", "_id": "1"}}, {"n": 1}]
        self.assertNotIn("ingest_took", self.client.bulk(body=lines))
        self.assertGreaterEqual(self.client.bulk(body=lines, params={"pipeline": "p"})["ingest_took"], 0)
        lines[0]["index"]["pipeline"] = "p"
        self.assertGreaterEqual(self.client.bulk(body=lines)["ingest_took"], 0)
        gone = [{"delete": {"_index": "told", "_id": "1"}}]
        self.assertNotIn("ingest_took", self.client.bulk(body=gone, params={"pipeline": "p"}))

    def test_modules_are_told_by_name(self):
        (node,) = self.client.nodes.info()["nodes"].values()
        names = [module["name"] for module in node["modules"]]
        self.assertTrue({"ingest-common", "lang-painless", "reindex", "percolator"} <= set(names), names)


class ByQueryTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.index_all("a", {str(n): {"n": n} for n in range(25)})

    def test_documents_of_a_search_are_removed(self):
        reply = self.client.delete_by_query(
            index="a",
            body={"query": {"range": {"n": {"lt": 10}}}},
            params={"refresh": "true", "scroll_size": 4},
        )
        self.assertEqual((reply["deleted"], reply["total"], reply["batches"]), (10, 10, 3))
        self.assertEqual(self.client.count(index="a")["count"], 15)

    def test_documents_are_written_again(self):
        reply = self.client.update_by_query(index="a", params={"refresh": "true", "max_docs": 5})
        self.assertEqual((reply["updated"], reply["version_conflicts"]), (5, 0))
        versions = self.client.search(index="a", body={"size": 30, "version": True})
        twice = [hit for hit in versions["hits"]["hits"] if hit["_version"] == 2]
        self.assertEqual(len(twice), 5)

    def test_slices_are_parts_of_the_documents(self):
        changed = 0
        for part in range(3):
            body = {"slice": {"id": part, "max": 3}, "script": {"source": "ctx._source.n += 100"}}
            reply = self.client.update_by_query(index="a", body=body, params={"refresh": "true"})
            self.assertEqual(reply["slice_id"], part)
            changed += reply["updated"]
        self.assertEqual(changed, 25)
        found = self.client.search(index="a", body={"size": 30})["hits"]["hits"]
        self.assertEqual(sorted(hit["_source"]["n"] for hit in found), list(range(100, 125)))
        copied = [self.client.reindex(body={"source": {"index": "a", "slice": {"id": part, "max": 2}}, "dest": {"index": "b"}})
                  for part in range(2)]
        self.assertEqual(sum(reply["created"] for reply in copied), 25)
        self.assertEqual(sum(reply["updated"] for reply in copied), 0)
        gone = self.client.delete_by_query(index="a", body={"query": {"match_all": {}}, "slice": {"id": 0, "max": 2}})
        self.assertLess(gone["deleted"], 25)

    def test_parts_that_are_asked_for_are_told_apart(self):
        reply = self.client.update_by_query(index="a", params={"slices": 3, "refresh": "true"})
        self.assertEqual((reply["updated"], reply["total"], reply["batches"]), (25, 25, 3))
        self.assertEqual([part["slice_id"] for part in reply["slices"]], [0, 1, 2])
        self.assertEqual(sum(part["updated"] for part in reply["slices"]), 25)
        for params in ({}, {"slices": 1}, {"slices": "auto"}):
            self.assertNotIn("slices", self.client.update_by_query(index="a", params={"refresh": "true", **params}))
        self.client.indices.create(index="wide", body={"settings": {"number_of_shards": 2}})
        copied = self.client.reindex(body={"source": {"index": "a"}, "dest": {"index": "wide"}}, params={"slices": 2, "refresh": "true"})
        self.assertEqual(sum(part["created"] for part in copied["slices"]), 25)
        gone = self.client.delete_by_query(index="wide", body={"query": {"match_all": {}}}, params={"slices": "auto"})
        self.assertEqual((len(gone["slices"]), sum(part["deleted"] for part in gone["slices"])), (2, 25))
        self.assertNotIn("updated", gone["slices"][0])
        with self.refused(400, reason="manual and automatic"):
            self.client.update_by_query(index="a", body={"slice": {"id": 0, "max": 2}}, params={"slices": "auto"})
        with self.refused(400, reason="number of slices [2000] is too large"):
            self.client.update_by_query(index="a", params={"slices": 2000})

    def test_the_size_of_a_body_is_that_of_a_page_and_of_the_path_that_of_all(self):
        reply = self.client.update_by_query(index="a", body={"size": 10}, params={"refresh": "true"})
        self.assertEqual((reply["updated"], reply["batches"]), (25, 3))
        reply = self.client.update_by_query(index="a", params={"refresh": "true", "size": 10})
        self.assertEqual((reply["updated"], reply["total"]), (10, 10))

    def test_documents_are_deleted_until_each_shard_has_had_as_many_as_it_may(self):
        shards = int(self.client.indices.get_settings(index="a")["a"]["settings"]["index"]["number_of_shards"])
        body = {"query": {"match_all": {}}}
        reply = self.client.delete_by_query(index="a", body=body, params={"refresh": "true", "terminate_after": 3})
        self.assertEqual((reply["deleted"], reply["total"]), (3 * shards, 3 * shards))
        self.assertEqual(self.client.count(index="a")["count"], 25 - 3 * shards)

    def test_what_is_asked_is_checked_before_an_index_is_looked_for(self):
        copy = {"source": {"index": "none"}, "dest": {"index": "b"}}
        every = [("requests_per_second=0", "requests_per_second"), ("slices=junk", "[slices] must be a positive integer"),
                 ("slices=-3", "[slices] must be"), ("max_docs=-1", "cannot be negative"), ("scroll=x", "[scroll]"),
                 ("max_docs=1&slices=2", "[max_docs] should be >= [slices]")]
        for path in ("/_reindex", "/none/_update_by_query", "/none/_delete_by_query"):
            body = copy if path == "/_reindex" else {"query": {"match_all": {}}}
            for params, reason in every:
                with self.subTest(path=path, params=params), self.refused(400, reason=reason):
                    self.client.transport.perform_request("POST", f"{path}?{params}", body=body)
        for params, body, reason in [
            ("conflicts=proceed", copy, "unrecognized parameter"), ("pipeline=p", copy, "Specify it in the [dest] object"),
            ("", {**copy, "size": 4, "max_docs": 5}, "[reindex] failed to parse field [max_docs]"),
            ("", {**copy, "source": {"index": "none", "size": "cat"}}, "[reindex] failed to parse field [source]"),
            ("", {**copy, "source": {"index": "none", "from": 1}}, "from is not supported in this context"),
        ]:
            with self.subTest(params=params, body=body), self.refused(400, reason=reason):
                self.client.transport.perform_request("POST", f"/_reindex?{params}", body=body)
        for params, body, reason in [
            ("size=-4", {}, "[max_docs] parameter cannot be negative, found [-4]"), ("scroll_size=0", {}, "[size] cannot be [0]"),
            ("request_cache=true", {}, "[request_cache] cannot be used in a scroll context"), ("terminate_after=-1", {}, "terminateAfter must be > 0"),
            ("max_docs=5", {"max_docs": 4}, "two different values [4] and [5]"), ("from=0", {}, "from is not supported"),
            ("", {"stored_fields": ["n"]}, "stored_fields is not supported"), ("slices=2", {"slice": {"id": 0, "max": 2}}, "manual and automatic"),
        ]:
            with self.subTest(params=params, body=body), self.refused(400, reason=reason):
                self.client.transport.perform_request("POST", f"/none/_update_by_query?{params}", body=body)

    def test_documents_are_copied(self):
        body = {"source": {"index": "a", "query": {"range": {"n": {"gte": 20}}}}, "dest": {"index": "b"}}
        reply = self.client.reindex(body=body, params={"refresh": "true"})
        self.assertEqual((reply["created"], reply["total"]), (5, 5))
        self.assertEqual(self.client.count(index="b")["count"], 5)
        body["dest"]["op_type"] = "create"
        with self.refused(409) as caught:
            self.client.reindex(body=body)
        self.assertEqual(caught.exception.info["version_conflicts"], 5)
        body["conflicts"] = "proceed"
        self.assertEqual(self.client.reindex(body=body)["version_conflicts"], 5)

    def test_the_first_documents_of_an_order_are_written(self):
        copy = lambda sort, **rest: {"source": {"index": "a", "sort": sort, "size": 2, **rest}, "dest": {"index": "b"}, "max_docs": 3}
        self.client.reindex(body=copy([{"n": "desc"}]), params={"refresh": "true"})
        found = self.client.search(index="b", body={"sort": ["n"]})["hits"]["hits"]
        self.assertEqual([hit["_source"]["n"] for hit in found], [22, 23, 24])
        self.client.delete_by_query(index="b", body={"query": {"match_all": {}}}, params={"sort": "n:desc", "max_docs": 1, "refresh": "true"})
        found = self.client.search(index="b", body={"sort": ["n"]})["hits"]["hits"]
        self.assertEqual([hit["_source"]["n"] for hit in found], [22, 23])
        with self.refused(400, reason="[reindex] failed to parse field [source]"):
            self.client.reindex(body=copy([1]))
        with self.refused(400):
            self.client.reindex(body=copy([{"none": "desc"}]))

    def test_a_copy_may_want_an_alias(self):
        body = {"source": {"index": "a"}, "dest": {"index": "new"}}
        with self.refused(404, "index_not_found_exception", "[new] is not an alias"):
            self.client.reindex(body=body, params={"require_alias": "true"})
        self.assertFalse(self.client.indices.exists(index="new"))
        self.client.indices.create(index="b", body={"aliases": {"new": {}}})
        self.assertEqual(self.client.reindex(body=body, params={"require_alias": "true"})["failures"], [])

    def test_an_index_that_refuses_the_query_is_told_and_nothing_is_written(self):
        self.client.indices.create(index="dated", body={"mappings": {"properties": {"n": {"type": "date"}}}})
        self.client.index(index="dated", id="1", body={"n": "2020-01-01"}, refresh=True)
        query = {"bool": {"should": [{"regexp": {"n": ".*"}}, {"match_all": {}}]}}
        self.client.indices.create(index="worded", body={"mappings": {"properties": {"n": {"type": "keyword"}}}})
        self.client.index(index="worded", id="1", body={"n": "x"}, refresh=True)
        found = self.client.search(index="dated,worded", body={"query": query})
        [failure] = found["_shards"]["failures"]
        self.assertEqual((failure["index"], failure["reason"]["type"]), ("dated", "query_shard_exception"))
        source = {"index": ["dated", "worded"], "query": query}
        for ask in (
            lambda: self.client.delete_by_query(index="dated,worded", body={"query": query}),
            lambda: self.client.update_by_query(index="dated,worded", body={"query": query}),
            lambda: self.client.reindex(body={"source": source, "dest": {"index": "copied"}}),
        ):
            with self.refused(400) as caught:
                ask()
            reply = caught.exception.info
            [failure] = reply["failures"]
            self.assertEqual((failure["index"], failure["shard"], failure["status"]), ("dated", 0, 400))
            self.assertEqual(failure["reason"]["type"], "query_shard_exception")
            self.assertIn("regexp", failure["reason"]["reason"])
            self.assertEqual(reply["batches"], 0)
        self.assertEqual(self.client.count(index="dated,worded")["count"], 2)

    def test_a_document_that_cannot_be_copied_gives_its_status(self):
        self.client.indices.create(index="b", body={"mappings": {"properties": {"n": {"type": "ip"}}}})
        with self.refused(400) as caught:
            self.client.reindex(body={"source": {"index": "a"}, "dest": {"index": "b"}})
        failure = caught.exception.info["failures"][0]
        self.assertEqual((failure["status"], failure["cause"]["type"]), (400, "mapper_parsing_exception"))

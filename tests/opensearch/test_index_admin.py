"""Indexes: create, show, change, delete; their settings and mappings."""

import threading
from concurrent.futures import ThreadPoolExecutor

from .base import ClewTest

MSMARCO = {
    "mappings": {
        "properties": {
            "docid": {"type": "keyword"},
            "domain": {"type": "keyword"},
            "emb": {
                "type": "knn_vector",
                "dimension": 1024,
                "method": {
                    "engine": "faiss",
                    "space_type": "l2",
                    "name": "hnsw",
                    "parameters": {"ef_construction": 128, "m": 8},
                },
            },
            "url": {"type": "text"},
        }
    },
    "settings": {
        "index": {
            "replication": {"type": "DOCUMENT"},
            "refresh_interval": "0s",
            "number_of_shards": "18",
            "translog": {
                "flush_threshold_size": "1gb",
                "sync_interval": "30s",
                "durability": "async",
            },
            "knn.algo_param": {"ef_search": "64"},
            "provided_name": "msmarco",
            "knn": "true",
            "number_of_replicas": "0",
        }
    },
}


class IndexAdmin(ClewTest):
    def test_an_index_is_created_shown_and_deleted(self):
        reply = self.client.indices.create(index="one")
        self.assertEqual(
            reply, {"acknowledged": True, "shards_acknowledged": True, "index": "one"}
        )
        self.assertTrue(self.client.indices.exists(index="one"))
        shown = self.client.indices.get(index="one")["one"]
        self.assertEqual(shown["settings"]["index"]["number_of_shards"], "1")
        self.assertEqual(shown["settings"]["index"]["provided_name"], "one")
        with self.refused(400, "resource_already_exists_exception"):
            self.client.indices.create(index="one")
        self.client.indices.create(index="only")
        self.client.indices.create(index="two")
        self.client.indices.delete(index="on*")
        self.assertEqual(list(self.client.indices.get(index="*")), ["two"])
        self.assertFalse(self.client.indices.exists(index="one"))
        with self.refused(404, "index_not_found_exception", "no such index [one]"):
            self.client.indices.delete(index="one")

    def test_names_follow_the_rules(self):
        for name in ["Upper", "_under", "-dash", "a b", "a,b", "a#b"]:
            with self.refused(400, "invalid_index_name_exception"):
                self.client.indices.create(index=name)

    def test_a_vector_workload_is_created_as_it_is(self):
        self.client.indices.create(index="msmarco", body=MSMARCO)
        settings = self.client.indices.get_settings(index="msmarco")["msmarco"]["settings"]["index"]
        self.assertEqual(settings["number_of_shards"], "18")
        self.assertEqual(settings["knn.algo_param"]["ef_search"], "64")
        self.assertEqual(settings["translog"]["durability"], "async")
        self.assertEqual(settings["replication"]["type"], "DOCUMENT")
        shown = self.client.indices.get_mapping(index="msmarco")["msmarco"]["mappings"]
        self.assertEqual(shown["properties"]["emb"]["dimension"], 1024)
        self.assertEqual(
            shown["properties"]["emb"]["method"], MSMARCO["mappings"]["properties"]["emb"]["method"]
        )
        documents = {
            str(number): {
                "docid": f"d{number}",
                "domain": "example.org",
                "url": f"https://example.org/page/{number}",
                "emb": [float(number == at) for at in range(1024)],
            }
            for number in range(40)
        }
        self.index_all("msmarco", documents)
        query = {"knn": {"emb": {"vector": documents["7"]["emb"], "k": 3}}}
        reply = self.client.search(index="msmarco", body={"size": 3, "query": query})
        self.assertEqual(reply["_shards"]["total"], 18)
        self.assertEqual(reply["hits"]["hits"][0]["_id"], "7")
        self.assertEqual(reply["hits"]["hits"][0]["_source"]["emb"], documents["7"]["emb"])

    def test_settings_are_flat_or_nested_and_changed_later(self):
        body = {"settings": {"index.number_of_shards": 2, "refresh_interval": "5s", "priority": 7}}
        self.client.indices.create(index="i", body=body)
        self.client.indices.put_settings(index="i", body={"index": {"refresh_interval": "-1"}})
        settings = self.client.indices.get_settings(index="i", flat_settings=True)["i"]["settings"]
        self.assertEqual(settings["index.refresh_interval"], "-1")
        self.assertEqual(settings["index.priority"], "7")
        with self.refused(400, "illegal_argument_exception", "number_of_shards"):
            self.client.indices.put_settings(index="i", body={"number_of_shards": 3})
        with self.refused(400, "illegal_argument_exception", "must be >= 1"):
            self.client.indices.create(index="j", body={"settings": {"number_of_shards": 0}})
        with self.refused(400, reason="unknown key [setings] for create index"):
            self.client.indices.create(index="j", body={"setings": {}})

    def test_settings_that_are_changed_at_the_same_time_are_all_kept(self):
        self.client.indices.create(index="i")
        names = ("max_result_window", "max_inner_result_window")
        for value in range(10, 40):
            together = threading.Barrier(len(names))

            def put(name, value=value, together=together):
                together.wait()
                self.client.indices.put_settings(index="i", body={name: value})

            with ThreadPoolExecutor(len(names)) as pool:
                list(pool.map(put, names))
            shown = self.client.indices.get_settings(index="i")["i"]["settings"]["index"]
            self.assertEqual([shown[name] for name in names], [str(value)] * 2)

    def test_a_copy_is_kept_whose_settings_are_changed_while_it_is_filled(self):
        self.index_all("i", {str(n): {"n": n} for n in range(100)})
        self.client.indices.put_settings(index="i", body={"blocks.write": True})
        copies = [f"copy-{number}" for number in range(30)]
        body = {"settings": {"index.blocks.write": None}}
        for copy in copies:
            made = threading.Event()

            def change(copy=copy, made=made):
                while not made.is_set():
                    # Before the copy is there nobody has such an index.
                    settings = {"max_result_window": 100}
                    self.client.indices.put_settings(index=copy, body=settings, ignore=404)

            with ThreadPoolExecutor(2) as pool:
                changes = [pool.submit(change) for _ in range(2)]
                try:
                    self.client.indices.clone(index="i", target=copy, body=body)
                finally:
                    made.set()
            for done in changes:
                done.result()
        # Before a copy is made, indexes are removed that were never filled to their end.
        self.client.indices.clone(index="i", target="last", body=body)
        for copy in copies:
            self.assertEqual(self.client.count(index=copy)["count"], 100)

    def test_a_setting_that_is_changed_while_a_copy_is_filled_is_kept(self):
        self.index_all("i", {str(n): {"n": n} for n in range(100)})
        self.client.indices.put_settings(index="i", body={"blocks.write": True})
        body = {"settings": {"index.blocks.write": None}}
        for copy in [f"copy-{number}" for number in range(30)]:

            def change(copy=copy):
                # Before the copy is there nobody has such an index; afterwards it is said once.
                settings = {"max_result_window": 100}
                while "acknowledged" not in self.client.indices.put_settings(index=copy, body=settings, ignore=404):
                    pass

            with ThreadPoolExecutor(1) as pool:
                changed = pool.submit(change)
                self.client.indices.clone(index="i", target=copy, body=body)
                changed.result()
            shown = self.client.indices.get_settings(index=copy)[copy]["settings"]["index"]
            self.assertEqual(shown.get("max_result_window"), "100", copy)
            self.assertNotIn("clew", shown)

    def test_a_copy_takes_no_writes_before_it_is_whole(self):
        self.index_all("i", {str(n): {"n": n} for n in range(100)})
        self.client.indices.put_settings(index="i", body={"blocks.write": True})
        for number in range(30):
            copy, alias = f"copy-{number}", f"alias-{number}"

            def write(alias=alias):
                # One of those that are copied: were it there first, the copy could not be filled.
                body = {"n": -1}
                while "result" not in self.client.index(
                        index=alias, id="99", body=body, require_alias=True, ignore=(404, 503)):
                    pass

            body = {"settings": {"index.blocks.write": None}, "aliases": {alias: {}}}
            with ThreadPoolExecutor(1) as pool:
                written = pool.submit(write)
                self.client.indices.clone(index="i", target=copy, body=body)
                written.result()
            self.assertEqual(self.client.get(index=copy, id="99")["_source"], {"n": -1}, copy)
            self.client.indices.refresh(index=copy)
            self.assertEqual(self.client.count(index=copy)["count"], 100, copy)

    def test_settings_that_nobody_gave_are_shown_where_they_are_asked_for(self):
        self.client.indices.create(index="i", body={"settings": {"max_terms_count": 7, "index.blocks.write": True}})

        def shown(path):
            return self.raw("GET", path)

        index = shown("/i/_settings?include_defaults=true&flat_settings=true")["i"]
        self.assertEqual(index["settings"]["index.replication.type"], "DOCUMENT")
        for name, value in {
            "index.max_inner_result_window": "100",
            "index.mapping.total_fields.limit": "1000",
            "index.default_pipeline": "_none",
            "index.query.default_field": ["*"],
            "index.blocks.read": "false",
            "index.number_of_routing_shards": "1",
        }.items():
            self.assertEqual(index["defaults"][name], value, name)
        for name in ("index.max_terms_count", "index.blocks.write", "index.number_of_shards"):
            self.assertNotIn(name, index["defaults"])
        one = shown("/i/_settings/index.refresh_interval?include_defaults=true")["i"]
        self.assertEqual(one, {"settings": {}, "defaults": {"index": {"refresh_interval": "1s"}}})
        self.assertEqual(shown("/i/_settings/index.nope"), {})

    def test_what_an_index_keeps_for_good_or_has_of_itself_is_refused(self):
        self.client.indices.create(index="i")
        for name in ("index.uuid", "index.provided_name", "index.version.created", "index.creation_date"):
            managed = f"can not update private setting [{name}]; this setting is managed by OpenSearch"
            with self.subTest(name=name), self.refused(400, "illegal_argument_exception", managed):
                self.client.indices.put_settings(index="i", body={name: "1"})
        self.client.indices.close(index="i")
        for name, value in (("index.number_of_shards", 2), ("index.sort.field", "k"), ("index.routing_partition_size", 1)):
            final = f"final i setting [{name}], not updateable"
            with self.subTest(name=name), self.refused(400, "illegal_argument_exception", final):
                self.client.indices.put_settings(index="i", body={name: value})
        self.client.indices.put_settings(index="i", body={"index.codec": "best_compression"})
        unknown = "unknown value for [index.codec] must be one of [default, lz4, best_compression, zlib] but is: small"
        with self.refused(400, "illegal_argument_exception", unknown):
            self.client.indices.create(index="j", body={"settings": {"codec": "small"}})

    def test_what_of_a_field_cannot_change_is_refused(self):
        fields = {"t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "long"}, "quiet": {"type": "text", "norms": False}}
        self.client.indices.create(index="i", body={"mappings": {"properties": fields}})
        for field, said, parameter, before, after in (
            ("t", {"type": "text", "index_options": "docs"}, "index_options", "positions", "docs"),
            ("t", {"type": "text", "term_vector": "yes"}, "term_vector", "no", "yes"),
            ("quiet", {"type": "text"}, "norms", "false", "true"),
            ("k", {"type": "keyword", "null_value": "none"}, "null_value", "null", "none"),
            ("n", {"type": "long", "null_value": 3}, "null_value", "null", "3"),
        ):
            change = f"Mapper for [{field}] conflicts with existing mapper:\n\tCannot update parameter [{parameter}] from [{before}] to [{after}]"
            with self.subTest(said=said), self.refused(400, "illegal_argument_exception", change):
                self.client.indices.put_mapping(index="i", body={"properties": {field: said}})
        # Norms may end.
        self.client.indices.put_mapping(index="i", body={"properties": {"t": {"type": "text", "norms": False}}})
        templates = [{"n": {"match_mapping_type": "integer", "mapping": {"type": "long"}}}]
        types = "No field type matched on [integer], possible values are [object, string, long, double, boolean, date, binary]"
        with self.refused(400, "mapper_parsing_exception", types):
            self.client.indices.create(index="j", body={"mappings": {"dynamic_templates": templates}})
        templates = [{"n": {"unmatch": "a*", "mapping": {"type": "keyword"}}}]
        unsaid = "template must have match, path_match or match_mapping_type set {unmatch=a*, mapping={type=keyword}}"
        with self.refused(400, "mapper_parsing_exception", unsaid):
            self.client.indices.create(index="j", body={"mappings": {"dynamic_templates": templates}})
        flag = {"properties": {"flag": {"type": "boolean", "ignore_malformed": False}}}
        with self.refused(400, "mapper_parsing_exception", "unknown parameter [ignore_malformed] on mapper [flag] of type [boolean]"):
            self.client.indices.create(index="j", body={"mappings": flag})

    def test_a_name_with_a_date_goes_on_with_the_day_of_the_rollover(self):
        body = {"aliases": {"dated": {"is_write_index": True}}}
        self.client.indices.create(index="<dated-{now/d}-1>", body=body)
        new = self.client.indices.rollover(alias="dated")["new_index"]
        self.assertRegex(new, r"^dated-\d{4}\.\d\d\.\d\d-000002$")
        settings = self.client.indices.get_settings(index=new)[new]["settings"]["index"]
        self.assertEqual(settings["provided_name"], "<dated-{now/d}-000002>")

    def test_settings_that_there_are_not_are_refused_everywhere(self):
        self.client.indices.create(index="i")
        unknown = {"index.foo.bar": 1}
        words = r"unknown setting [index.foo.bar] please check that any required plugins are installed"
        with self.refused(400, "illegal_argument_exception", words):
            self.client.indices.create(index="j", body={"settings": unknown})
        with self.refused(400, "illegal_argument_exception", words):
            self.client.indices.put_settings(index="i", body=unknown)
        meant = "did you mean any of [index.number_of_replicas, index.number_of_search_replicas]?"
        with self.refused(400, "illegal_argument_exception", meant):
            self.client.indices.create(index="j", body={"settings": {"number_of_replica": 1}})
        template = {"index_patterns": ["t*"], "template": {"settings": unknown}}
        invalid = f"index_template [t] invalid, cause [Validation Failed: 1: {words}"
        with self.refused(400, "invalid_index_template_exception", invalid):
            self.client.indices.put_index_template(name="t", body=template)
        with self.refused(400, "illegal_argument_exception", words):
            self.client.indices.put_template(name="t", body={"index_patterns": ["t*"], "settings": unknown})
        with self.refused(400, "illegal_argument_exception", words):
            self.client.cluster.put_component_template(name="t", body={"template": {"settings": unknown}})

    def test_a_pattern_takes_away_the_settings_that_can_change(self):
        analysis = {"analyzer": {"dashes": {"type": "pattern", "pattern": "-"}}}
        for pattern in ("index.*", "*"):
            settings = {"number_of_shards": 2, "priority": 7, "refresh_interval": "5s", "analysis": analysis}
            self.client.indices.create(index="i", body={"settings": settings})
            self.client.indices.put_settings(index="i", body={pattern: None})
            left = self.client.indices.get_settings(index="i", flat_settings=True)["i"]["settings"]
            self.assertEqual(left["index.number_of_shards"], "2", pattern)
            self.assertIn("index.analysis.analyzer.dashes.type", left, pattern)
            self.assertNotIn("index.priority", left, pattern)
            self.assertNotIn("index.refresh_interval", left, pattern)
            self.client.indices.delete(index="i")

    def test_settings_of_no_index_are_not_changed(self):
        body = {"refresh_interval": "1s"}
        with self.refused(404, "index_not_found_exception", "no such index [none*]"):
            self.client.indices.put_settings(index="none*", body=body)
        self.client.indices.put_settings(index="none*", body=body, params={"allow_no_indices": "true"})

    def test_what_an_open_index_keeps_can_change_while_it_is_closed(self):
        self.client.indices.create(index="i", body={"settings": {"blocks.read": True}})
        analysis = {"analysis": {"analyzer": {"dashes": {"type": "pattern", "pattern": "-"}}}}
        fixed = "non dynamic settings [[index.analysis.analyzer.dashes.pattern, index.analysis.analyzer.dashes.type]]"
        with self.refused(400, "illegal_argument_exception", fixed):
            self.client.indices.put_settings(index="i", body=analysis)
        with self.refused(400, "illegal_argument_exception", "non dynamic settings [[index.codec]]"):
            self.client.indices.put_settings(index="i", body={"index.codec": "best_compression"})
        self.client.indices.put_settings(index="i", body={"index.blocks.*": None})
        self.client.indices.close(index="i")
        self.client.indices.put_settings(index="i", body=analysis)
        self.client.indices.open(index="i")
        self.client.indices.put_mapping(
            index="i", body={"properties": {"t": {"type": "text", "analyzer": "dashes"}}}
        )
        reply = self.client.indices.analyze(index="i", body={"field": "t", "text": "a-b"})
        self.assertEqual([token["token"] for token in reply["tokens"]], ["a", "b"])
        self.client.index(index="i", id="1", body={"t": "left-right"}, refresh=True)
        found = self.client.count(index="i", body={"query": {"match": {"t": "right"}}})
        self.assertEqual(found["count"], 1)

    def test_an_index_can_say_that_its_numbers_take_no_text(self):
        fields = {"n": {"type": "integer"}, "said": {"type": "integer", "coerce": True}, "f": {"type": "double"}}
        self.client.indices.create(index="strict", body={"settings": {"index.mapping.coerce": False}, "mappings": {"properties": fields}})
        for made in (False, True):
            for document in ({"n": "5"}, {"n": 5.5}, {"f": "1.5"}):
                with self.subTest(document=document, made=made), self.refused(400, "mapper_parsing_exception"):
                    self.client.index(index="strict", body=document)
            self.client.index(index="strict", id="1", body={"n": 5, "said": "5", "f": 1.5})
            self.restart()
        shown = self.client.indices.get_mapping(index="strict")["strict"]["mappings"]["properties"]
        self.assertEqual(shown["said"], {"type": "integer", "coerce": True})
        self.assertEqual(shown["n"], {"type": "integer"})
        with self.refused(400, "illegal_argument_exception", "index.mapping.coerce"):
            self.client.indices.put_settings(index="strict", body={"index.mapping.coerce": True})
        with self.refused(400, "illegal_argument_exception"):
            self.client.indices.create(index="other", body={"settings": {"index.mapping.coerce": "perhaps"}})

    def test_an_order_of_documents_is_one_that_they_can_have(self):
        fields = {"n": {"type": "long"}, "t": {"type": "text"}, "h": {"type": "half_float"}}

        def create(name, fields=fields, **sort):
            settings = {f"index.sort.{key}": value for key, value in sort.items()}
            self.client.indices.create(index=name, body={"settings": settings, "mappings": {"properties": fields}})

        for sort, why in [
            ({"field": "nope"}, "unknown index sort field:[nope]"),
            ({"field": "t"}, "invalid index sort field:[t]"),
            ({"field": "h"}, "invalid index sort field:[h]"),
            ({"field": "n", "order": ["asc", "desc"]}, "size mismatch"),
            ({"field": "n", "order": "up"}, "Illegal sort order:up"),
            ({"field": "n", "missing": "0"}, "must be one of [_last, _first]"),
        ]:
            with self.subTest(sort=sort), self.refused(400, "illegal_argument_exception", why):
                create("sorted", **sort)
        with self.refused(400, "illegal_argument_exception", "cannot have nested fields"):
            create("sorted", {"n": {"type": "long"}, "o": {"type": "nested"}}, field="n")
        create("sorted", field=["n"], order=["desc"])
        shown = self.client.indices.get_settings(index="sorted")["sorted"]["settings"]["index"]["sort"]
        self.assertEqual(shown, {"field": ["n"], "order": ["desc"]})
        # A template may leave it to others which fields there are.
        body = {"index_patterns": ["later*"], "template": {"settings": {"index.sort.field": "n"}}}
        self.client.indices.put_index_template(name="later", body=body)
        self.addCleanup(self.client.indices.delete_index_template, name="later")
        create("later-1")

    def test_the_cluster_says_who_makes_indexes_and_takes_away_many(self):
        def settings(**values):
            self.client.cluster.put_settings(body={"transient": {name.replace("__", "."): value for name, value in values.items()}})

        names = ("action__auto_create_index", "action__destructive_requires_name", "cluster__indices__close__enable")
        self.addCleanup(settings, **dict.fromkeys(names))
        settings(action__auto_create_index="false")
        why = "no such index [made] and [action.auto_create_index] is [false]"
        with self.refused(404, "index_not_found_exception", why):
            self.client.index(index="made", body={"n": 1})
        reply = self.client.bulk(body=[{"index": {"_index": "made"}}, {"n": 1}])
        self.assertEqual(
            reply["items"][0]["index"]["error"],
            {"type": "index_not_found_exception", "reason": why, "index": "made", "index_uuid": "_na_"},
        )
        settings(action__auto_create_index="-made-old*,made*")
        self.client.index(index="made-new", body={"n": 1}, refresh=True)
        for name, why in (
            ("made-old", "contains [-made-old*] which forbids automatic creation of the index"),
            ("other", "([-made-old*,made*]) doesn't match"),
        ):
            why = f"no such index [{name}] and [action.auto_create_index] {why}"
            with self.refused(404, "index_not_found_exception", why):
                self.client.index(index=name, body={"n": 1})
            # Nothing is read before it is known where it goes.
            with self.refused(404, "index_not_found_exception", why):
                self.client.reindex(body={"source": {"index": "made-new"}, "dest": {"index": name}})
        self.client.indices.create(index="other")
        with self.refused(400, "illegal_argument_exception", "Can't parse [a,,b] for setting [action.auto_create_index]"):
            settings(action__auto_create_index="a,,b")
        settings(action__destructive_requires_name=True)
        for name in ("*", "_all", "made*", "other,made*"):
            for forbidden in (self.client.indices.delete, self.client.indices.close, self.client.indices.open):
                with self.subTest(name=name), self.refused(400, "illegal_argument_exception", "Wildcard expressions or all indices are not allowed"):
                    forbidden(index=name)
        self.client.indices.delete(index="made-new,other")
        self.client.indices.create(index="other")
        settings(cluster__indices__close__enable=False)
        with self.refused(500, "illegal_state_exception", "closing indices is disabled"):
            self.client.indices.close(index="other")
        # What is not held to is not promised.
        with self.refused(400, "illegal_argument_exception", "setting [cluster.blocks.read_only] is not supported"):
            settings(cluster__blocks__read_only=True)
        settings(**dict.fromkeys(names))
        self.client.index(index="made", body={"n": 1})
        self.client.indices.delete(index="*")

    def test_dates_and_versions_are_shown_to_people_who_ask(self):
        self.client.indices.create(index="i")
        for path in ("/i", "/i/_settings"):
            shown = self.raw("GET", path, params={"human": "true"})["i"]["settings"]["index"]
            self.assertRegex(shown["creation_date_string"], r"^\d{4}-\d\d-\d\dT")
            self.assertEqual(shown["version"]["created_string"], "2.19.0")
            self.assertNotIn("creation_date_string", self.raw("GET", path)["i"]["settings"]["index"])

    def test_the_default_analyzer_has_a_name(self):
        fields = {"t": {"type": "text", "analyzer": "default"}}
        for _ in range(2):
            self.client.indices.create(index="i", body={"mappings": {"properties": fields}}, ignore=400)
            self.client.indices.put_mapping(index="i", body={"properties": fields})
        shown = self.client.indices.get_mapping(index="i")["i"]["mappings"]["properties"]
        self.assertEqual(shown, {"t": {"type": "text"}})

    def test_a_mapping_grows_and_never_changes_a_type(self):
        body = {"mappings": {"properties": {"a": {"type": "long"}}}}
        self.client.indices.create(index="i", body=body)
        more = {"properties": {"b": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}
        self.client.indices.put_mapping(index="i", body=more)
        shown = self.client.indices.get_mapping(index="i")["i"]["mappings"]["properties"]
        self.assertEqual(shown["b"]["fields"]["raw"]["type"], "keyword")
        with self.refused(400, "illegal_argument_exception", "cannot be changed from type"):
            self.client.indices.put_mapping(index="i", body={"properties": {"a": {"type": "text"}}})
        self.client.index(index="i", id="1", body={"c": 1.5, "d": {"e": "x"}})
        shown = self.client.indices.get_mapping(index="i")["i"]["mappings"]["properties"]
        self.assertEqual(shown["c"]["type"], "float")
        self.assertEqual(shown["d"]["properties"]["e"]["type"], "text")
        with self.refused(400, "mapper_parsing_exception"):
            wrong = {"mappings": {"properties": {"a": {"type": "nonsense"}}}}
            self.client.indices.create(index="j", body=wrong)

    def test_what_is_written_survives_a_clean_restart(self):
        self.client.indices.create(index="i", body={"settings": {"number_of_shards": 3}})
        self.index_all("i", {str(n): {"n": n} for n in range(50)})
        self.server.stop()
        self.server.start()
        type(self).client = self.server.client()
        self.assertEqual(self.client.count(index="i")["count"], 50)
        self.assertEqual(self.client.get(index="i", id="7")["_source"], {"n": 7})

    def test_a_forced_merge_leaves_one_segment_and_can_be_a_task(self):
        for number in range(5):
            self.client.index(index="i", id=str(number), body={"n": number}, refresh=True)
        self.client.indices.forcemerge(index="i", max_num_segments=1)
        stats = self.client.indices.stats(index="i")["indices"]["i"]["primaries"]
        self.assertEqual(stats["segments"]["count"], 1)
        self.assertEqual(stats["indexing"]["index_total"], 5)
        self.assertEqual(stats["docs"]["count"], 5)
        task = self.client.indices.forcemerge(index="i", wait_for_completion="false")["task"]
        self.assertIn("completed", self.client.tasks.get(task_id=task))
        ended = self.client.tasks.get(task_id=task, wait_for_completion=True)
        kept = self.client.get(index=".tasks", id=task)["_source"]
        self.assertEqual(kept["response"], ended["response"])
        with self.refused(404, "resource_not_found_exception"):
            self.client.tasks.get(task_id="nobody:1")

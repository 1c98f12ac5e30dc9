"""Aliases, expressions over indexes, closed and blocked indexes."""

import threading

from .base import ClewTest


class AliasesTest(ClewTest):
    def test_queries_know_indexes_by_their_aliases(self):
        self.client.indices.create(index="a", body={"aliases": {"all": {}, "one": {}}})
        self.client.indices.create(index="b", body={"aliases": {"all": {}}})
        self.index_all("a", {"1": {"tag": "x"}})
        self.index_all("b", {"2": {"tag": "y"}})
        for query, found in [
            ({"term": {"_index": "all"}}, ["1", "2"]),
            ({"terms": {"_index": ["one", "nope"]}}, ["1"]),
            ({"bool": {"must_not": {"term": {"_index": "one"}}}}, ["2"]),
            ({"term": {"_index": "b"}}, ["2"]),
        ]:
            self.assertEqual(sorted(self.ids("a,b", query=query)), found, query)
            self.assertEqual(self.client.count(index="a,b", body={"query": query})["count"], len(found))
        aggs = {"x": {"filters": {"filters": [{"term": {"_index": "one"}}, {"term": {"_index": "all"}}]}}}
        found = self.client.search(index="a,b", body={"size": 0, "aggs": aggs})["aggregations"]["x"]["buckets"]
        self.assertEqual([bucket["doc_count"] for bucket in found], [1, 2])

    def test_an_alias_is_searched_written_and_shown(self):
        self.client.indices.create(index="a", body={"aliases": {"all": {}}})
        self.client.indices.create(index="b", body={"aliases": {"all": {"is_write_index": True}}})
        self.index_all("a", {"1": {"tag": "x"}})
        written = self.client.index(index="all", id="2", body={"tag": "y"}, refresh=True)
        self.assertEqual(written["_index"], "b")
        self.assertEqual(sorted(self.ids("all")), ["1", "2"])
        self.assertEqual(self.client.count(index="al*")["count"], 2)
        shown = self.client.indices.get(index="all")
        self.assertEqual(shown["b"]["aliases"], {"all": {"is_write_index": True}})
        with self.refused(400, "illegal_argument_exception", "has more than one index"):
            self.client.get(index="all", id="1")
        self.assertEqual(len(self.client.cat.aliases(format="json")), 2)
        self.client.indices.delete_alias(index="a", name="all")
        self.assertEqual(self.client.get(index="all", id="2")["_source"], {"tag": "y"})

    def test_an_alias_moves_away_from_all_indexes_while_others_are_deleted(self):
        self.client.indices.create(index="a", body={"aliases": {"now": {}}})
        self.client.indices.create(index="b")
        others = [f"other-{n}" for n in range(20)]
        for name in others:
            self.client.indices.create(index=name)
        deleting = threading.Thread(target=lambda: [self.client.indices.delete(index=name) for name in others])
        deleting.start()
        moves = 0
        while deleting.is_alive() or moves == 0:
            moves += 1
            to = "ab"[moves % 2]
            actions = [{"remove": {"index": "*", "alias": "now"}}, {"add": {"index": to, "alias": "now"}}]
            self.client.indices.update_aliases(body={"actions": actions})
            self.assertEqual(list(self.client.indices.get_alias(name="now")), [to])
        deleting.join()

    def test_a_mapping_for_writes_alone_is_that_of_the_index_that_takes_them(self):
        self.client.indices.create(index="a", body={"aliases": {"all": {}, "none": {}}})
        self.client.indices.create(index="b", body={"aliases": {"all": {"is_write_index": True}, "none": {}, "one": {}}})
        def put(index, field):
            body = {"properties": {field: {"type": "long"}}}
            self.client.indices.put_mapping(index=index, body=body, params={"write_index_only": "true"})
        put("all", "x")
        put("one", "y")
        put("all,a", "z")
        with self.refused(400, "illegal_argument_exception", "no write index is defined for alias [none]"):
            put("none", "w")
        shown = self.client.indices.get_mapping(index="a,b")
        fields = {index: sorted(shown[index]["mappings"]["properties"]) for index in ("a", "b")}
        self.assertEqual(fields, {"a": ["z"], "b": ["x", "y", "z"]})

    def test_a_filter_is_a_query_to_the_index_of_its_alias(self):
        self.client.indices.create(index="a", body={"mappings": {"properties": {"n": {"type": "long"}}}})
        add = lambda **members: self.client.indices.update_aliases(body={"actions": [{"add": {"index": "a", "alias": "b", **members}}]})
        for filter in ({"term": {"n": "x"}}, {"range": {"n": {"gte": "now"}}}, {"nested": {"path": "x", "query": {"match_all": {}}}}):
            with self.subTest(filter=filter), self.refused(400, "illegal_argument_exception", "failed to parse filter for alias [b]"):
                add(filter=filter)
        with self.refused(400, "x_content_parse_exception", "[aliases] failed to parse field [actions]"):
            add(filter='{"match_all": {}}')
        for more in ({"indices": ["a"]}, {"aliases": "c"}):
            with self.subTest(more=more), self.refused(400, "x_content_parse_exception", "[aliases] failed to parse field [actions]"):
                add(**more)
        self.assertFalse(self.client.indices.exists_alias(name="b"))
        add(filter={"term": {"n": 1}})
        add(filter={"term": {"not_there_yet": "x"}})

    def test_a_new_index_has_no_alias_whose_filter_does_not_fit_its_mapping(self):
        wrong = {"mappings": {"properties": {"n": {"type": "long"}}}, "aliases": {"b": {"filter": {"term": {"n": "x"}}}}}
        refused = lambda: self.refused(400, "illegal_argument_exception", "failed to parse filter for alias [b]")
        with refused():
            self.client.indices.create(index="a", body=wrong)
        # It may be said of indexes that have another mapping.
        self.client.indices.put_template(name="wrong", body={"index_patterns": ["a*"], **wrong})
        self.addCleanup(self.client.indices.delete_template, name="wrong")
        with refused():
            self.client.indices.create(index="a")
        with refused():
            self.client.index(index="a", body={"n": 1})
        self.client.indices.create(index="a", body={"mappings": {"properties": {"n": {"type": "keyword"}}}})
        self.assertTrue(self.client.indices.exists_alias(name="b"))

    def test_an_alias_that_must_exist_must_do_so_in_each_index(self):
        self.client.indices.create(index="a", body={"aliases": {"all": {}}})
        self.client.indices.create(index="b")
        remove = {"indices": ["a", "b"], "alias": "all"}
        with self.refused(404, "aliases_not_found_exception", "aliases [all] missing"):
            self.client.indices.update_aliases(body={"actions": [{"remove": {**remove, "must_exist": True}}]})
        # A pattern may stand for none.
        self.assertEqual([self.client.indices.exists_alias(name=name) for name in ("none", "none*", "al*")], [False, True, True])
        self.client.indices.update_aliases(body={"actions": [{"remove": remove}]})
        self.assertFalse(self.client.indices.exists_alias(name="all"))

    def test_filters_of_aliases_restrict_searches(self):
        body = {
            "mappings": {"properties": {"tag": {"type": "keyword"}}},
            "aliases": {name: {"filter": {"term": {"tag": name}}} for name in ("x", "y")},
        }
        self.client.indices.create(index="a", body=body)
        self.index_all("a", {"1": {"tag": "x"}, "2": {"tag": "y"}, "3": {"tag": "z"}})
        self.assertEqual(self.ids("x"), ["1"])
        self.assertEqual(sorted(self.ids("x,y")), ["1", "2"])
        self.assertEqual(len(self.ids("x,a")), 3)
        self.assertEqual(self.client.count(index="y")["count"], 1)
        everything = {"g": {"global": {}}}
        found = self.client.search(index="x", body={"aggs": everything})
        self.assertEqual(found["aggregations"]["g"]["doc_count"], 1)
        with self.refused(400, "illegal_argument_exception", "alias [z]"):
            self.client.indices.put_alias(index="a", name="z", body={"filter": {"nonsense": {}}})

    def test_routing_of_an_alias_leads_to_one_shard(self):
        body = {"settings": {"number_of_shards": 5}, "aliases": {"r": {"routing": "k"}}}
        self.client.indices.create(index="a", body=body)
        self.client.index(index="r", id="1", body={"n": 1}, refresh=True)
        self.assertEqual(self.client.get(index="a", id="1", routing="k")["_routing"], "k")
        found = self.client.search(index="r")
        self.assertEqual((found["_shards"]["total"], len(found["hits"]["hits"])), (1, 1))

    def test_explanations_follow_the_routing_of_an_alias_and_miss_what_is_wanted(self):
        body = {"settings": {"number_of_shards": 5}, "mappings": {"_routing": {"required": True}}, "aliases": {"b": {"routing": "k"}}}
        self.client.indices.create(index="a", body=body)
        for id in map(str, range(10)):
            self.client.index(index="b", id=id, body={"n": 1}, refresh=True)
            told = self.client.explain(index="b", id=id, body={"query": {"match_all": {}}}, params={"_source": "true"})
            self.assertEqual((told["matched"], told["get"]["_source"]), (True, {"n": 1}), id)
        with self.refused(400, "routing_missing_exception", "routing is required for [a]/[1]"):
            self.client.explain(index="a", id="1", body={"query": {"match_all": {}}})

    def test_keys_of_a_request_count_that_an_alias_has_too(self):
        body = {"settings": {"number_of_shards": 5}, "aliases": {"r": {"search_routing": "0,2"}}}
        self.client.indices.create(index="a", body=body)
        for key in "012":
            self.client.index(index="a", id=key, body={}, routing=key, refresh=True)
        shards = lambda **params: self.client.search(index="r", **params)["_shards"]["total"]
        one = self.client.search(index="a", routing="2")
        self.assertEqual(shards(routing="1,2"), one["_shards"]["total"])
        found = self.client.search(index="r", routing="1,2")["hits"]["total"]
        self.assertEqual(found, one["hits"]["total"])
        # Where the alias has none of them, no key leads anywhere.
        self.assertEqual(shards(routing="1"), 5)

    def test_several_changes_are_one(self):
        self.client.indices.create(index="old", body={"aliases": {"live": {}}})
        self.client.indices.create(index="new")
        actions = [
            {"add": {"index": "new", "aliases": ["live", "old"]}},
            {"remove_index": {"index": "old"}},
        ]
        self.client.indices.update_aliases(body={"actions": actions})
        self.assertEqual(list(self.client.indices.get(index="live,old")), ["new"])
        missing = {"actions": [{"remove": {"index": "new", "alias": "none"}}]}
        with self.refused(404, "aliases_not_found_exception", "aliases [none] missing"):
            self.client.indices.update_aliases(body=missing)
        with self.refused(400, "invalid_alias_name_exception"):
            self.client.indices.put_alias(index="new", name="a*b")
        with self.refused(400, "invalid_index_name_exception", "already exists as alias"):
            self.client.indices.create(index="live")
        for action in ({"index": "", "alias": "new"}, {"indices": [""], "alias": "new"}):
            with self.refused(400, "x_content_parse_exception", "[aliases] failed to parse field [actions]") as caught:
                self.client.indices.update_aliases(body={"actions": [{"add": action}]})
            self.assertIn("can't be empty string", str(caught.exception.info))
        with self.refused(400, "illegal_argument_exception", "matches an alias"):
            self.client.indices.delete(index="live")

    def test_the_only_name_of_a_list_may_stand_by_itself(self):
        for name in ("a", "b"):
            self.client.indices.create(index=name)
        self.client.indices.update_aliases(body={"actions": [
            {"add": {"index": "a", "aliases": "x"}}, {"add": {"indices": "b", "alias": "x"}},
        ]})
        self.assertEqual(set(self.client.indices.get_alias(name="x")), {"a", "b"})
        for wrong, why in (
            ({"index": ["a"], "alias": "x"}, "index doesn't support values of type: START_ARRAY"),
            ({"index": "a", "aliases": 1}, "aliases doesn't support values of type: VALUE_NUMBER"),
            ({"index": "a", "aliases": ""}, "[aliases] can't be empty string"),
        ):
            with self.subTest(wrong=wrong), self.refused(400) as caught:
                self.client.indices.update_aliases(body={"actions": [{"add": wrong}]})
            self.assertIn(why, str(caught.exception.info))

    def test_writes_may_require_an_alias(self):
        with self.refused(404, "index_not_found_exception", "[require_alias]"):
            self.client.index(index="none", body={}, require_alias=True)
        lines = [{"index": {"_index": "none", "require_alias": True}}, {"n": 1}]
        item = self.client.bulk(body=lines)["items"][0]["index"]
        self.assertEqual((item["status"], item["error"]["type"]), (404, "index_not_found_exception"))
        self.assertFalse(self.client.indices.exists(index="none"))

    def test_scores_of_an_index_can_count_more(self):
        self.index_all("a", {"1": {"t": "word"}})
        self.index_all("b", {"2": {"t": "word"}})
        query = {"match": {"t": "word"}}
        for boosts, first in [([{"a": 2.0}], "1"), ([{"b*": 2.0}], "2"), ({"b": 3}, "2")]:
            self.assertEqual(self.ids("a,b", query=query, indices_boost=boosts)[0], first)


class StateTest(ClewTest):
    def test_a_closed_index_is_kept_and_serves_nothing(self):
        self.index_all("i", {"1": {"n": 1}})
        reply = self.client.indices.close(index="i")
        self.assertEqual(reply["indices"], {"i": {"closed": True}})
        # What is closed already is not told.
        again = {"acknowledged": True, "shards_acknowledged": False, "indices": {}}
        self.assertEqual(self.client.indices.close(index="i"), again)
        for call in (self.client.search, self.client.count):
            with self.refused(400, "index_closed_exception", "closed"):
                call(index="i")
        with self.refused(400, "index_closed_exception"):
            self.client.index(index="i", body={"n": 2})
        self.assertIn("n", self.client.indices.get_mapping(index="i")["i"]["mappings"]["properties"])
        self.assertEqual(self.client.search(index="*")["hits"]["total"]["value"], 0)
        state = self.client.cluster.state(metric="metadata,blocks")
        self.assertEqual(state["metadata"]["indices"]["i"]["state"], "close")
        self.assertIn("4", state["blocks"]["indices"]["i"])
        self.client.indices.open(index="i")
        self.assertEqual(self.ids("i"), ["1"])

    def test_a_block_is_told_and_taken_away(self):
        self.index_all("i", {"1": {"n": 1}})
        self.addCleanup(self.unblock)
        reply = self.client.indices.add_block(index="i", block="write")
        self.assertEqual(reply["indices"], [{"name": "i", "blocked": True}])
        again = {"acknowledged": True, "shards_acknowledged": False, "indices": []}
        self.assertEqual(self.client.indices.add_block(index="i", block="write"), again)
        with self.refused(403, "cluster_block_exception", "[FORBIDDEN/8/index write (api)];"):
            self.client.index(index="i", body={"n": 2})
        self.assertEqual(self.ids("i"), ["1"])
        self.client.indices.put_settings(index="i", body={"index.blocks.read": True})
        with self.refused(403, "cluster_block_exception", "[FORBIDDEN/7/index read (api)];"):
            self.client.search(index="i")
        with self.refused(400, "illegal_argument_exception", "No block found with name x"):
            self.client.indices.add_block(index="i", block="x")

    def test_an_index_that_is_read_only_is_neither_merged_nor_opened(self):
        self.index_all("i", {"1": {"n": 1}})
        self.client.indices.put_settings(index="i", body={"index.blocks.read_only": True})
        self.addCleanup(self.client.indices.put_settings, index="i", body={"index.blocks.read_only": None})
        for call in (self.client.indices.forcemerge, self.client.indices.open):
            with self.refused(403, "cluster_block_exception", "[FORBIDDEN/5/index read-only (api)];"):
                call(index="i")

    def test_an_index_whose_metadata_is_blocked_shows_no_figures(self):
        self.index_all("i", {"1": {"n": 1}})
        self.client.indices.put_settings(index="i", body={"index.blocks.metadata": True})
        self.addCleanup(self.client.indices.put_settings, index="i", body={"index.blocks.metadata": None})
        indices = self.client.indices
        of_figures = (indices.stats, indices.segments, indices.recovery, self.client.cat.indices, self.client.search_shards)
        for call in (*of_figures, indices.get_settings, indices.clear_cache):
            with self.refused(403, "cluster_block_exception", "[FORBIDDEN/9/index metadata (api)];"):
                call(index="i")
        self.assertEqual(self.client.field_caps(index="i", fields="n")["indices"], ["i"])
        self.assertEqual(self.client.cluster.health(index="i")["status"], "green")
        self.assertEqual(self.ids("i"), ["1"])

    def unblock(self):
        blocks = {"index.blocks.read": None, "index.blocks.write": None}
        self.client.indices.put_settings(index="i", body=blocks)

    def test_names_and_patterns_are_resolved(self):
        self.client.indices.create(index="logs-1", body={"aliases": {"logs": {}}})
        self.client.indices.create(index="logs-2")
        self.client.indices.create(index=".secret", body={"settings": {"index.hidden": True}})
        self.addCleanup(self.client.indices.delete, index=".secret", ignore=404)
        self.client.indices.close(index="logs-2")
        found = self.raw("GET", "/_resolve/index/*")
        self.assertEqual([index["name"] for index in found["indices"]], ["logs-1"])
        self.assertEqual(found["aliases"], [{"name": "logs", "indices": ["logs-1"]}])
        everything = self.raw("GET", "/_resolve/index/*", params={"expand_wildcards": "all"})
        named = {index["name"]: index["attributes"] for index in everything["indices"]}
        self.assertEqual(named["logs-2"], ["closed"])
        self.assertEqual(named[".secret"], ["hidden", "open"])
        self.assertEqual(list(self.client.indices.get(index=".s*")), [".secret"])
        for names, shown in ((None, True), ("*", False), (".secret", True)):
            rows = self.client.cat.shards(index=names, format="json", h="index")
            self.assertEqual({"index": ".secret"} in rows, shown, names)
        with self.refused(400, "illegal_argument_exception", "[nonsense]"):
            self.raw("GET", "/_resolve/index/*", params={"expand_wildcards": "nonsense"})

    def test_names_may_have_dates(self):
        name = self.client.indices.create(index="<day-{now/d{yyyy}}>")["index"]
        self.assertRegex(name, r"^day-\d{4}$")
        self.client.index(index="<day-{now/d{yyyy}}>", id="1", body={"n": 1}, refresh=True)
        self.assertEqual(self.ids("<day-{now/d{yyyy}}>"), ["1"])


class ClusterStateTest(ClewTest):
    def test_only_what_is_asked_for_is_shown(self):
        self.client.indices.create(index="i", body={"settings": {"number_of_shards": 3}})
        state = self.client.cluster.state(metric="routing_table", index="i")
        self.assertEqual(set(state), {"cluster_name", "cluster_uuid", "routing_table"})
        self.assertEqual(len(state["routing_table"]["indices"]["i"]["shards"]), 3)
        # Names that are none choose nothing.
        self.assertEqual(set(self.client.cluster.state(metric="nonsense")), {"cluster_name", "cluster_uuid"})
        self.assertIn("blocks", self.client.cluster.state(metric="nonsense,blocks"))

    def test_copies_that_are_asked_for_are_missed(self):
        self.client.indices.create(index="i", body={"settings": {"number_of_replicas": 1}})
        health = self.client.cluster.health(index="i")
        self.assertEqual((health["status"], health["unassigned_shards"]), ("yellow", 1))
        why = self.client.cluster.allocation_explain()
        self.assertEqual((why["index"], why["primary"], why["can_allocate"]), ("i", False, "no"))
        with self.refused(408) as caught:
            self.raw("GET", "/_cluster/health?wait_for_status=green&timeout=1ms")
        self.assertTrue(caught.exception.info["timed_out"])

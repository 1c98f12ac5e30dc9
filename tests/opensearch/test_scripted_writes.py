"""Scripts that change documents: updates, writes by query, pipelines, and scripts that are stored."""

from .base import ClewTest


class ScriptedUpdatesTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.client.indices.create(index="i", body={"settings": {"number_of_shards": 2}})

    def put(self, **source):
        self.client.index(index="i", id="1", body=source)

    def source(self, id="1"):
        return self.client.get(index="i", id=id)["_source"]

    def update(self, script, id="1", **more):
        return self.client.update(index="i", id=id, body={"script": script, **more})

    def test_documents_are_changed_in_place(self):
        self.put(counter=1, tags=["red"], name="Ann")
        reply = self.update({"source": "ctx._source.counter += params.count", "lang": "painless", "params": {"count": 4}})
        self.assertEqual((reply["result"], reply["_version"]), ("updated", 2))
        add = {"source": "ctx._source.tags.add(params.tag)", "params": {"tag": "blue"}}
        self.update(add)
        self.assertEqual(self.source(), {"counter": 5, "tags": ["red", "blue"], "name": "Ann"})
        source = "if (ctx._source.tags.contains(params.tag)) { ctx._source.tags.remove(ctx._source.tags.indexOf(params.tag)) }"
        self.update({"source": source, "params": {"tag": "red"}})
        self.update("ctx._source.new_field = 'value_of_new_field'")
        self.update("ctx._source.remove('name')")
        self.assertEqual(self.source(), {"counter": 5, "tags": ["blue"], "new_field": "value_of_new_field"})
        self.update("ctx._source.about = ctx._index + '/' + ctx._id + '/' + ctx._version; ctx._source.late = ctx._now > 1000")
        self.assertEqual(self.source()["about"], "i/1/6")
        self.assertTrue(self.source()["late"])
        # Nothing is looked at for changes: a script that ran has written.
        self.assertEqual(self.update("ctx._source.counter = 5")["result"], "updated")
        shown = self.client.update(index="i", id="1", body={"script": "ctx._source.counter++", "_source": ["counter"]})
        self.assertEqual(shown["get"]["_source"], {"counter": 6})

    def test_scripts_say_what_is_done(self):
        self.put(n=1)
        for op in ["none", "noop"]:
            reply = self.update(f"ctx._source.n = 9; ctx.op = '{op}'")
            self.assertEqual((reply["result"], reply["_version"], reply["_shards"]["total"]), ("noop", 1, 0))
        self.assertEqual(self.source(), {"n": 1})
        reply = self.update("if (ctx._source.n == 1) { ctx.op = 'delete' } else { ctx.op = 'none' }")
        self.assertEqual((reply["result"], reply["_version"]), ("deleted", 2))
        self.assertFalse(self.client.exists(index="i", id="1"))

    def test_what_is_not_there_is_made(self):
        script = {"source": "ctx._source.n += params.by", "params": {"by": 2}}
        with self.refused(404, "document_missing_exception"):
            self.update(script)
        self.assertEqual(self.update(script, upsert={"n": 1})["result"], "created")
        self.assertEqual(self.update(script, upsert={"n": 1})["result"], "updated")
        self.assertEqual(self.source(), {"n": 3})
        reply = self.update(script, id="2", upsert={"n": 1}, scripted_upsert=True)
        self.assertEqual((reply["result"], self.source("2")), ("created", {"n": 3}))
        made = {"source": "ctx._source.made = ctx.op == 'create'"}
        self.update(made, id="3", upsert={}, scripted_upsert=True)
        self.assertEqual(self.source("3"), {"made": True})
        reply = self.update("ctx.op = 'none'", id="4", upsert={}, scripted_upsert=True)
        self.assertEqual((reply["result"], reply["_version"], reply["get"]), ("noop", -1, {"found": False}))
        self.assertNotIn("_seq_no", reply)
        self.assertFalse(self.client.exists(index="i", id="4"))

    def test_what_is_wrong_is_told_and_leaves_the_document(self):
        self.put(n=1)
        for script, reason, kind in [
            ("ctx._source.n +=", "compile error", "illegal_argument_exception"),
            ("ctx._source.none.x = 1", "runtime error", "null_pointer_exception"),
            ("throw new IllegalStateException('no')", "runtime error", "illegal_state_exception"),
        ]:
            with self.refused(400, "illegal_argument_exception", "failed to execute script") as caught:
                self.update(script)
            cause = caught.exception.info["error"]["caused_by"]
            self.assertEqual((cause["type"], cause["reason"], cause["script"]), ("script_exception", reason, script))
            self.assertEqual(cause["caused_by"]["type"], kind)
        with self.refused(400) as caught:
            self.update("ctx._source.n = 1 2")
        cause = caught.exception.info["error"]["caused_by"]
        self.assertEqual(cause["script_stack"], ["ctx._source.n = 1 2", " " * 18 + "^---- HERE"])
        self.assertEqual(cause["position"]["offset"], 18)
        with self.refused(400, "illegal_argument_exception", "failed to execute script") as caught:
            self.update({"source": "1", "lang": "groovy"})
        self.assertIn("script_lang not supported [groovy]", caught.exception.info["error"]["caused_by"]["reason"])
        with self.refused(400, "action_request_validation_exception", "can't provide both script and doc"):
            self.update("1", doc={})
        with self.refused(400, "illegal_argument_exception", "failed to execute script"):
            self.update("while (true) { ctx._source.n++ }")
        self.assertEqual(self.source(), {"n": 1})

    def test_a_bulk_counts_in_order(self):
        line = {"update": {"_index": "i", "_id": "1"}}
        count = {"script": {"source": "ctx._source.n += params.by", "params": {"by": 3}}, "upsert": {"n": 1}}
        gone = {"script": "ctx.op = 'delete'"}
        wrong = {"script": {"source": "ctx._source."}}
        reply = self.client.bulk(body=[line, count, line, count, line, wrong, line, count, line, gone, line, count])
        items = [item["update"] for item in reply["items"]]
        results = [item.get("result") or item["error"]["type"] for item in items]
        self.assertEqual(results, ["created", "updated", "illegal_argument_exception", "updated", "deleted", "created"])
        self.assertEqual(items[2]["error"]["caused_by"]["type"], "script_exception")
        self.assertEqual(self.source(), {"n": 1})

    def test_changed_documents_are_searched_as_they_are_and_live_through_a_restart(self):
        self.put(n=1, tags=["a"])
        self.update("ctx._source.n = 7; ctx._source.tags = ['b', 'c']")
        self.client.indices.refresh(index="i")
        self.assertEqual(self.ids("i", query={"term": {"n": 7}}), ["1"])
        self.assertEqual(self.ids("i", query={"match": {"tags": "a"}}), [])
        self.restart()
        self.assertEqual(self.source(), {"n": 7, "tags": ["b", "c"]})


class ScriptedWritesByQueryTest(ClewTest):
    def setUp(self):
        super().setUp()
        self.index_all("a", {str(n): {"n": n, "kind": "odd" if n % 2 else "even"} for n in range(10)})

    def test_each_document_is_changed_left_or_removed(self):
        source = "if (ctx._source.n == 0) { ctx.op = 'noop' } else if (ctx._source.n > 7) { ctx.op = 'delete' } else { ctx._source.n *= params.by }"
        body = {"script": {"source": source, "params": {"by": 100}}, "query": {"match_all": {}}}
        reply = self.client.update_by_query(index="a", body=body, params={"refresh": "true"})
        self.assertEqual((reply["total"], reply["updated"], reply["deleted"], reply["noops"]), (10, 7, 2, 1))
        found = self.client.search(index="a", body={"size": 20, "sort": ["n"]})["hits"]["hits"]
        self.assertEqual([hit["_source"]["n"] for hit in found], [0, 100, 200, 300, 400, 500, 600, 700])

    def test_copies_are_changed_and_sent_elsewhere(self):
        source = "ctx._source.remove('kind'); ctx._id = 'c' + ctx._id; if (ctx._source.n > 5) { ctx._index = 'c' }"
        body = {"source": {"index": "a"}, "dest": {"index": "b"}, "script": {"source": source}}
        reply = self.client.reindex(body=body, params={"refresh": "true"})
        self.assertEqual((reply["total"], reply["created"]), (10, 10))
        self.assertEqual(self.client.get(index="b", id="c3")["_source"], {"n": 3})
        self.assertEqual(self.client.get(index="c", id="c9")["_source"], {"n": 9})
        body["script"] = {"source": "if (ctx._source.n != 4) { ctx.op = 'noop' }"}
        body["dest"] = {"index": "d"}
        reply = self.client.reindex(body=body)
        self.assertEqual((reply["created"], reply["noops"]), (1, 9))
        # A version that comes from elsewhere may be another one.
        body = {"source": {"index": "a"}, "dest": {"index": "e"}, "script": {"source": "ctx._version = 70"}}
        with self.refused(400, "illegal_argument_exception", "[_version] can be set to [null] only"):
            self.client.reindex(body=body)
        body["dest"]["version_type"] = "external"
        self.client.reindex(body=body)
        self.assertEqual(self.client.get(index="e", id="3")["_version"], 70)
        for kind, updated in (("external_gte", 10), ("external", 0)):
            body["dest"]["version_type"] = kind
            reply = self.client.reindex(body={**body, "conflicts": "proceed"})
            self.assertEqual((reply["updated"], reply["version_conflicts"]), (updated, 10 - updated), kind)

    def test_what_cannot_be_done_is_refused(self):
        for source, reason in [
            ("ctx.op = 'none'", "Operation type [none] not allowed, only [noop, index, delete] are allowed"),
            ("ctx._id = 'x'", "Modifying [_id] not allowed"),
            ("ctx.extra = 1", "Invalid fields added to context [extra]"),
        ]:
            with self.refused(400, "illegal_argument_exception", reason):
                self.client.update_by_query(index="a", body={"script": {"source": source}})
        with self.refused(400, "script_exception", "runtime error"):
            self.client.update_by_query(index="a", body={"script": {"source": "ctx._source.x.y = 1"}})
        with self.refused(400, "script_exception", "compile error"):
            self.client.update_by_query(index="a", body={"script": {"source": "ctx._source.x ="}})
        self.assertEqual(self.client.get(index="a", id="1")["_version"], 1)


class ScriptsOfPipelinesTest(ClewTest):
    def put(self, *processors):
        self.client.ingest.put_pipeline(id="p", body={"processors": list(processors)})

    def through(self, source, id="1"):
        self.client.index(index="i", id=id, body=source, params={"pipeline": "p"})
        return self.client.get(index="i", id=id)["_source"]

    def test_documents_are_changed_by_scripts(self):
        self.put({"script": {"lang": "painless", "source": "ctx.total = ctx.price * params.count; ctx.tags.add(ctx._id)", "params": {"count": 3}}})
        self.assertEqual(self.through({"price": 2, "tags": []}), {"price": 2, "tags": ["1"], "total": 6})
        self.put({"script": {"source": "ctx._index = 'other-' + ctx.kind"}})
        self.client.index(index="i", id="1", body={"kind": "x"}, params={"pipeline": "p"})
        self.assertTrue(self.client.exists(index="other-x", id="1"))

    def test_steps_are_done_where_their_condition_holds(self):
        self.put(
            {"set": {"if": "ctx.n > 5", "field": "size", "value": "large"}},
            {"set": {"if": "ctx?.user?.name == 'ann'", "field": "who", "value": "her"}},
            {"set": {"if": "ctx.tags != null && ctx.tags.contains('a')", "field": "tagged", "value": True}},
            {"drop": {"if": "ctx.level == 'debug'"}},
        )
        self.assertEqual(self.through({"n": 7}), {"n": 7, "size": "large"})
        self.assertEqual(self.through({"n": 1, "user": {"name": "ann"}}), {"n": 1, "user": {"name": "ann"}, "who": "her"})
        self.assertEqual(self.through({"n": 1, "tags": ["a"]}), {"n": 1, "tags": ["a"], "tagged": True})
        reply = self.client.index(index="i", id="9", body={"n": 1, "level": "debug"}, params={"pipeline": "p"})
        self.assertEqual(reply["result"], "noop")

    def test_failures_are_told_or_handled(self):
        with self.refused(400, "script_exception", "compile error"):
            self.put({"script": {"source": "ctx.a ="}})
        self.put({"script": {"source": "ctx.a.b = 1"}})
        with self.refused(400, "script_exception", "runtime error"):
            self.through({})
        self.put({"script": {"source": "ctx.a.b = 1", "on_failure": [{"set": {"field": "failed", "value": True}}]}})
        self.assertEqual(self.through({"n": 1}), {"n": 1, "failed": True})
        self.put({"set": {"if": "ctx.a.b == 1", "field": "x", "value": 1, "ignore_failure": True}})
        self.assertEqual(self.through({"n": 1}), {"n": 1})

    def test_a_simulation_shows_what_was_passed_over(self):
        pipeline = {"processors": [{"set": {"if": "ctx.n == 1", "field": "a", "value": 1}}]}
        body = {"pipeline": pipeline, "docs": [{"_source": {"n": 2}}]}
        reply = self.client.ingest.simulate(body=body, params={"verbose": "true"})
        step = reply["docs"][0]["processor_results"][0]
        self.assertEqual((step["status"], step["if"]), ("skipped", {"condition": "ctx.n == 1", "result": False}))


class StoredScriptsTest(ClewTest):
    def tearDown(self):
        for name in ["count", "score", "step"]:
            self.client.delete_script(id=name, params={}, ignore=404)
        super().tearDown()

    def put(self, name, source):
        self.client.put_script(id=name, body={"script": {"lang": "painless", "source": source}})

    def test_scripts_are_kept_and_named(self):
        self.put("count", "ctx._source.n += params.by")
        kept = self.client.get_script(id="count")
        self.assertEqual(kept["script"], {"lang": "painless", "source": "ctx._source.n += params.by"})
        self.client.index(index="i", id="1", body={"n": 1}, refresh=True)
        script = {"id": "count", "params": {"by": 5}}
        self.client.update(index="i", id="1", body={"script": script}, params={"refresh": "true"})
        line = {"update": {"_index": "i", "_id": "1"}}
        self.assertFalse(self.client.bulk(body=[line, {"script": script}], params={"refresh": "true"})["errors"])
        self.client.update_by_query(index="i", body={"script": script}, params={"refresh": "true"})
        self.assertEqual(self.client.get(index="i", id="1")["_source"], {"n": 16})
        self.put("score", "doc['n'].value * params.by")
        query = {"script_score": {"query": {"match_all": {}}, "script": {"id": "score", "params": {"by": 2}}}}
        hits = self.client.search(index="i", body={"query": query})["hits"]["hits"]
        self.assertEqual(hits[0]["_score"], 32)
        self.put("step", "ctx.n = params.to")
        steps = [{"script": {"id": "step", "params": {"to": 3}}}]
        self.client.ingest.put_pipeline(id="p", body={"processors": steps})
        self.assertEqual(self.client.ingest.get_pipeline(id="p")["p"]["processors"], steps)
        self.client.index(index="i", id="2", body={}, params={"pipeline": "p"})
        self.assertEqual(self.client.get(index="i", id="2")["_source"], {"n": 3})

    def test_scripts_are_named_wherever_scripts_stand(self):
        self.put("score", "doc['n'].value > params.by")
        self.client.index(index="i", id="1", body={"n": 7, "script": {"id": "score"}}, refresh=True)
        test = {"script": {"script": {"id": "score", "params": {"by": 3}}}}
        kinds = {"doc": test, "value": {"bool": {"must_not": test}}, "params": {"nested": {"path": "no", "query": test, "ignore_unmapped": True}}}
        aggs = {"documents": {"filters": {"filters": kinds}}}
        reply = self.client.search(index="i", body={"size": 0, "aggs": aggs})
        buckets = reply["aggregations"]["documents"]["buckets"]
        self.assertEqual({name: bucket["doc_count"] for name, bucket in buckets.items()}, {"doc": 1, "value": 0, "params": 0})
        self.assertEqual(self.client.count(index="i", body={"query": test})["count"], 1)
        self.assertTrue(self.client.indices.validate_query(index="i", body={"query": test})["valid"])
        with self.refused(404, "resource_not_found_exception", "unable to find script [gone] in cluster state"):
            gone = {"script": {"script": {"id": "gone"}}}
            self.client.search(index="i", body={"aggs": {"doc": {"filters": {"filters": {"doc": gone}}}}})
        with self.refused(400, "illegal_argument_exception", "illegally specified <lang> or <source>"):
            self.client.search(index="i", body={"query": {"script": {"script": {"id": "score", "source": "true"}}}})

    def test_names_without_a_script_are_refused(self):
        self.client.index(index="i", id="1", body={"n": 1}, refresh=True)
        query = {"script": {"script": {"id": "gone"}}}
        with self.refused(404, "resource_not_found_exception", "unable to find script [gone] in cluster state"):
            self.client.search(index="i", body={"query": query})
        with self.refused(400, "illegal_argument_exception", "failed to execute script") as caught:
            self.client.update(index="i", id="1", body={"script": {"id": "gone"}})
        cause = caught.exception.info["error"]["caused_by"]
        self.assertEqual(cause["type"], "resource_not_found_exception")
        with self.refused(400, "illegal_argument_exception", "unsupported lang [groovy]"):
            self.client.put_script(id="x", body={"script": {"lang": "groovy", "source": "1"}})
        with self.refused(400, "script_exception", "compile error"):
            self.raw("PUT", "/_scripts/x/update", body={"script": {"lang": "painless", "source": "ctx."}})
        for context, source in (("search", "ctx.a b"), ("bucket_aggregation", "params.a b"), ("aggregation_selector", "doc['a'].value > 1")):
            with self.refused(400, "script_exception", "compile error"):
                self.raw("PUT", f"/_scripts/x/{context}", body={"script": {"lang": "painless", "source": source}})
        for context, source in (("search", "ctx._source['size'] = 2"), ("bucket_aggregation", "params.a / params.b")):
            self.raw("PUT", f"/_scripts/x/{context}", body={"script": {"lang": "painless", "source": source}})

"""Filebeat 7.17, unmodified: its handshake, its template, and every line once."""

import json
import random

from .base import ClientsTest, tool

LINES = 1500
RUN_SECONDS_MAX = 240


class Filebeat(ClientsTest):
    @classmethod
    def setUpClass(cls):
        cls.program = tool("filebeat-7.17.28/filebeat", "clients")
        super().setUpClass()

    def ship(self, home):
        """Lets Filebeat read what is new to the end."""
        config = home / "filebeat.yml"
        config.write_text(json.dumps({
            "filebeat.inputs": [{"type": "log", "paths": [str(home / "*.log")], "close_eof": True}],
            "output.elasticsearch": {"hosts": [self.server.url]},
            "logging": {"to_stderr": True, "to_files": False},
        }))
        return self.run_tool(
            [self.program, "run", "--once", "--strict.perms=false",
             "-c", config, "--path.home", home, "--path.data", home / "data"],
            RUN_SECONDS_MAX,
        )

    def lines(self, log, first, count):
        dice = random.Random(first)
        words = "alpha beta gamma delta epsilon".split()
        with open(log, "a", encoding="utf-8") as out:
            for number in range(first, first + count):
                out.write(f"line-{number} took {dice.randrange(900)} ms {' '.join(dice.choices(words, k=5))}\n")

    def count(self, query):
        self.ask("POST", "/_refresh")
        return self.ask("POST", "/filebeat-*/_count", {"query": query})["count"]

    def test_every_line_arrives_once(self):
        home = self.folder()
        log = home / "seeded.log"
        self.lines(log, 0, LINES)
        output = self.ship(home)
        self.assertIn("Connection to backoff(elasticsearch", output)
        everything = {"match_all": {}}
        self.assertEqual(self.count(everything), LINES, output[-4000:])
        for number in (0, 777, LINES - 1):
            self.assertEqual(self.count({"match_phrase": {"message": f"line-{number} took"}}), 1)
        self.check_template(log)
        # What it has sent it does not send again, and what is new it does.
        self.ship(home)
        self.assertEqual(self.count(everything), LINES)
        self.lines(log, LINES, 100)
        self.ship(home)
        self.assertEqual(self.count(everything), LINES + 100)

    def check_template(self, log):
        """The template was taken as it is, and the index was made by it."""
        (template,) = self.ask("GET", "/_index_template/filebeat-7.17.28")["index_templates"]
        properties = template["index_template"]["template"]["mappings"]["properties"]
        self.assertEqual(properties["data_stream"]["properties"]["dataset"], {"type": "constant_keyword"})
        (index,) = self.ask("GET", "/filebeat-*/_mapping").values()
        mapped = index["mappings"]["properties"]
        self.assertEqual(mapped["message"], {"type": "text", "norms": False})
        self.assertEqual(mapped["host"]["properties"]["ip"]["type"], "ip")
        grouped = self.ask("POST", "/filebeat-*/_search", {
            "size": 0, "query": {"term": {"log.file.path": str(log)}},
            "aggs": {"agents": {"terms": {"field": "agent.version"}}},
        })
        (agent,) = grouped["aggregations"]["agents"]["buckets"]
        self.assertEqual((agent["key"], agent["doc_count"]), ("7.17.28", LINES))

"""OpenSearch's clients for Java, which read what they are told into types and stop where it does not fit."""

import json
import shutil

from .base import TOOL_SECONDS_MAX, ClientsTest, tool

# What each step of opensearch-java sees.
TYPED = {
    "version": "2.19.0", "create": True, "bulk": ["mapper_parsing_exception"], "search": [49, 3, 49], "profiled": 1, "neighbours": 3,
    "absent": False, "no_index": [404, "index_not_found_exception"], "updated": 16, "copied": 49, "scrolled": 10,
    "several": 1, "by_ids": 2, "terms": 1, "explained": True, "fields": True, "stats": 1, "index": 1, "mapping": 1,
    "settings": 1, "segments": 1, "recovery": 1, "resolved": 1, "valid": True, "tokens": 1, "token_detail": "english",
    "alias": ["typed-alias"], "template": 1, "shards": 1, "health": "green", "cluster_stats": "green",
    "cluster_settings": False, "allocation": "started", "pending": 0, "nodes": 1, "node_stats": 1, "tasks": 1,
    "tables": [1, 1, 1, 1, 1, 1, 1], "pipeline": [1, 1], "snapshot": [1, 1],
}
# And of the older client, which writes down all that it knows, where others leave it out.
HIGH_LEVEL = {
    "version": "2.19.0", "create": True, "bulk": False, "refreshed": 0, "search": [40, 3], "scrolled": 20,
    "created": "created", "upserted": "created", "by_ids": 2, "deleted": "deleted", "deleted_by_query": 1, "health": 1, "absent": 404,
    "dropped": True,
}


class OpenSearchJava(ClientsTest):
    def test_both_clients_read_every_answer(self):
        if shutil.which("java") is None:
            self.skipTest("Java is missing")
        folder = tool("opensearch-java-2.22.0/Session.class", "clients").parent
        command = ["java", "-cp", f"{folder}:{folder}/lib/*", "Session", self.server.url]
        seen = json.loads(self.run_tool(command, TOOL_SECONDS_MAX).splitlines()[-1])
        of = lambda client: {
            name.removeprefix(client): what for name, what in seen.items() if name.startswith(client)
        }
        self.assertEqual(of("java."), TYPED)
        self.assertEqual(of("high."), HIGH_LEVEL)

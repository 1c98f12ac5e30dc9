"""`clew bench text` on documents of one's own."""

import json
import unittest

from .base import BenchTest


class Text(BenchTest):
    def files(self, documents, searches):
        """Options that name a corpus and its searches."""
        corpus, queries = self.folder / "documents.jsonl", self.folder / "queries.txt"
        corpus.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in documents))
        queries.write_text("".join(one + "\n" for one in searches))
        return ["text", "--corpus", corpus, "--queries", queries, "--dir", self.folder, "--rounds", "2"]

    def test_documents_are_indexed_and_searched_by_each_way_of_joining_words(self):
        # More than one write has; every second has `even`, one in ten `red fox`, and as many `fox red`.
        colours = {0: "red fox", 5: "fox red"}
        documents = [{"body": f"{'even' if n % 2 == 0 else 'odd'} {colours.get(n % 10, 'nothing')}", "n": n} for n in range(2500)]
        given = self.files([*documents[:7], "", *documents[7:]], ["red fox", "", "even"])
        out = self.bench(*given, "--field", "body", "--join", "or,and,phrase", "--json", self.folder / "out.json")
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["build", "search", "search", "search"])
        build, *searches = self.read("out.json")["rows"]
        self.assertEqual((build["metrics"]["documents"], build["params"]), (2500, {"corpus": "documents.jsonl", "merged": True}))
        found = {row["params"]["join"]: row["metrics"]["hits"] for row in searches}
        self.assertEqual(found, {"or": (500 + 1250) / 2, "and": (500 + 1250) / 2, "phrase": (250 + 1250) / 2})
        for row in searches:
            metrics = row["metrics"]
            self.assertGreater(metrics["qps"], 0)
            self.assertLessEqual(metrics["p50_us"], metrics["p99_us"])
        # What was written can be compared, and nothing is left beside it.
        self.bench("compare", self.folder / "out.json", self.folder / "out.json")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["documents.jsonl", "out.json", "queries.txt"])

    def test_what_is_no_corpus_is_told_with_its_line(self):
        self.refused("line 2 of", *self.files([{"text": "a"}, "{no json"], ["a"]))
        self.refused("has no text [text]", *self.files([{"text": "a"}, {"body": "b"}], ["a"]))
        self.refused("has no text [text]", *self.files([{"text": 7}], ["a"]))
        self.refused("has no documents", *self.files([], ["a"]))
        self.refused("has no searches", *self.files([{"text": "a"}], [" "]))
        self.refused("is no folder", *self.files([{"text": "a"}], ["a"])[:-4], "--dir", self.folder / "none")
        self.refused("from 1 to", *self.files([{"text": "a"}], ["a"]), "--k", "0", status=2)
        self.refused("No such file", "text", "--corpus", self.folder / "none", "--queries", self.folder / "queries.txt", "--dir", self.folder)
        self.assertFalse(list(self.folder.glob("clew-bench-*")))


if __name__ == "__main__":
    unittest.main()

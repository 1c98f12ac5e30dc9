"""SQL and PPL: rows against those that Python makes of the same documents."""

import collections
import csv
import datetime
import io
import random
import statistics

from opensearchpy.exceptions import TransportError

from .base import ClewTest

CITIES = ["Oslo", "Bergen", "Paris", "Lyon", "Rome", "New York"]
WORDS = ["fast", "slow", "red", "green", "engine", "wheel"]
START = datetime.datetime(2024, 1, 1)
MAPPINGS = {
    "properties": {
        "name": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
        "note": {"type": "text"},
        "city": {"type": "keyword"},
        "age": {"type": "integer"},
        "pay": {"type": "double"},
        "member": {"type": "boolean"},
        "at": {"type": "date"},
        "address": {"properties": {"zip": {"type": "keyword"}, "floor": {"type": "long"}}},
    }
}


def documents(count, seed=7):
    """People, some of them without a city or a pay."""
    draw = random.Random(seed)
    people = {}
    for number in range(count):
        at = START + datetime.timedelta(minutes=draw.randrange(60 * 24 * 3))
        person = {
            "name": f"{draw.choice(['Ann', 'Bob', 'Eve'])} {number}",
            "note": " ".join(draw.choices(WORDS, k=3)),
            "age": draw.randrange(18, 60),
            "member": draw.random() < 0.5,
            "at": at.isoformat() + "Z",
            "address": {"zip": f"{draw.randrange(5):04d}", "floor": draw.randrange(9)},
        }
        if draw.random() < 0.9:
            person["city"] = draw.choice(CITIES)
        if draw.random() < 0.9:
            person["pay"] = draw.randrange(1000, 9000) / 4
        people[str(number)] = person
    return people


class SqlTest(ClewTest):
    """Statements over one index of people."""

    def setUp(self):
        super().setUp()
        self.client.indices.create(index="people", body={"mappings": MAPPINGS})
        self.people = documents(400)
        self.index_all("people", self.people)
        self.all = list(self.people.values())

    def sql(self, query, params=None, **body):
        return self.raw("POST", "/_plugins/_sql", {"query": query, **body}, params=params)

    def ppl(self, query, params=None):
        return self.raw("POST", "/_plugins/_ppl", {"query": query}, params=params)

    def rows(self, query, **body):
        answer = self.sql(query, **body)
        self.assertEqual(answer["size"], len(answer["datarows"]))
        return answer["datarows"]

    def ppl_rows(self, query):
        return self.ppl(query)["datarows"]

    def count(self, condition):
        return self.rows(f"SELECT count(*) FROM people WHERE {condition}")[0][0]

    def explained(self, query, language="_sql"):
        answer = self.raw("POST", f"/_plugins/{language}/_explain", {"query": query})
        operators = []
        node = answer["root"]
        while node["children"]:
            operators.append(node["name"])
            (node,) = node["children"]
        return operators, node["description"]["request"]

    def test_columns_have_the_types_of_the_mapping(self):
        answer = self.sql("SELECT name, age AS years, pay, member, at, address.zip, upper(city) FROM people LIMIT 3")
        self.assertEqual(
            answer["schema"],
            [
                {"name": "name", "type": "text"},
                {"name": "age", "alias": "years", "type": "integer"},
                {"name": "pay", "type": "double"},
                {"name": "member", "type": "boolean"},
                {"name": "at", "type": "timestamp"},
                {"name": "address.zip", "type": "keyword"},
                {"name": "upper(city)", "type": "keyword"},
            ],
        )
        self.assertEqual((answer["total"], answer["size"], answer["status"]), (3, 3, 200))

    def test_a_star_has_the_fields_at_the_top(self):
        answer = self.sql("SELECT * FROM people WHERE name = 'Nobody'")
        names = [column["name"] for column in answer["schema"]]
        self.assertEqual(sorted(names), sorted(MAPPINGS["properties"]))
        row = self.sql("SELECT * FROM people ORDER BY name LIMIT 1")
        shown = dict(zip([column["name"] for column in row["schema"]], row["datarows"][0]))
        first = min(self.all, key=lambda person: person["name"])
        self.assertEqual(shown["address"], first["address"])
        self.assertEqual(shown["at"], first["at"].replace("T", " ").rstrip("Z"))

    def test_conditions_find_what_python_finds(self):
        for condition, wanted in [
            ("age = 30", lambda p: p["age"] == 30),
            ("30 < age", lambda p: p["age"] > 30),
            ("age <> 30", lambda p: p["age"] != 30),
            ("city <> 'Oslo'", lambda p: p.get("city") not in (None, "Oslo")),
            ("age BETWEEN 20 AND 30 OR member = true", lambda p: 20 <= p["age"] <= 30 or p["member"]),
            ("city IN ('Oslo', 'Rome') AND NOT member = true", lambda p: p.get("city") in ("Oslo", "Rome") and not p["member"]),
            ("city LIKE '%o%'", lambda p: "o" in p.get("city", "").lower()),
            ("city LIKE 'New_York'", lambda p: p.get("city") == "New York"),
            ("name LIKE 'ann %'", lambda p: p["name"].startswith("Ann ")),
            ("city IS NULL", lambda p: "city" not in p),
            ("pay IS NOT NULL", lambda p: "pay" in p),
            ("name = 'Ann 1'", lambda p: p["name"] == "Ann 1"),
            ("at >= '2024-01-02' AND at < '2024-01-02 12:00:00'", lambda p: "2024-01-02" <= p["at"] < "2024-01-02T12"),
            ("at >= timestamp('2024-01-03 06:00:00')", lambda p: p["at"] >= "2024-01-03T06"),
            ("member", lambda p: p["member"]),
            ("address.floor > 6", lambda p: p["address"]["floor"] > 6),
            ("match(note, 'fast engine', operator='and')", lambda p: {"fast", "engine"} <= set(p["note"].split())),
            ("match_phrase(note, 'red green')", lambda p: "red green" in p["note"]),
            ("multi_match([note, 'name' ^ 2], 'slow')", lambda p: "slow" in p["note"]),
            ("query_string(['note'], 'wheel AND red')", lambda p: {"wheel", "red"} <= set(p["note"].split())),
            ("simple_query_string([note], '+wheel -red', default_operator='and')", lambda p: "wheel" in p["note"] and "red" not in p["note"]),
            ("query('note:wheel')", lambda p: "wheel" in p["note"]),
            # Only the rows can tell these.
            ("upper(city) = 'OSLO'", lambda p: p.get("city") == "Oslo"),
            ("age % 2 = 1 AND city = 'Rome'", lambda p: p["age"] % 2 == 1 and p.get("city") == "Rome"),
            ("address.floor * 10 > age", lambda p: p["address"]["floor"] * 10 > p["age"]),
            ("concat(city, '!') LIKE 'r%!'", lambda p: p.get("city") == "Rome"),
            ("CASE WHEN age < 30 THEN 'young' ELSE 'old' END = 'young'", lambda p: p["age"] < 30),
        ]:
            with self.subTest(condition):
                self.assertEqual(self.count(condition), sum(map(bool, map(wanted, self.all))))

    def departments(self):
        """People with departments, some without the other."""
        mappings = {"properties": {"name": {"type": "keyword"}, "dept": {"type": "keyword"}}}
        self.client.indices.create(index="staff", body={"mappings": mappings})
        self.client.indices.create(index="depts", body={"mappings": mappings})
        staff = [("ann", "eng"), ("bob", "eng"), ("cat", "ops"), ("dan", None)]
        self.index_all("staff", {n: {"name": n, **({"dept": d} if d else {})} for n, d in staff})
        self.index_all("depts", {d: {"dept": d, "name": d.upper()} for d in ("eng", "ops", "law")})

    def test_outer_joins_keep_rows_of_either_side(self):
        self.departments()
        both = [["ann", "ENG"], ["bob", "ENG"], ["cat", "OPS"]]
        for join, more in [
            ("JOIN", []),
            ("LEFT JOIN", [["dan", None]]),
            ("RIGHT JOIN", [[None, "LAW"]]),
            ("RIGHT OUTER JOIN", [[None, "LAW"]]),
            ("FULL OUTER JOIN", [["dan", None], [None, "LAW"]]),
        ]:
            with self.subTest(join):
                rows = self.rows(f"SELECT s.name, d.name FROM staff s {join} depts d ON s.dept = d.dept")
                self.assertCountEqual(rows, both + more)
        rows = self.rows("SELECT s.name, d.name FROM staff s RIGHT JOIN depts d ON s.dept = d.dept WHERE s.name IS NULL")
        self.assertEqual(rows, [[None, "LAW"]])
        on = "s.dept = d.dept AND d.name <> 'OPS'"
        rows = self.rows(f"SELECT s.name, d.name FROM staff s RIGHT JOIN depts d ON {on}")
        self.assertCountEqual(rows, both[:2] + [[None, "OPS"], [None, "LAW"]])
        for join, names in [
            ("right outer", ["ann", "bob", "cat", None]),
            ("full", ["ann", "bob", "cat", "dan", None]),
            ("left semi", ["ann", "bob", "cat"]),
            ("anti", ["dan"]),
        ]:
            with self.subTest(join):
                on = "on s.dept = d.dept"
                rows = self.ppl_rows(f"source=staff | {join} join left=s right=d {on} depts | fields s.name")
                self.assertCountEqual(rows, [[name] for name in names])

    def test_searches_are_written_in_older_ways(self):
        fast = sum("fast" in p["note"].split() for p in self.all)
        for condition in [
            "note = MATCH_QUERY('fast')",
            "note = matchQuery('fast')",
            "note = match_phrase('fast')",
            "note = WILDCARD_QUERY('fas*')",
            "MULTI_MATCH('query'='fast', 'fields'='note^2,name')",
            "multi_match(query='fast', fields='note')",
        ]:
            with self.subTest(condition):
                self.assertEqual(self.count(condition), fast)
        self.assertEqual(self.count("pay IS MISSING"), self.count("pay IS NULL"))
        self.assertEqual(self.count("pay IS NOT MISSING"), self.count("pay IS NOT NULL"))

    def test_rows_exist_or_do_not(self):
        self.departments()
        everybody = [["ann"], ["bob"], ["cat"], ["dan"]]
        exists = "EXISTS (SELECT * FROM depts d WHERE d.dept = 'law')"
        self.assertEqual(self.rows(f"SELECT name FROM staff WHERE {exists} ORDER BY name"), everybody)
        self.assertEqual(self.rows(f"SELECT name FROM staff WHERE NOT {exists}"), [])
        self.assertEqual(self.rows("SELECT name FROM staff WHERE EXISTS (SELECT name FROM depts WHERE dept = 'x')"), [])
        mappings = {"properties": {"parts": {"type": "nested", "properties": {"n": {"type": "long"}}}}}
        self.client.indices.create(index="wholes", body={"mappings": mappings})
        parts = {"a": [{"n": 1}, {"n": 5}], "b": [{"n": 2}], "c": []}
        self.index_all("wholes", {key: {"key": key, "parts": [*value]} for key, value in parts.items()})
        for condition, keys in [
            ("EXISTS (SELECT * FROM w.parts AS p WHERE p.n > 1 AND p.n < 5)", ["b"]),
            ("NOT EXISTS (SELECT * FROM w.parts p WHERE p.n > 1)", ["c"]),
            ("EXISTS (SELECT * FROM w.parts p)", ["a", "b"]),
        ]:
            with self.subTest(condition):
                rows = self.rows(f"SELECT w.key FROM wholes w WHERE {condition} ORDER BY w.key")
                self.assertEqual(rows, [[key] for key in keys])

    def test_rows_that_are_the_same_are_shown_once(self):
        self.departments()
        self.assertEqual(self.rows("SELECT DISTINCT count(*) FROM staff GROUP BY name"), [[1]])
        rows = self.rows("SELECT DISTINCT * FROM depts ORDER BY dept DESC LIMIT 2")
        self.assertEqual(rows, [["ops", "OPS"], ["law", "LAW"]])
        self.assertEqual(self.rows("SELECT DISTINCT count(*) OVER () FROM staff"), [[4]])

    def test_fields_are_described_by_patterns(self):
        self.departments()
        answer = self.sql("DESCRIBE TABLES LIKE staf% COLUMNS LIKE n%")
        place = [column["name"] for column in answer["schema"]].index("COLUMN_NAME")
        self.assertEqual([row[place] for row in answer["datarows"]], ["name"])

    def test_functions_of_the_moment_and_of_chance(self):
        (row,) = self.rows(
            "SELECT current_date = current_date(), localtimestamp = now(), floor(1.5), ceil(age), rand(3) = rand(3), "
            "timestamp('2020-08-26 13:49:00', '12:15:16'), datetime('2008-02-10 02:00:00', '+04:00') FROM people LIMIT 1"
        )
        self.assertEqual(row[:3], [True, True, 1])
        self.assertEqual(self.rows("SELECT -(-1), - -2, 3 - -1"), [[1, 2, 4]])
        self.assertIsInstance(row[2], int)
        self.assertEqual(row[3], self.rows("SELECT age FROM people LIMIT 1")[0][0])
        self.assertEqual(row[4:], [True, "2020-08-27 02:04:16", "2008-02-10 06:00:00"])
        draws = [row[0] for row in self.rows("SELECT rand() FROM people LIMIT 20")]
        self.assertTrue(all(0 <= draw < 1 for draw in draws))
        self.assertGreater(len(set(draws)), 1)

    def test_ppl_takes_texts_and_objects_apart(self):
        line = '10.0.0.1 - ann [28/Sep/2022:10:15:57 -0700] "HEAD /x HTTP/1.0" 404 19927'
        documents = {"1": {"n": 1, "line": line, "ip": "10.0.0.1"}, "2": {"n": 2, "line": "nothing", "ip": "11.0.0.1"}}
        mappings = {"properties": {"line": {"type": "keyword"}, "ip": {"type": "ip"}}}
        self.client.indices.create(index="lines", body={"mappings": mappings})
        self.index_all("lines", documents)
        rows = self.ppl_rows("source=lines | grok line '%{COMMONAPACHELOG}' | sort n | fields COMMONAPACHELOG, timestamp, response, bytes")
        self.assertEqual(rows, [[line, "28/Sep/2022:10:15:57 -0700", "404", "19927"], ["", "", "", ""]])
        answer = self.ppl("source=lines | sort n | head 1 | grok line '%{IP:client} .*' | fields - line, ip")
        self.assertEqual([column["name"] for column in answer["schema"]], ["n", "client"])
        self.assertEqual(answer["datarows"], [[1, "10.0.0.1"]])
        rows = self.ppl_rows("source=lines | where cidrmatch(ip, '10.0.0.0/8') | eval x = cidrmatch('::1', '::/64') | fields n, x")
        self.assertEqual(rows, [[1, True]])
        floors = sorted(p["address"]["floor"] for p in self.all)[:3]
        rows = self.ppl_rows("source=people | flatten address | sort floor | head 3 | fields floor")
        self.assertEqual(rows, [[floor] for floor in floors])
        with self.assertRaises(TransportError) as caught:
            self.ppl("source=people | flatten age")
        self.assertIn("flatten needs an object", caught.exception.info["error"]["details"])
        rows = self.ppl_rows("source=people, lines | stats count() as c")
        self.assertEqual(rows, [[len(self.all) + 2]])
        both = self.ppl_rows("source=people | stats percentile<50>(age) as a, percentile(age, 50) as b")
        self.assertEqual(both[0][0], both[0][1])

    def test_a_statement_can_answer_with_its_search(self):
        answer = self.sql("SELECT name, at FROM people WHERE age > 30 ORDER BY age LIMIT 3", params={"format": "json"})
        hits = [hit["_source"] for hit in answer["hits"]["hits"]]
        self.assertEqual([sorted(hit) for hit in hits], [["at", "name"]] * 3)
        self.assertEqual(answer["hits"]["total"]["value"], sum(p["age"] > 30 for p in self.all))
        answer = self.sql("SELECT count(*) FROM people", params={"format": "json"})
        self.assertEqual(answer["datarows"], [[len(self.all)]])

    def set(self, **settings):
        body = {"transient": {name.replace("__", "."): value for name, value in settings.items()}}
        self.raw("PUT", "/_plugins/_query/settings", body)

    def test_documents_are_deleted_where_the_cluster_allows_it(self):
        self.addCleanup(self.set, plugins__sql__delete__enabled=None)
        self.set(plugins__sql__delete__enabled=True)
        young = sum(person["age"] < 30 for person in self.all)
        answer = self.sql("DELETE FROM people WHERE age < 30")
        self.assertEqual(answer["schema"], [{"name": "deleted_rows", "type": "long"}])
        self.assertEqual((answer["datarows"], answer["total"], answer["size"]), ([[young]], 1, 1))
        self.assertEqual(self.rows("SELECT count(*) FROM people"), [[len(self.all) - young]])
        # More would go than is meant.
        for query, kind in [
            ("DELETE FROM people WHERE age > pay", "UnsupportedOperationException"),
            ("DELETE FROM people WHERE age > 30 AND age > pay", "UnsupportedOperationException"),
            ("DELETE FROM people WHERE nope = 1", "SemanticCheckException"),
            ("DELETE FROM nowhere", "IndexNotFoundException"),
            ("DELETE people", "SyntaxCheckException"),
        ]:
            with self.assertRaises(TransportError) as caught:
                self.sql(query)
            self.assertEqual(caught.exception.info["error"]["type"], kind, query)
        self.assertEqual(self.rows("SELECT count(*) FROM people"), [[len(self.all) - young]])
        oldest = max(person["age"] for person in self.all)
        count = sum(person["age"] == oldest for person in self.all)
        self.assertEqual(self.rows("DELETE FROM people WHERE age = (SELECT MAX(age) FROM people)"), [[count]])
        self.assertEqual(self.rows("DELETE FROM people;"), [[len(self.all) - young - count]])
        self.assertEqual(self.rows("SELECT count(*) FROM people"), [[0]])

    def test_settings_of_the_cluster_turn_languages_off_and_limit_rows(self):
        self.addCleanup(self.set, plugins__sql__enabled=None, plugins__ppl__enabled=None, plugins__query__size_limit=None)
        self.set(plugins__query__size_limit=7)
        self.assertEqual(len(self.rows("SELECT name FROM people")), 7)
        self.assertEqual(len(self.ppl_rows("source=people | where age + 0 > 0")), 7)
        self.assertEqual(len(self.rows("SELECT name FROM people LIMIT 20")), 20)
        self.assertEqual(self.rows("SELECT count(*) FROM people"), [[len(self.all)]])
        self.set(plugins__sql__enabled=False, plugins__ppl__enabled=False)
        for ask, text, kind in [
            (self.sql, "SELECT 1", "SQLFeatureDisabledException"),
            (self.ppl, "source=people", "IllegalAccessException"),
        ]:
            with self.assertRaises(TransportError) as caught:
                ask(text)
            self.assertEqual(caught.exception.info["error"]["type"], kind)

    def test_hits_have_columns_of_their_own(self):
        rows = self.rows("SELECT _id, _score, _maxscore, _sort, highlight('n*') FROM people WHERE match(note, 'fast') LIMIT 2")
        for identity, score, most, sort, found in rows:
            self.assertIn(identity, self.people)
            self.assertLessEqual(score, most)
            self.assertEqual(sort, -2)
            self.assertIn("<em>fast</em>", found["note"][0])
        self.assertEqual(len(rows), 2)

    def test_statements_are_counted(self):
        before = self.raw("GET", "/_plugins/_sql/stats")
        self.sql("SELECT name FROM people", fetch_size=5)
        self.ppl("source=people | head 1")
        with self.assertRaises(TransportError):
            self.sql("SELECT nope FROM people")
        after = self.raw("POST", "/_plugins/_ppl/stats")
        for name, more in [("request_total", 2), ("ppl_request_total", 1), ("default_cursor_request_total", 1)]:
            self.assertEqual(after[name], before[name] + more, name)
        self.assertGreaterEqual(after["request_total"], after["request_count"])

    def test_selects_in_parentheses_are_put_together(self):
        self.departments()
        rows = self.rows("(SELECT name FROM staff WHERE dept = 'ops') UNION (SELECT dept FROM depts) ORDER BY name LIMIT 2")
        self.assertEqual(rows, [["cat"], ["eng"]])

    def test_some_values_of_a_group_are_taken(self):
        self.departments()
        answer = self.ppl("source=staff | sort name | stats take(name, 1) as one, take(name) as more by dept")
        self.assertEqual(answer["schema"][0], {"name": "one", "type": "array"})
        self.assertEqual(answer["datarows"], [[["dan"], ["dan"], None], [["ann"], ["ann", "bob"], "eng"], [["cat"], ["cat"], "ops"]])
        with self.assertRaises(TransportError):
            self.ppl("source=staff | stats take(name, 0)")

    def test_ppl_looks_values_up_and_makes_rows_of_lists(self):
        self.departments()
        rows = self.ppl_rows("source=staff | lookup depts dept replace name as title | sort name | fields name, title")
        self.assertEqual(rows, [["ann", "ENG"], ["bob", "ENG"], ["cat", "OPS"], ["dan", None]])
        rows = self.ppl_rows("source=depts | eval key = dept | lookup staff dept as key append name as dept, name as who | where who = 'cat' | fields dept, who")
        self.assertEqual(rows, [["ops", "cat"]])
        answer = self.ppl("source=depts | where dept = 'ops' | lookup staff dept")
        self.assertEqual(answer["datarows"], [["ops", "cat"]])
        self.client.indices.create(index="wholes", body={"mappings": {"properties": {"parts": {"type": "nested"}}}})
        self.index_all("wholes", {"a": {"key": "a", "parts": [{"n": 1}, {"n": 5}]}, "b": {"key": "b"}})
        rows = self.ppl_rows("source=wholes | expand parts as part | sort key | fields key, part")
        self.assertEqual(rows, [["a", {"n": 1}], ["a", {"n": 5}], ["b", None]])

    def test_rows_are_ordered_and_limited(self):
        ordered = sorted(self.all, key=lambda p: (-p["age"], p["name"]))
        expected = [[p["name"], p["age"]] for p in ordered]
        query = "SELECT name, age FROM people ORDER BY age DESC, name LIMIT 20 OFFSET 5"
        self.assertEqual(self.rows(query), expected[5:25])
        self.assertEqual(self.rows(query.replace("20 OFFSET 5", "5, 20")), expected[5:25])
        by_expression = sorted(self.all, key=lambda p: (p["age"] % 7, p["name"]))
        query = "SELECT name, age % 7 AS m FROM people ORDER BY m, name LIMIT 9"
        self.assertEqual(self.rows(query), [[p["name"], p["age"] % 7] for p in by_expression[:9]])

    def test_nulls_come_first_unless_they_shall_not(self):
        nulls = sum("pay" not in p for p in self.all)
        for order, first in [("", True), ("DESC", False), ("NULLS LAST", False), ("DESC NULLS FIRST", True)]:
            with self.subTest(order):
                pays = [row[0] for row in self.rows(f"SELECT pay FROM people ORDER BY pay {order}")]
                self.assertEqual(pays[0] is None, first)
                self.assertEqual(pays[:nulls] if first else pays[-nulls:], [None] * nulls)
                known = [pay for pay in pays if pay is not None]
                self.assertEqual(known, sorted(known, reverse="DESC" in order))

    def test_functions_of_a_row(self):
        self.assertEqual(
            self.rows(
                "SELECT 1 + 2 * 3, 7 / 2, 7.0 / 2, 1 / 0, concat('a', 'b'), upper('x'), length('abc'), abs(-4), round(2.5), "
                "floor(2.7), ceil(2.1), coalesce(null, 'c'), ifnull(null, 1), cast('12' AS int), substring('hello', 2, 3), "
                "year(timestamp('2024-05-06 07:08:09')), nullif(1, 1), -(3), not true"
            ),
            [[7, 3, 3.5, None, "ab", "X", 3, 4, 3.0, 2, 3, "c", 1, 12, "ell", 2024, None, -3, False]],
        )

    def test_groups_are_those_of_python(self):
        groups = collections.defaultdict(list)
        for person in self.all:
            groups[person.get("city")].append(person)
        expected = []
        for city in sorted(groups, key=lambda city: (city is not None, city)):
            people = groups[city]
            pays = [p["pay"] for p in people if "pay" in p]
            expected.append(
                [city, len(people), len(pays), sum(p["age"] for p in people), statistics.fmean(pays), min(pays), max(pays)]
            )
        rows = self.rows(
            "SELECT city, COUNT(*), count(pay), sum(age), AVG(pay), min(pay), max(pay) FROM people GROUP BY city"
        )
        self.assertEqual([row[:4] for row in rows], [row[:4] for row in expected])
        for row, wanted in zip(rows, expected):
            self.assertEqual(row[5:], wanted[5:])
            self.assertAlmostEqual(row[4], wanted[4])
        # The same, put together row by row.
        slow = self.rows(
            "SELECT city, COUNT(*), count(pay), sum(age), AVG(pay), min(pay), max(pay) FROM people "
            "WHERE age + 0 > 0 GROUP BY city"
        )
        self.assertEqual([row[:4] + row[5:] for row in slow], [row[:4] + row[5:] for row in rows])

    def test_groups_are_filtered_ordered_and_computed_with(self):
        counts = collections.Counter(p["city"] for p in self.all if "city" in p)
        expected = sorted(((c, n) for c, n in counts.items() if n > 55), key=lambda item: (-item[1], item[0]))
        rows = self.rows(
            "SELECT city AS c, count(*) n, count(*) * 2 FROM people WHERE city IS NOT NULL GROUP BY city "
            "HAVING n > 55 ORDER BY count(*) DESC, c"
        )
        # A star is the keys, which may have an order of their own.
        cities = self.rows("SELECT * FROM people WHERE city IS NOT NULL GROUP BY city DESC")
        self.assertEqual(cities, [[city] for city in sorted(counts, reverse=True)])
        self.assertEqual(rows, [[city, n, 2 * n] for city, n in expected])
        self.assertGreater(len(rows), 0)

    def test_every_group_is_there(self):
        self.client.indices.create(index="many", body={"mappings": {"properties": {"n": {"type": "long"}}}})
        self.index_all("many", {str(n): {"n": n // 2} for n in range(12_000)})
        self.assertEqual(self.rows("SELECT count(distinct n) FROM many WHERE n < 100"), [[100]])
        rows = self.rows("SELECT n, count(*) FROM many GROUP BY n")
        self.assertEqual(rows, [[n, 2] for n in range(6_000)])
        # More documents than a page has, looked at one by one.
        self.assertEqual(self.rows("SELECT count(*) FROM many WHERE n + 1 > 1"), [[11_998]])
        self.assertEqual(len(self.rows("SELECT n FROM many LIMIT 11000")), 11_000)
        self.assertEqual(len(self.rows("SELECT n FROM many")), 10_000)

    def test_aggregates_of_everything(self):
        ages = [p["age"] for p in self.all]
        row = self.rows(
            "SELECT count(*), stddev(age), var_samp(age), count(DISTINCT city), percentile(age, 50), max(at) FROM people"
        )[0]
        self.assertEqual(row[0], len(ages))
        self.assertAlmostEqual(row[1], statistics.pstdev(ages))
        self.assertAlmostEqual(row[2], statistics.variance(ages))
        self.assertEqual(row[3], len(CITIES))
        self.assertAlmostEqual(row[4], statistics.median(ages), delta=1)
        self.assertEqual(row[5], max(p["at"] for p in self.all).replace("T", " ").rstrip("Z"))
        self.assertEqual(self.rows("SELECT count(*), max(age) FROM people WHERE age > 1000"), [[0, None]])

    def test_spans_of_time_and_numbers(self):
        days = collections.Counter(p["at"][:10] + " 00:00:00" for p in self.all)
        for key in ["date_histogram(field='at', interval='1d')", "span(at, 1d)", "date_histogram(at, '1d')"]:
            with self.subTest(key):
                self.assertEqual(
                    self.rows(f"SELECT {key} AS day, count(*) FROM people GROUP BY day"),
                    [list(item) for item in sorted(days.items())],
                )
        decades = collections.Counter(p["age"] // 10 * 10 for p in self.all)
        for key in ["histogram('field'='age', 'interval'='10')", "histogram(age, 10)"]:
            rows = self.rows(f"SELECT {key}, count(*) FROM people GROUP BY {key}")
            self.assertEqual(rows, [list(item) for item in sorted(decades.items())])
        self.assertEqual(
            self.rows("SELECT span(age, 10), count(*) FROM people GROUP BY span(age, 10)"),
            [list(item) for item in sorted(decades.items())],
        )

    def test_distinct_rows(self):
        expected = sorted({(p["address"]["zip"], p["member"]) for p in self.all})
        rows = self.rows("SELECT DISTINCT address.zip, member FROM people ORDER BY address.zip, member")
        self.assertEqual(rows, [list(row) for row in expected])

    def test_indexes_are_named_by_patterns_and_aliases(self):
        self.client.indices.create(index="people-2024.02", body={"mappings": MAPPINGS})
        self.index_all("people-2024.02", {"x": {"name": "Zoe", "age": 99}})
        self.client.indices.put_alias(index="people*", name="everyone")
        for source in ["people*", "`people*`", "everyone", "everyone e"]:
            with self.subTest(source):
                self.assertEqual(self.rows(f"SELECT count(*) FROM {source}"), [[401]])
        self.assertEqual(self.rows("SELECT e.name FROM people-2024.02 AS e WHERE e.age = 99"), [["Zoe"]])
        self.assertEqual(self.rows("SELECT _id, _index FROM everyone WHERE age = 99"), [["x", "people-2024.02"]])
        self.assertEqual(self.ppl_rows("source=people,people-2024.02 | stats count()"), [[401]])

    def test_parameters_and_filters_beside_the_statement(self):
        wanted = sum(p["age"] > 40 and p["member"] for p in self.all)
        rows = self.rows(
            "SELECT count(*) FROM people WHERE age > ?",
            parameters=[{"type": "integer", "value": 40}],
            filter={"term": {"member": True}},
        )
        self.assertEqual(rows, [[wanted]])

    def test_pages_have_all_rows_once(self):
        query = "SELECT name FROM people WHERE age > 20 ORDER BY name"
        expected = sorted([p["name"]] for p in self.all if p["age"] > 20)
        answer = self.sql(query, fetch_size=70)
        self.assertEqual(answer["total"], len(expected))
        pages = [answer["datarows"]]
        # What is written meanwhile is not seen.
        self.index_all("people", {"late": {"name": "Aaa", "age": 30}})
        while "cursor" in answer:
            answer = self.raw("POST", "/_plugins/_sql", {"cursor": answer["cursor"]})
            pages.append(answer["datarows"])
        self.assertEqual(sum(pages, []), expected)
        self.assertLessEqual(max(map(len, pages)), 70)
        self.assertGreater(len(pages), 3)

    def test_sizes_of_pages_are_checked(self):
        self.assertEqual(len(self.sql("SELECT name FROM people", fetch_size="3")["datarows"]), 3)
        for size, details in [(-1, "Fetch_size must be greater or equal to 0"), ("many", "Failed to parse field [fetch_size]")]:
            with self.assertRaises(TransportError) as caught:
                self.sql("SELECT name FROM people", fetch_size=size)
            self.assertEqual(caught.exception.info["error"]["type"], "IllegalArgumentException")
            self.assertEqual(caught.exception.info["error"]["details"], details)

    def test_pages_end_at_the_limit_and_can_be_closed(self):
        answer = self.sql("SELECT name FROM people ORDER BY name LIMIT 5", fetch_size=3)
        last = self.raw("POST", "/_plugins/_sql", {"cursor": answer["cursor"]})
        self.assertEqual((len(answer["datarows"]), len(last["datarows"]), "cursor" in last), (3, 2, False))
        open_page = self.sql("SELECT name FROM people", fetch_size=3)["cursor"]
        self.assertEqual(self.raw("POST", "/_plugins/_sql/close", {"cursor": open_page}), {"succeeded": True})
        with self.assertRaises(TransportError) as caught:
            self.raw("POST", "/_plugins/_sql", {"cursor": open_page})
        self.assertEqual(caught.exception.status_code, 404)

    def test_rows_as_lines(self):
        self.index_all("people", {"odd": {"name": "=1+1,\"x\"", "age": 1}})
        text = self.sql("SELECT name, age, city FROM people WHERE age < 20 ORDER BY age, name", params={"format": "csv"})
        rows = list(csv.reader(io.StringIO(text)))
        self.assertEqual(rows[:2], [["name", "age", "city"], ["'=1+1,\"x\"", "1", ""]])
        self.assertEqual(len(rows), 2 + sum(p["age"] < 20 for p in self.all))
        text = self.sql("SELECT age, name FROM people WHERE age < 18", params={"format": "raw"})
        self.assertEqual(text, "age|name\n1|\"=1+1,\"\"x\"\"\"")

    def test_tables_and_their_columns(self):
        answer = self.sql("SHOW TABLES LIKE 'peo%'")
        self.assertEqual([row[2] for row in answer["datarows"]], ["people"])
        columns = {row[3]: row[5] for row in self.rows("DESCRIBE TABLES LIKE 'people'")}
        self.assertEqual(columns["address.floor"], "long")
        self.assertEqual(columns["at"], "timestamp")
        self.assertNotIn("name.keyword", columns)
        self.assertEqual([row[3] for row in self.rows("DESCRIBE TABLES LIKE people COLUMNS LIKE '%e'")], ["age", "name", "note"])
        self.assertEqual({row[3] for row in self.ppl_rows("describe people")}, set(columns))

    def test_what_a_search_can_do_it_does(self):
        for query, operators, parts in [
            ("SELECT name FROM people WHERE age > 3 ORDER BY age LIMIT 5", ["ProjectOperator"], ['"range":{"age":{"gt":3}}', '"size":5', '"sort"']),
            ("SELECT city, count(*) FROM people GROUP BY city", ["ProjectOperator"], ['"composite"']),
            ("SELECT name FROM people WHERE age > pay", ["ProjectOperator", "FilterOperator"], ['"_source":["age","pay","name"]']),
        ]:
            found, request = self.explained(query)
            self.assertEqual(found, operators, query)
            for part in parts:
                self.assertIn(part, request.replace(": ", ":"), query)
        found, request = self.explained("source=people | where age > 3 | fields name | head 5", "_ppl")
        self.assertEqual(found, ["ProjectOperator"])
        self.assertIn('"size":5', request)

    def test_ppl_commands(self):
        people = self.all
        by_age = sorted(people, key=lambda p: (-p["age"], p["name"]))
        self.assertEqual(
            self.ppl_rows("source=people age > 30 | where member = true | sort - age, name | fields name, age | head 4 from 1"),
            [[p["name"], p["age"]] for p in by_age if p["age"] > 30 and p["member"]][1:5],
        )
        self.assertEqual(
            self.ppl_rows("source=people | eval double = age * 2, more = double + 1 | sort name | fields name, more | head 3"),
            [[p["name"], p["age"] * 2 + 1] for p in sorted(people, key=lambda p: p["name"])[:3]],
        )
        renamed = self.ppl("source=people | fields name, age | rename age as years | fields - name | head 1")
        self.assertEqual([column["name"] for column in renamed["schema"]], ["years"])

    def test_ppl_answers_at_once(self):
        answer = self.raw("POST", "/_plugins/_ppl", {"query": "source=people | fields name", "fetch_size": 3})
        self.assertEqual((len(answer["datarows"]), "cursor" in answer), (400, False))
        text = self.sql("SELECT name FROM people", params={"format": "csv"}, fetch_size=3)
        self.assertEqual(len(text.splitlines()), 401)

    def test_rows_that_grow_without_end_are_refused(self):
        doubled = " | ".join(["eval name = concat(name, name)"] * 60)
        with self.assertRaises(TransportError) as caught:
            self.ppl(f"source=people | {doubled}")
        self.assertIn("bytes", caught.exception.info["error"]["details"])

    def test_ppl_stats(self):
        groups = collections.defaultdict(list)
        for person in self.all:
            groups[(person["at"][:10] + " 00:00:00", person["member"])].append(person["age"])
        answer = self.ppl("source=people | stats count() as n, avg(age) by member, span(at, 1d) as day")
        self.assertEqual([c["name"] for c in answer["schema"]], ["n", "avg(age)", "day", "member"])
        expected = [[len(ages), statistics.fmean(ages), *key] for key, ages in sorted(groups.items())]
        for row, wanted in zip(answer["datarows"], expected, strict=True):
            self.assertEqual(row[:1] + row[2:], wanted[:1] + wanted[2:])
            self.assertAlmostEqual(row[1], wanted[1])
        counts = collections.Counter(p["city"] for p in self.all if "city" in p)
        self.assertEqual(
            self.ppl_rows("source=people | where isnotnull(city) | stats count() as n by city | eval twice = n * 2 | where twice > 100 | sort - n, city | fields city, twice"),
            [[c, 2 * n] for c, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n > 50],
        )
        self.assertEqual(
            self.ppl_rows("source=people | stats count() as n by city, member | stats sum(n), max(n)"),
            [[400, max(collections.Counter((p.get("city"), p["member"]) for p in self.all).values())]],
        )

    def test_ppl_top_rare_and_dedup(self):
        counts = collections.Counter(p["age"] for p in self.all)
        top = [row[0] for row in self.ppl_rows("source=people | top 5 age")]
        self.assertEqual([counts[age] for age in top], sorted(counts.values(), reverse=True)[:5])
        rare = [row[0] for row in self.ppl_rows("source=people | rare age")]
        self.assertEqual([counts[age] for age in rare], sorted(counts.values())[:10])
        within = self.ppl_rows("source=people | top 1 city by member")
        for member, city in within:
            cities = collections.Counter(p.get("city") for p in self.all if p["member"] == member)
            self.assertEqual(cities[city], max(cities.values()))
        self.assertEqual(len(within), 2)
        kept = self.ppl_rows("source=people | sort name | dedup 2 city | fields city, name")
        seen = collections.Counter()
        expected = []
        for person in sorted(self.all, key=lambda p: p["name"]):
            city = person.get("city")
            if city and seen[city] < 2:
                expected.append([city, person["name"]])
            seen[city] += 1
        self.assertEqual(kept, expected)

    def test_functions_are_what_the_documentation_says(self):
        for expression, value, kind in [
            ("degrees(pi())", 180.0, "double"),
            ("add(1, 2)", 3, "integer"),
            ("conv('12', 10, 16)", "c", "keyword"),
            ("truncate(56.78, 1)", 56.7, "double"),
            ("left('helloworld', 5)", "hello", "keyword"),
            ("position('world' IN 'helloworld')", 6, "integer"),
            ("locate('l', 'hello', 4)", 4, "integer"),
            ("strcmp('a', 'b')", -1, "integer"),
            ("typeof(DATE '2020-08-26')", "DATE", "keyword"),
            ("date('2020-08-26 01:02:03')", "2020-08-26", "date"),
            ("cast('2020-08-26 01:02:03' AS time)", "01:02:03", "time"),
            ("date_add('2020-08-26', INTERVAL 1 HOUR)", "2020-08-26 01:00:00", "datetime"),
            ("adddate(date('2020-08-26'), 1)", "2020-08-27", "date"),
            ("subdate('2008-01-02', 31)", "2007-12-02 00:00:00", "datetime"),
            ("datediff('2000-01-02', '2000-01-01')", 1, "long"),
            ("date_format('1998-01-31 13:14:15', '%Y-%b-%D %r')", "1998-Jan-31st 01:14:15 PM", "keyword"),
            ("extract(YEAR_MONTH FROM '2023-02-07 10:11:12')", 202302, "long"),
            ("timestampdiff(YEAR, '1997-01-01 00:00:00', '2001-03-06 00:00:00')", 4, "long"),
            ("from_unixtime(1220249547)", "2008-09-01 06:12:27", "datetime"),
            ("timestamp('2008-09-01')", "2008-09-01 00:00:00", "timestamp"),
            ("typeof(now())", "DATETIME", "keyword"),
            ("convert_tz('2008-12-25 05:30:00', '+00:00', 'America/Los_Angeles')", "2008-12-24 21:30:00", "datetime"),
            ("convert_tz('2008-12-25 05:30:00', '+00:00', 'Nowhere')", None, "datetime"),
            ("datetime('2008-02-10 02:00:00+04:00')", "2008-02-10 02:00:00", "datetime"),
            ("datetime('2008-01-01 02:00:00+15:00', '-12:00')", None, "datetime"),
            ("datetime('2008-01-01 02:00:00+10:00', '+04:00')", "2007-12-31 20:00:00", "datetime"),
            ("to_seconds(950228)", 62961148800, "long"),
            ("date_format('1998-01-31', '%c')", "01", "keyword"),
            ("'True' = true", True, "boolean"),
            ("dayname('2020-08-26')", "Wednesday", "keyword"),
            ("hour('01:02:03')", 1, "integer"),
            ("addtime(TIME '23:00:00', '02:00:00')", "01:00:00", "time"),
            ("'hello' REGEXP 'h.*'", 1, "integer"),
            ("'hello' REGEXP 'x.*'", 0, "integer"),
        ]:
            with self.subTest(expression):
                answer = self.sql(f"SELECT {expression} AS x")
                self.assertEqual((answer["datarows"], answer["schema"][0]["type"]), ([[value]], kind))
        one, two = self.rows("SELECT now(), now() FROM people LIMIT 1")[0]
        self.assertEqual(one, two)

    def test_functions_without_columns_are_part_of_the_search(self):
        condition = "at >= date_sub(date('2024-01-03'), INTERVAL 1 DAY)"
        self.assertEqual(self.count(condition), sum(person["at"] >= "2024-01-02" for person in self.all))
        self.assertEqual(self.count("at < now()"), len(self.all))
        operators, request = self.explained(f"SELECT name FROM people WHERE {condition}")
        self.assertNotIn("FilterOperator", operators)
        months = self.rows("SELECT date_format(at, '%Y-%m') m, count(*) FROM people GROUP BY m")
        self.assertEqual(months, [["2024-01", len(self.all)]])

    def test_ppl_takes_texts_apart_and_fills_in(self):
        rows = self.ppl_rows(r"source=people | parse name '(?<first>\w+) (?<number>\d+)' | fields name, first, number")
        for name, first, number in rows:
            self.assertEqual(name, f"{first} {number}")
        rows = self.ppl_rows("source=people | patterns new_field='rest' name | fields rest | head 1")
        self.assertEqual(rows, [[" "]])
        rows = self.ppl_rows("source=people | fillnull with 'nowhere' in city | stats count() by city")
        self.assertEqual(sum(count for count, city in rows if city == "nowhere"), sum("city" not in person for person in self.all))
        rows = self.ppl_rows("source=people | fillnull using pay = 0 | where pay = 0 | stats count()")
        self.assertEqual(rows, [[sum("pay" not in person for person in self.all)]])
        rows = self.ppl_rows("source=people | eval k = case(age > 40, 'old', age > 30, 'middle' else 'young') | stats count() by k")
        expected = collections.Counter("old" if person["age"] > 40 else "middle" if person["age"] > 30 else "young" for person in self.all)
        self.assertEqual({kind: count for count, kind in rows}, dict(expected))
        rows = self.ppl_rows("source=people | where age > 40 xor member | stats count()")
        self.assertEqual(rows, [[sum((person["age"] > 40) != person["member"] for person in self.all)]])
        rows = self.ppl_rows("source=people | where like(name, 'Ann%') | stats count()")
        self.assertEqual(rows, [[sum(person["name"].startswith("Ann") for person in self.all)]])

    def test_windows_tell_what_a_row_is_among_others(self):
        rows = self.rows(
            "SELECT city, age, ROW_NUMBER() OVER (PARTITION BY city ORDER BY age DESC) AS place, "
            "RANK() OVER (PARTITION BY city ORDER BY age DESC), DENSE_RANK() OVER (PARTITION BY city ORDER BY age DESC) "
            "FROM people WHERE city IS NOT NULL"
        )
        by_city = collections.defaultdict(list)
        for city, age, *ranks in rows:
            by_city[city].append((age, ranks))
        self.assertEqual(set(by_city), set(CITIES))
        for city, found in by_city.items():
            ages = sorted((p["age"] for p in self.all if p.get("city") == city), reverse=True)
            older = sorted(set(ages), reverse=True)
            expected = [(age, [at + 1, ages.index(age) + 1, older.index(age) + 1]) for at, age in enumerate(ages)]
            self.assertEqual(found, expected, city)

    def test_windows_add_up(self):
        rows = self.rows("SELECT age, SUM(age) OVER (ORDER BY age), COUNT(*) OVER (), AVG(age) OVER (PARTITION BY member) FROM people ORDER BY age")
        ages = [p["age"] for p in self.all]
        means = {round(statistics.mean(p["age"] for p in self.all if p["member"] == member), 6) for member in (True, False)}
        for age, so_far, count, mean in rows:
            self.assertEqual((so_far, count), (sum(one for one in ages if one <= age), len(ages)))
            self.assertIn(round(mean, 6), means)
        rows = self.rows("SELECT city, COUNT(*) AS c, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM people GROUP BY city ORDER BY r")
        counts = sorted(collections.Counter(p.get("city") for p in self.all).values(), reverse=True)
        self.assertEqual([row[1:] for row in rows], [[count, counts.index(count) + 1] for count in counts])
        answer = self.sql("SELECT *, ROW_NUMBER() OVER (ORDER BY age) FROM people LIMIT 1")
        self.assertEqual(answer["schema"][-1], {"name": "ROW_NUMBER() OVER (ORDER BY age)", "type": "integer"})
        self.assertEqual(len(answer["schema"]), len(MAPPINGS["properties"]) + 1)

    def test_windows_look_at_frames_and_tell_shares(self):
        ages = sorted(person["age"] for person in self.all)
        last = len(ages) - 1
        rows = self.rows(
            "SELECT age, PERCENT_RANK() OVER (ORDER BY age), CUME_DIST() OVER (ORDER BY age), NTH_VALUE(age, 50) OVER (ORDER BY age) "
            "FROM people ORDER BY age"
        )
        for age, rank, share, nth in rows:
            below, so_far = sum(one < age for one in ages), sum(one <= age for one in ages)
            self.assertAlmostEqual(rank, below / last)
            self.assertAlmostEqual(share, so_far / len(ages))
            self.assertEqual(nth, ages[49] if so_far >= 50 else None)
        rows = self.rows(
            "SELECT age, SUM(age) OVER (ORDER BY age ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING), COUNT(*) OVER (ORDER BY age ROWS UNBOUNDED PRECEDING), "
            "LAST_VALUE(age) OVER (ORDER BY age ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), MAX(age) OVER (ORDER BY age ROWS 3 PRECEDING), "
            "FIRST_VALUE(age) OVER (ORDER BY age ROWS BETWEEN 5 PRECEDING AND 4 PRECEDING) FROM people"
        )
        self.assertEqual([row[0] for row in rows], ages)
        for at, (_, total, count, end, most, before) in enumerate(rows):
            self.assertEqual(total, sum(ages[max(at - 1, 0) : at + 3]))
            self.assertEqual((count, end, most), (at + 1, ages[-1], ages[at]))
            self.assertEqual(before, ages[max(at - 5, 0)] if at >= 4 else None)

    def test_aggregates_take_each_value_once(self):
        for member in (True, False):
            ages = {person["age"] for person in self.all if person["member"] == member}
            wanted = [sum(ages), sum(ages) / len(ages), min(ages), max(ages)]
            asked = "SUM(DISTINCT age), AVG(DISTINCT age), MIN(DISTINCT age), MAX(DISTINCT age)"
            rows = self.rows(f"SELECT {asked} FROM people WHERE member = {str(member).lower()}")
            for one, other in zip(rows[0], wanted):
                self.assertAlmostEqual(one, other)

    def test_a_select_stands_in_place_of_an_index(self):
        rows = self.rows("SELECT t.name, years FROM (SELECT name, age AS years FROM people WHERE age > 30) AS t WHERE years < 40 ORDER BY years, name")
        expected = sorted(([p["name"], p["age"]] for p in self.all if 30 < p["age"] < 40), key=lambda row: (row[1], row[0]))
        self.assertEqual(rows, expected)
        rows = self.rows(
            "SELECT city, place FROM (SELECT city, ROW_NUMBER() OVER (PARTITION BY city ORDER BY age) AS place FROM people) t "
            "WHERE place = 1 AND city IS NOT NULL"
        )
        self.assertEqual(sorted(rows), sorted([city, 1] for city in CITIES))
        rows = self.rows("SELECT MAX(c) FROM (SELECT city, COUNT(*) AS c FROM people WHERE city IS NOT NULL GROUP BY city) t")
        self.assertEqual(rows, [[max(collections.Counter(p["city"] for p in self.all if "city" in p).values())]])
        self.assertEqual(self.rows("SELECT COUNT(*) FROM (SELECT * FROM people) t WHERE age > 30"), [[sum(p["age"] > 30 for p in self.all)]])
        self.assertEqual(len(self.rows("SELECT name FROM (SELECT name FROM people LIMIT 7) t LIMIT 20")), 7)

    def test_a_select_stands_in_place_of_values(self):
        oldest = max(p["age"] for p in self.all)
        self.assertEqual(self.count("age = (SELECT MAX(age) FROM people)"), sum(p["age"] == oldest for p in self.all))
        rich = {p["city"] for p in self.all if p.get("pay", 0) > 2200 and "city" in p}
        condition = "city {} (SELECT city FROM people WHERE pay > 2200)"
        self.assertEqual(self.count(condition.format("IN")), sum(p.get("city") in rich for p in self.all))
        elsewhere = sum("city" in p and p["city"] not in rich for p in self.all)
        self.assertEqual(self.count(condition.format("NOT IN") + " AND city IS NOT NULL"), elsewhere)
        self.assertEqual(self.count("age IN (SELECT age FROM people WHERE age > 1000)"), 0)
        self.assertEqual(self.rows("SELECT 1 + (SELECT COUNT(*) FROM people) AS n"), [[len(self.all) + 1]])

    def towns(self):
        """Some of the cities, each with a land and with people of several kinds."""
        mappings = {"properties": {
            "town": {"type": "keyword"}, "land": {"type": "keyword"}, "size": {"type": "long"},
            "parts": {"type": "nested", "properties": {"name": {"type": "keyword"}, "n": {"type": "long"}}},
        }}
        self.client.indices.create(index="towns", body={"mappings": mappings})
        towns = {
            "1": {"town": "Oslo", "land": "no", "size": 7, "parts": [{"name": "east", "n": 1}, {"name": "west", "n": 2}]},
            "2": {"town": "Paris", "land": "fr", "size": 20, "parts": {"name": "east", "n": 9}},
            "3": {"town": "Rome", "land": "it"},
            "4": {"town": "Oslo", "land": "us"},
            "5": {"land": "xx"},
        }
        self.index_all("towns", towns)
        return towns

    def test_indexes_are_joined(self):
        towns = list(self.towns().values())
        pairs = [(p, t) for p in self.all for t in towns if p.get("city") and p.get("city") == t.get("town")]
        rows = self.rows("SELECT p.name, t.land FROM people p JOIN towns t ON p.city = t.town WHERE p.age > 40 AND t.land <> 'us'")
        expected = [[p["name"], t["land"]] for p, t in pairs if p["age"] > 40 and t["land"] != "us"]
        self.assertEqual(sorted(rows), sorted(expected))
        answer = self.sql("SELECT p.age AS age, t.land FROM people AS p INNER JOIN towns AS t ON p.city = t.town ORDER BY p.age DESC, t.land LIMIT 3")
        self.assertEqual(answer["datarows"], [list(row) for row in sorted(((p["age"], t["land"]) for p, t in pairs), key=lambda row: (-row[0], row[1]))[:3]])
        self.assertEqual(answer["schema"], [{"name": "p.age", "alias": "age", "type": "integer"}, {"name": "t.land", "type": "keyword"}])
        # What is wanted may stand behind WHERE, too, and be more than one column is like another.
        rows = self.rows("SELECT COUNT(*) FROM people p, towns t WHERE p.city = t.town AND p.age > t.size * 3")
        self.assertEqual(rows, [[sum(p["age"] > t["size"] * 3 for p, t in pairs if "size" in t)]])
        # Those without a town stay where the join is a left one.
        rows = self.rows("SELECT p.name, t.town FROM people p LEFT OUTER JOIN towns t ON p.city = t.town AND t.land = 'no'")
        expected = [[p["name"], "Oslo" if p.get("city") == "Oslo" else None] for p in self.all]
        self.assertEqual(sorted(rows, key=str), sorted(expected, key=str))
        rows = self.rows("SELECT p.name FROM people p LEFT JOIN towns t ON p.city = t.town WHERE t.town IS NULL")
        missing = [[p["name"]] for p in self.all if p.get("city") not in ("Oslo", "Paris", "Rome")]
        self.assertEqual(sorted(rows), sorted(missing))
        rows = self.rows("SELECT t.land, COUNT(*), MAX(p.age) FROM people p JOIN towns t ON p.city = t.town GROUP BY t.land ORDER BY t.land")
        lands = collections.defaultdict(list)
        for p, t in pairs:
            lands[t["land"]].append(p["age"])
        self.assertEqual(rows, [[land, len(ages), max(ages)] for land, ages in sorted(lands.items())])
        self.assertEqual(self.rows("SELECT COUNT(*) FROM people CROSS JOIN towns"), [[400 * 5]])
        columns = self.sql("SELECT t.*, p.name FROM people p JOIN towns t ON p.city = t.town LIMIT 1")["schema"]
        self.assertEqual([column["name"] for column in columns], ["t.land", "t.parts", "t.size", "t.town", "p.name"])
        columns = self.sql("SELECT * FROM (SELECT * FROM people p JOIN towns t ON p.city = t.town) j LIMIT 1")["schema"]
        self.assertEqual(len(columns), len(MAPPINGS["properties"]) + 4)
        rows = self.rows("SELECT t.town, s.c FROM towns t JOIN (SELECT city, COUNT(*) AS c FROM people GROUP BY city) s ON t.town = s.city WHERE t.land = 'it'")
        self.assertEqual(rows, [["Rome", sum(p.get("city") == "Rome" for p in self.all)]])
        # Names of indexes may have dashes.
        self.client.index(index="towns-old", id="1", body={"town": "Bonn", "size": 3}, refresh=True)
        rows = self.rows("SELECT towns-old.size, size-1 FROM towns-old WHERE towns-old.size > 2 AND size-2 < 2")
        self.assertEqual(rows, [[3, 2]])
        rows = self.rows("SELECT towns-old.size FROM towns JOIN towns-old ON towns.size > towns-old.size WHERE towns.land = 'fr'")
        self.assertEqual(rows, [[3]])

    def test_selects_are_put_together(self):
        self.towns()
        cities, towns = set(CITIES) | {None}, {"Oslo", "Paris", "Rome", None}
        rows = self.rows("SELECT city FROM people UNION SELECT town FROM towns")
        self.assertEqual(collections.Counter(row[0] for row in rows), collections.Counter(cities | towns))
        rows = self.rows("SELECT city FROM people WHERE age < 0 UNION ALL SELECT town FROM towns ORDER BY city DESC LIMIT 3")
        self.assertEqual(rows, [["Rome"], ["Paris"], ["Oslo"]])
        rows = self.rows("SELECT city FROM people MINUS SELECT town FROM towns")
        self.assertEqual({row[0] for row in rows}, cities - towns)
        rows = self.rows("SELECT city FROM people INTERSECT SELECT town FROM towns WHERE town IS NOT NULL ORDER BY 1")
        self.assertEqual(rows, [["Oslo"], ["Paris"], ["Rome"]])
        self.assertEqual(self.rows("SELECT COUNT(*) FROM (SELECT name FROM people UNION ALL SELECT land FROM towns) u"), [[405]])

    def test_nested_objects_become_rows(self):
        self.towns()
        rows = self.rows("SELECT t.town, p.name, p.n FROM towns t, t.parts p WHERE p.n > 1 ORDER BY p.n")
        self.assertEqual(rows, [["Oslo", "west", 2], ["Paris", "east", 9]])
        rows = self.rows("SELECT t.land, p.name FROM towns AS t LEFT JOIN t.parts AS p ORDER BY t.land, p.name")
        self.assertEqual(rows, [["fr", "east"], ["it", None], ["no", "east"], ["no", "west"], ["us", None], ["xx", None]])
        # Columns without a name before them are of the index, and the name alone is the object.
        rows = self.rows("SELECT land, p.n FROM towns t, t.parts p WHERE land <> 'fr' AND p.name IS NOT NULL ORDER BY p.n")
        self.assertEqual(rows, [["no", 1], ["no", 2]])
        rows = self.rows("SELECT land, COUNT(p) AS c FROM towns t, t.parts p WHERE p IS NOT NULL GROUP BY land HAVING c > 1")
        self.assertEqual(rows, [["no", 2]])
        rows = self.rows("SELECT t.land, COUNT(p) FROM towns t LEFT JOIN t.parts p GROUP BY t.land ORDER BY 1")
        self.assertEqual(rows, [["fr", 1], ["it", 0], ["no", 2], ["us", 0], ["xx", 0]])
        answer = self.sql("SELECT * FROM towns t, t.parts p WHERE p.n = 9")
        self.assertEqual([column["name"] for column in answer["schema"]], ["t.land", "t.parts", "t.size", "t.town", "p.n", "p.name"])
        self.assertEqual(answer["datarows"], [["fr", {"name": "east", "n": 9}, 20, "Paris", 9, "east"]])
        answer = self.sql("SELECT p.*, land FROM towns t, t.parts p WHERE p.n = 1")
        self.assertEqual(answer["datarows"], [[1, "east", "no"]])
        # What was made for the statement is no column of a star.
        columns = self.sql("SELECT *, nested(parts.n) FROM towns")["schema"]
        self.assertEqual([column["name"] for column in columns], ["land", "parts", "size", "town", "nested(parts.n)"])
        answer = self.sql("SELECT land, nested(parts.name), nested(parts.n) FROM towns ORDER BY nested(parts.n) DESC LIMIT 2")
        self.assertEqual(answer["datarows"], [["fr", "east", 9], ["no", "west", 2]])
        self.assertEqual(answer["schema"][1], {"name": "nested(parts.name)", "type": "keyword"})
        for path in ["parts", "'parts'"]:
            condition = f"nested({path}, parts.name = 'east' AND parts.n > 5) OR nested(parts.n) = 2"
            rows = self.rows(f"SELECT land FROM towns WHERE {condition} ORDER BY land")
            self.assertEqual(rows, [["fr"], ["no"]])

    def test_hits_are_highlighted_and_scored(self):
        answer = self.sql("SELECT note, highlight(note, pre_tags='<b>', post_tags='</b>') AS found FROM people WHERE match(note, 'engine')")
        self.assertTrue(answer["datarows"])
        for note, found in answer["datarows"]:
            self.assertEqual(found, [note.replace("engine", "<b>engine</b>")])
        once = dict(self.rows("SELECT name, _score FROM people WHERE match(note, 'engine')"))
        twice = dict(self.rows("SELECT name, _score FROM people WHERE score(match(note, 'engine'), 2)"))
        self.assertEqual(set(once), set(twice))
        for name, score in once.items():
            self.assertAlmostEqual(twice[name], 2 * score, places=4)

    def test_aggregates_count_what_is_filtered(self):
        rows = self.rows("SELECT member, COUNT(*) FILTER(WHERE age > 40) AS old, SUM(pay) FILTER(WHERE city = 'Oslo') FROM people GROUP BY member")
        for member, old, paid in rows:
            own = [p for p in self.all if p["member"] == member]
            self.assertEqual(old, sum(p["age"] > 40 for p in own))
            self.assertAlmostEqual(paid, sum(p.get("pay", 0) for p in own if p.get("city") == "Oslo"))
        operators, _ = self.explained("SELECT COUNT(*) FILTER(WHERE age > 40) FROM people")
        self.assertEqual(operators, ["ProjectOperator"])

    def test_windows_look_at_other_rows(self):
        rows = self.rows(
            "SELECT age, LAG(age) OVER (ORDER BY age) AS b, LEAD(age, 2, 0) OVER (ORDER BY age) AS a, NTILE(4) OVER (ORDER BY age) AS q, "
            "FIRST_VALUE(age) OVER (ORDER BY age) AS f, LAST_VALUE(age) OVER () AS l FROM people ORDER BY age"
        )
        ages = sorted(p["age"] for p in self.all)
        # Rows of one age may stand in any order, but what they say is the same together.
        found = collections.Counter((age, before) for age, before, *_ in rows)
        self.assertEqual(found, collections.Counter(zip(ages, [None, *ages])))
        found = collections.Counter((age, after) for age, _, after, *_ in rows)
        self.assertEqual(found, collections.Counter(zip(ages, [*ages[2:], 0, 0])))
        self.assertEqual(collections.Counter(row[3] for row in rows), {1: 100, 2: 100, 3: 100, 4: 100})
        self.assertEqual({row[4] for row in rows}, {ages[0]})
        self.assertEqual(len({row[5] for row in rows}), 1)

    def test_drivers_write_times_and_patterns_their_way(self):
        moment = datetime.datetime(2024, 1, 2)
        after = sum(datetime.datetime.fromisoformat(p["at"].rstrip("Z")) > moment for p in self.all)
        for condition in [
            "at > {ts '2024-01-02 00:00:00'}",
            "at > {d '2024-01-02'}",
            "at > DATE '2024-01-01' + INTERVAL 1 DAY",
            "at - INTERVAL 1 DAY > '2024-01-01 00:00:00'",
        ]:
            self.assertEqual(self.count(condition), after, condition)
        self.assertEqual(self.rows("SELECT {fn UPPER('a')}, 'a_b' LIKE 'a!_b' ESCAPE '!', 'axb' LIKE 'a!_b' ESCAPE '!'"), [["A", True, False]])
        self.assertEqual(self.count("city LIKE 'New!_%' ESCAPE '!'"), 0)
        self.assertEqual(len(self.sql("SELECT p.*, age + 1 FROM people p LIMIT 1")["schema"]), len(MAPPINGS["properties"]) + 1)

    def test_ppl_tells_of_groups_beside_rows_and_looks_elsewhere(self):
        rows = self.ppl_rows("source=people | eventstats avg(age) as mean, count() as c by city | where city = 'Oslo' | fields age, mean, c")
        ages = [p["age"] for p in self.all if p.get("city") == "Oslo"]
        self.assertEqual(sorted(row[0] for row in rows), sorted(ages))
        for _, mean, count in rows:
            self.assertAlmostEqual(mean, statistics.mean(ages))
            self.assertEqual(count, len(ages))
        self.towns()
        rows = self.ppl_rows("source=people | where city in [ source=towns | where size > 5 | fields town ] | stats count()")
        self.assertEqual(rows, [[sum(p.get("city") in ("Oslo", "Paris") for p in self.all)]])
        rows = self.ppl_rows("source=people | stats median(age), count(eval(age > 40)) as old, c()")
        ages = [p["age"] for p in self.all]
        self.assertEqual(rows[0][1:], [sum(age > 40 for age in ages), len(ages)])
        self.assertAlmostEqual(rows[0][0], statistics.median(ages), delta=1)
        names = [column["name"] for column in self.ppl("source=people | fields a*, *am*")["schema"]]
        self.assertEqual(names, ["address", "age", "at", "name"])
        self.assertEqual(self.ppl_rows("show datasources"), [["@opensearch", "OPENSEARCH"]])
        self.assertEqual(self.raw("GET", "/_plugins/_query/_datasources"), [])
        self.assertIn("root", self.ppl("explain source=people | where age > 30"))
        rows = self.ppl_rows("source=people | fillnull value='none' city | where city = 'none' | stats count()")
        self.assertEqual(rows, [[sum("city" not in p for p in self.all)]])
        pairs = [(p, land) for p in self.all for town, land in (("Oslo", "no"), ("Paris", "fr"), ("Rome", "it"), ("Oslo", "us")) if p.get("city") == town]
        join = "source=people | where age > 30 | inner join left=p right=t on p.city = t.town towns"
        rows = self.ppl_rows(f"{join} | fields p.age, land")
        self.assertEqual(sorted(rows), sorted([p["age"], land] for p, land in pairs if p["age"] > 30))
        rows = self.ppl_rows(f"{join} | stats count() as c by t.land | sort t.land | fields c")
        lands = collections.Counter(land for p, land in pairs if p["age"] > 30)
        self.assertEqual(rows, [[count] for _, count in sorted(lands.items())])
        rows = self.ppl_rows("source=people | left join left=p right=t on p.city = t.town [ source=towns | where size > 5 | fields town ] | where isnull(t.town) | stats count()")
        self.assertEqual(rows, [[sum(p.get("city") not in ("Oslo", "Paris") for p in self.all)]])
        rows = self.ppl_rows("source=people | where age = [ source=people | stats max(age) ] | stats count()")
        self.assertEqual(rows, [[sum(p["age"] == max(q["age"] for q in self.all) for p in self.all)]])

    def test_trendlines_are_means_of_the_last_rows(self):
        rows = self.ppl_rows("source=people | trendline sort at sma(3, pay) as mean wma(2, pay) | fields at, pay, mean, pay_trendline | head 300")
        known = sorted((p["at"], p["pay"]) for p in self.all if "pay" in p)
        self.assertEqual(len(rows), 300)
        pays = [row[1] for row in rows]
        self.assertEqual(sorted(pays), sorted(pay for _, pay in known[:300]))
        for at, (_, _, mean, weighted) in enumerate(rows):
            self.assertAlmostEqual(mean, sum(pays[at - 2:at + 1]) / 3) if at > 1 else self.assertIsNone(mean)
            self.assertAlmostEqual(weighted, (pays[at - 1] + 2 * pays[at]) / 3) if at else self.assertIsNone(weighted)
        for query in ("trendline sma(0, pay)", "trendline sma(2, city)", "trendline", "trendline sort pay"):
            with self.subTest(query), self.assertRaises(TransportError):
                self.ppl(f"source=people | {query}")

    def test_ppl_has_names_of_its_own_for_types(self):
        statement = "source=people | head 1 | eval n = now() | fields name, city, at, age, member, address, n"
        answer = self.ppl(statement)
        kinds = ["string", "string", "timestamp", "integer", "boolean", "struct", "datetime"]
        self.assertEqual([column["type"] for column in answer["schema"]], kinds)
        self.assertEqual(sorted(answer), ["datarows", "schema", "size", "total"])
        charted = self.ppl("source=people | stats count() as c by member", params={"format": "viz"})
        members = collections.Counter(p["member"] for p in self.all)
        self.assertEqual(charted, {
            "data": {"c": [members[False], members[True]], "member": [False, True]},
            "metadata": {"fields": [{"name": "c", "type": "integer"}, {"name": "member", "type": "boolean"}]},
            "size": 2,
            "status": 200,
        })

    def test_formats_of_dates_say_whether_they_are_days_or_times(self):
        mappings = {"properties": {
            "day": {"type": "date", "format": "yyyy-MM-dd"},
            "clock": {"type": "date", "format": "HH:mm:ss"},
            "both": {"type": "date", "format": "yyyy-MM-dd HH:mm:ss||epoch_millis"},
        }}
        self.client.indices.create(index="shifts", body={"mappings": mappings})
        self.index_all("shifts", {
            "1": {"day": "2024-01-01", "clock": "08:00:00", "both": "2024-01-01 08:00:00"},
            "2": {"day": "2024-01-03", "clock": "10:30:00", "both": 1704277800000},
            "3": {"day": "2024-01-03"},
        })
        answer = self.sql("SELECT day, clock, both FROM shifts ORDER BY day, clock DESC")
        self.assertEqual([column["type"] for column in answer["schema"]], ["date", "time", "timestamp"])
        self.assertEqual(answer["datarows"], [
            ["2024-01-01", "08:00:00", "2024-01-01 08:00:00"],
            ["2024-01-03", "10:30:00", "2024-01-03 10:30:00"],
            ["2024-01-03", None, None],
        ])
        for condition, count in [
            ("day = '2024-01-03'", 2),
            ("day = DATE '2024-01-03'", 2),
            ("day IN ('2024-01-01', '2024-01-02')", 1),
            ("day < TIMESTAMP '2024-01-03 00:00:00'", 1),
            ("clock > '09:00:00'", 1),
            ("clock < TIME '09:00:00'", 1),
            ("adddate(day, 1) = DATE '2024-01-04'", 2),
        ]:
            with self.subTest(condition):
                self.assertEqual(self.rows(f"SELECT count(*) FROM shifts WHERE {condition}"), [[count]])
        rows = self.rows("SELECT min(day), max(clock), avg(day), avg(clock), avg(both) FROM shifts")
        self.assertEqual(rows, [["2024-01-01", "10:30:00", "2024-01-02", "09:15:00", "2024-01-02 09:15:00"]])
        self.assertEqual(self.rows("SELECT day, count(*) FROM shifts GROUP BY day"), [["2024-01-01", 1], ["2024-01-03", 2]])
        rows = self.rows("SELECT upper('x'), avg(datetime(cast(both AS string))) FROM shifts GROUP BY upper('x')")
        self.assertEqual(rows, [["X", "2024-01-02 09:15:00"]])
        rows = self.ppl_rows("describe shifts | where TYPE_NAME = 'date' | fields COLUMN_NAME")
        self.assertEqual(rows, [["day"]])

    def test_spreads_and_distinct_values_run_over_a_window(self):
        ages = sorted(p["age"] for p in self.all if p.get("city") == "Oslo")
        rows = self.rows(
            "SELECT age, stddev_pop(age) OVER (ORDER BY age), var_samp(age) OVER (ORDER BY age), "
            "count(DISTINCT age) OVER (ORDER BY age), avg(at) OVER () FROM people WHERE city = 'Oslo' ORDER BY age"
        )
        for age, spread, sampled, distinct, _ in rows:
            so_far = [other for other in ages if other <= age]
            self.assertAlmostEqual(spread, statistics.pstdev(so_far))
            if len(so_far) > 1:
                self.assertAlmostEqual(sampled, statistics.variance(so_far))
            self.assertEqual(distinct, len(set(so_far)))
        self.assertTrue(rows[0][4].startswith("2024-01-0"))

    def test_conditions_are_true_or_false_or_neither(self):
        known = [p for p in self.all if "pay" in p]
        for condition, count in [
            ("member IS TRUE", sum(p["member"] for p in self.all)),
            ("member IS NOT FALSE", sum(p["member"] for p in self.all)),
            ("(pay > 2000) IS FALSE", sum(p["pay"] <= 2000 for p in known)),
            ("(pay > 2000) IS NOT TRUE", len(self.all) - sum(p["pay"] > 2000 for p in known)),
        ]:
            with self.subTest(condition):
                self.assertEqual(self.count(condition), count)

    def test_percentiles_are_of_the_type_of_their_values(self):
        for call in ["percentile(age, 50)", "percentile_approx(age, 50, 100)"]:
            answer = self.sql(f"SELECT {call} FROM people")
            self.assertEqual(answer["schema"][0]["type"], "integer")
            self.assertIsInstance(answer["datarows"][0][0], int)

    def test_conditions_may_stand_beside_each_other(self):
        expected = sum(p.get("city") == "Oslo" and p["age"] > 30 for p in self.all)
        for query in ["where city = 'Oslo' age > 30", "where city = 'Oslo' and age > 30;"]:
            with self.subTest(query):
                self.assertEqual(len(self.ppl_rows(f"source=people | {query}")), expected)
        self.assertEqual(self.ppl_rows("source=people city = 'Oslo' age > 30 | stats count()"), [[expected]])
        with self.assertRaises(TransportError) as caught:
            self.ppl("source=people | where age > 30 city")
        self.assertEqual(caught.exception.info["error"]["type"], "SyntaxCheckException")
        self.assertEqual(self.ppl_rows("show datasources | where CONNECTOR_TYPE = 'PROMETHEUS'"), [])

    def test_searches_take_the_signs_of_both_languages(self):
        for pattern in ["Os%", "O_lo", "Os*", "O?lo"]:
            with self.subTest(pattern):
                self.assertEqual(self.count(f"wildcard_query(city, '{pattern}')"), sum(p.get("city") == "Oslo" for p in self.all))
        self.assertEqual(self.count(r"wildcard_query(city, 'O\\_lo')"), 0)
        engines = sum("engine" in p["note"].split() for p in self.all)
        self.assertEqual(self.count("match(note, 'engine', analyzer=default)"), engines)
        self.assertEqual(self.count("query_string(['note'], 'engine', fuzzy_rewrite='constant_score')"), engines)
        self.assertEqual(len(self.rows("SELECT name FROM people HAVING match(note, 'engine')")), engines)
        kind = self.sql("SELECT highlight('no*') FROM people WHERE match(note, 'engine') LIMIT 1")["schema"][0]["type"]
        self.assertEqual(kind, "object")

    def test_all_fields_of_nested_objects_are_shown(self):
        self.towns()
        answer = self.sql("SELECT land, nested(parts.*) FROM towns WHERE land IN ('no', 'fr') ORDER BY land")
        self.assertEqual([column["name"] for column in answer["schema"]], ["land", "nested(parts.n)", "nested(parts.name)"])
        self.assertEqual(answer["datarows"], [["fr", 9, "east"], ["no", 1, "east"], ["no", 2, "west"]])
        with self.assertRaises(TransportError):
            self.sql("SELECT nested(nothing.*) FROM towns")

    def test_what_is_wrong_is_said(self):
        for status, kind, details, query in [
            (400, "SyntaxCheckException", "offending symbol", "SELECT FROM people"),
            (400, "SyntaxCheckException", "offending symbol [WERE]", "SELECT name FROM people x WERE age > 3"),
            (400, "SyntaxCheckException", "nested deeper", "SELECT " + "(" * 2000 + "1" + ")" * 2000),
            (400, "SyntaxCheckException", "operators", "SELECT 1" + "+1" * 5000),
            (400, "SyntaxCheckException", "would repeat", "SELECT age FROM people WHERE " + "(" * 20 + "age" + " BETWEEN 1 AND 2)" * 20),
            (400, "SyntaxCheckException", "would repeat", "SELECT " + "CASE " * 12 + "age" + " WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 3 END" * 12 + " FROM people"),
            (400, "SyntaxCheckException", "would repeat", "SELECT " + "+".join(["age"] * 150) + " AS x FROM people ORDER BY " + ",".join(["x"] * 100)),
            (400, "SQLFeatureDisabledException", "plugins.sql.delete.enabled setting to enable it", "DELETE FROM people WHERE age > 3"),
            (400, "UnsupportedOperationException", "twice", "SELECT count(*) FROM people t, t.parts p, t.parts q"),
            (400, "SyntaxCheckException", "keys", "SELECT age FROM people ORDER BY " + ",".join(["age"] * 300)),
            (400, "SyntaxCheckException", "keys", "SELECT count(*) FROM people GROUP BY " + ",".join(["age"] * 300)),
            (400, "SyntaxCheckException", "stars", "SELECT " + ",".join(["*"] * 300) + " FROM people"),
            (400, "SyntaxCheckException", "bytes", "SELECT '" + "x" * 70000 + "'"),
            (400, "SemanticCheckException", "name=nope", "SELECT nope FROM people"),
            (400, "SemanticCheckException", "name=nope", "SELECT name FROM people WHERE nope = 1"),
            (400, "SemanticCheckException", "name=nope", "SELECT name FROM people ORDER BY nope"),
            (400, "SemanticCheckException", "[name]", "SELECT name, count(*) FROM people"),
            (400, "SemanticCheckException", "unsupported function", "SELECT nope(name) FROM people"),
            (400, "SemanticCheckException", "numbers", "SELECT name + 1 FROM people"),
            (400, "SemanticCheckException", "[match]", "SELECT match(name, 'x') FROM people"),
            (400, "SemanticCheckException", "cannot be read", "SELECT name FROM people WHERE name REGEXP '('"),
            (400, "SemanticCheckException", "name=x", "SELECT a.x FROM people a JOIN people b ON a.x = b.x"),
            (400, "SemanticCheckException", "name of its index", "SELECT age FROM people a JOIN people b ON a.age = b.age"),
            (400, "SemanticCheckException", "unique", "SELECT a.age FROM people a JOIN people a ON a.age = a.age"),
            (400, "SemanticCheckException", "pairs", "SELECT COUNT(*) FROM people a, people b, people c WHERE a.age + b.age + c.age = -1"),
            (400, "UnsupportedOperationException", "RIGHT JOIN", "SELECT p.x FROM people RIGHT JOIN people.parts p"),
            (400, "SemanticCheckException", "numbers of columns", "SELECT age FROM people UNION SELECT age, pay FROM people"),
            (404, "IndexNotFoundException", "nowhere", "SELECT a.age FROM people a JOIN nowhere b ON a.age = b.age"),
            (400, "SemanticCheckException", "one column", "SELECT name FROM people WHERE age IN (SELECT age, pay FROM people)"),
            (400, "SemanticCheckException", "more than one row", "SELECT name FROM people WHERE age = (SELECT age FROM people)"),
            (400, "SemanticCheckException", "name=pay", "SELECT pay FROM (SELECT age FROM people) AS t"),
            (400, "SemanticCheckException", "WHERE", "SELECT name FROM people WHERE rank() OVER (ORDER BY age) = 1"),
            (400, "SemanticCheckException", "no arguments", "SELECT rank(age) OVER (ORDER BY age) FROM people"),
            (400, "SemanticCheckException", "ends before it begins", "SELECT sum(age) OVER (ORDER BY age ROWS 2 FOLLOWING) FROM people"),
            (400, "UnsupportedOperationException", "by values", "SELECT sum(age) OVER (ORDER BY age RANGE 2 PRECEDING) FROM people"),
            (400, "SemanticCheckException", "a place from 1 on", "SELECT nth_value(age, 0) OVER (ORDER BY age) FROM people"),
            (400, "SemanticCheckException", "date:2020-13-01 in unsupported format", "SELECT DATE '2020-13-01'"),
            (400, "SemanticCheckException", "time:99:00 in unsupported format", "SELECT time('99:00')"),
            (400, "SemanticCheckException", "timestamp:x in unsupported format", "SELECT name FROM people WHERE at > timestamp('x')"),
            (400, "SemanticCheckException", "lag function", "SELECT lag() OVER (ORDER BY age) FROM people"),
            (400, "SemanticCheckException", "[nested]", "SELECT name FROM people WHERE nested(address.floor) = age"),
            (404, "IndexNotFoundException", "nowhere", "SELECT * FROM nowhere"),
            (404, "IndexNotFoundException", "nowhere*", "SELECT * FROM nowhere*"),
        ]:
            with self.subTest(query[:60]), self.assertRaises(TransportError) as caught:
                self.sql(query)
            error = caught.exception
            self.assertEqual((error.status_code, error.info["status"]), (status, status), error.info)
            self.assertEqual(error.info["error"]["type"], kind, error.info)
            self.assertIn(details, error.info["error"]["details"])
            self.assertTrue(error.info["error"]["reason"])
        for query in ["source=people | fly away", "source=people | head x", "where a = 1", "source=people | stats upper(name)", "source=people | parse name '.*'"]:
            with self.subTest(query), self.assertRaises(TransportError) as caught:
                self.ppl(query)
            self.assertEqual(caught.exception.info["error"]["reason"], "Invalid Query")

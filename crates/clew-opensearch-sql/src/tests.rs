//! Statements, the searches that they become, and what is wrong with others.

use clew_engine::Access;
use clew_opensearch::fixture::{Node, segment_file};
use clew_opensearch::wing::RequestMemory;
use clew_platform::{Disk, MemoryAccount, MemoryLimits, SimDisk};
use serde_json::{Value, json};

use crate::error::SqlError;
use crate::fields::Fields;
use crate::pushed::push::Pushed;
use crate::statement::expr::Expr;
use crate::statement::plan::{JoinKind, Plan, Stage, Statement};
use crate::statement::{ppl, select};
use crate::table::Table;
use crate::{Language, WING};

/// Memory without a limit.
fn memory() -> RequestMemory {
    RequestMemory::new(&MemoryAccount::new(MemoryLimits::none()))
}

fn fields() -> Fields {
    let mut fields = Fields::default();
    fields.add_mapping(&json!({"properties": {
        "title": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
        "body": {"type": "text"},
        "tag": {"type": "keyword"},
        "n": {"type": "long"},
        "price": {"type": "double"},
        "ok": {"type": "boolean"},
        "at": {"type": "date"},
        "who": {"properties": {"ip": {"type": "ip"}}},
        "parts": {"type": "nested", "properties": {"n": {"type": "long"}}},
    }}));
    fields
}

fn plan(language: Language, text: &str) -> Result<Plan, SqlError> {
    let statement = match language {
        Language::Sql => select::parse(text, Vec::new())?,
        Language::Ppl => ppl::parse(text)?,
    };
    match statement {
        Statement::Rows(plan) => Ok(plan),
        other => panic!("{other:?}"),
    }
}

/// The statement behind its search, if it can be done.
fn pushed(language: Language, text: &str) -> Result<Pushed, SqlError> {
    let pushed = Pushed::of(plan(language, text)?, &fields())?;
    Table::empty(pushed.columns()).through(&pushed.rest, &memory())?;
    Ok(pushed)
}

fn check_query(condition: &str, expected: Value) {
    for (language, text) in [
        (Language::Sql, format!("SELECT n FROM t WHERE {condition}")),
        (Language::Ppl, format!("source=t | where {condition}")),
    ] {
        let pushed = pushed(language, &text).unwrap();
        assert_eq!(pushed.query, Some(expected.clone()), "{text}");
    }
}

fn filter(query: Value) -> Value {
    json!({"bool": {"filter": [query]}})
}

#[test]
fn conditions_become_queries() {
    check_query("tag = 'a'", filter(json!({"term": {"tag": "a"}})));
    check_query(
        "title = 'a'",
        filter(json!({"term": {"title.keyword": "a"}})),
    );
    check_query("body = 'a'", filter(json!({"term": {"body": "a"}})));
    check_query("3 >= n", filter(json!({"range": {"n": {"lte": 3}}})));
    check_query("n = -3", filter(json!({"term": {"n": -3}})));
    check_query(
        "n <> 3",
        filter(
            json!({"bool": {"filter": [{"exists": {"field": "n"}}], "must_not": [{"term": {"n": 3}}]}}),
        ),
    );
    check_query(
        "n BETWEEN 1 AND 2 AND ok",
        json!({"bool": {"filter": [
            {"range": {"n": {"gte": 1}}}, {"range": {"n": {"lte": 2}}}, {"term": {"ok": true}},
        ]}}),
    );
    check_query(
        "tag IN ('a', 'b') OR NOT n < 1",
        filter(json!({"bool": {"should": [
            {"terms": {"tag": ["a", "b"]}}, {"bool": {"must_not": [{"range": {"n": {"lt": 1}}}]}},
        ]}})),
    );
    check_query(
        r"tag LIKE 'a%b_c\%d*'",
        filter(json!({"wildcard": {"tag": {"value": r"a*b?c%d*", "case_insensitive": true}}})),
    );
    check_query(
        "who.ip IS NULL",
        filter(json!({"bool": {"must_not": [{"exists": {"field": "who.ip"}}]}})),
    );
    check_query(
        "at > '2024-02-03 04:05:06'",
        filter(json!({"range": {"at": {
            "gt": "2024-02-03T04:05:06.000000000Z", "format": "strict_date_optional_time_nanos||epoch_millis",
        }}})),
    );
    check_query(
        "match(body, 'x y', operator='and')",
        json!({"match": {"body": {"operator": "and", "query": "x y"}}}),
    );
    check_query(
        "match_phrase(body, 'x y') AND n = 1",
        json!({"bool": {
            "must": [{"match_phrase": {"body": {"query": "x y"}}}], "filter": [{"term": {"n": 1}}],
        }}),
    );
    check_query(
        "multi_match([title ^ 2, 'bo*'], 'x')",
        json!({"multi_match": {"query": "x", "fields": ["title^2", "bo*"]}}),
    );
}

#[test]
fn conditions_on_nested_objects_become_queries() {
    let nested = |query: Value| filter(json!({"nested": {"path": "parts", "query": query}}));
    check_query(
        "nested(parts.n) > 2",
        nested(json!({"range": {"parts.n": {"gt": 2}}})),
    );
    check_query(
        "nested(parts.n, parts) IN (1, 2)",
        nested(json!({"terms": {"parts.n": [1, 2]}})),
    );
    check_query(
        "nested(parts, parts.n > 2 AND parts.n < 5)",
        nested(json!({"bool": {"filter": [
            {"range": {"parts.n": {"gt": 2}}}, {"range": {"parts.n": {"lt": 5}}},
        ]}})),
    );
}

#[test]
fn conditions_of_one_source_go_there_and_those_of_two_join() {
    let text = "SELECT a.n, b.tag FROM t a JOIN t AS b ON a.n = b.n AND a.price > b.price \
                WHERE a.tag = 'x' AND b.ok AND a.title <> b.title";
    let plan = plan(Language::Sql, text).unwrap();
    let join = plan.stages.iter().find_map(|stage| match stage {
        Stage::Join(join) => Some(join),
        _ => None,
    });
    let join = join.unwrap();
    let keys = vec![(Expr::column("a.n"), Expr::column("b.n"))];
    assert_eq!((&join.keys, join.kind), (&keys, JoinKind::Inner));
    let condition = join.condition.as_ref().unwrap();
    let mut names = Vec::new();
    condition.columns(&mut names);
    assert_eq!(names, ["a.price", "b.price", "a.title", "b.title"]);
    let other = plan.subqueries[0].plan.clone();
    for (plan, query) in [
        (plan, json!({"term": {"tag": "x"}})),
        (other, json!({"term": {"ok": true}})),
    ] {
        let pushed = Pushed::of(plan, &fields()).unwrap();
        assert_eq!(pushed.query, Some(filter(query)));
    }
}

#[test]
fn what_hits_have_besides_is_asked_for() {
    let text = "SELECT highlight(body, pre_tags='<b>') FROM t WHERE score(match(body, 'x'), 3)";
    check_body(
        Language::Sql,
        text,
        1,
        json!({
            "query": {"match": {"body": {"boost": 3, "query": "x"}}},
            "_source": false,
            "highlight": {"fields": {"body": {"pre_tags": ["<b>"]}}},
        }),
    );
    check_body(
        Language::Sql,
        "SELECT count(*) FILTER(WHERE n > 3) FROM t",
        1,
        json!({"size": 0, "track_total_hits": true, "aggs": {
            "a0": {"filter": {"range": {"n": {"gt": 3}}}},
        }}),
    );
    check_query(
        "tag LIKE 'a!_b\\%' ESCAPE '!'",
        filter(json!({"wildcard": {"tag": {"value": "a_b\\\\*", "case_insensitive": true}}})),
    );
    check_query(
        "at > {ts '2024-02-03 04:05:06'} + INTERVAL 1 DAY",
        filter(json!({"range": {"at": {
            "gt": "2024-02-04T04:05:06.000000000Z", "format": "strict_date_optional_time_nanos||epoch_millis",
        }}})),
    );
}

fn check_body(language: Language, text: &str, rest: usize, expected: Value) {
    let pushed = pushed(language, text).unwrap();
    assert_eq!(Value::Object(pushed.body()), expected, "{text}");
    assert_eq!(pushed.rest.len(), rest, "{text}: {:?}", pushed.rest);
}

#[test]
fn statements_become_searches() {
    check_body(
        Language::Sql,
        "SELECT title, at FROM t ORDER BY title DESC, n LIMIT 3",
        1,
        json!({
            "_source": ["title"],
            "fields": [{"field": "at", "format": "strict_date_optional_time_nanos"}],
            "sort": [
                {"title.keyword": {"order": "desc", "missing": "_last", "unmapped_type": "keyword"}},
                {"n": {"order": "asc", "missing": "_first", "unmapped_type": "long"}},
            ],
        }),
    );
    // Conditions and orders come before what leaves their columns alone.
    check_body(
        Language::Ppl,
        "source=t | eval m = n + 1 | fields n, m, tag | where tag = 'a' | sort - n | head 2",
        2,
        json!({
            "query": {"bool": {"filter": [{"term": {"tag": "a"}}]}},
            "_source": ["n", "tag"],
            "sort": [{"n": {"order": "desc", "missing": "_last", "unmapped_type": "long"}}],
        }),
    );
    check_body(
        Language::Ppl,
        "source=t | eval n = n + 1 | where n = 2 | fields n",
        3,
        json!({"_source": ["n"]}),
    );
    // Words have no order of their own: the rows are ordered behind the search.
    check_body(
        Language::Sql,
        "SELECT n FROM t ORDER BY body",
        2,
        json!({"_source": ["body", "n"]}),
    );
    check_body(
        Language::Ppl,
        "source=t | stats count(), avg(n) as mean by tag, span(at, 1M)",
        0,
        json!({"size": 0, "track_total_hits": false, "aggs": {"groups": {
            "composite": {"size": 5000, "sources": [
                {"k0": {"date_histogram": {
                    "field": "at", "missing_bucket": true, "missing_order": "first", "order": "asc",
                    "calendar_interval": "1M",
                }}},
                {"k1": {"terms": {"field": "tag", "missing_bucket": true, "missing_order": "first", "order": "asc"}}},
            ]},
            "aggs": {"a1": {"avg": {"field": "n"}}},
        }}}),
    );
    check_body(
        Language::Sql,
        "SELECT count(*), count(body), max(n) FROM t",
        1,
        json!({"size": 0, "track_total_hits": true, "aggs": {
            "a1": {"filter": {"exists": {"field": "body"}}}, "a2": {"max": {"field": "n"}},
        }}),
    );
    // An aggregate of more than a field is one of the rows.
    check_body(
        Language::Sql,
        "SELECT sum(n + 1) FROM t",
        2,
        json!({"_source": ["n"]}),
    );
}

fn check_error(language: Language, text: &str, expected: &str) {
    let error = pushed(language, text).unwrap_err().shown();
    assert!(error.contains(expected), "{text}: {error}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (text, expected) in [
        ("SELECT x FROM t", "name=x"),
        ("SELECT n FROM t WHERE x = 1", "name=x"),
        ("SELECT n, sum(n) FROM t", "[n]"),
        ("SELECT count(*) FROM t WHERE count(*) > 1", "WHERE"),
        ("SELECT n FROM t HAVING n > 1", "HAVING"),
        ("SELECT sum(tag) FROM t", "[keyword]"),
        ("SELECT sum(n, n) FROM t", "one argument"),
        ("SELECT min(who.ip) FROM t", "[ip]"),
        ("SELECT percentile(n, 101) FROM t", "percentage"),
        ("SELECT upper(tag, tag) FROM t", "arguments"),
        ("SELECT cast(n AS shape) FROM t", "shape"),
        ("SELECT n FROM t GROUP BY n, span(tag, 1d)", "[keyword]"),
        ("SELECT span(at, '2w') FROM t GROUP BY 1", "interval"),
        ("SELECT n FROM t ORDER BY 7", "no column 7"),
        ("SELECT n FROM t WHERE match(x, 'a')", "name=x"),
        ("SELECT n FROM t WHERE match(body)", "match"),
        (
            "SELECT n FROM t WHERE match(body, 'a') OR n + 1 = 2",
            "[match]",
        ),
        ("SELECT n FROM t, u", "name of its index"),
        (
            "SELECT p.n FROM t RIGHT JOIN t.parts p",
            "RIGHT JOIN of nested objects",
        ),
        ("SELECT t.n FROM t JOIN t ON t.n = t.n", "unique"),
        ("SELECT n, lag(n, -1) OVER () FROM t", "rows"),
        ("SELECT n, ntile(0) OVER () FROM t", "one part"),
        ("SELECT upper(tag) FILTER(WHERE ok) FROM t", "[upper]"),
        (
            "SELECT n FROM t WHERE tag LIKE 'a' ESCAPE 'bc'",
            "one character",
        ),
        ("SELECT nested(n) FROM t", "nested"),
        ("SELECT n FROM t WHERE nested(parts.n) = n", "[nested]"),
        ("SELECT {x 'a'}", "FN"),
        ("SELECT n FROM t WHERE n ==", "<EOF>"),
        ("SELECT n FROM t LIMIT -1", "whole number"),
        ("SELECT n FROM t WHERE n = ?", "parameters"),
        ("DELETE t", "FROM"),
        (
            "SELECT rank() OVER (ORDER BY n ROWS 1 PRECEDING) FROM t",
            "no frame",
        ),
    ] {
        check_error(Language::Sql, text, expected);
    }
    for (text, expected) in [
        ("t | head", "SOURCE"),
        ("source=t | stats upper(tag)", "upper"),
        ("source=t | dedup 0 n", "duplicate"),
        ("source=t | fields n | where title = 'a'", "name=title"),
        ("source=t | eval x = 1 | rename y as z", "name=y"),
        ("source=t | grok tag '%{NO_SUCH_ONE:w}'", "cannot be read"),
        ("source=t | kmeans centroids=2", "[kmeans]"),
        ("source=t | join left=a on a.n = b.n", "name of an index"),
    ] {
        check_error(Language::Ppl, text, expected);
    }
}

#[test]
fn deep_and_long_statements_are_refused_and_wide_ones_are_not() {
    let nested = |depth: usize| {
        format!(
            "SELECT n FROM t WHERE {}n = 1{}",
            "(".repeat(depth),
            ")".repeat(depth)
        )
    };
    assert!(pushed(Language::Sql, &nested(30)).is_ok());
    check_error(Language::Sql, &nested(20_000), "nested deeper");
    check_error(
        Language::Sql,
        &format!("SELECT n FROM t WHERE n = 1{}", " + 1".repeat(1_000)),
        "operators",
    );
    check_error(Language::Sql, &"x".repeat(70_000), "bytes");
    let wide = format!("SELECT n FROM t WHERE n = 0{}", " OR n = 1".repeat(2_000));
    assert!(pushed(Language::Sql, &wide).is_ok());
    assert!(
        pushed(
            Language::Sql,
            &format!("SELECT n FROM t WHERE {} n = 1", "NOT ".repeat(5_001))
        )
        .is_ok()
    );
}

#[test]
fn rows_that_become_long_are_refused_by_the_node_s_memory() {
    let account = MemoryAccount::new(MemoryLimits {
        searches: 4 << 20,
        ..MemoryLimits::none()
    });
    let memory = RequestMemory::new(&account);
    let text = "source=t | eval long = concat(tag, tag, tag, tag) | head 1";
    let pushed = Pushed::of(plan(Language::Ppl, text).unwrap(), &fields()).unwrap();
    let mut table = Table::empty(pushed.columns());
    let tag = Value::from("x".repeat(1 << 20));
    table.rows = vec![vec![tag; table.columns.0.len()]];
    let error = table.through(&pushed.rest, &memory).unwrap_err();
    let reply = error.reply(Language::Ppl);
    assert_eq!(reply.status, 429);
    drop(memory);
    assert_eq!(account.total().used, 0);
}

#[test]
fn columns_that_are_added_together_are_booked_together() {
    let account = MemoryAccount::new(MemoryLimits {
        searches: 4 << 20,
        ..MemoryLimits::none()
    });
    let memory = RequestMemory::new(&account);
    let columns: Vec<String> = (0..40).map(|at| format!("c{at} = n + {at}")).collect();
    let text = format!("source=t | eval {} | head 1", columns.join(", "));
    let pushed = Pushed::of(plan(Language::Ppl, &text).unwrap(), &fields()).unwrap();
    let mut table = Table::empty(pushed.columns());
    table.rows = vec![vec![Value::from(1); table.columns.0.len()]];
    let table = table.through(&pushed.rest, &memory).unwrap();
    assert_eq!(table.rows.len(), 1);
}

#[test]
fn windows_of_one_statement_are_booked_together() {
    let account = MemoryAccount::new(MemoryLimits {
        searches: 4 << 20,
        ..MemoryLimits::none()
    });
    let memory = RequestMemory::new(&account);
    let columns = (0..40).map(|at| format!("ROW_NUMBER() OVER (ORDER BY n) AS c{at}"));
    let columns: Vec<String> = columns.collect();
    let text = format!("SELECT {} FROM t", columns.join(", "));
    let pushed = Pushed::of(plan(Language::Sql, &text).unwrap(), &fields()).unwrap();
    let mut table = Table::empty(pushed.columns());
    table.rows = vec![vec![Value::from(1); table.columns.0.len()]];
    let table = table.through(&pushed.rest, &memory).unwrap();
    assert_eq!(table.rows[0].len(), 40);
}

#[test]
fn a_statement_over_a_damaged_shard_is_refused() {
    let disk = SimDisk::new();
    let node = Node::open(&disk, &[WING]).unwrap();
    let body = json!({
        "settings": {"number_of_shards": 2, "refresh_interval": -1},
        "mappings": {"properties": {"n": {"type": "long"}}},
    });
    node.done("PUT /docs", body);
    for n in 0..20 {
        node.done(&format!("PUT /docs/_doc/{n}"), json!({"n": n}));
    }
    node.done("POST /docs/_flush", Value::Null);
    let uuid = node.api.engine.indices(&Access::everything())[0]
        .uuid()
        .to_string();
    drop(node);
    let victim = segment_file(&disk, &uuid, (1, ".store"));
    disk.open(&victim).unwrap().set_len(3).unwrap();
    let node = Node::open(&disk, &[WING]).unwrap();
    for (language, text) in [
        ("sql", "SELECT n FROM docs"),
        ("sql", "SELECT COUNT(*) FROM docs"),
        ("ppl", "source=docs | stats count()"),
    ] {
        let (status, answer) = node.ask(
            &format!("POST /_plugins/_{language}"),
            json!({"query": text}),
        );
        assert_eq!(status, 503, "{text}: {answer}");
        let details = answer["error"]["details"].as_str().unwrap();
        assert!(details.contains("3 bytes"), "{text}: {answer}");
    }
}

//! Values, ranges, and whether there are any.

use super::*;

#[test]
fn values_match_like_a_loop() {
    let folded = |value: &str| {
        Query::Term(Term {
            field: "tags".into(),
            value: json!(value),
            case_insensitive: true,
            boost: 1.0,
        })
    };
    check(vec![
        (Query::term("body", "w4"), is(|d| has(&d.body, "w4"))),
        (Query::term("body", "W4"), is(|_| false)),
        (Query::term("tags", "Tag4"), is(|d| has(&d.tags, "Tag4"))),
        (Query::term("tags", "tag4"), is(|_| false)),
        (folded("tAG4"), is(|d| has(&d.tags, "Tag4"))),
        (Query::term("count", -3), is(|d| d.count == Some(-3))),
        (Query::term("count", "-3"), is(|d| d.count == Some(-3))),
        (Query::term("count", 3.5), is(|_| false)),
        (Query::term("count", 3.0), is(|d| d.count == Some(3))),
        (Query::term("price", 12.5), is(|d| d.price == Some(12.5))),
        (Query::term("flag", true), is(|d| d.flag == Some(true))),
        (Query::term("flag", "false"), is(|d| d.flag == Some(false))),
        (
            Query::term("at", 1_600_000_000_000_i64),
            is(|d| d.at == Some(1_600_000_000_000)),
        ),
        (
            Query::term("ip", "10.0.0.64/28"),
            is(|d| d.ip.is_some_and(|ip| (64..80).contains(&ip.octets()[15]))),
        ),
        (Query::term("_id", "0-3"), is(|d| d.id == "0-3")),
        (
            Query::Ids {
                values: vec!["0-1".into(), "2-2".into(), "no".into()],
                boost: 1.0,
            },
            is(|d| d.id == "0-1" || d.id == "2-2"),
        ),
        (
            Query::Terms {
                field: "tags".into(),
                values: vec![json!("Tag1"), json!("Tag2"), json!("none")],
                boost: 1.0,
            },
            is(|d| has(&d.tags, "Tag1") || has(&d.tags, "Tag2")),
        ),
        (
            Query::Terms {
                field: "ip".into(),
                values: vec![
                    json!("10.0.0.3"),
                    json!("10.0.0.64/28"),
                    json!("10.0.0.200"),
                ],
                boost: 1.0,
            },
            is(|d| {
                let last = d.ip.map(|ip| ip.octets()[15]);
                last.is_some_and(|last| last == 3 || last == 200 || (64..80).contains(&last))
            }),
        ),
        (
            Query::Terms {
                field: "price".into(),
                values: vec![json!(12.5), json!(0.125)],
                boost: 1.0,
            },
            is(|d| d.price == Some(12.5) || d.price == Some(0.125)),
        ),
        (
            Query::Terms {
                field: "count".into(),
                values: vec![json!(1), json!("2")],
                boost: 1.0,
            },
            is(|d| matches!(d.count, Some(1 | 2))),
        ),
    ]);
}

#[test]
fn ranges_match_like_a_loop() {
    let inside =
        |low: f64, high: f64| move |v: Option<f64>| v.is_some_and(|v| v >= low && v <= high);
    check(vec![
        (
            range("count", &[("gte", json!(-2)), ("lt", json!(5))]),
            is(|d| d.count.is_some_and(|c| (-2..5).contains(&c))),
        ),
        (
            range("count", &[("gt", json!(1.5))]),
            is(|d| d.count.is_some_and(|c| c >= 2)),
        ),
        (
            range("count", &[("lte", json!(-1.5))]),
            is(|d| d.count.is_some_and(|c| c <= -2)),
        ),
        (
            range("count", &[("gt", json!(3)), ("lt", json!(4))]),
            is(|_| false),
        ),
        (
            range("count", &[("gte", json!(10_000_000_000_i64))]),
            is(|_| false),
        ),
        (
            range("count", &[("lte", json!(1e30))]),
            is(|d| d.count.is_some()),
        ),
        (range("count", &[]), is(|d| d.count.is_some())),
        (
            range("price", &[("gte", json!(10)), ("lte", json!(20.5))]),
            is(move |d| inside(10.0, 20.5)(d.price)),
        ),
        (
            range("price", &[("gte", json!(9)), ("lte", json!(1))]),
            is(|_| false),
        ),
        (
            range(
                "at",
                &[("gte", json!("2020-09-14")), ("lte", json!("2020-09-15"))],
            ),
            is(|d| {
                d.at.is_some_and(|t| (1_600_041_600_000..1_600_214_400_000).contains(&t))
            }),
        ),
        (
            range(
                "at",
                &[("gt", json!("2020-09-14")), ("lt", json!("2020-09-16"))],
            ),
            is(|d| {
                d.at.is_some_and(|t| (1_600_128_000_000..1_600_214_400_000).contains(&t))
            }),
        ),
        (
            zoned("+02:00"),
            is(|d| {
                d.at.is_some_and(|t| (1_600_034_400_000..1_600_120_800_000).contains(&t))
            }),
        ),
        (
            zoned("Europe/Berlin"),
            is(|d| {
                d.at.is_some_and(|t| (1_600_034_400_000..1_600_120_800_000).contains(&t))
            }),
        ),
        (
            range(
                "at",
                &[("gte", json!("now+1d/d")), ("lt", json!("2020-09-14||+2d"))],
            ),
            is(|d| {
                d.at.is_some_and(|t| (1_600_041_600_000..1_600_214_400_000).contains(&t))
            }),
        ),
        (
            range("at", &[("gt", json!("now"))]),
            is(|d| d.at.is_some_and(|t| t > 1_600_000_000_000)),
        ),
        (
            range(
                "ip",
                &[("gt", json!("10.0.0.9")), ("lte", json!("10.0.0.20"))],
            ),
            is(|d| d.ip.is_some_and(|ip| (10..=20).contains(&ip.octets()[15]))),
        ),
        (
            range(
                "ip",
                &[("gt", json!("10.0.0.20")), ("lt", json!("10.0.0.9"))],
            ),
            is(|_| false),
        ),
        // Before the first address, and behind the last, there is none.
        (range("ip", &[("lt", json!("::"))]), is(|_| false)),
        (
            range(
                "ip",
                &[("gt", json!("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"))],
            ),
            is(|_| false),
        ),
        (range("ip", &[("gte", json!("::"))]), is(|d| d.ip.is_some())),
        (range("ip", &[("gt", json!("::"))]), is(|d| d.ip.is_some())),
        (
            range("tags", &[("gte", json!("Tag2")), ("lt", json!("Tag4"))]),
            is(|d| {
                d.tags
                    .iter()
                    .any(|t| t.as_str() >= "Tag2" && t.as_str() < "Tag4")
            }),
        ),
        (
            range("body", &[("gte", json!("w3")), ("lt", json!("w31"))]),
            is(|d| {
                d.body
                    .iter()
                    .any(|t| t.as_str() >= "w3" && t.as_str() < "w31")
            }),
        ),
        (
            range("flag", &[("gte", json!(true))]),
            is(|d| d.flag == Some(true)),
        ),
    ]);
}

#[test]
fn presence_and_patterns_match_like_a_loop() {
    let exists = |field: &str| Query::Exists {
        field: field.into(),
        boost: 1.0,
    };
    check(vec![
        (exists("title"), is(|d| d.title.is_some())),
        (exists("body"), is(|_| true)),
        (exists("tags"), is(|d| !d.tags.is_empty())),
        (exists("count"), is(|d| d.count.is_some())),
        (exists("price"), is(|d| d.price.is_some())),
        (exists("ip"), is(|d| d.ip.is_some())),
        (exists("flag"), is(|d| d.flag.is_some())),
        (exists("nothing"), is(|_| false)),
        (exists("_id"), is(|_| true)),
        (
            Query::Prefix(Pattern::new("tags", "Tag1")),
            is(|d| d.tags.iter().any(|t| t.starts_with("Tag1"))),
        ),
        (Query::Prefix(Pattern::new("tags", "tag1")), is(|_| false)),
        (
            Query::Prefix(Pattern {
                case_insensitive: true,
                ..Pattern::new("tags", "tAg1")
            }),
            is(|d| d.tags.iter().any(|t| t.starts_with("Tag1"))),
        ),
        (
            Query::Prefix(Pattern::new("tags", "")),
            is(|d| !d.tags.is_empty()),
        ),
        (
            Query::Wildcard(Pattern::new("tags", "*g?1")),
            is(|d| d.tags.iter().any(|t| t.len() == 5 && t.ends_with('1'))),
        ),
        (
            Query::Wildcard(Pattern::new("body", "w?")),
            is(|d| d.body.iter().any(|t| t.len() == 2)),
        ),
        (
            Query::Regexp(Pattern::new("body", "w[12][0-3]")),
            is(|d| {
                d.body.iter().any(|t| {
                    let t = t.as_bytes();
                    t.len() == 3 && matches!(t[1], b'1' | b'2') && (b'0'..=b'3').contains(&t[2])
                })
            }),
        ),
    ]);
}

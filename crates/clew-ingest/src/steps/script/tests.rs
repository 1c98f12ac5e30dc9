use super::*;

fn run(source: &str) -> Document {
    let mut config = Map::new();
    config.insert("source".to_string(), source.into());
    config.insert("params".to_string(), json!({"by": 2}));
    let program = Program::parse(&mut config).unwrap();
    let mut document = Document::new("i", json!({"n": 1, "tags": ["a"]}), 86_400_000);
    document.id = Some("7".to_string());
    program.apply(&mut document).unwrap();
    document
}

#[test]
fn scripts_do_what_processors_do() {
    let apply = |source: &str| {
        let mut config = Map::new();
        config.insert("source".to_string(), source.into());
        let program = Program::parse(&mut config).unwrap();
        let given = json!({"s": "1kb", "d": "a%20b+c", "j": "{\"x\": [1, {\"y\": null}]}", "n": 5});
        let mut document = Document::new("i", given, 0);
        program.apply(&mut document).map(|()| document.source)
    };
    for (source, name, want) in [
        ("ctx.made = Processors.bytes(ctx.s)", "made", json!(1024)),
        (
            "ctx.made = Processors.urlDecode(ctx.d)",
            "made",
            json!("a b c"),
        ),
        (
            "ctx.made = Processors.uppercase(ctx.s)",
            "made",
            json!("1KB"),
        ),
        (
            "ctx.made = Processors.json(ctx.j).x[1]",
            "made",
            json!({"y": null}),
        ),
        (
            "Processors.json(ctx, 'j'); ctx.x.add(2)",
            "x",
            json!([1, {"y": null}, 2]),
        ),
    ] {
        let source = apply(source).unwrap();
        assert_eq!(source[name], want, "{name}");
    }
    for (source, reason) in [
        (
            "Processors.bytes(ctx.d)",
            "as a size in bytes: unit is missing or unrecognized",
        ),
        ("Processors.bytes(ctx.n)", "java.lang.String"),
        ("Processors.urlDecode('%zz')", "Illegal hex characters"),
        ("Processors.json(ctx.d)", "expected value"),
        (
            "Processors.json(ctx, 'n')",
            "cannot add non-map fields to root of document",
        ),
    ] {
        let told = apply(source).unwrap_err().to_string();
        assert!(told.contains(reason), "{source}: {told}");
    }
}

#[test]
fn scripts_see_and_say_the_version() {
    let mut config = Map::new();
    let source = "ctx.seen = ctx._version; ctx._version = 5; ctx.remove('_version_type')";
    config.insert("source".to_string(), source.into());
    let program = Program::parse(&mut config).unwrap();
    let mut document = Document::new("i", json!({}), 0);
    document.set_condition("_version", (-3).into());
    document.set_condition("_version_type", "internal".into());
    program.apply(&mut document).unwrap();
    assert_eq!(document.source, json!({"seen": -3}));
    assert_eq!(Value::Object(document.conditions), json!({"_version": 5}));
}

#[test]
fn scripts_change_documents_and_where_they_go() {
    let document = run("ctx.n += params.by; ctx.tags.add(ctx._id); ctx._index = 'j-' + ctx.n");
    assert_eq!(document.source, json!({"n": 3, "tags": ["a", "7"]}));
    assert_eq!(document.index, "j-3");
    assert_eq!(document.id.as_deref(), Some("7"));
    let document = run("ctx.remove('tags'); ctx.at = ctx._ingest.timestamp");
    let at = "1970-01-02T00:00:00.000Z";
    assert_eq!(document.source, json!({"n": 1, "at": at}));
}

#[test]
fn conditions_leave_documents_as_they_are() {
    let mut document = Document::new("i", json!({"n": 1, "_id": "own"}), 0);
    for (source, holds) in [
        ("ctx.n == 1", true),
        ("ctx?.a?.b == 'x'", false),
        ("ctx.containsKey('n') && ctx._index == 'i'", true),
        ("ctx.n = 5; return true", true),
    ] {
        let program = Program::condition(source.into()).unwrap();
        assert_eq!(program.holds(&mut document), Ok(holds), "{source}");
        assert_eq!(document.source, json!({"n": 1, "_id": "own"}));
    }
    let failing = Program::condition("ctx.a.b == 1".into()).unwrap();
    let failure = failing.holds(&mut document).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Script);
    let refused = Program::condition("ctx.".into()).unwrap_err();
    assert!(refused.script.is_some());
}

//! What a script sees by what it is for.

use clew_schema::geo::GeoPoint;

use super::*;

fn of_bucket(source: &str, language: ScriptLanguage) -> Result<Option<f64>, ScriptError> {
    let params = json!({"rate": 10, "none": null});
    let script = Script::read(source, language, &params, ScriptPurpose::Bucket)?;
    let number = |number: f64| vec![ScriptValue::Float(number)];
    let mut document = Document {
        script: &script,
        fields: BTreeMap::from([
            ("a", number(2.0)),
            ("b", number(4.0)),
            ("gap", number(f64::NAN)),
            ("_value0", number(7.0)),
        ]),
    };
    script.number_if_any(&mut document)
}

#[test]
fn numbers_of_buckets_stand_among_parameters() {
    let painless = ScriptLanguage::Painless;
    for (source, expected) in [
        ("params.a / params['b'] * 100", Some(50.0)),
        (
            "return params.a > 1 && params.b <= 4 ? 10 : -20;",
            Some(10.0),
        ),
        ("params.get('a') * params.rate + params._value0", Some(27.0)),
        (
            "double x = params.a; if (x > 1) { return x } return 0",
            Some(2.0),
        ),
        ("if (params.a > 3) { return params.a } return null", None),
        (
            "params.none == null && params.gap != null ? 1 : 2",
            Some(1.0),
        ),
        ("params.gap > 0 || params.gap <= 0 ? 1 : 2", Some(2.0)),
        ("params['a' + 'b']", None),
        ("Math.round(2.5) + 1L", Some(4.0)),
    ] {
        assert_eq!(of_bucket(source, painless), Ok(expected), "{source}");
    }
    let made = of_bucket("max(a, b) * rate", ScriptLanguage::Expression);
    assert_eq!(made, Ok(Some(40.0)));
    for source in [
        "a + b",
        "doc['a'].value",
        "_score",
        "params._source.a",
        "params.containsKey('a')",
        "saturation(params.a, 1)",
        "cosineSimilarity([1.0], 'a')",
        "new Date().getTime()",
        "params.a > 1",
    ] {
        assert!(of_bucket(source, painless).is_err(), "{source}");
    }
}

#[test]
fn scripts_share_what_they_gather() {
    let read = |source, purpose| {
        Script::read(source, ScriptLanguage::Painless, &Value::Null, purpose).unwrap()
    };
    let init = read("state.all = []", ScriptPurpose::State);
    let map = read(
        "state.all.add(doc['price'].value)",
        ScriptPurpose::StateOfDocument,
    );
    let combine = read(
        "long sum = 0; for (x in state.all) { sum += x } return sum",
        ScriptPurpose::State,
    );
    let reduce = read(
        "long sum = 0; for (s in states) { sum += s } return sum",
        ScriptPurpose::States,
    );
    let mut document = Document {
        script: &map,
        fields: BTreeMap::from([("price", vec![ScriptValue::Whole(7)])]),
    };
    let mut state = ScriptState::begin().unwrap();
    state.prepare(&init, 0).unwrap();
    state.gather(&map, &mut document).unwrap();
    state.gather(&map, &mut document).unwrap();
    let answer = state.end(&combine, 0).unwrap();
    assert_eq!(answer, json!(14));
    assert_eq!(reduce.join(&json!([14, 1]), 0).unwrap(), json!(15));
    for (source, purpose) in [
        ("doc['price'].value", ScriptPurpose::State),
        ("states", ScriptPurpose::StateOfDocument),
        ("state", ScriptPurpose::States),
        ("ctx", ScriptPurpose::State),
        ("_value", ScriptPurpose::Score),
        ("cosineSimilarity([1], doc['v'])", ScriptPurpose::Values),
        ("doc['price'].value", ScriptPurpose::Alone),
    ] {
        let language = ScriptLanguage::Painless;
        let error = Script::read(source, language, &Value::Null, purpose).unwrap_err();
        assert_eq!(error.kind, ScriptErrorKind::Unreadable, "{source}");
    }
}

#[test]
fn what_says_nothing_of_a_document_is_zero_and_no_match() {
    let source = "if (params.containsKey('x')) { return 1 }";
    let purpose = ScriptPurpose::Score;
    let script = Script::read(source, ScriptLanguage::Painless, &Value::Null, purpose).unwrap();
    let mut document = Document {
        script: &script,
        fields: BTreeMap::new(),
    };
    assert_eq!(script.number(&mut document), Ok(0.0));
    assert_eq!(script.holds(&mut document), Ok(false));
    assert_eq!(script.run(&mut document), Ok(ScriptValue::Null));
}

#[test]
fn values_of_derived_fields_are_emitted_one_by_one() {
    let read = |source: &str| {
        let painless = ScriptLanguage::Painless;
        Script::read(source, painless, &json!({}), ScriptPurpose::Derived)
    };
    let emitted = |source: &str| -> Result<Vec<Emitted>, ScriptError> {
        let script = read(source)?;
        let mut document = Document {
            script: &script,
            fields: BTreeMap::new(),
        };
        script.emitted(&mut document)
    };
    let text = |text: &str| Emitted::Text(text.to_string());
    let place = GeoPoint { lat: 1.5, lon: 2.0 };
    for (source, expected) in [
        (
            "for (int i = 0; i < 2; i++) { emit('v' + i) } emit(null); return;",
            vec![text("v0"), text("v1")],
        ),
        (
            "emit(1); emit(true)",
            vec![Emitted::Whole(1), Emitted::Bool(true)],
        ),
        ("emit(1.5, 2)", vec![Emitted::Point(place)]),
        ("def x = 1", Vec::new()),
    ] {
        assert_eq!(emitted(source), Ok(expected), "{source}");
    }
    for source in ["emit()", "emit(1, 2, 3)", "emit(_score)"] {
        assert!(read(source).is_err(), "{source}");
    }
    for source in ["emit([1])", "String s = 'x'; while (true) { emit(s) }"] {
        assert!(emitted(source).is_err(), "{source}");
    }
    assert!(read("emit(params._source.a)").unwrap().may_read_source());
    assert!(
        Script::read(
            "emit(1)",
            ScriptLanguage::Painless,
            &json!({}),
            ScriptPurpose::Field
        )
        .is_err()
    );
}

//! Texts that are taken apart.

use super::*;

#[test]
fn dissect_with_all_its_modifiers() {
    check(
        dissect("%{a} [%{b.c}] %{b.d}"),
        "1 [2] 3 4",
        r#"{"a":"1","b":{"c":"2","d":"3 4"}}"#,
    );
    check(dissect("%{a->} %{b}"), "1    2", r#"{"a":"1","b":"2"}"#);
    check(
        dissect("%{+a/2} %{+a/1} %{?x} %{}"),
        "1 2 3 4",
        r#"{"a":"2+1"}"#,
    );
    check(
        dissect("%{*n}=%{&n};%{*m}=%{&m}"),
        "k=v;é=ü",
        r#"{"k":"v","é":"ü"}"#,
    );
    check(dissect("<%{a}>"), "<1", r#"no_match {"message":"<1"}"#);
    check(dissect("%{a}%{b}"), "12", r#"no_match {"message":"12"}"#);
    check(
        dissect("%{a},%{b}"),
        "\"x\\,\t",
        r#"{"a":"\"x\\","b":"\t"}"#,
    );
}

#[test]
fn pairs_may_be_needed_where_what_is_none_is_passed_over() {
    for recursive in [false, true] {
        let steps = json!([
            {"kv": {
                "field": "message", "field_split": " ", "value_split": "=", "quotes": true, "recursive": recursive,
                "needs_pairs": true, "on_failure": [{"add": {"field": "none", "value": true}}],
            }},
            {"remove": {"field": "message"}},
        ]);
        assert_eq!(run(steps.clone(), "no pair"), r#"{"none":true}"#);
        assert_eq!(run(steps, "a a=1"), r#"{"a":"1"}"#);
    }
}

#[test]
fn pairs_with_quotes_take_the_place_of_what_was_there() {
    let steps = json!([
        {"add": {"field": "a", "value": 0}},
        {"kv": {"field": "message", "field_split": " ", "value_split": "=", "quotes": true, "prefix": ""}},
        {"remove": {"field": "message"}},
    ]);
    check(
        steps,
        r#"a=1 junk b="x y" a=2 c= d=[z]"#,
        r#"{"a":["1","2"],"b":"x y","d":"z"}"#,
    );
}

#[test]
fn pairs_lose_letters_and_values_have_pairs_themselves() {
    let kv = |more: Json| {
        let mut parameters =
            json!({"field": "message", "field_split": " ", "value_split": "=", "quotes": true});
        let members = parameters.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        json!([{"kv": parameters}, {"remove": {"field": "message"}}])
    };
    check(
        kv(json!({"recursive": true, "prefix": "p_"})),
        "a=1 b=(c=2 d=[e=3 f=g]) h=i b=j",
        r#"{"p_a":"1","p_b":[{"p_c":"2","p_d":{"p_e":"3","p_f":"g"}},"j"],"p_h":"i"}"#,
    );
    check(
        kv(json!({
            "remove_char_key": "<>", "transform_key": "lowercase", "exclude_keys": ["x"],
            "remove_char_value": ",", "transform_value": "capitalize", "target_field": "t",
        })),
        "<Ab>=éLAN, <X>=1 k=v",
        r#"{"t":{"ab":"Élan","k":"V"}}"#,
    );
    check(
        kv(json!({"allow_duplicate_values": false})),
        "a=1 a=1 a=2 a=1 b=x b=x",
        r#"{"a":["1","2"],"b":"x"}"#,
    );
    check(
        kv(json!({"allow_empty_values": true, "include_brackets": false})),
        "a= b=[x] c=\"\"",
        r#"{"a":"","b":"[x]","c":""}"#,
    );
    let mut plan = Plan::default();
    let unquoted =
        json!({"kv": {"field": "a", "field_split": " ", "value_split": "=", "recursive": true}});
    let refused = plan.add(&unquoted).unwrap_err().to_string();
    assert_eq!(refused, "[quotes] must be true where pairs are changed");
}

#[test]
fn pairs_cells_and_groups_are_fields() {
    let check = |step: Json, line: &str, expected: &str| {
        check(
            json!([step, {"remove": {"field": "message"}}]),
            line,
            expected,
        );
    };
    let kv = json!({"kv": {"field": "message", "field_split": "; ?", "value_split": "=", "exclude_keys": ["x"], "trim_value": "'"}});
    check(
        kv.clone(),
        "a='1';b.c=2; x=3;a=4;a=5",
        r#"{"a":["1","4","5"],"b":{"c":"2"}}"#,
    );
    // A field without a name is none.
    check(kv.clone(), "a=1;=2", r#"{"a":"1"}"#);
    check(kv, "a=1;b", r#"no_match {"message":"a=1;b"}"#);
    let inside = json!({"kv": {"field": "message", "field_split": " ", "value_split": ":", "target_field": "t", "prefix": "p_"}});
    check(inside, "a:1 b:2:3", r#"{"t":{"p_a":"1","p_b":"2:3"}}"#);
    check(
        json!({"logfmt": {"field": "message"}}),
        r#"level=warn msg="a \"b\"" ok n=1 n=2"#,
        r#"{"level":"warn","msg":"a \"b\"","ok":true,"n":["1","2"]}"#,
    );
    let csv = json!({"csv": {"field": "message", "target_fields": ["a", "b", "c"], "trim": true, "empty_value": null}});
    check(
        csv.clone(),
        r#"1, "x,y" ,"d""e""#,
        r#"{"a":"1","b":"x,y","c":"d\"e"}"#,
    );
    check(
        csv.clone(),
        r#"1,,"open"#,
        r#"no_match {"message":"1,,\"open"}"#,
    );
    check(csv.clone(), "1,,3,4", r#"{"a":"1","b":null,"c":"3"}"#);
    let mut numbered = csv;
    numbered["csv"]["unnamed_prefix"] = "t.column".into();
    check(
        numbered,
        r#"1,,3,4,,"a""b","#,
        r#"{"a":"1","b":null,"c":"3","t":{"column4":"4","column5":null,"column6":"a\"b"}}"#,
    );
    check(
        json!({"regex": {"field": "message", "pattern": "^(?<a>\\d+)(?<b>x)? (?<c>.*)"}}),
        "12 é",
        r#"{"a":"12","c":"é"}"#,
    );
}

#[test]
fn captures_that_are_empty_may_be_none() {
    let step = |keeps: bool, all: bool| {
        json!([
        {"grok": {"field": "message", "patterns": ["^(?<a>x*)(?<b>y*),(?<a>x*)$"],
                  "capture_all_matches": all, "keep_empty_captures": keeps}},
        {"remove": {"field": "message"}}])
    };
    check(step(true, false), "y,x", r#"{"a":"","b":"y"}"#);
    check(step(false, false), "y,x", r#"{"a":"x","b":"y"}"#);
    check(step(false, true), ",x", r#"{"a":"x"}"#);
    check(step(true, true), ",x", r#"{"a":["","x"],"b":""}"#);
}

#[test]
fn grok_captures_have_fields_and_types() {
    let step = |patterns: Json, all: bool| {
        json!([
        {"grok": {"field": "message", "patterns": patterns, "capture_all_matches": all,
                  "pattern_definitions": {"PAIR": "%{WORD}=%{WORD}"}}},
        {"remove": {"field": "message"}}])
    };
    let patterns = json!([
        "%{IP:[source][ip]}:%{POSINT:source.port:int}",
        "%{PAIR:p} %{NUMBER:n:float} (?<rest>.*)"
    ]);
    check(
        step(patterns.clone(), false),
        "from 10.0.0.1:80",
        r#"{"source":{"ip":"10.0.0.1","port":80}}"#,
    );
    check(
        step(patterns.clone(), false),
        "a=b 1.5 é",
        r#"{"p":"a=b","n":1.5,"rest":"é"}"#,
    );
    check(
        step(patterns, false),
        "nothing",
        r#"no_match {"message":"nothing"}"#,
    );
    let twice = json!(["%{WORD:w} %{WORD:w}"]);
    check(step(twice.clone(), false), "a b", r#"{"w":"a"}"#);
    check(step(twice, true), "a b", r#"{"w":["a","b"]}"#);
}

#[test]
fn a_field_may_be_a_part_of_a_text() {
    let steps = json!([{"drop": {"if": {"within": {"message": "abc def"}}}}]);
    check(steps.clone(), "c d", "dropped{\"message\":\"c d\"}");
    check(steps, "cd", r#"{"message":"cd"}"#);
}

#[test]
fn texts_are_redacted_and_durations_are_numbers() {
    check(
        json!([{"redact": {"field": ["message", "none"], "pattern": "\\d{4}"}}]),
        "card 1234 5678é",
        r#"{"message":"card *** ***é"}"#,
    );
    check(
        json!([{"redact": {"field": "message", "pattern": "x"}}]),
        "abc",
        r#"{"message":"abc"}"#,
    );
    let duration = |unit: &str| json!([{"duration": {"field": "message", "unit": unit}}]);
    check(duration("ms"), "1.5s", r#"{"message":1500.0}"#);
    check(duration("s"), "2m30s", r#"{"message":150.0}"#);
    check(duration("us"), "1 ms 5 µs", r#"{"message":1005.0}"#);
    for (written, seconds) in [
        ("-5ms", "-0.005"),
        ("1 hour 2 minutes 5 seconds", "3725.0"),
        ("2w", "1209600.0"),
        ("00:01:02.5", "62.5"),
        ("1.02:03:04", "93784.0"),
        ("PT1M30.5S", "90.5"),
        ("P1DT2H", "93600.0"),
    ] {
        let expected = format!(r#"{{"message":{seconds}}}"#);
        check(duration("s"), written, &expected);
    }
    for wrong in [
        "P", "PT", "P1H", "PT1D", "00:60:00", "1:2", "1e3s", "--1s", "PT-1S", ":::", ".",
    ] {
        let expected = format!(r#"not_convertible {{"message":"{wrong}"}}"#);
        check(duration("s"), wrong, &expected);
    }
    check(
        duration("ms"),
        "fast",
        r#"not_convertible {"message":"fast"}"#,
    );
    check(duration("ms"), "12", r#"not_convertible {"message":"12"}"#);
}

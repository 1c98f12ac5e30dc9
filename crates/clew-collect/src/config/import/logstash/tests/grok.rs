//! `grok` of a Logstash.

use super::*;

#[test]
fn anything_is_several_lines_where_events_of_a_logstash_have_some() {
    let text = r#"
input { file { path => "/a" codec => multiline { pattern => "^\s" what => "previous" } } }
filter {
  grok { match => { "message" => ["%{WORD:a.b} %{GREEDYDATA:rest}", "^%{IP:a.b}$", "(?m)x(?<y>.*)", "%{WORD:w}: .+"] } }
}
output { stdout { } }
"#;
    let patterns = |text: &str| {
        let imported = import_pipeline("p.conf", text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        config["processors"][0]["grok"]["patterns"].clone()
    };
    let rest = "%{WORD:a.b} %{GREEDYDATA:rest}";
    let expected = |before: &str| {
        serde_json::json!([
            format!("{before}{rest}"),
            "^%{IP:a.b}$",
            "(?m)x(?<y>.*)",
            format!("{before}%{{WORD:w}}: .+"),
        ])
    };
    assert_eq!(patterns(text), expected("(?m)"));
    let of_one_line = "codec => plain { }";
    let start = text.find("codec").unwrap();
    let end = text.find(" } }\nfilter").unwrap();
    let text = format!("{}{of_one_line}{}", &text[..start], &text[end..]);
    assert_eq!(patterns(&text), expected(""));
}

#[test]
fn captures_of_a_logstash_that_are_empty_are_no_fields_unless_it_keeps_them() {
    for (settings, expected) in [
        (
            r#"match => { "message" => "%{DATA:a},%{INT:n}" }"#,
            Some(false),
        ),
        (r#"match => { "message" => "%{SYSLOGLINE}" }"#, Some(false)),
        (r#"match => { "message" => "(?<a>x*)" }"#, Some(false)),
        (r#"match => { "message" => "%{WORD:a} %{INT:n}" }"#, None),
        (
            r#"keep_empty_captures => true match => { "message" => "%{DATA:a}," }"#,
            None,
        ),
    ] {
        let text = format!(
            "input {{ stdin {{ }} }}\nfilter {{ grok {{ {settings} }} }}\noutput {{ stdout {{ }} }}"
        );
        let imported = import_pipeline("p.conf", &text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let keeps = config["processors"][0]["grok"]["keep_empty_captures"].as_bool();
        assert_eq!(keeps, expected, "{settings}");
    }
}

#[test]
fn named_patterns_of_a_logstash_have_the_names_that_are_asked_for() {
    let check = |settings: &str, told: &[&str], has_definitions: bool| {
        let text = format!(
            "input {{ stdin {{ }} }}\nfilter {{ grok {{ {settings} }} }}\noutput {{ stdout {{ }} }}"
        );
        let imported = import_pipeline("p.conf", &text).unwrap();
        let found = imported.told();
        assert_eq!(found, told, "{settings}");
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let definitions = &config["processors"][0]["grok"]["pattern_definitions"];
        assert_eq!(definitions.is_object(), has_definitions, "{settings}");
    };
    let access = r#"match => { "message" => "%{COMBINEDAPACHELOG}" }"#;
    let without = "line 2: [filter.grok] [COMBINEDAPACHELOG] gives the names that it has without [ecs_compatibility], which is [v8] for a Logstash of the eighth generation";
    check(access, &[without], false);
    check(
        &format!("{access} ecs_compatibility => disabled"),
        &[],
        false,
    );
    check(&format!("{access} ecs_compatibility => v8"), &[], true);
    let renamed = r#"match => { "message" => "%{HAPROXYHTTP}" } ecs_compatibility => "v8""#;
    check(renamed, &[], true);
    let other = r#"match => { "message" => "%{CISCOFW106001}" } ecs_compatibility => "v8""#;
    check(
        other,
        &[
            "line 2: [filter.grok] [ecs_compatibility => v8]: [CISCOFW106001] gives the names that it had before",
        ],
        false,
    );
    check(
        r#"match => { "message" => "%{WORD:a} %{GREEDYDATA:b}" }"#,
        &[],
        false,
    );
}

#[test]
fn patterns_of_folders_become_definitions_where_they_are_used() {
    use serde_json::json;
    fn read(folder: &str) -> Option<String> {
        let text = "# of the shop\nORDER   o-%{ORDERID:[order][id]}\nORDERID \\d+\nSTAMP %{YEAR}\\|\nOTHER x\n";
        (folder == "./patterns").then(|| text.to_owned())
    }
    let text = r#"
input { file { path => "/a" codec => multiline { patterns_dir => ["./patterns"] pattern => "^%{STAMP}" negate => true what => "previous" } } }
filter {
  grok { patterns_dir => ["./patterns", "/nowhere"] match => { "message" => "%{ORDER}" } pattern_definitions => { "ORDERID" => "[a-z]" } }
}
output { stdout {} }
"#;
    let imported = import_logstash("p.conf", text, read).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let definitions = json!({"ORDERID": "[a-z]", "ORDER": "o-%{ORDERID:order.id}"});
    assert_eq!(
        config["processors"][0]["grok"]["pattern_definitions"],
        definitions
    );
    let start = config["inputs"][0]["multiline"]["start"].as_str().unwrap();
    assert!(
        start.starts_with("^(?:(?:") && start.ends_with("\\|)"),
        "{start}"
    );
    assert_eq!(
        imported.told(),
        [
            "line 4: [filter.grok] [patterns_dir => /nowhere] cannot be read: its patterns belong into [pattern_definitions]"
        ]
    );
}

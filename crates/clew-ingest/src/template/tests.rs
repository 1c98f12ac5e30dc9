use super::*;

#[test]
fn lists_within_lists_are_not_gone_through_for_ever() {
    let template = format!("{}{}", "{{#x}}".repeat(40), "{{/x}}".repeat(40));
    let values = serde_json::json!({"x": [1, 1]});
    let refused = filled(&template, &values).unwrap_err();
    assert_eq!(
        refused,
        "the template goes through more than [10000000] parts"
    );
}
use serde_json::json;

fn check(template: &str, values: &Value, expected: &str) {
    let template = Template::parse(template).unwrap();
    assert_eq!(template.render(values, Escape::Json).unwrap(), expected);
}

#[test]
fn tags_are_filled_in() {
    let values = json!({
        "a": {"b": "x\"y"}, "n": 3, "list": ["p", "q"], "yes": true, "no": false,
        "people": [{"name": "Ann"}, {"name": "Bo"}],
    });
    check(
        "{{a.b}}|{{{a.b}}}|{{n}}|{{none}}",
        &values,
        "x\\\"y|x\"y|3|",
    );
    check("{{list.1}}{{! ignored }}", &values, "q");
    check(
        "{{#yes}}Y{{n}}{{/yes}}{{^no}}N{{/no}}{{#no}}X{{/no}}",
        &values,
        "Y3N",
    );
    check("{{#people}}{{name}},{{/people}}", &values, "Ann,Bo,");
    check("{{#list}}[{{.}}]{{/list}}", &values, "[p][q]");
    check("{{#toJson}}list{{/toJson}}", &values, "[\"p\",\"q\"]");
    check(
        "{{#toJson}}a.b{{/toJson}}|{{#toJson}}none{{/toJson}}",
        &values,
        "x\"y|",
    );
    check(
        "{{list.size}} {{n.size}} {{list}} {{{a}}}",
        &values,
        "2  {0=p, 1=q} {b=x\"y}",
    );
    check(
        "{{#join}}people{{/join}} {{#join}}n{{/join}} {{#join}}{{n}}{{/join}}",
        &values,
        "{name=Ann},{name=Bo} n 3",
    );
    check(
        "<% n %>{{=<% %>=}}<% n %>{{n}}<%#list%><%.%><%/list%>",
        &values,
        "<% n %>3{{n}}pq",
    );
    check("{{=| |=}}|n||={{ }}=|{{n}}", &values, "33");
    check("{{$block}}d{{n}}{{/block}}", &values, "d3");
    check("{{#join}}list{{/join}}", &values, "p,q");
    check(
        "{{#join delimiter=' or '}}list{{/join delimiter=' or '}}",
        &values,
        "p or q",
    );
    check("{{#url}}a b/{{n}}{{/url}}", &values, "a+b%2F3");
    check(
        "{{#size}}{{size}}{{/size}}{{^size}}10{{/size}}",
        &values,
        "10",
    );
}

#[test]
fn what_is_no_template_is_refused() {
    let name = || "a".to_string();
    let mismatched = |opened, line| TemplateError::Mismatched {
        opened,
        closed: name(),
        line,
    };
    for (text, error) in [
        ("\n{{a", TemplateError::OpenTag { line: 2 }),
        ("{{{a}", TemplateError::OpenTag { line: 1 }),
        (
            "é {{{ a }} {{{b}}}",
            TemplateError::HalfClosedTag {
                name: name(),
                line: 1,
                read: 10,
            },
        ),
        (
            "\n\n{{#a}}x\n",
            TemplateError::OpenSection {
                name: name(),
                line: 3,
            },
        ),
        ("{{/a}}", mismatched(None, 1)),
        ("{{#b}}\n{{/a}}", mismatched(Some("b".to_string()), 2)),
        ("{{}}", TemplateError::EmptyTag { line: 1 }),
        ("{{>a}}", TemplateError::Missing { name: name() }),
        ("{{<a}}{{/a}}", TemplateError::Missing { name: name() }),
        (
            "{{=a=}}",
            TemplateError::Marks {
                marks: name(),
                line: 1,
            },
        ),
        (
            "{{=a}}",
            TemplateError::Marks {
                marks: name(),
                line: 1,
            },
        ),
    ] {
        assert_eq!(Template::parse(text), Err(error), "{text}");
    }
    let deep = "{{#a}}".repeat(100);
    assert_eq!(Template::parse(&deep), Err(TemplateError::TooDeep));
}

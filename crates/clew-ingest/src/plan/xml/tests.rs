//! Documents as values, parts of them, and what is not taken.

use serde_json::{Value as Json, json};

use super::path::Expression;
use crate::event::Value;
use crate::plan::Plan;

/// What a step makes of a text in `message`, or why it fails.
fn made(parameters: Json, text: &str) -> Result<Json, &'static str> {
    let mut plan = Plan::default();
    let message = plan.slot("message").unwrap();
    let mut parameters = parameters;
    parameters["field"] = "message".into();
    plan.add(&json!({"xml": parameters})).unwrap();
    plan.add(&json!({"remove": {"field": "message"}})).unwrap();
    let line = plan.event.begin(text).unwrap();
    plan.event.put(message, Value::Text(line)).unwrap();
    plan.run(0).map_err(|reason| reason.as_str())?;
    let mut out = Vec::new();
    plan.event.write(&mut out);
    Ok(serde_json::from_slice(&out).unwrap())
}

const SHOP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<shop xmlns="urn:shop" xmlns:x="urn:more">
  <!-- two of them -->
  <item id="1" x:kind="a">Caf&#233; &amp; <![CDATA[<tea>]]></item>
  <item id="2"/>
  <x:Note><em>very</em> good</x:Note>
  <none></none>
</shop>"#;

#[test]
fn a_document_is_an_object_of_what_its_elements_say() {
    let check = |parameters: Json, text: &str, expected: Json| {
        let shown = parameters.to_string();
        assert_eq!(made(parameters, text), Ok(expected), "{shown} {text}");
    };
    check(
        json!({"target_field": "x"}),
        SHOP,
        json!({"x": {"shop": {
            "item": [{"id": "1", "kind": "a", "#text": "Café & <tea>"}, {"id": "2"}],
            "Note": {"em": "very", "#text": "good"},
            "none": "",
        }}}),
    );
    check(
        json!({"target_field": "x", "lists": true, "keep_root": false, "text_field": "content", "empty": "drop"}),
        SHOP,
        json!({"x": {
            "item": [{"id": "1", "kind": "a", "content": "Café & <tea>"}, {"id": "2"}],
            "Note": [{"em": ["very"], "content": "good"}],
        }}),
    );
    check(
        json!({"add_to_root": true, "lowercase": true}),
        "<A B='1'><C>2</C><C>3</C><b>4</b></A>",
        json!({"a": {"b": ["1", "4"], "c": ["2", "3"]}}),
    );
    check(
        json!({"target_field": "x", "keep_root": false, "text_objects": true, "empty": "object"}),
        "<a><b>1</b><c/></a>",
        json!({"x": {"b": {"#text": "1"}, "c": {}}}),
    );
    check(
        json!({"target_field": "x", "keep_root": false}),
        "<a> 1 </a>",
        json!({"x": "1"}),
    );
    // Without a target the document takes the text's place, which is then removed.
    check(json!({}), "<a>1</a>", json!({}));
}

#[test]
fn parts_of_a_document_are_found_by_their_paths() {
    let found = |path: &str| {
        let made = made(json!({"paths": {path: "x"}}), SHOP).unwrap();
        made.get("x").cloned().unwrap_or_default()
    };
    for (path, expected) in [
        ("/shop/item/@id", json!(["1", "2"])),
        ("/shop/item[1]/text()", json!("Café & <tea>")),
        ("string(/shop/item)", json!("Café & <tea>")),
        ("//em/text()", json!("very")),
        ("//em", json!("<em>very</em>")),
        ("//x:Note/em", json!("<em>very</em>")),
        ("//y:Note", json!(null)),
        ("//xmlns:em/text()", json!("very")),
        ("/shop/item[@id='2']/@id", json!("2")),
        ("//item[@id=\"1\" and @kind='a']/@kind", json!("a")),
        ("//item[@id > 1]/@id", json!("2")),
        ("//item[last()]/@id", json!("2")),
        ("//item[position() != 2]/@id", json!("1")),
        ("//item[not(@kind)]/@*", json!("2")),
        ("//*[local-name() = 'Note']/em/text()", json!("very")),
        ("//*[contains(., 'very') and em]/em/text()", json!("very")),
        ("//item[starts-with(text(), 'Caf')]/@id", json!("1")),
        ("//em/../text()", json!(" good")),
        ("//em/parent::*/preceding-sibling::item[1]/@id", json!("2")),
        ("//item[1]/following-sibling::item/@id", json!("2")),
        ("//item[2]/@id | //item[1]/@id", json!(["1", "2"])),
        ("count(//item)", json!("2")),
        ("name(//*[em])", json!("x:Note")),
        ("name(/*)", json!("shop")),
        ("normalize-space(//*[em])", json!("very good")),
        ("concat(//item[1]/@id, '-', //item[2]/@id)", json!("1-2")),
        ("substring-after(name(//*[em]), ':')", json!("Note")),
        ("/shop/nothing", json!(null)),
        ("/other", json!(null)),
    ] {
        assert_eq!(found(path), expected, "{path}");
    }
    let both = json!({"paths": {"//em/text()": "em", "//item/@id": "ids"}, "lists": true, "target_field": "all"});
    let both = made(both, "<a><em>1</em><item id='2'/></a>").unwrap();
    assert_eq!(both["em"], json!(["1"]));
    assert_eq!(both["ids"], json!(["2"]));
    assert_eq!(both["all"]["a"]["em"], json!(["1"]));
    let prefixed = json!({"paths": {"//q:b/text()": "x"}, "namespaces": {"q": "urn:q"}});
    let made = made(prefixed, "<a><b xmlns='urn:q'>1</b><b>2</b></a>");
    assert_eq!(made, Ok(json!({"x": "1"})));
}

#[test]
fn expressions_that_say_nothing_are_refused() {
    for (written, reason) in [
        ("", "ends where a name should be"),
        ("/a/", "ends where a name should be"),
        ("/a[", "ends where a name should be"),
        ("/a[1", "ends where []] should be"),
        ("/a]", "cannot be read from []] on"),
        ("/a[@b='c]", "has a text that does not end"),
        ("id('a')", "calls [id], which is no function here"),
        ("count()", "gives [count] 0 arguments"),
        ("/a/namespace::b", "has [namespace], which is no axis here"),
        ("/a/$b", "has [$b] where a name should be"),
        ("(".repeat(30).as_str(), "has more than 20 levels"),
    ] {
        assert_eq!(
            Expression::parse(written),
            Err(reason.to_owned()),
            "{written}"
        );
    }
    let mut plan = Plan::default();
    let error = plan.add(&json!({"xml": {"field": "a", "paths": {"/a[": "b"}}}));
    assert_eq!(
        error.unwrap_err().to_string(),
        "[paths] [/a[] ends where a name should be"
    );
    for wrong in [
        json!({"field": "a", "empty": "gone"}),
        json!({"field": "a", "paths": {"/a": 1}}),
        json!({"field": "a", "namespaces": []}),
        json!({}),
    ] {
        assert!(plan.add(&json!({"xml": wrong})).is_err(), "{wrong}");
    }
}

#[test]
fn texts_that_are_no_documents_and_those_that_are_too_large_fail() {
    let target = || json!({"target_field": "x"});
    for text in [
        "",
        "text",
        "<a",
        "<a></b>",
        "<a/><b/>",
        "<a b='1' b='2'/>",
        "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>",
        "<a>&e;</a>",
    ] {
        assert_eq!(made(target(), text), Err("not_xml"), "{text}");
    }
    let nested = |depth: usize| format!("{}1{}", "<a>".repeat(depth), "</a>".repeat(depth));
    assert!(made(json!({"target_field": "x", "lists": true}), &nested(50)).is_ok());
    let attributes: String = (0..300).map(|number| format!(" a{number}='>'")).collect();
    let namespaces: String = (0..600)
        .map(|number| format!("<a xmlns:n{number}='n'/>"))
        .collect();
    for text in [
        nested(51),
        format!("<a{attributes}/>"),
        format!("<a{attributes}"),
        format!("<a>{namespaces}</a>"),
        format!("<a>{}</a>", "<b/>".repeat(100_000)),
        format!("<a>{}</a>", " ".repeat(1 << 20)),
    ] {
        assert_eq!(made(target(), &text), Err("too_long"));
    }
    // What looks like tags in comments and texts is none.
    let quiet = format!(
        "<a><!-- {0} --><![CDATA[{0}]]><?p {0}?>1</a>",
        "<b>".repeat(60)
    );
    let expected = format!("{}1", "<b>".repeat(60));
    assert_eq!(made(target(), &quiet), Ok(json!({"x": {"a": expected}})));
    assert_eq!(
        made(json!({"add_to_root": true, "keep_root": false}), "<a>1</a>"),
        Err("not_an_object")
    );
    // Every element is looked at for every element.
    let many = format!("<a>{}</a>", "<b/>".repeat(2_000));
    let slow = json!({"paths": {"//*[count(//*) > 1]": "x"}});
    assert_eq!(made(slow, &many), Err("too_long"));
}

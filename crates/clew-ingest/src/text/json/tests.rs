use serde_json::value::RawValue;

use super::*;

const TEXTS: [&str; 44] = [
    "{}",
    " { } ",
    r#"{"a":1}"#,
    r#"{"a":1,"b":[1, 2,{"c":null}],"d":{"e":"f"}} "#,
    r#"{"a\"b":"c\\d\u00e9\ud83d"}"#,
    "{\"a\":\"\t\"}",
    "{\"é\":\"ü€\"}",
    r#"{"a":-0.5e+10,"b":0,"c":1E3,"d":true,"e":false}"#,
    r#"{"a":01}"#,
    r#"{"a":1.}"#,
    r#"{"a":.5}"#,
    r#"{"a":+1}"#,
    r#"{"a":-}"#,
    r#"{"a":1e}"#,
    r#"{"a":tru}"#,
    r#"{"a":nul"#,
    r#"{"a"}"#,
    r#"{"a":}"#,
    r#"{"a":1,}"#,
    r#"{,"a":1}"#,
    r#"{"a":1 "b":2}"#,
    r#"{"a":1}}"#,
    r#"{"a":1} x"#,
    r#"{"a":"\x"}"#,
    r#"{"a":"\u12g4"}"#,
    r#"{"a":"open"#,
    r#"{"a":[1,]}"#,
    r#"{"a":[,1]}"#,
    r#"{"a":[1 2]}"#,
    r#"{"a":[}"#,
    "",
    " ",
    "[]",
    "[1,2",
    "1",
    "\"x\"",
    "{a:1}",
    "{'a':1}",
    r#"{"a":1,"a":2}"#,
    r#"{"":""}"#,
    "{\"a\":\n[\r\n]\t}",
    "null",
    "truex",
    r#"{"long name of a member":"a text that is longer than a word"}"#,
];

#[test]
fn it_takes_what_the_parser_of_documents_takes_and_finds_the_same_members() {
    let mut found = Vec::new();
    for text in TEXTS {
        let theirs: Result<serde_json::Map<String, serde_json::Value>, _> =
            serde_json::from_str(text);
        let raw: Result<std::collections::BTreeMap<String, &RawValue>, _> =
            serde_json::from_str(text);
        // Half of a pair of surrogates is no text, which is told when it is read.
        let is_whole = theirs.is_ok() || text.contains("\\ud83d");
        assert_eq!(members(text, &mut found), is_whole, "{text}");
        assert_eq!(
            is_json(text),
            serde_json::from_str::<&RawValue>(text).is_ok(),
            "{text}"
        );
        if let (Ok(raw), true) = (raw, is_whole) {
            for member in &found {
                let name = serde_json::from_str::<String>(&format!("\"{}\"", member.name.of(text)))
                    .unwrap();
                let last = found
                    .iter()
                    .rfind(|other| other.name.of(text) == member.name.of(text))
                    .unwrap();
                assert_eq!(last.value.of(text), raw[&name].get(), "{text}");
            }
        }
    }
    // Every beginning of a text is none, or one by itself.
    for text in TEXTS {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert_eq!(
                is_json(&text[..end]),
                serde_json::from_str::<&RawValue>(&text[..end]).is_ok()
            );
        }
    }
    let deep = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(members(&deep(DEPTH_MAX - 1), &mut found));
    assert!(!members(&deep(DEPTH_MAX), &mut found));
}

#[test]
fn items_of_a_list_are_handed_out_as_they_are_written() {
    for (list, items) in [
        (r#" ["a,]", {"b":[2]} ,[ ],-1e2,null ] "#, 5),
        ("[]", 0),
        ("{}", 0),
        ("[1,", 0),
    ] {
        let mut found = Vec::new();
        any_item(list, |item| {
            found.push(item.to_owned());
            false
        });
        let read: Option<Vec<&RawValue>> = serde_json::from_str(list).ok();
        if let Some(read) = read {
            assert!(read.iter().map(|item| item.get()).eq(&found), "{list}");
            assert_eq!(found.len(), items, "{list}");
        }
    }
    assert!(any_item("[1,2]", |item| item == "2") && !any_item("[1,2", |item| item == "2"));
}

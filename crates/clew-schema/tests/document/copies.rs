//! Values that go to several fields: whoever has a document parsed says whether there is room for them.

use clew_schema::{DocumentError, Parsed};
use serde_json::json;

use super::mapping;

#[test]
fn values_are_made_of_one_for_several_fields_where_there_is_room_for_them() {
    let text = json!({ "type": "text" });
    let mapping = mapping(&json!({
        "alone": text, "a": text, "b": text,
        "copied": { "type": "text", "copy_to": ["a", "b"] },
        "several": { "type": "text", "fields": { "a": text, "b": text } },
        "short": { "type": "text", "fields": { "k": { "type": "keyword", "ignore_above": 256 } } },
        "o": { "type": "nested", "include_in_parent": true, "properties": { "t": text } },
    }));
    let words = "word ".repeat(30_000);
    for (document, copies) in [
        (json!({ "alone": words }), 0),
        (json!({ "short": words }), 0),
        (json!({ "alone": [words, words] }), 0),
        (json!({ "alone": "word", "short": "word" }), 0),
        (json!({ "copied": words }), 2),
        (json!({ "several": words }), 2),
        (json!({ "several": [words, "word", words] }), 4),
        (json!({ "o": [{ "t": words }, { "t": words }] }), 2),
    ] {
        let source = document.to_string();
        let mut asked = 0;
        let parsed = mapping.parse_within(source.as_bytes(), Vec::new(), &mut |bytes| {
            asked = bytes;
            true
        });
        assert!(matches!(parsed, Ok(Parsed::Document(_))));
        assert!(asked >= copies * words.len(), "{asked} of {copies}");
        assert_eq!(asked > 0, copies > 0);
        let refused = mapping.parse_within(source.as_bytes(), Vec::new(), &mut |_| false);
        let is_refused = matches!(refused, Err(DocumentError::Refused { .. }));
        assert_eq!(is_refused, copies > 0);
    }
}

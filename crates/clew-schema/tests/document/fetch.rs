use clew_schema::DateFormat;
use serde_json::json;

use super::mapping;

#[test]
fn values_come_back_as_their_fields_read_them() {
    let mapping = mapping(&json!({
        "date": { "type": "date", "format": "yyyy-MM-dd" },
        "whole": { "type": "integer", "null_value": 7, "ignore_malformed": true },
        "float": { "type": "float" },
        "flag": { "type": "boolean" },
        "ip": { "type": "ip" },
        "word": { "type": "keyword", "ignore_above": 3 },
        "same": { "type": "constant_keyword", "value": "x" },
        "o": { "properties": { "n": { "type": "unsigned_long", "copy_to": "whole" } } },
    }));
    let source = json!({
        "date": "2020-02-03", "whole": ["1", null, "no", 2.7], "float": 0.1, "flag": "true",
        "ip": "::ffff:10.0.0.1", "word": ["abc", "abcd"], "o": [{"n": 1}, {"n": "2"}],
    });
    for (path, expected) in [
        ("date", json!(["2020-02-03"])),
        ("whole", json!([1, 7, 2, 1, 2])),
        ("float", json!([0.1])),
        ("flag", json!([true])),
        ("ip", json!(["10.0.0.1"])),
        ("word", json!(["abc"])),
        ("same", json!(["x"])),
        ("o.n", json!([1, 2])),
    ] {
        let field = mapping.field(path).unwrap();
        assert_eq!(
            json!(mapping.fetch(field, &source, None)),
            expected,
            "{path}"
        );
    }
    let format = DateFormat::parse("yyyy/MM").unwrap();
    let date = mapping.field("date").unwrap();
    assert_eq!(
        mapping.fetch(date, &source, Some(&format)),
        [json!("2020/02")]
    );
}

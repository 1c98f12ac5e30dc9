use super::*;

#[test]
fn values_are_taken_as_their_type_or_said_not_to_fit() {
    let text = |text: &str| Emitted::Text(text.to_string());
    for (kind, emitted, expected) in [
        (DerivedKind::Long, text("12"), Ok(Value::from(12))),
        (
            DerivedKind::Long,
            Emitted::Float(1.7),
            Err("For input string: \"1.7\""),
        ),
        (DerivedKind::Double, Emitted::Whole(1), Ok(Value::from(1))),
        (DerivedKind::Boolean, text("true"), Ok(Value::Bool(true))),
        (
            DerivedKind::Boolean,
            Emitted::Whole(1),
            Err("Failed to parse value [1] as only [true] or [false] are allowed."),
        ),
        (
            DerivedKind::Ip,
            text("nope"),
            Err("'nope' is not an IP string literal."),
        ),
        (
            DerivedKind::Keyword,
            Emitted::Whole(12),
            Err(
                "class java.lang.Integer cannot be cast to class java.lang.String \
                 (java.lang.Integer and java.lang.String are in module java.base of loader \
                 'bootstrap')",
            ),
        ),
    ] {
        let made = taken(kind, &emitted);
        assert_eq!(made, expected.map_err(str::to_string), "{kind:?}");
    }
}

//! `highlight(field)`: what a search found in a field, as a column. The name of the column says which field, and how.

use clew_schema::glob::matches as glob;
use serde_json::{Map, Value};

use crate::fields::{Field, SqlType};
use crate::statement::expr::{Call, Expr};

/// How the names of the columns begin.
const COLUMN: &str = "#highlight:";
/// Stands between the field and the options; no name has it.
const END: char = '\u{0}';

/// The column that a call is, if it is one of `highlight` as it must be.
pub(crate) fn column(call: &Call) -> Option<Expr> {
    let [Expr::Column(field) | Expr::Literal(Value::String(field))] = call.args.as_slice() else {
        return None;
    };
    if call.name != "highlight" {
        return None;
    }
    let options = call.options.iter().map(|(name, value)| {
        let is_list = matches!(name.as_str(), "pre_tags" | "post_tags");
        let value = match value {
            Value::String(_) if is_list => Value::Array(vec![value.clone()]),
            other => other.clone(),
        };
        (name.clone(), value)
    });
    let options: Map<String, Value> = options.collect();
    let options = Value::Object(options);
    Some(Expr::Column(format!("{COLUMN}{field}{END}{options}")))
}

/// The column as a field that a search brings.
pub(crate) fn made_field(column: &str) -> Option<Field> {
    asked(column).map(|(of, _)| Field {
        // As OpenSearch tells lists of texts, and lists by the names of fields.
        kind: if of.contains('*') {
            SqlType::Object
        } else {
            SqlType::Nested
        },
        exact: None,
        path: column.to_string(),
        in_source: false,
        in_nested: false,
    })
}

/// The field that a column highlights, and how it is asked for.
pub(crate) fn asked(column: &str) -> Option<(&str, &str)> {
    column.strip_prefix(COLUMN)?.split_once(END)
}

/// What was found in a field, of all that a hit has; of a name with stars, an object with all fields that it fits.
pub(crate) fn found(of: &str, all: Option<&Value>) -> Value {
    let Some(Value::Object(all)) = all else {
        return Value::Null;
    };
    if !of.contains('*') {
        return all.get(of).cloned().unwrap_or_default();
    }
    let meant = all.iter().filter(|(name, _)| glob(of, name));
    let meant: Map<String, Value> = meant
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if meant.is_empty() {
        Value::Null
    } else {
        Value::Object(meant)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_column_says_what_to_highlight() {
        let call = Call {
            name: "highlight".into(),
            args: vec![Expr::column("body")],
            distinct: false,
            options: vec![("pre_tags".into(), "<b>".into())],
        };
        let Some(Expr::Column(name)) = column(&call) else {
            panic!("no column");
        };
        let (field, options) = asked(&name).expect("a highlight");
        let options: Value = serde_json::from_str(options).expect("options");
        assert_eq!((field, options), ("body", json!({"pre_tags": ["<b>"]})));
        assert_eq!(made_field("body"), None);
    }

    #[test]
    fn stars_bring_all_fields_that_they_fit() {
        let all = json!({"title": ["a"], "body": ["b"]});
        assert_eq!(found("title", Some(&all)), json!(["a"]));
        assert_eq!(found("t*", Some(&all)), json!({"title": ["a"]}));
        assert_eq!(found("x*", Some(&all)), Value::Null);
        assert_eq!(found("title", None), Value::Null);
    }
}

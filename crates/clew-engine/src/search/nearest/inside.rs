//! What lies inside JSON and makes groups.

use clew_query::FieldStep;
use serde_json::Value;

use super::GroupKey;
use crate::base::error::EngineError;

/// Where the value lies that hits are grouped by, inside a member of documents, and what counts as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupInside {
    /// The way to it.
    pub steps: Vec<FieldStep>,
    /// What it has to be; where nothing is said, anything: a text, and of what is no text its JSON.
    pub kind: Option<GroupKind>,
    /// Whether a document without such a value fails the search. It is one without a value otherwise.
    pub strict: bool,
}

/// What a value inside JSON has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// `true` or `false`: [`GroupKey::Integer`] 1 or 0.
    Boolean,
    /// A whole number that fits so many bits, from 1 to 64; without a point.
    Integer {
        /// How many.
        bits: u32,
    },
    /// A text.
    Text,
}

impl GroupInside {
    /// Whatever a way leads to.
    pub fn new(steps: Vec<FieldStep>) -> Self {
        GroupInside {
            steps,
            kind: None,
            strict: false,
        }
    }

    /// What a document has in common with others, by the member that it has; `null` is no value.
    ///
    /// # Errors
    /// [`EngineError::InvalidRequest`] where it is strict and there is no such value.
    pub fn key(&self, member: Option<&Value>) -> Result<GroupKey, EngineError> {
        let value = member.and_then(|member| FieldStep::lead(&self.steps, member));
        match value.and_then(|value| self.key_of(value)) {
            Some(key) => Ok(key),
            None if self.strict => Err(EngineError::InvalidRequest {
                reason: format!(
                    "failed to cast json {}, wrong json data inner type",
                    match self.kind {
                        None => "object node to string".to_string(),
                        Some(GroupKind::Text) => "string to string".to_string(),
                        Some(GroupKind::Boolean) => "value to bool".to_string(),
                        Some(GroupKind::Integer { bits }) => format!("value to int{bits}_t"),
                    }
                ),
            }),
            None => Ok(GroupKey::Missing),
        }
    }

    fn key_of(&self, value: &Value) -> Option<GroupKey> {
        match (self.kind, value) {
            (_, Value::Null) => None,
            (None | Some(GroupKind::Text), Value::String(text)) => {
                Some(GroupKey::Text(text.clone()))
            }
            (None, other) => Some(GroupKey::Text(other.to_string())),
            (Some(GroupKind::Boolean), Value::Bool(value)) => {
                Some(GroupKey::Integer(i64::from(*value)))
            }
            (Some(GroupKind::Integer { bits }), value) => value
                .as_i64()
                .filter(|number| matches!(number >> (bits - 1), 0 | -1))
                .map(GroupKey::Integer),
            (Some(GroupKind::Boolean | GroupKind::Text), _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(kind: Option<GroupKind>, value: &Value) -> GroupKey {
        let inside = GroupInside {
            kind,
            ..GroupInside::new(vec![FieldStep::Member("a".into())])
        };
        inside.key(Some(&json!({ "a": value }))).unwrap()
    }

    #[test]
    fn values_of_another_kind_are_none() {
        let text = |text: &str| GroupKey::Text(text.to_string());
        let integer = |bits| Some(GroupKind::Integer { bits });
        for (kind, value, want) in [
            (None, json!("x"), text("x")),
            (None, json!(1.5), text("1.5")),
            (None, json!(null), GroupKey::Missing),
            (Some(GroupKind::Text), json!("1"), text("1")),
            (Some(GroupKind::Text), json!(1), GroupKey::Missing),
            (Some(GroupKind::Boolean), json!(true), GroupKey::Integer(1)),
            (Some(GroupKind::Boolean), json!(1), GroupKey::Missing),
            (integer(64), json!(i64::MIN), GroupKey::Integer(i64::MIN)),
            (integer(64), json!(u64::MAX), GroupKey::Missing),
            (integer(64), json!(1.0), GroupKey::Missing),
            (integer(64), json!("1"), GroupKey::Missing),
            (integer(8), json!(-128), GroupKey::Integer(-128)),
            (integer(8), json!(127), GroupKey::Integer(127)),
            (integer(8), json!(128), GroupKey::Missing),
            (integer(8), json!(-129), GroupKey::Missing),
        ] {
            assert_eq!(key(kind, &value), want, "{kind:?} {value}");
        }
    }

    #[test]
    fn a_strict_search_fails_where_there_is_no_such_value() {
        for (kind, member, said) in [
            (None, json!({}), "json object node to string"),
            (
                Some(GroupKind::Text),
                json!({"a": 1}),
                "json string to string",
            ),
            (Some(GroupKind::Boolean), json!({}), "json value to bool"),
            (
                Some(GroupKind::Integer { bits: 16 }),
                json!({"a": "x"}),
                "json value to int16_t",
            ),
        ] {
            let inside = GroupInside {
                kind,
                strict: true,
                ..GroupInside::new(vec![FieldStep::Member("a".into())])
            };
            let refused = inside.key(Some(&member)).unwrap_err().to_string();
            let want = format!("failed to cast {said}, wrong json data inner type");
            assert_eq!(refused, want);
        }
    }
}

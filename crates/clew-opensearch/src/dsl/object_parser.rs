//! Objects that OpenSearch reads by a table of their fields (its `ObjectParser`): every field takes values of some sorts, and
//! what is wrong with one is told of it. Whoever reads one goes through the members in their order, as the first that is
//! wrong is told.

use clew_schema::text_of;
use serde_json::{Map, Value};

use super::DslError;
use crate::http::place::{Spot, token};
use crate::http::suggestion::did_you_mean;

/// A member of such an object.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    /// What OpenSearch calls the object.
    object: &'static str,
    pub(crate) name: &'a str,
    pub(crate) value: &'a Value,
}

impl<'a> Field<'a> {
    /// The members of an object, in their order.
    ///
    /// # Errors
    /// A value that is no object.
    pub(crate) fn all(
        object: &'static str,
        value: &'a Value,
    ) -> Result<impl Iterator<Item = Field<'a>>, DslError> {
        let Value::Object(members) = value else {
            let reason = format!("[{object}] Expected START_OBJECT but was: {}", token(value));
            return Err(DslError::content(reason).at(Spot::start_of(value)));
        };
        Ok(Self::members(object, members))
    }

    /// The same of an object that is known to be one.
    pub(crate) fn members(
        object: &'static str,
        members: &'a Map<String, Value>,
    ) -> impl Iterator<Item = Field<'a>> {
        members.iter().map(move |(name, value)| Field {
            object,
            name: name.as_str(),
            value,
        })
    }

    /// A whole number, or the text of one; what stands behind a point is cut off.
    pub(crate) fn integer(self) -> Result<i64, DslError> {
        self.some(integer_in(self.value))
    }

    /// The same of those that OpenSearch reads with 64 bits: it refuses a text that is none as other illegal arguments.
    pub(crate) fn long(self) -> Result<i64, DslError> {
        let number = integer_in(self.value).map_err(|error| match self.value {
            Value::String(text) => DslError::no_long(text),
            _ => error,
        });
        self.some(number)
    }

    /// The same as a size, of which there are none below 0.
    pub(crate) fn size(self) -> Result<usize, DslError> {
        let number = self.integer()?.max(0);
        Ok(usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// A whole number that is not below the least, and what is told of one that is.
    pub(crate) fn at_least(self, least: i64, reason: &str) -> Result<i64, DslError> {
        let number = self.integer()?;
        if number < least {
            return Err(self.wrong(DslError::illegal(reason)));
        }
        Ok(number)
    }

    /// A number, or the text of one.
    pub(crate) fn number(self) -> Result<f64, DslError> {
        self.some(number_in(self.value))
    }

    /// What was read, unless the value is wrong or of another sort.
    fn some<T>(self, read: Result<Option<T>, DslError>) -> Result<T, DslError> {
        let read = read.map_err(|error| self.wrong(error))?;
        read.ok_or_else(|| self.other_sort())
    }

    /// Yes or no, or the text of that.
    pub(crate) fn flag(self) -> Result<bool, DslError> {
        self.some(flag_in(self.value))
    }

    /// A text.
    pub(crate) fn text(self) -> Result<&'a str, DslError> {
        self.value.as_str().ok_or_else(|| self.other_sort())
    }

    /// A text or a list of texts.
    pub(crate) fn texts(self) -> Result<Vec<String>, DslError> {
        match self.value {
            Value::Array(items) => Ok(items.iter().map(text_of).collect()),
            Value::String(text) => Ok(vec![text.clone()]),
            _ => Err(self.other_sort()),
        }
    }

    /// An object.
    pub(crate) fn object(self) -> Result<&'a Value, DslError> {
        match self.value {
            Value::Object(_) => Ok(self.value),
            _ => Err(self.other_sort()),
        }
    }

    /// The refusal of a value of another sort than the field takes.
    pub(crate) fn other_sort(self) -> DslError {
        let (object, name, found) = (self.object, self.name, token(self.value));
        let reason = format!("[{object}] {name} doesn't support values of type: {found}");
        DslError::content(reason).at(Spot::start_of(self.value))
    }

    /// The refusal of a value for a reason.
    pub(crate) fn wrong(self, error: DslError) -> DslError {
        let error = error.or_at(Spot::start_of(self.value));
        error.in_field(self.object, self.name)
    }

    /// The refusal of a field that the object does not have, among those that it has.
    pub(crate) fn unknown(self, known: &[&str]) -> DslError {
        let (object, name) = (self.object, self.name);
        let meant = did_you_mean(name, known);
        let reason = format!("[{object}] unknown field [{name}]{meant}");
        DslError::content(reason).at(Spot::name_of(self.value))
    }
}

/// The number that a value is, or that its text is; `None` for other values.
///
/// # Errors
/// A text that is no number.
pub(crate) fn number_in(value: &Value) -> Result<Option<f64>, DslError> {
    match value {
        Value::Number(number) => Ok(number.as_f64()),
        Value::String(text) => {
            let number = text.trim().parse::<f64>().map(Some);
            number.map_err(|_| DslError::no_number(text))
        }
        _ => Ok(None),
    }
}

/// The same as a whole number; what stands behind a point is cut off.
pub(crate) fn integer_in(value: &Value) -> Result<Option<i64>, DslError> {
    if let Some(number) = value.as_i64() {
        return Ok(Some(number));
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "whole numbers are asked for, and the conversion saturates"
    )]
    let whole = |number: f64| number as i64;
    Ok(number_in(value)?.map(whole))
}

/// Yes or no, or what the text of that says; `None` for other values.
///
/// # Errors
/// Another text.
pub(crate) fn flag_in(value: &Value) -> Result<Option<bool>, DslError> {
    match value {
        Value::Bool(flag) => Ok(Some(*flag)),
        Value::String(text) if text == "true" => Ok(Some(true)),
        // An empty text is no, as for the readers of OpenSearch.
        Value::String(text) if text.is_empty() || text == "false" => Ok(Some(false)),
        Value::String(text) => Err(DslError::no_flag(text)),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dsl::DslErrorKind;

    /// What a reader of the member of an object without others says.
    fn said<T: std::fmt::Debug>(
        value: &Value,
        read: impl Fn(Field<'_>) -> Result<T, DslError>,
    ) -> String {
        let body = json!({"a": value});
        let field = Field::all("x", &body).unwrap().next().unwrap();
        match read(field) {
            Ok(read) => format!("{read:?}"),
            Err(error) => match error.within {
                Some(within) => format!("{}: {}", error.reason, within.reason),
                None => error.reason,
            },
        }
    }

    #[test]
    fn values_are_read_as_their_fields_take_them() {
        for (value, integer) in [
            (json!(3), "3"),
            (json!(1.9), "1"),
            (json!("-2.5"), "-2"),
            (
                json!("y"),
                "[x] failed to parse field [a]: For input string: \"y\"",
            ),
            (
                json!([1]),
                "[x] a doesn't support values of type: START_ARRAY",
            ),
            (
                Value::Null,
                "[x] a doesn't support values of type: VALUE_NULL",
            ),
        ] {
            assert_eq!(said(&value, |field| field.integer()), integer, "{value}");
        }
        assert_eq!(said(&json!(-3), |field| field.size()), "0");
        assert_eq!(said(&json!("3"), |field| field.long()), "3");
        let body = json!({"a": "y"});
        let field = Field::all("x", &body).unwrap().next().unwrap();
        let within = field.long().unwrap_err().within.unwrap();
        assert_eq!(within.kind, DslErrorKind::IllegalArgument);
        assert_eq!(said(&json!("true"), |field| field.flag()), "true");
        assert_eq!(
            said(&json!(1), |field| field.flag()),
            "[x] a doesn't support values of type: VALUE_NUMBER"
        );
        assert_eq!(
            said(&json!(["a", 1]), |field| field.texts()),
            "[\"a\", \"1\"]"
        );
        assert_eq!(
            said(&json!(1), |field| Err::<(), _>(
                field.unknown(&["ab", "xyz"])
            )),
            "[x] unknown field [a]"
        );
    }

    #[test]
    fn values_that_are_no_objects_have_no_fields() {
        let error = Field::all("x", &json!(1)).map(|_| ()).unwrap_err();
        assert_eq!(
            error.reason,
            "[x] Expected START_OBJECT but was: VALUE_NUMBER"
        );
    }
}

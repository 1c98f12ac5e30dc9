//! Parameters of a URI, read once, with OpenSearch's words for values that cannot be read.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::StatusCode;
use clew_schema::percent::{Plus, decoded};

use crate::http::error::{ApiError, Cause};
use crate::http::setting_values::parse_time;
use crate::http::suggestion::did_you_mean;

/// Numbers that OpenSearch reads with 64 bits, and tells so of those that are none.
const LONG: [&str; 3] = ["version", "if_seq_no", "if_primary_term"];

/// The names of parameters that say a query in words, and how it is read; and more.
macro_rules! of_worded_queries {
    ($($more:literal),* $(,)?) => {
        &[
            "q",
            "df",
            "default_operator",
            "analyzer",
            "analyze_wildcard",
            "lenient",
            $($more),*
        ]
    };
}
pub(crate) use of_worded_queries;

/// Decoded `name=value` pairs. A name without value has the empty value.
#[derive(Debug, Default)]
pub struct Params {
    pairs: Vec<(String, String)>,
}

impl Params {
    /// # Errors
    /// A percent sign that starts no byte, or bytes that are not UTF-8.
    pub(crate) fn parse(query: &str) -> Result<Self, ApiError> {
        let mut pairs = Vec::new();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let plain = |text: &str| decode(text, Plus::IsSpace).map(Cow::into_owned);
            pairs.push((plain(name)?, plain(value)?));
        }
        Ok(Params { pairs })
    }

    /// Gives a name a value that has none.
    pub(crate) fn fill(&mut self, name: &str, value: &str) {
        if !self.has(name) {
            self.pairs.push((name.to_string(), value.to_string()));
        }
    }

    /// The same with others above them.
    pub(crate) fn with(&self, above: Vec<(String, String)>) -> Self {
        let mut pairs = self.pairs.clone();
        pairs.extend(above);
        Params { pairs }
    }

    /// The same without some names.
    pub(crate) fn without(&self, names: impl Fn(&str) -> bool) -> Self {
        let left = self.pairs.iter().filter(|(name, _)| !names(name));
        Params {
            pairs: left.cloned().collect(),
        }
    }

    /// The last value given for a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs
            .iter()
            .rev()
            .find(|(have, _)| have == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A flag: absent is `default`, without value is true.
    ///
    /// # Errors
    /// Another value than `true` and `false`.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool, ApiError> {
        match self.get(name) {
            None => Ok(default),
            Some("" | "true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(ApiError::illegal_argument(not_a_flag(other))),
        }
    }

    /// The same of what says which indexes are meant, whose values are refused by name.
    pub(crate) fn index_flag(&self, name: &str, default: bool) -> Result<bool, ApiError> {
        self.flag(name, default).map_err(|_| {
            let inner = not_a_flag(self.get(name).unwrap_or_default());
            let inner = Cause::new("illegal_argument_exception", inner);
            let reason = format!("Could not convert [{name}] to boolean");
            let cause = Cause::new("illegal_argument_exception", reason).caused_by(inner);
            ApiError::new(StatusCode::BAD_REQUEST, cause)
        })
    }

    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        let number = text.parse().map_err(|_| {
            let kind = if LONG.contains(&name) { "long" } else { "int" };
            let reason = format!("Failed to parse {kind} parameter [{name}] with value [{text}]");
            ApiError::no_number(reason, text)
        })?;
        Ok(Some(number))
    }

    /// A whole number that is not negative.
    ///
    /// # Errors
    /// Another value.
    pub fn unsigned(&self, name: &str) -> Result<Option<u64>, ApiError> {
        let Some(number) = self.integer(name)? else {
            return Ok(None);
        };
        let number = u64::try_from(number).map_err(|_| {
            ApiError::illegal_argument(format!(
                "[{name}] parameter cannot be negative, found [{number}]"
            ))
        })?;
        Ok(Some(number))
    }

    pub(crate) fn time(&self, name: &str) -> Result<Option<Duration>, ApiError> {
        match self.get(name) {
            None => Ok(None),
            Some(text) => parse_time(name, text),
        }
    }

    /// A comma-separated list.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<&str>> {
        self.get(name)
            .map(|text| text.split(',').filter(|item| !item.is_empty()).collect())
    }

    /// Refuses names that are in none of the lists, each with those of them that are close to it.
    pub(crate) fn refuse_unknown(&self, path: &str, known: &[&[&str]]) -> Result<(), ApiError> {
        let mut unknown: Vec<&str> = self
            .pairs
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| !known.iter().any(|list| list.contains(name)))
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        if unknown.is_empty() {
            return Ok(());
        }
        let plural = if unknown.len() > 1 { "s" } else { "" };
        let known = known.concat();
        let named = unknown.iter().map(|name| {
            let arrow = match did_you_mean(name, &known) {
                close if close.is_empty() => close,
                close => format!(" ->{close}"),
            };
            format!("[{name}]{arrow}")
        });
        let named: Vec<String> = named.collect();
        Err(ApiError::illegal_argument(format!(
            "request [{path}] contains unrecognized parameter{plural}: {}",
            named.join(", ")
        )))
    }
}

/// Undoes percent encoding.
pub(crate) fn decode(text: &str, plus: Plus) -> Result<Cow<'_, str>, ApiError> {
    if !text.bytes().any(|byte| byte == b'%' || byte == b'+') {
        return Ok(Cow::Borrowed(text));
    }
    let bytes = decoded(text, plus).ok_or_else(|| bad_encoding(text))?;
    let decoded = String::from_utf8(bytes).map_err(|_| bad_encoding(text))?;
    Ok(Cow::Owned(decoded))
}

fn bad_encoding(text: &str) -> ApiError {
    ApiError::bad_request(
        "bad_parameter_exception",
        format!("partial or invalid escape sequence in [{text}]"),
    )
}

/// What is told of a value that is no truth.
fn not_a_flag(value: &str) -> String {
    format!("Failed to parse value [{value}] as only [true] or [false] are allowed.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_the_last_one_wins() {
        let params = Params::parse("q=a+b%3A%22c%22&size=1&size=2&pretty").unwrap();
        assert_eq!(params.get("q"), Some("a b:\"c\""));
        assert_eq!(params.integer("size").unwrap(), Some(2));
        assert!(params.flag("pretty", false).unwrap());
        assert!(Params::parse("q=%4").is_err());
        assert!(Params::parse("q=%ff").is_err());
        assert_eq!(decode("a+b", Plus::IsPlus).unwrap(), "a+b");
    }

    #[test]
    fn unknown_names_are_refused() {
        let params = Params::parse("from=1&frm=1").unwrap();
        assert!(
            params
                .refuse_unknown("/_search", &[&["from"], &["frm"]])
                .is_ok()
        );
        let error = params.refuse_unknown("/_search", &[&["from"]]).unwrap_err();
        let body = String::from_utf8(error.body()).unwrap();
        let named =
            "request [/_search] contains unrecognized parameter: [frm] -> did you mean [from]?";
        assert!(body.contains(named));
        let params = Params::parse("sze=1&frm=1").unwrap();
        let error = params.refuse_unknown("/_search", &[]).unwrap_err();
        let named = "request [/_search] contains unrecognized parameters: [frm], [sze]";
        assert_eq!(error.reason(), named);
    }
}

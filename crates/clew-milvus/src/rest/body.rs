//! The body of a request, and what is wrong with it.

pub(super) use clew_schema::text_of;
use serde_json::{Map, Value};

use crate::error::MilvusError;
use crate::proto::{KeyValuePair, Unread};
use crate::rows::WrongRows;

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("can only accept json format request, error: {0}")]
    NoJson(String),
    #[error("missing required parameters, error: {0}")]
    Missing(String),
    /// The same as the first edition tells it: by all that a request has to have.
    #[error("missing required parameters, required parameters: [{0}]")]
    Required(&'static str),
    /// A search is for nothing.
    #[error("either 'ids' (for primary key search) or 'data' (for vector search) must be provided")]
    NoInput,
    #[error("fail to deal the insert data, error: {0}")]
    Rows(String),
    #[error("please check the primary key and its' type can only in [int, string], error: {0}")]
    Key(String),
    /// Anybody's page can have a browser send what it likes to this machine.
    #[error("requests of web pages are refused")]
    WebPage,
    #[error(transparent)]
    Call(#[from] MilvusError),
}

impl Refusal {
    pub(super) fn code(&self) -> i32 {
        match self {
            Refusal::NoJson(_) => 1801,
            Refusal::Missing(_) | Refusal::Required(_) | Refusal::NoInput => 1802,
            Refusal::Rows(_) => 1804,
            Refusal::Key(_) => 1806,
            Refusal::WebPage => 1401,
            Refusal::Call(error) => error.code(),
        }
    }
}

impl From<WrongRows> for Refusal {
    fn from(WrongRows(why): WrongRows) -> Self {
        Refusal::Rows(why)
    }
}

pub(super) type Result<T> = std::result::Result<T, Refusal>;

/// A JSON object.
pub(super) struct Body(pub(super) Map<String, Value>);

impl Body {
    /// Reads the body of a request; none at all is an empty object, and so is `null`, which Milvus reads into nothing.
    pub(super) fn read(bytes: &[u8]) -> Result<Body> {
        if bytes.is_empty() {
            return Ok(Body(Map::new()));
        }
        let read = serde_json::from_slice::<Option<Map<String, Value>>>(bytes);
        read.map(|members| Body(members.unwrap_or_default()))
            .map_err(|error| Refusal::NoJson(error.to_string()))
    }

    /// A member that is not null. Letters may be of another case where there is none of the very name: Milvus reads bodies so,
    /// and its examples have both `autoId` and `autoID`.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let alike = || {
            let mut members = self.0.iter();
            let found = members.find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value)
        };
        let found = self.0.get(name).or_else(alike);
        found.filter(|value| !value.is_null())
    }

    /// Takes a member out, by its very name or one in letters of another case.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        if let Some(value) = self.0.remove(name) {
            return Some(value);
        }
        let mut keys = self.0.keys();
        let alike = keys.find(|key| key.eq_ignore_ascii_case(name)).cloned()?;
        self.0.remove(&alike)
    }

    /// A text that must be there; an empty one is not, as in Milvus.
    pub(super) fn text(&self, name: &str) -> Result<String> {
        let text = self.text_or(name, "")?;
        match text.is_empty() {
            true => Err(Refusal::Missing(format!("Key: '{name}' is required"))),
            false => Ok(text),
        }
    }

    /// A text, or another one where it is not there.
    pub(super) fn text_or(&self, name: &str, other: &str) -> Result<String> {
        match self.get(name) {
            None => Ok(other.to_string()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(mistyped(name, "a string")),
        }
    }

    /// A whole number.
    pub(super) fn number(&self, name: &str) -> Result<Option<i64>> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value
                .as_i64()
                .map(Some)
                .ok_or_else(|| mistyped(name, "a whole number")),
        }
    }

    /// A whole number that may be written as a text, as parameters may be that Milvus reads from texts.
    pub(super) fn written_number(&self, name: &str) -> Result<Option<i64>> {
        match self.get(name) {
            Some(Value::String(text)) => {
                let number = text.parse().map(Some);
                number.map_err(|_| wrong(name, "a whole number"))
            }
            _ => self.number(name),
        }
    }

    /// Whether something is so.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            // Old clients write it as text.
            Some(Value::String(text)) => Ok(Some(text.eq_ignore_ascii_case("true"))),
            Some(value) => value
                .as_bool()
                .map(Some)
                .ok_or_else(|| mistyped(name, "true or false")),
        }
    }

    /// A list; empty where it is not there, and of one where it is no list.
    pub(super) fn list(&self, name: &str) -> Vec<&Value> {
        match self.get(name) {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().collect(),
            Some(one) => vec![one],
        }
    }

    /// What is seen and not read, so that the call refuses it.
    pub(super) fn unread(&self, name: &str) -> Vec<Unread> {
        self.list(name).into_iter().map(|_| Unread {}).collect()
    }

    /// A list of texts.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>> {
        let items = self.list(name);
        let text = |item: &Value| {
            item.as_str()
                .map(String::from)
                .ok_or_else(|| mistyped(name, "a list of strings"))
        };
        items.into_iter().map(text).collect()
    }

    /// An object; empty where it is not there.
    pub(super) fn object(&self, name: &str) -> Result<Map<String, Value>> {
        match self.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(members)) => Ok(members.clone()),
            Some(_) => Err(mistyped(name, "an object")),
        }
    }

    /// An object's members as pairs.
    pub(super) fn pairs(&self, name: &str) -> Result<Vec<KeyValuePair>> {
        Ok(pairs_of(&self.object(name)?))
    }
}

/// What is no value of the kind that a member has, as if it were no JSON: so Milvus takes it.
pub(super) fn mistyped(name: &str, kind: &str) -> Refusal {
    Refusal::NoJson(format!("the parameter {name} should be {kind}"))
}

pub(super) fn wrong(name: &str, kind: &str) -> Refusal {
    MilvusError::Invalid(format!("the parameter {name} should be {kind}")).into()
}

/// The members of an object as pairs of texts.
pub(super) fn pairs_of(members: &Map<String, Value>) -> Vec<KeyValuePair> {
    let pair = |(key, value): (&String, &Value)| KeyValuePair {
        key: key.clone(),
        value: text_of(value),
    };
    members.iter().map(pair).collect()
}

/// A pair.
pub(super) fn pair(key: &str, value: impl ToString) -> KeyValuePair {
    KeyValuePair {
        key: key.to_string(),
        value: value.to_string(),
    }
}

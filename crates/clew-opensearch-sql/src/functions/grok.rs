//! Texts taken apart by patterns that have names, as the ingest processor `grok` does.

use clew_opensearch::wing::{Alone, Document, Pipeline};
use serde_json::{Value, json};

use crate::error::SqlError;

/// The function that takes a text apart, whose result is an object.
pub(crate) const GROK: &str = "grok_of";
/// The function that takes a member out of that.
pub(crate) const MEMBER: &str = "grok_member";
/// A pattern may be as long as this.
const PATTERN_BYTES_MAX: usize = 4096;
/// The field of the documents that texts become.
const TEXT: &str = "#text";

/// A pattern that was read.
#[derive(Debug)]
pub(crate) struct GrokPattern(Pipeline);

impl GrokPattern {
    /// Reads a pattern; what it names without a name of its own is called as the pattern that is named.
    ///
    /// # Errors
    /// A pattern that is too long, or cannot be read.
    pub(crate) fn new(pattern: &str) -> Result<Self, SqlError> {
        check_length(pattern)?;
        let mut whole = String::with_capacity(pattern.len());
        let mut rest = pattern;
        for (before, inside, after) in references(pattern) {
            whole.push_str(before);
            let alias = if inside.contains(':') { "" } else { inside };
            let colon = if alias.is_empty() { "" } else { ":" };
            whole.push_str(&format!("%{{{inside}{colon}{alias}}}"));
            rest = after;
        }
        whole.push_str(rest);
        let step = json!({"grok": {"field": TEXT, "patterns": [whole]}});
        let pipeline = Pipeline::parse(&json!({"processors": [step]}));
        pipeline.map(GrokPattern).map_err(|error| {
            SqlError::semantic(format!("the pattern [{pattern}] cannot be read: {error}"))
        })
    }

    /// What a text has of the pattern, as an object; an empty one where it does not fit.
    pub(crate) fn found(&self, text: &str) -> Value {
        let mut document = Document::new("", json!({TEXT: text}), 0);
        if self.0.run(&mut document, &mut Alone).is_err() {
            return json!({});
        }
        document.source
    }
}

/// A member of what a text has; an empty text where it has none.
pub(crate) fn member(args: &[Value]) -> Value {
    match args {
        [Value::Object(members), Value::String(name)] => match members.get(name) {
            None | Some(Value::Null) => "".into(),
            Some(found) => found.clone(),
        },
        _ => Value::Null,
    }
}

/// Each `%{..}` of a pattern: what stands before it, what is inside, and all behind.
pub(crate) fn references(pattern: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut rest = pattern;
    std::iter::from_fn(move || {
        let (before, behind) = rest.split_once("%{")?;
        let (inside, after) = behind.split_once('}')?;
        rest = after;
        Some((before, inside, after))
    })
}

/// Refuses a pattern that is too long.
pub(crate) fn check_length(pattern: &str) -> Result<(), SqlError> {
    if pattern.len() <= PATTERN_BYTES_MAX {
        return Ok(());
    }
    Err(SqlError::too_large(format!(
        "the pattern has {} bytes, more than {PATTERN_BYTES_MAX}",
        pattern.len()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_taken_apart() {
        let pattern = GrokPattern::new("%{WORD}@%{HOSTNAME:host}").unwrap();
        let found = pattern.found("ann@a.org");
        assert_eq!(member(&[found.clone(), "host".into()]), "a.org");
        assert_eq!(member(&[found, "WORD".into()]), "ann");
        let nothing = pattern.found("nothing");
        assert_eq!(member(&[nothing, "host".into()]), "");
        assert!(GrokPattern::new("%{NO_SUCH_PATTERN:x}").is_err());
    }
}

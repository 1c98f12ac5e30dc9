//! `grok` of PPL: columns from texts by patterns that have names, as the ingest processor `grok` takes texts apart.

use std::collections::{BTreeMap, BTreeSet};

use clew_opensearch::wing::{Alone, Document, Pipeline, grok_patterns};
use serde_json::{Value, json};

use crate::error::SqlError;
use crate::statement::expr::Expr;
use crate::statement::plan::Stage;
use crate::statement::words::Parser;

/// The function that takes a text apart, whose result is an object.
pub(crate) const GROK: &str = "grok_of";
/// The function that takes a member out of that.
pub(crate) const MEMBER: &str = "grok_member";
/// A pattern may be as long as this.
const PATTERN_BYTES_MAX: usize = 4096;
/// Columns that one command makes.
const COLUMNS_MAX: usize = 100;
/// The field of the documents that texts become.
const TEXT: &str = "#text";

/// `grok column 'pattern'`: a column for each name in the pattern, and for those of the patterns that it names.
pub(crate) fn grok(parser: &mut Parser<'_>, stages: &mut Vec<Stage>) -> Result<(), SqlError> {
    let of = parser.sum()?;
    let pattern = parser.text()?;
    let names = names(&pattern)?;
    let found = format!("#grok{}", stages.len());
    let args = vec![of, Expr::Literal(pattern.into())];
    stages.push(Stage::Eval(vec![(found.clone(), Expr::call(GROK, args))]));
    let columns = names.into_iter().map(|name| {
        let args = vec![Expr::column(&found), Expr::Literal(name.as_str().into())];
        (name, Expr::call(MEMBER, args))
    });
    stages.push(Stage::Eval(columns.collect()));
    stages.push(Stage::Drop(vec![found]));
    Ok(())
}

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
fn references(pattern: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut rest = pattern;
    std::iter::from_fn(move || {
        let (before, behind) = rest.split_once("%{")?;
        let (inside, after) = behind.split_once('}')?;
        rest = after;
        Some((before, inside, after))
    })
}

/// The names of the columns that a pattern makes, in their order.
///
/// # Errors
/// A pattern that is too long, or names nothing, or too much.
fn names(pattern: &str) -> Result<Vec<String>, SqlError> {
    check_length(pattern)?;
    let known = grok_patterns();
    let mut names = Vec::new();
    for (_, inside, _) in references(pattern) {
        add(&mut names, inside, true);
        let definition = inside.split(':').next().unwrap_or_default();
        below(definition, &known, &mut BTreeSet::new(), &mut names);
    }
    if names.is_empty() || names.len() > COLUMNS_MAX {
        return Err(SqlError::semantic(format!(
            "the pattern [{pattern}] names {} columns, not 1 to {COLUMNS_MAX}",
            names.len()
        )));
    }
    Ok(names)
}

/// Adds the names in the definition of a pattern, and in those that it names.
fn below(
    definition: &str,
    known: &BTreeMap<&'static str, &'static str>,
    seen: &mut BTreeSet<String>,
    names: &mut Vec<String>,
) {
    // Each is looked at once, so that it ends.
    let Some(text) = known.get(definition) else {
        return;
    };
    if !seen.insert(definition.to_string()) {
        return;
    }
    for (_, inside, _) in references(text) {
        add(names, inside, false);
        let definition = inside.split(':').next().unwrap_or_default();
        below(definition, known, seen, names);
    }
}

fn add(names: &mut Vec<String>, inside: &str, by_pattern: bool) {
    let mut parts = inside.split(':');
    let pattern = parts.next().filter(|_| by_pattern);
    if let Some(name) = parts.next().or(pattern)
        && !names.iter().any(|have| have == name)
    {
        names.push(name.to_string());
    }
}

fn check_length(pattern: &str) -> Result<(), SqlError> {
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
    fn names_are_those_of_the_pattern_and_of_those_that_it_names() {
        let hosts = names(".+@%{HOSTNAME:host} %{WORD}").unwrap();
        assert_eq!(hosts, ["host", "WORD"]);
        let names_of = names("%{COMMONAPACHELOG}").unwrap();
        for name in ["COMMONAPACHELOG", "timestamp", "response", "bytes"] {
            assert!(names_of.iter().any(|have| have == name), "{name}");
        }
        assert!(names("nothing").is_err());
        assert!(names(&"a".repeat(5000)).is_err());
    }

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

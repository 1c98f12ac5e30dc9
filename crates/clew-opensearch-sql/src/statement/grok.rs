//! `grok` of PPL: columns from texts by patterns that have names.

use std::collections::{BTreeMap, BTreeSet};

use clew_opensearch::wing::grok_patterns;

use crate::error::SqlError;
use crate::functions::grok::{GROK, MEMBER, check_length, references};
use crate::statement::expr::Expr;
use crate::statement::plan::Stage;
use crate::statement::words::Parser;

/// Columns that one command makes.
const COLUMNS_MAX: usize = 100;

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
}

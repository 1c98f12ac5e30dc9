//! How long patterns become when the patterns that they are made of are put in. That is told before it is done: two
//! patterns in each of thirty are a thousand million in the first.

use std::collections::{BTreeMap, HashMap};

use grok::parser::{GrokComponent, grok_split};

use crate::error::DefinitionError;

/// Bytes of one expression: as many as some hundred addresses, and so long that a machine for it is still made in time.
const EXPRESSION_BYTES_MAX: usize = 256 << 10;
/// Bytes of all expressions of a step.
const STEP_BYTES_MAX: usize = 4 << 20;
/// Patterns inside each other.
const DEPTH_MAX: usize = 128;
/// What a reference becomes beside its pattern.
const GROUP_BYTES: usize = 12;

/// How long each expression becomes.
///
/// # Errors
/// When that is too long.
pub(super) fn check(
    written: &[String],
    definitions: &BTreeMap<&str, &str>,
) -> Result<Vec<usize>, DefinitionError> {
    let mut lengths = Lengths {
        definitions,
        known: HashMap::new(),
    };
    let mut all: usize = 0;
    let mut each = Vec::with_capacity(written.len());
    for one in written {
        let bytes = lengths.of(one, 0)?;
        if bytes > EXPRESSION_BYTES_MAX {
            return Err(too_long("pattern", bytes, EXPRESSION_BYTES_MAX));
        }
        all = all.saturating_add(bytes);
        each.push(bytes);
    }
    if all > STEP_BYTES_MAX {
        return Err(too_long("processor's patterns", all, STEP_BYTES_MAX));
    }
    Ok(each)
}

fn too_long(what: &str, bytes: usize, max: usize) -> DefinitionError {
    let reason = format!("a {what} may become [{max}] bytes of regular expression, not [{bytes}]");
    DefinitionError::refused("patterns", reason)
}

/// How long patterns become.
struct Lengths<'d> {
    definitions: &'d BTreeMap<&'d str, &'d str>,
    /// Of definitions, by their names: each is looked at once.
    known: HashMap<&'d str, usize>,
}

impl<'d> Lengths<'d> {
    fn of(&mut self, pattern: &str, depth: usize) -> Result<usize, DefinitionError> {
        if depth > DEPTH_MAX {
            return Err(DefinitionError::refused(
                "patterns",
                format!("patterns are nested more than [{DEPTH_MAX}] deep, or in a circle"),
            ));
        }
        let mut bytes: usize = 0;
        // A definition that stands in the text counts for the references behind it, too.
        let mut own: HashMap<&str, usize> = HashMap::new();
        for component in grok_split(pattern) {
            let more = match component {
                GrokComponent::RegularExpression { string, .. } => string.len(),
                GrokComponent::PatternError(_) => 0,
                GrokComponent::GrokPattern {
                    name, definition, ..
                } => {
                    if !definition.is_empty() {
                        own.insert(name, definition.len());
                    }
                    let inside = match own.get(name) {
                        Some(bytes) => *bytes,
                        None => self.named(name, depth)?,
                    };
                    inside.saturating_add(GROUP_BYTES)
                }
            };
            bytes = bytes.saturating_add(more);
        }
        Ok(bytes)
    }

    /// What is not known is told by who compiles it.
    fn named(&mut self, name: &str, depth: usize) -> Result<usize, DefinitionError> {
        if let Some(bytes) = self.known.get(name) {
            return Ok(*bytes);
        }
        let definitions = self.definitions;
        let Some((name, pattern)) = definitions.get_key_value(name) else {
            return Ok(0);
        };
        let bytes = self.of(pattern, depth + 1)?;
        self.known.insert(*name, bytes);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(written: &[&str], definitions: &[(&str, &str)]) -> Option<String> {
        let written: Vec<String> = written.iter().map(ToString::to_string).collect();
        let definitions = definitions.iter().copied().collect();
        check(&written, &definitions)
            .err()
            .map(|error| error.reason)
    }

    #[test]
    fn patterns_that_double_are_refused_without_being_made() {
        let names: Vec<(String, String)> = (0..60)
            .map(|n| (format!("P{n}"), format!("%{{P{0}}} %{{P{0}}}", n + 1)))
            .chain([("P60".to_string(), "a".to_string())])
            .collect();
        let names: Vec<(&str, &str)> = names.iter().map(|(n, p)| (&**n, &**p)).collect();
        let reason = refused(&["%{P0:x}"], &names).unwrap();
        assert!(reason.contains("may become [262144] bytes"), "{reason}");
        assert_eq!(refused(&["%{P55:x}"], &names), None);
    }

    #[test]
    fn patterns_in_a_circle_are_refused() {
        let circle = [("A", "%{B}"), ("B", "x%{A}")];
        assert!(refused(&["%{A}"], &circle).unwrap().contains("in a circle"));
    }

    #[test]
    fn all_patterns_of_a_step_have_a_limit() {
        let long = "a".repeat(200_000);
        assert_eq!(refused(&[long.as_str(); 20], &[]), None);
        assert!(
            refused(&[long.as_str(); 21], &[])
                .unwrap()
                .contains("[4200000]")
        );
        assert_eq!(refused(&["%{UNKNOWN:a} %{X=abc} %{X}"], &[]), None);
    }
}

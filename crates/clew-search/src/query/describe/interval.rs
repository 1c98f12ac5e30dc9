//! Rules over words, as Lucene writes the sources of intervals.

use std::fmt::{self, Write};

use clew_query::{IntervalMode, IntervalRelation, IntervalRule};

use super::{Beginning, write_all};

/// A rule over words as Lucene writes the sources of intervals; texts are not cut into words.
pub(super) fn write_rule(out: &mut Beginning, rule: &IntervalRule) -> fmt::Result {
    match rule {
        IntervalRule::Match { text, mode, .. } => write!(out, "{}({text})", mode_name(*mode)),
        IntervalRule::Word(word) | IntervalRule::Wildcard(word, _) => out.write_str(word),
        IntervalRule::Prefix(prefix, _) => write!(out, "{prefix}*"),
        IntervalRule::Regexp(pattern, _) => write!(out, "/{pattern}/"),
        IntervalRule::Fuzzy(word, _) => write!(out, "{word}~"),
        IntervalRule::Normalized { rule, .. } => write_rule(out, rule),
        IntervalRule::AllOf { rules, mode, .. } => {
            write!(out, "{}(", mode_name(*mode))?;
            write_all(out, ",", rules, write_rule)?;
            out.write_str(")")
        }
        IntervalRule::AnyOf(rules) => {
            out.write_str("or(")?;
            write_all(out, ",", rules, write_rule)?;
            out.write_str(")")
        }
        IntervalRule::Related {
            rule,
            relation,
            filter,
        } => {
            write!(out, "{}(", relation_name(*relation))?;
            write_rule(out, rule)?;
            out.write_str(",")?;
            write_rule(out, filter)?;
            out.write_str(")")
        }
        IntervalRule::Scripted { rule, .. } => {
            out.write_str("FILTER(")?;
            write_rule(out, rule)?;
            out.write_str(")")
        }
        IntervalRule::Extended {
            rule,
            before,
            after,
        } => {
            out.write_str("EXTEND(")?;
            write_rule(out, rule)?;
            write!(out, ",{before},{after})")
        }
        IntervalRule::First { rule, end } => {
            out.write_str("FIRST(")?;
            write_rule(out, rule)?;
            write!(out, ",{end})")
        }
        IntervalRule::InField { field, rule } => {
            write!(out, "{field}:")?;
            write_rule(out, rule)
        }
    }
}

fn mode_name(mode: IntervalMode) -> &'static str {
    match mode {
        IntervalMode::Ordered => "ORDERED",
        IntervalMode::Unordered => "UNORDERED",
        IntervalMode::UnorderedNoOverlap => "UNORDERED_NO_OVERLAPS",
    }
}

fn relation_name(relation: IntervalRelation) -> &'static str {
    match relation {
        IntervalRelation::Containing => "CONTAINING",
        IntervalRelation::NotContaining => "NOT_CONTAINING",
        IntervalRelation::ContainedBy => "CONTAINED_BY",
        IntervalRelation::NotContainedBy => "NOT_CONTAINED_BY",
        IntervalRelation::Overlapping => "OVERLAPPING",
        IntervalRelation::NotOverlapping => "NON_OVERLAPPING",
        IntervalRelation::Before => "BEFORE",
        IntervalRelation::After => "AFTER",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_tell_what_they_are_made_of() {
        let rule = IntervalRule::AllOf {
            rules: vec![
                IntervalRule::Word("a".to_string()),
                IntervalRule::AnyOf(vec![
                    IntervalRule::Prefix("b".to_string(), false),
                    IntervalRule::Regexp("c.".to_string(), false),
                ]),
            ],
            mode: IntervalMode::Ordered,
            max_gaps: None,
        };
        let mut text = Beginning {
            text: String::new(),
            bytes_max: usize::MAX,
        };
        write_rule(&mut text, &rule).unwrap();
        assert_eq!(text.text, "ORDERED(a,or(b*,/c./))");
    }
}

//! Rules over words, as Lucene writes the sources of intervals.

use std::fmt::{self, Write};

use clew_query::{IntervalMode, IntervalRelation, IntervalRule};

use super::{Beginning, write_all};

/// A rule over words as Lucene writes the sources of intervals; texts are not cut into words.
pub(super) fn write_rule(out: &mut Beginning, rule: &IntervalRule) -> fmt::Result {
    match rule {
        IntervalRule::Match {
            text,
            mode,
            max_gaps,
            ..
        } => {
            let words: Vec<&str> = text.split_whitespace().collect();
            match words.as_slice() {
                [only] => out.write_str(only),
                words => write_joined(out, (words, *mode, *max_gaps), |out, word| {
                    out.write_str(word)
                }),
            }
        }
        IntervalRule::Word(word) => out.write_str(word),
        IntervalRule::Wildcard(word, _) | IntervalRule::Fuzzy(word, _) => {
            write!(out, "MultiTerm({word})")
        }
        IntervalRule::Prefix(prefix, _) => write!(out, "MultiTerm({prefix}*)"),
        IntervalRule::Regexp(pattern, _) => write!(out, "MultiTerm({pattern})"),
        IntervalRule::Normalized { rule, .. } => write_rule(out, rule),
        IntervalRule::AllOf {
            rules,
            mode,
            max_gaps,
        } => write_joined(out, (rules.as_slice(), *mode, *max_gaps), write_rule),
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
            write!(out, "FIELD({field},")?;
            write_rule(out, rule)?;
            out.write_str(")")
        }
    }
}

/// Parts that stand in an order, not too far from each other.
fn write_joined<T>(
    out: &mut Beginning,
    (parts, mode, max_gaps): (&[T], IntervalMode, Option<u32>),
    write: impl FnMut(&mut Beginning, &T) -> fmt::Result,
) -> fmt::Result {
    if let Some(gaps) = max_gaps {
        write!(out, "MAXGAPS/{gaps}(")?;
    }
    write!(out, "{}(", mode_name(mode))?;
    write_all(out, ",", parts, write)?;
    out.write_str(if max_gaps.is_some() { "))" } else { ")" })
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
            max_gaps: Some(2),
        };
        let mut text = Beginning {
            text: String::new(),
            bytes_max: usize::MAX,
        };
        write_rule(&mut text, &rule).unwrap();
        assert_eq!(
            text.text,
            "MAXGAPS/2(ORDERED(a,or(MultiTerm(b*),MultiTerm(c.))))"
        );
    }
}

//! Rules over words that score as the words do, as Lucene writes its span queries.

use std::fmt::{self, Write};

use clew_query::{IntervalMode, IntervalRelation, IntervalRule};

use super::interval::write_rule;
use super::{Beginning, write_all};

/// A rule over the words of a field as Lucene writes a span query.
pub(super) fn write_span(out: &mut Beginning, field: &str, rule: &IntervalRule) -> fmt::Result {
    match rule {
        IntervalRule::Word(word) => write!(out, "{field}:{word}"),
        IntervalRule::Wildcard(..)
        | IntervalRule::Prefix(..)
        | IntervalRule::Regexp(..)
        | IntervalRule::Fuzzy(..) => write_pattern(out, field, rule),
        IntervalRule::AllOf {
            rules,
            mode,
            max_gaps,
        } => {
            out.write_str("spanNear([")?;
            write_all(out, ", ", rules, |out, one| write_near(out, field, one))?;
            let in_order = *mode == IntervalMode::Ordered;
            write!(out, "], {}, {in_order})", max_gaps.unwrap_or_default())
        }
        IntervalRule::AnyOf(rules) => {
            out.write_str("spanOr([")?;
            write_all(out, ", ", rules, |out, one| write_span(out, field, one))?;
            out.write_str("])")
        }
        IntervalRule::Related {
            rule,
            relation,
            filter,
        } => write_related(out, field, (rule, *relation, filter)),
        IntervalRule::First { rule, end } => {
            out.write_str("spanFirst(")?;
            write_span(out, field, rule)?;
            write!(out, ", {end})")
        }
        IntervalRule::InField { field: own, rule } => {
            out.write_str("mask(")?;
            write_span(out, own, rule)?;
            write!(out, ") as {field}")
        }
        // Nothing that a span query is made of.
        IntervalRule::Match { .. }
        | IntervalRule::Normalized { .. }
        | IntervalRule::Scripted { .. }
        | IntervalRule::Extended { .. } => write_rule(out, rule),
    }
}

/// A part of a row, which may stand behind a gap.
fn write_near(out: &mut Beginning, field: &str, part: &IntervalRule) -> fmt::Result {
    match part {
        IntervalRule::Extended {
            rule,
            before,
            after: 0,
        } => {
            write!(out, "SpanGap(:{before}), ")?;
            write_span(out, field, rule)
        }
        part => write_span(out, field, part),
    }
}

fn write_pattern(out: &mut Beginning, field: &str, rule: &IntervalRule) -> fmt::Result {
    write!(out, "SpanMultiTermQueryWrapper({field}:")?;
    match rule {
        IntervalRule::Prefix(prefix, _) => write!(out, "{prefix}*")?,
        IntervalRule::Wildcard(pattern, _) => out.write_str(pattern)?,
        IntervalRule::Regexp(pattern, _) => write!(out, "/{pattern}/")?,
        IntervalRule::Fuzzy(word, _) => write!(out, "{word}~")?,
        other => write_rule(out, other)?,
    }
    out.write_str(")")
}

fn write_related(
    out: &mut Beginning,
    field: &str,
    (rule, relation, filter): (&IntervalRule, IntervalRelation, &IntervalRule),
) -> fmt::Result {
    let (name, first, second, ends) = match (relation, filter) {
        (IntervalRelation::Containing, _) => ("SpanContaining", rule, filter, None),
        (IntervalRelation::ContainedBy, _) => ("SpanWithin", filter, rule, None),
        // What must stay free around the one is kept as a longer other.
        (
            _,
            IntervalRule::Extended {
                rule: excluded,
                before,
                after,
            },
        ) => ("spanNot", rule, &**excluded, Some((after, before))),
        (_, filter) => ("spanNot", rule, filter, Some((&0, &0))),
    };
    write!(out, "{name}(")?;
    write_span(out, field, first)?;
    out.write_str(", ")?;
    write_span(out, field, second)?;
    match ends {
        Some((before, after)) => write!(out, ", {before}, {after})"),
        None => out.write_str(")"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> IntervalRule {
        IntervalRule::Word(text.to_string())
    }

    #[test]
    fn spans_are_told_as_lucene_writes_them() {
        let gapped = IntervalRule::Extended {
            rule: Box::new(word("b")),
            before: 2,
            after: 0,
        };
        let near = IntervalRule::AllOf {
            rules: vec![word("a"), gapped],
            mode: IntervalMode::Ordered,
            max_gaps: Some(3),
        };
        let within = IntervalRule::Related {
            rule: Box::new(word("c")),
            relation: IntervalRelation::ContainedBy,
            filter: Box::new(near),
        };
        let not = IntervalRule::Related {
            rule: Box::new(IntervalRule::AnyOf(vec![word("d"), word("e")])),
            relation: IntervalRelation::NotOverlapping,
            filter: Box::new(IntervalRule::Extended {
                rule: Box::new(IntervalRule::InField {
                    field: "g".to_string(),
                    rule: Box::new(word("f")),
                }),
                before: 1,
                after: 2,
            }),
        };
        for (rule, want) in [
            (
                within,
                "SpanWithin(spanNear([t:a, SpanGap(:2), t:b], 3, true), t:c)",
            ),
            (not, "spanNot(spanOr([t:d, t:e]), mask(g:f) as t, 2, 1)"),
        ] {
            let mut text = Beginning {
                text: String::new(),
                bytes_max: usize::MAX,
            };
            write_span(&mut text, "t", &rule).unwrap();
            assert_eq!(text.text, want);
        }
    }
}

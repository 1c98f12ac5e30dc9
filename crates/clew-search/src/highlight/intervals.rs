//! What queries on intervals look for. As in OpenSearch, the words of `intervals` are shown wherever they stand, and
//! those of spans only where these are.

use clew_query::{
    IntervalMode, IntervalRelation, IntervalRule, IntervalScoring, Intervals, RegexpOptions,
};
use serde_json::Value;

use super::spans::Spans;
use super::wanted::{DEPTH_MAX, Reader, Wanted, fuzzy};
use crate::query::{Regexp, Wildcard};

impl Reader<'_> {
    /// The words of a query on intervals.
    pub(super) fn intervals(&mut self, query: &Intervals) {
        let field = query.field.as_str();
        match (query.scoring, &query.rule) {
            (IntervalScoring::Proximity, rule) => self.rule(field, rule, 0),
            (IntervalScoring::Words, IntervalRule::Word(word)) => {
                self.push(field, Wanted::Term(word.clone()));
            }
            (IntervalScoring::Words, rule) => {
                if let Some(spans) = spans(rule, 0) {
                    self.push(field, Wanted::Spans(spans));
                }
            }
        }
    }

    fn rule(&mut self, field: &str, rule: &IntervalRule, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        match rule {
            IntervalRule::Match { text, analyzer, .. } => {
                let text = Value::String(text.clone());
                for term in self.terms(field, analyzer.as_deref(), &text) {
                    self.push_of_rule(field, Wanted::Term(term));
                }
            }
            IntervalRule::AllOf { rules, .. } | IntervalRule::AnyOf(rules) => {
                for rule in rules {
                    self.rule(field, rule, depth + 1);
                }
            }
            IntervalRule::Related {
                rule,
                relation,
                filter,
            } => {
                self.rule(field, rule, depth + 1);
                if relation.needs_filter() {
                    self.rule(field, filter, depth + 1);
                }
            }
            IntervalRule::Normalized { rule, .. }
            | IntervalRule::Extended { rule, .. }
            | IntervalRule::Scripted { rule, .. }
            | IntervalRule::First { rule, .. } => self.rule(field, rule, depth + 1),
            IntervalRule::InField { field, rule } => self.rule(field, rule, depth + 1),
            leaf => {
                if let Some(wanted) = words(leaf) {
                    self.push_of_rule(field, wanted);
                }
            }
        }
    }
}

/// The words that a rule is which is made of no other ones; a pattern that cannot be read is none.
fn words(rule: &IntervalRule) -> Option<Wanted> {
    let pattern = |pattern: Result<Wildcard, _>| pattern.ok().map(Wanted::Wildcard);
    match rule {
        IntervalRule::Word(word) => Some(Wanted::Term(word.clone())),
        IntervalRule::Prefix(text, any_case) => pattern(Wildcard::prefix(text, *any_case)),
        IntervalRule::Wildcard(text, any_case) => pattern(Wildcard::parse(text, *any_case)),
        IntervalRule::Regexp(text, any_case) => {
            let options = RegexpOptions {
                ignore_case: *any_case,
                ..RegexpOptions::default()
            };
            Regexp::new(text, options).ok().map(Wanted::Expression)
        }
        IntervalRule::Fuzzy(word, fuzziness) => Some(fuzzy(word, fuzziness)),
        _ => None,
    }
}

/// The spans that a rule makes; `None` of what no span query is made of.
fn spans(rule: &IntervalRule, depth: usize) -> Option<Spans> {
    if depth > DEPTH_MAX {
        return None;
    }
    let part = |rule: &IntervalRule| spans(rule, depth + 1).map(Box::new);
    let parts = |rules: &[IntervalRule]| -> Option<Vec<Spans>> {
        rules.iter().map(|rule| spans(rule, depth + 1)).collect()
    };
    Some(match rule {
        IntervalRule::AnyOf(rules) => Spans::Any(parts(rules)?),
        IntervalRule::AllOf {
            rules,
            mode,
            max_gaps,
        } => Spans::Near {
            parts: parts(rules)?,
            in_order: *mode == IntervalMode::Ordered,
            slop: max_gaps.map_or(usize::MAX, positions),
        },
        IntervalRule::First { rule, end } => Spans::First(part(rule)?, positions(*end)),
        IntervalRule::Extended {
            rule,
            before,
            after,
        } => Spans::Longer(part(rule)?, positions(*before), positions(*after)),
        IntervalRule::Related {
            rule,
            relation,
            filter,
        } => {
            let (one, other) = (part(rule)?, part(filter)?);
            match relation {
                IntervalRelation::NotOverlapping => Spans::Apart(one, other),
                IntervalRelation::Containing => Spans::Containing(one, other),
                IntervalRelation::ContainedBy => Spans::Within(one, other),
                _ => return None,
            }
        }
        IntervalRule::InField { rule, .. } => return spans(rule, depth + 1),
        leaf => Spans::Words(Box::new(words(leaf)?)),
    })
}

fn positions(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

//! What queries on intervals look for. As in OpenSearch, the words of `intervals` are shown wherever they stand, and
//! those of spans only near each other, if they are plain words that must be.

use clew_query::{IntervalMode, IntervalRule, IntervalScoring, Intervals, RegexpOptions};
use serde_json::Value;

use super::wanted::{DEPTH_MAX, Reader, Wanted, fuzzy};
use crate::query::{Regexp, Wildcard};

/// Where a rule's words count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Anywhere,
    NearEachOther,
}

impl Reader<'_> {
    /// The words of a query on intervals.
    pub(super) fn intervals(&mut self, query: &Intervals) {
        let place = match query.scoring {
            IntervalScoring::Proximity => Place::Anywhere,
            IntervalScoring::Words => Place::NearEachOther,
        };
        self.rule(&query.field, &query.rule, (place, 0));
    }

    fn rule(&mut self, field: &str, rule: &IntervalRule, (place, depth): (Place, usize)) {
        if depth > DEPTH_MAX {
            return;
        }
        let inside = (place, depth + 1);
        match rule {
            IntervalRule::Match { text, analyzer, .. } => {
                let text = Value::String(text.clone());
                for term in self.terms(field, analyzer.as_deref(), &text) {
                    self.push(field, Wanted::Term(term));
                }
            }
            IntervalRule::Word(word) => self.push(field, Wanted::Term(word.clone())),
            IntervalRule::Prefix(text, any_case) => {
                self.wildcard(field, Wildcard::prefix(text, *any_case));
            }
            IntervalRule::Wildcard(pattern, any_case) => {
                self.wildcard(field, Wildcard::parse(pattern, *any_case));
            }
            IntervalRule::Regexp(pattern, any_case) => {
                let options = RegexpOptions {
                    ignore_case: *any_case,
                    ..RegexpOptions::default()
                };
                if let Ok(expression) = Regexp::new(pattern, options) {
                    self.push(field, Wanted::Expression(expression));
                }
            }
            IntervalRule::Fuzzy(word, fuzziness) => self.push(field, fuzzy(word, fuzziness)),
            IntervalRule::AllOf {
                rules,
                mode,
                max_gaps,
            } => match near(rules, *mode, *max_gaps).filter(|_| place == Place::NearEachOther) {
                Some(phrase) => self.push(field, phrase),
                None => self.rules(field, rules, inside),
            },
            IntervalRule::AnyOf(rules) => self.rules(field, rules, inside),
            IntervalRule::Related {
                rule,
                relation,
                filter,
            } => {
                self.rule(field, rule, inside);
                if relation.needs_filter() {
                    self.rule(field, filter, inside);
                }
            }
            IntervalRule::Normalized { rule, .. }
            | IntervalRule::Extended { rule, .. }
            | IntervalRule::Scripted { rule, .. }
            | IntervalRule::First { rule, .. } => self.rule(field, rule, inside),
            IntervalRule::InField { field, rule } => self.rule(field, rule, inside),
        }
    }

    fn rules(&mut self, field: &str, rules: &[IntervalRule], how: (Place, usize)) {
        for rule in rules {
            self.rule(field, rule, how);
        }
    }
}

/// Words that must stand near each other, where that is all that rules ask for.
fn near(rules: &[IntervalRule], mode: IntervalMode, max_gaps: Option<u32>) -> Option<Wanted> {
    let words = rules.iter().map(|rule| match rule {
        IntervalRule::Word(word) => Some(word.clone()),
        _ => None,
    });
    let terms: Vec<String> = words.collect::<Option<_>>()?;
    let slop = usize::try_from(max_gaps?).unwrap_or(usize::MAX);
    // Without a gap, words are looked for in their order alone.
    let is_looked_for = terms.len() > 1 && (slop > 0 || mode == IntervalMode::Ordered);
    is_looked_for.then_some(Wanted::Phrase {
        terms,
        slop,
        open: false,
    })
}

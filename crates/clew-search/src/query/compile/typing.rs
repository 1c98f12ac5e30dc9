//! Phrases on fields for words that are still being typed: neighbours have fields of their own, in which a phrase is one word,
//! and so have the beginnings of neighbours.

use clew_analysis::Token;
use clew_query::{IntervalMode, IntervalRule, IntervalScoring, Intervals, MatchPhrase, QueryError};
use clew_schema::{BEGINNING_CHARS_MAX, BesideTyping, MappedField};

use super::{Compiler, Node};

impl<'a> Compiler<'a> {
    /// The phrase on the field of neighbours, where that answers it: its words stand one behind the other.
    pub(super) fn among_neighbours(
        &self,
        mapped: &MappedField,
        phrase: &MatchPhrase,
        tokens: &[Token],
    ) -> Option<MatchPhrase> {
        if tokens.len() < 2 || phrase.analyzer.is_some() || !are_close(phrase, tokens) {
            return None;
        }
        let mapping = &self.context.snapshot.mapping;
        let beside = mapping.neighbours_beside(mapped, tokens.len())?;
        Some(MatchPhrase {
            field: beside.path.clone(),
            ..phrase.clone()
        })
    }

    /// Refuses a phrase on a field of beginnings.
    pub(super) fn check_no_beginnings(
        &self,
        mapped: &MappedField,
        query: &str,
    ) -> Result<(), QueryError> {
        match self.context.snapshot.mapping.beside_typing(mapped) {
            Some(BesideTyping::Beginnings) => Err(QueryError::create(format!(
                "Can only use {query} queries on text fields - not on [{}] which is of type [prefix]",
                mapped.path
            ))),
            Some(BesideTyping::Neighbours) | None => Ok(()),
        }
    }

    /// A phrase on a field of neighbours of which the last ones are still being typed; `None` where that is none.
    pub(super) fn begun_neighbours(
        &mut self,
        mapped: &MappedField,
        phrase: &MatchPhrase,
        tokens: &[Token],
        factor: f32,
    ) -> Result<Option<Node>, QueryError> {
        let snapshot = self.context.snapshot;
        let Some(beginnings) = snapshot.mapping.beginnings_beside(mapped) else {
            return Ok(None);
        };
        let Some((last, first)) = tokens.split_last() else {
            return Ok(None);
        };
        if last.text.encode_utf16().count() > BEGINNING_CHARS_MAX || !are_close(phrase, tokens) {
            return Ok(None);
        }
        let path = beginnings.path.clone();
        if first.is_empty() {
            let Some((beginnings, field)) = self.field(&path) else {
                return Ok(None);
            };
            let boost = phrase.boost * factor;
            return self.word(beginnings, field, &last.text, boost).map(Some);
        }
        self.count_clauses(tokens.len())?;
        let whole = first.iter();
        let mut rules: Vec<IntervalRule> = whole
            .map(|token| IntervalRule::Word(token.text.clone()))
            .collect();
        rules.push(IntervalRule::InField {
            field: path,
            rule: Box::new(IntervalRule::Word(last.text.clone())),
        });
        let near = Intervals {
            field: mapped.path.clone(),
            rule: IntervalRule::AllOf {
                rules,
                mode: IntervalMode::Ordered,
                max_gaps: Some(0),
            },
            scoring: IntervalScoring::Words,
            boost: phrase.boost,
        };
        self.intervals(&near, factor).map(Some)
    }
}

/// Whether the words of a phrase stand one directly behind the other, and must.
fn are_close(phrase: &MatchPhrase, tokens: &[Token]) -> bool {
    let follow = |pair: &[Token]| match pair {
        [one, next] => one.length == 1 && next.position == one.position + 1,
        _ => true,
    };
    phrase.slop == 0 && tokens.windows(2).all(follow)
}

//! Scores that documents have by their nested objects: how many match, and the best of them.

use clew_query::{JoinScore, NestedQuery, QueryError};
use tantivy::{DocId, TERMINATED};

use super::{Explained, Explainer, constant, of_rows};
use crate::query::{describe, may_find_others};
use crate::segments::Scope;

impl Explainer<'_> {
    /// The score of a query over nested objects; that it matches is known.
    pub(super) fn nested(&self, score: f32, nested: &NestedQuery) -> Result<Explained, QueryError> {
        // Said of objects that are asked about already, it is about themselves.
        if self.scope == Some(nested.path.as_str()) {
            let told = self.boosted(nested.boost).node(&nested.query)?;
            let described = || Explained::new(score, describe(&nested.query), Vec::new());
            return Ok(told.unwrap_or_else(described));
        }
        let inside = Explainer {
            scope: Some(nested.path.as_str()),
            ..self.boosted(nested.boost)
        };
        let (mut count, mut best): (u32, Option<(f32, DocId)>) = (0, None);
        let blocks = self.context.snapshot.blocks(self.segment);
        let around = blocks.and_then(|blocks| blocks.of(Scope::from(self.scope)));
        if let (Some(blocks), Some(around)) = (blocks, around)
            && let Some(own) = blocks.of(Scope::Nested(&nested.path))
        {
            let rows = blocks.inside(around, self.doc);
            let weight = inside.weight(&nested.query)?;
            let mut scorer = weight.scorer(self.reader, 1.0)?;
            if scorer.doc() < rows.start {
                scorer.seek(rows.start);
            }
            while scorer.doc() != TERMINATED && scorer.doc() < rows.end {
                if own.contains(scorer.doc()) {
                    count += 1;
                    let (found, row) = (scorer.score(), scorer.doc());
                    if best.is_none_or(|(best, _)| found > best) {
                        best = Some((found, row));
                    }
                }
                scorer.advance();
            }
        }
        let mut details = Vec::new();
        if let Some((_, row)) = best {
            details.extend(Explainer { doc: row, ..inside }.object(nested)?);
        }
        let before = around.and_then(|around| around.last_before(self.doc));
        let rows = self.numbered(before.map_or(0, |before| before + 1), self.doc);
        let description = format!(
            "Score based on {count} child docs in range from {} to {}, using score mode {}",
            rows.0,
            rows.1,
            mode_name(nested.score)
        );
        Ok(Explained::new(score, description, details))
    }

    /// What an object that matches gives.
    fn object(&self, nested: &NestedQuery) -> Result<Option<Explained>, QueryError> {
        if nested.score == JoinScore::None {
            return Ok(Some(constant(0.0, &describe(&nested.query))));
        }
        let mapping = &self.context.snapshot.mapping;
        let told = self.node(&nested.query)?;
        Ok(told.map(
            |told| match may_find_others(&nested.query, mapping, &nested.path) {
                true => of_rows(told, &format!("_nested_path:{}", nested.path)),
                false => told,
            },
        ))
    }

    /// The first and the last of the rows from one up to another, by their numbers in the shard.
    fn numbered(&self, from: DocId, to: DocId) -> (u64, i64) {
        let before = self.context.snapshot.readers.iter().take(self.segment);
        let before: u64 = before.map(|reader| u64::from(reader.max_doc())).sum();
        let last = before.saturating_add(u64::from(to));
        // Where there are none, the last is in front of the first.
        let last = i64::try_from(last).unwrap_or(i64::MAX) - 1;
        (before + u64::from(from), last)
    }
}

fn mode_name(score: JoinScore) -> &'static str {
    match score {
        JoinScore::Avg => "Avg",
        JoinScore::Sum => "Total",
        JoinScore::Max => "Max",
        JoinScore::Min => "Min",
        JoinScore::None => "None",
    }
}

//! Features under a mapping. A feature's documents are found by its term, and its weight is where
//! the term stands in them; a feature of its own field is a column.

use clew_platform::{Pace, sorted_while_wanted};
use clew_query::{FeatureCurve, QueryError, RankFeature, SparseVector, go_on};
use clew_schema::{FieldKind, FloatKind, MappedField, feature_code, feature_weight};
use tantivy::columnar::Column;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

use super::function::of_column;
use super::{Compiler, Node};
use crate::query::function::value::{Function, NumberColumn};
use crate::query::leaf::ScoredDocs;
use crate::query::resolver::SegmentHits;

/// Features that one query may ask for.
pub(crate) const TOKENS_MAX: usize = 65_536;

impl Compiler<'_> {
    pub(super) fn rank_feature(
        &self,
        query: &RankFeature,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let mapping = &self.context.snapshot.mapping;
        let boost = query.boost * factor;
        if let Some(mapped) = mapping.field(&query.field) {
            if mapped.kind != FieldKind::Float(FloatKind::RankFeature) {
                return Err(not_a_feature(mapped));
            }
            return self.by_column(mapped, query.curve, boost);
        }
        let above = |at: usize| mapping.field(&query.field[..at]).map(|mapped| (at, mapped));
        let dots = query.field.rmatch_indices('.').map(|(at, _)| at);
        match dots.filter_map(above).next() {
            None => Ok(Node::nothing()),
            Some((at, mapped)) if mapped.kind == FieldKind::RankFeatures => {
                self.by_term(mapped, &query.field[at + 1..], query.curve, boost)
            }
            Some((_, mapped)) => Err(not_a_feature(mapped)),
        }
    }

    /// A feature that is a field of its own.
    fn by_column(
        &self,
        mapped: &MappedField,
        curve: FeatureCurve,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let curve = curve_for(mapped, curve)?;
        let curve = match curve {
            FeatureCurve::Saturation { pivot: None } => FeatureCurve::Saturation {
                pivot: self.mean_of_column(mapped)?,
            },
            given => given,
        };
        let function = Function::Feature {
            column: NumberColumn::Float(mapped.column()),
            curve,
        };
        Ok(of_column(mapped, function, boost))
    }

    /// One of the features of a field.
    fn by_term(
        &self,
        mapped: &MappedField,
        feature: &str,
        curve: FeatureCurve,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let curve = curve_for(mapped, curve)?;
        let Some(field) = self.context.snapshot.searchable(mapped) else {
            return Ok(Node::nothing());
        };
        let term = Term::from_field_text(field, feature);
        let mut weights: Vec<Vec<(DocId, u32)>> = Vec::new();
        for reader in &self.context.snapshot.readers {
            let mut found = Vec::new();
            for_each_weight(reader, &term, |doc, code| found.push((doc, code)))?;
            weights.push(found);
        }
        let curve = match curve {
            FeatureCurve::Saturation { pivot: None } => FeatureCurve::Saturation {
                pivot: mean_of(&weights),
            },
            given => given,
        };
        #[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
        let score = |code: u32| boost * curve.at(f64::from(feature_weight(code))) as f32;
        let hits = weights.into_iter().map(|segment| {
            let hits = segment.into_iter().map(|(doc, code)| (doc, score(code)));
            hits.collect()
        });
        self.scored_hits(hits.collect())
    }

    /// The value that scores half where none is said: the mean of all values as they are kept.
    fn mean_of_column(&self, mapped: &MappedField) -> Result<Option<f32>, QueryError> {
        let name = mapped.column();
        let mut mean = Mean::default();
        let mut pace = Pace::default();
        for reader in &self.context.snapshot.readers {
            let column: Option<Column<f64>> = reader.fast_fields().column_opt(&name)?;
            for value in column.iter().flat_map(|column| column.values.iter()) {
                go_on(&mut pace)?;
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "it was 32 bits wide before"
                )]
                mean.add(feature_code(value as f32));
            }
        }
        Ok(mean.weight())
    }

    pub(super) fn sparse_vector(
        &self,
        query: &SparseVector,
        factor: f32,
    ) -> Result<Node, QueryError> {
        if query.tokens.len() > TOKENS_MAX {
            return Err(QueryError::TooManyClauses { max: TOKENS_MAX });
        }
        let Some(mapped) = self.context.snapshot.mapping.field(&query.field) else {
            return Ok(Node::nothing());
        };
        if mapped.kind == FieldKind::SparseVector {
            return self.products(query, factor);
        }
        if mapped.kind != FieldKind::RankFeatures {
            return Err(QueryError::illegal(
                "[neural_sparse] query only works on [rank_features] fields",
            ));
        }
        let Some(field) = self.context.snapshot.searchable(mapped) else {
            return Ok(Node::nothing());
        };
        let boost = query.boost * factor;
        let mut hits = Vec::new();
        for reader in &self.context.snapshot.readers {
            hits.push(sums(reader, field, &query.tokens, boost)?);
        }
        self.scored_hits(hits)
    }

    /// Documents with scores, deleted ones left out.
    fn scored_hits(&self, mut hits: Vec<SegmentHits>) -> Result<Node, QueryError> {
        let readers = &self.context.snapshot.readers;
        for (segment, reader) in hits.iter_mut().zip(readers) {
            if let Some(alive) = reader.alive_bitset() {
                segment.retain(|(doc, _)| alive.is_alive(*doc));
            }
        }
        let at_least = hits.iter().map(|segment| segment.len() as u64).sum();
        let ids = readers.iter().map(SegmentReader::segment_id);
        let hits = ids.zip(hits).collect();
        Ok(Node {
            at_least,
            exact: true,
            ..Node::scored(Box::new(ScoredDocs::found(hits)?), 1.0)
        })
    }
}

/// The curve over what is kept of the field's values: its pivot is one of these, also where it is one divided by the value
/// that is kept.
fn curve_for(mapped: &MappedField, curve: FeatureCurve) -> Result<FeatureCurve, QueryError> {
    if mapped.settings.inverse && matches!(curve, FeatureCurve::Log { .. }) {
        return Err(QueryError::create(
            "Cannot use the [log] function with a field that has a negative score impact as it \
             would trigger negative scores",
        ));
    }
    Ok(curve)
}

fn not_a_feature(mapped: &MappedField) -> QueryError {
    QueryError::create(format!(
        "[rank_feature] query only works on [rank_feature] fields and features of [rank_features] \
         fields, not [{}]",
        mapped.kind.type_name()
    ))
}

/// The weight in the middle of all, by the numbers that stand for them.
#[derive(Default)]
struct Mean {
    sum: u64,
    count: u64,
}

impl Mean {
    fn add(&mut self, code: u32) {
        self.sum += u64::from(code);
        self.count += 1;
    }

    /// `None` where there is no weight at all.
    fn weight(&self) -> Option<f32> {
        let mean = self.sum.checked_div(self.count)?;
        u32::try_from(mean).ok().map(feature_weight)
    }
}

fn mean_of(weights: &[Vec<(DocId, u32)>]) -> Option<f32> {
    let mut mean = Mean::default();
    let codes = weights.iter().flatten().map(|(_, code)| *code);
    codes.for_each(|code| mean.add(code));
    mean.weight()
}

/// Gives every document of a term and the number that stands for its weight there.
fn for_each_weight(
    reader: &SegmentReader,
    term: &Term,
    mut each: impl FnMut(DocId, u32),
) -> Result<(), QueryError> {
    let index = reader.inverted_index(term.field())?;
    let option = IndexRecordOption::WithFreqsAndPositions;
    let Some(mut postings) = index.read_postings(term, option)? else {
        return Ok(());
    };
    let mut places = Vec::new();
    let mut doc = postings.doc();
    let mut pace = Pace::default();
    while doc != TERMINATED {
        go_on(&mut pace)?;
        tantivy::postings::Postings::positions(&mut postings, &mut places);
        if let Some(code) = places.first() {
            each(doc, *code);
        }
        doc = postings.advance();
    }
    Ok(())
}

/// The documents that have any of some features, with the sums of the products of weights.
fn sums(
    reader: &SegmentReader,
    field: Field,
    tokens: &[(String, f32)],
    boost: f32,
) -> Result<SegmentHits, QueryError> {
    let mut scores = vec![0.0_f32; reader.max_doc() as usize];
    let mut found: Vec<DocId> = Vec::new();
    for (token, wanted) in tokens {
        let factor = wanted * boost;
        let term = Term::from_field_text(field, token);
        for_each_weight(reader, &term, |doc, code| {
            let score = &mut scores[doc as usize];
            if *score == 0.0 {
                found.push(doc);
            }
            *score += factor * feature_weight(code);
        })?;
    }
    let mut found = sorted_while_wanted(found, DocId::cmp).ok_or(QueryError::Stopped)?;
    found.dedup();
    Ok(found
        .into_iter()
        .map(|doc| (doc, scores[doc as usize]))
        .collect())
}

//! The terms that are shown of those that all shards reported, and how wrong their counts may be.

use clew_query::{AggError, sorted_in_time};

use crate::bucket::InParent;
use crate::bucket::terms::{TermsPlan, TermsShape};
use crate::counted::buckets::LeftOut;
use crate::field::ValueKind;
use crate::reduce::{Budget, results_of};
use crate::result::{Bucket, BucketExtra, TermsKind, TermsResult};
use crate::value::key::Key;

/// The terms of one parent, best first.
///
/// # Errors
/// [`AggError::TooManyBuckets`]; an error of its own once the request is over.
pub(crate) fn terms_result(
    of: InParent<'_>,
    terms: &TermsPlan,
    budget: &mut Budget,
) -> Result<TermsResult, AggError> {
    let InParent {
        node,
        buckets,
        parent,
    } = of;
    let kind = node.plan.values().kind;
    let left_out = parent
        .and_then(|parent| buckets.left_out.get(parent as usize))
        .copied()
        .unwrap_or_default();
    let mut numbers = node.numbers(parent).to_vec();
    numbers.retain(|number| terms.shows(buckets.counts[*number as usize]));
    let scores = match &terms.shape {
        TermsShape::Significant(significant) => buckets.scores(&significant.heuristic)?,
        _ => Vec::new(),
    };
    numbers.retain(|number| {
        scores
            .get(*number as usize)
            .is_none_or(|score| *score > 0.0)
    });
    if let Some(comparison) = &node.comparison {
        numbers = sorted_in_time(numbers, |a, b| comparison.of_buckets(*a, *b))?;
    }
    let shown = numbers.len().min(terms.size);
    let beyond: u64 = numbers[shown..]
        .iter()
        .map(|number| buckets.counts[*number as usize])
        .sum();
    let mut made = Vec::with_capacity(shown);
    for number in &numbers[..shown] {
        budget.take()?;
        let at = *number as usize;
        budget.charge(buckets.table.keys()[at].heap_bytes())?;
        made.push(Bucket {
            key: shown_key(&buckets.table.keys()[at], kind),
            doc_count: buckets.counts[at],
            doc_count_error: bucket_error(left_out, buckets.reported.get(at).copied()),
            extra: match scores.get(at) {
                Some(score) => BucketExtra::Score {
                    score: *score,
                    background: buckets.background.with.get(at).copied().unwrap_or(0),
                },
                None => BucketExtra::None,
            },
            subs: results_of(&node.subs, Some(*number), budget)?,
        });
    }
    Ok(TermsResult {
        kind: terms_kind(kind),
        rare: matches!(terms.shape, TermsShape::Rare { .. }),
        buckets: made,
        doc_count_error_upper_bound: match left_out {
            LeftOut {
                unbounded: true, ..
            } => None,
            // One shard's counts are exact, whatever it left out.
            LeftOut { shards: 0 | 1, .. } => Some(0),
            LeftOut { error, .. } => Some(error),
        },
        sum_other_doc_count: left_out.documents + beyond,
        show_error: terms.show_error,
        format: node.plan.values().format.clone(),
    })
}

/// What kind of keys they have.
fn terms_kind(kind: ValueKind) -> TermsKind {
    match kind {
        ValueKind::Unmapped => TermsKind::Unmapped,
        ValueKind::Keyword
        | ValueKind::Ip
        | ValueKind::Range(_)
        | ValueKind::Shape
        | ValueKind::Outlines
        | ValueKind::Bytes => TermsKind::Text,
        ValueKind::Unsigned | ValueKind::Geo | ValueKind::Corners => TermsKind::Unsigned,
        ValueKind::Long | ValueKind::Boolean | ValueKind::Date | ValueKind::DateNanos => {
            TermsKind::Integer
        }
        ValueKind::Double => TermsKind::Float,
    }
}

impl TermsPlan {
    /// Whether buckets with so many documents are shown.
    fn shows(&self, count: u64) -> bool {
        let few = match self.shape {
            TermsShape::Plain | TermsShape::Significant(_) => true,
            TermsShape::Rare { max_doc_count } => count <= max_doc_count,
        };
        few && count >= self.min_doc_count
    }
}

/// The errors of the shards that did not report the bucket.
fn bucket_error(left_out: LeftOut, reported: Option<u64>) -> Option<u64> {
    (!left_out.unbounded).then(|| left_out.error.saturating_sub(reported.unwrap_or(0)))
}

pub(crate) fn shown_key(key: &Key, kind: ValueKind) -> Key {
    match (kind, key) {
        (ValueKind::Boolean, Key::I64(value)) => Key::Bool(*value != 0),
        (ValueKind::Date | ValueKind::DateNanos, Key::I64(value)) => Key::Date(*value),
        _ => key.clone(),
    }
}

//! The nested objects that made their documents match: a small search inside each hit.

use clew_query::{Query, QueryError, SortKey, unless_stopped};
use tantivy::query::{EnableScoring, Scorer};
use tantivy::{DocId, TERMINATED};

use super::hit::ShardHit;
use super::nested_sort::{SortObjects, SortOrder};
use super::run::by_score;
use super::sorted::{Kept, SortedTop};
use crate::query::{CompileContext, plan_nested};
use crate::search::top::hits_of;
use crate::segments::Scope;
use crate::segments::TopScores;
use crate::snapshot::Snapshot;

/// Which objects of a hit are wanted.
#[derive(Clone, Copy)]
pub struct InnerRequest<'a> {
    /// The nested objects' path.
    pub path: &'a str,
    /// What the hits are: whole documents, or nested objects themselves.
    pub around: Scope<'a>,
    /// What an object must match.
    pub query: &'a Query,
    /// The order; empty means by score.
    pub sort: &'a [SortKey],
    /// Most objects wanted of a hit.
    pub limit: usize,
}

/// The objects of one hit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InnerFound {
    /// How many match.
    pub total: u64,
    /// The best score, when scores were computed.
    pub max_score: Option<f32>,
    /// The first of them.
    pub hits: Vec<ShardHit>,
}

/// Searches inside hits, each given by its segment and its row; the answers come in their order.
///
/// # Errors
/// When the query or the sort keys do not fit the mapping, or reading fails.
pub fn inner_hits(
    context: &CompileContext<'_>,
    request: &InnerRequest<'_>,
    parents: &[(usize, DocId)],
) -> Result<Vec<InnerFound>, QueryError> {
    let snapshot = context.snapshot;
    let objects = SortObjects::find(request.sort, context, Some(request.path))?;
    let sort = objects.of(request.sort);
    let plan = plan_nested(request.query, context, Some(request.path))?;
    // Leaves bring their own statistics; the searcher is only there for its schema.
    let scoring = EnableScoring::enabled_from_searcher(snapshot.stub());
    let weight = plan.query.weight(scoring)?;
    let mut found = vec![InnerFound::default(); parents.len()];
    let mut order: Vec<usize> = (0..parents.len()).collect();
    // Scorers only go forwards.
    order.sort_unstable_by_key(|at| parents[*at]);
    let mut open: Option<(usize, Box<dyn Scorer>)> = None;
    for at in order {
        unless_stopped()?;
        let (segment, row) = parents[at];
        let scorer = match &mut open {
            Some((of, scorer)) if *of == segment => scorer,
            open => {
                let scorer = weight.scorer(&snapshot.readers[segment], 1.0)?;
                &mut open.insert((segment, scorer)).1
            }
        };
        found[at] = inside(snapshot, (request, sort), (segment, row), &mut **scorer)?;
    }
    Ok(found)
}

enum Top<'a> {
    Score(TopScores),
    Sorted(SortedTop<'a>),
}

fn inside(
    snapshot: &Snapshot,
    (request, sort): (&InnerRequest<'_>, SortOrder<'_>),
    (segment, row): (usize, DocId),
    scorer: &mut dyn Scorer,
) -> Result<InnerFound, QueryError> {
    let blocks = snapshot.blocks(segment);
    let rows = blocks.and_then(|blocks| {
        let around = blocks.of(request.around)?;
        let own = blocks.of(Scope::Nested(request.path))?;
        Some((own, blocks.inside(around, row)))
    });
    let mut found = InnerFound::default();
    let Some((own, range)) = rows else {
        return Ok(found);
    };
    let mut top = if by_score(request.sort) {
        Top::Score(TopScores::new(request.limit, None))
    } else {
        let kept = Kept {
            scores: false,
            doc_base: 0,
        };
        let mut top = SortedTop::new(sort, request.limit, None, kept)?;
        top.begin(segment, snapshot, &snapshot.readers[segment])?;
        Top::Sorted(top)
    };
    let mut doc = scorer.doc();
    if doc < range.start {
        doc = scorer.seek(range.start);
    }
    while doc != TERMINATED && doc < range.end {
        if own.contains(doc) {
            found.total += 1;
            let score = scorer.score();
            match &mut top {
                Top::Score(top) => {
                    let best = found.max_score.map_or(score, |best| best.max(score));
                    found.max_score = Some(best);
                    top.offer(segment, doc, score);
                }
                Top::Sorted(top) => top.offer(doc, score)?,
            }
        }
        doc = scorer.advance();
    }
    found.hits = match top {
        Top::Score(top) => hits_of(top, !request.sort.is_empty()),
        Top::Sorted(mut top) => {
            top.end()?;
            top.into_hits()
        }
    };
    Ok(found)
}

//! What is known before a search starts: the query in the column's form, and the situation to plan by.

use crate::column::View;
use crate::filter::RowFilter;
use crate::ivf::Lists;
use crate::options::{inverse_norm, norm_squared};
use crate::plan::{Access, Probing, Situation};
use crate::rows::{RowProbe, StoredQuery};
use crate::search::{Search, SearchRequest};
use crate::{ColumnOptions, Filter, Horizon, Space, VectorError};

/// A query that fits the column.
pub(crate) struct Query<'a> {
    vector: &'a [f32],
    stored: StoredQuery<'a>,
    own: f32,
    dimension: usize,
}

impl<'a> Query<'a> {
    pub(super) fn check(vector: &'a [f32], options: &ColumnOptions) -> Result<Self, VectorError> {
        let squared = norm_squared(vector, options)?;
        Ok(Query {
            vector,
            stored: StoredQuery::new(options.element, vector),
            own: own_scale(squared, options.space),
            dimension: options.dimension,
        })
    }
}

impl<'a> Search<'a> {
    /// Sees what there is to search.
    pub(super) fn prepare(
        view: &'a View<'a>,
        query: &'a Query<'a>,
        request: &SearchRequest<'a>,
    ) -> Result<(Search<'a>, Situation), VectorError> {
        if let Some(target) = request.target_recall
            && !(target > 0.0 && target <= 1.0)
        {
            return Err(VectorError::TargetRecall { target });
        }
        view.integrity.touch_rows()?;
        let row_count = view.rows.count();
        let filter = request.filter.map(|filter| row_filter(view, filter));
        let doc_count = view.documents.map_or(row_count, |some| some.count());
        let possible = filter.map_or(doc_count, |some| some.filter.count.min(doc_count));
        let asked = request.k.min(possible);
        // A walk that goes as far as the whole finds as many of its hits as there are.
        let known = request.horizon.filter(|_| view.graph.is_some());
        let k = match known.and_then(Horizon::known) {
            Some(most) => most.hits.min(possible).max(asked),
            None => asked,
        };
        // Efforts count rows, of which documents may have several.
        let k_rows = match view.documents {
            Some(_) => (asked * row_count).div_ceil(doc_count.max(1)),
            None => asked,
        };
        let search = Search {
            view,
            vector: query.vector,
            probe: RowProbe {
                rows: view.rows,
                query: query.stored.numbers(),
                own: query.own,
            },
            filter,
            k,
            k_rows,
            distance_max: request.max_distance.unwrap_or(f32::INFINITY),
            horizon: request.horizon,
            hidden: None,
        };
        let effort = effort(view, request, k_rows);
        let ef = effort.unwrap_or(usize::MAX).max(k_rows).min(row_count);
        let situation = Situation {
            row_count,
            survivors: filter.map(|filter| filter.survivors_expected()),
            ef,
            dimension: query.dimension,
            row_bytes: view.rows.pitch,
            access: match (&view.graph, &view.codes) {
                // To a query without a direction everything is equally far: there is no way to walk.
                _ if is_exact(request) || query.own <= 0.0 => Access::Rows,
                (None, _) => match &view.lists {
                    // What no number of lists finds, a scan does.
                    Some(lists) if effort.is_some() => {
                        Access::Lists(probing(view, lists, request.probes, (k_rows, ef)))
                    }
                    Some(_) | None => Access::Rows,
                },
                (Some(_), Some(_)) => Access::Codes,
                (Some(_), None) => Access::Graph,
            },
        };
        Ok((search, situation))
    }
}

/// How many lists there are, and how many are gone through for so many hits with an effort, unless a number is asked for.
pub(super) fn probing(
    view: &View<'_>,
    lists: &Lists<'_>,
    asked: Option<usize>,
    (k, ef): (usize, usize),
) -> Probing {
    let learnt = || view.calibration?.probes(k, ef);
    Probing {
        lists: lists.heads.len(),
        probes: asked.or_else(learnt),
    }
}

/// True when nothing may be missed.
fn is_exact(request: &SearchRequest<'_>) -> bool {
    request.exact || request.target_recall.is_some_and(|target| target >= 1.0)
}

/// Candidates to keep; `None` for a recall that no effort reaches, so that a scan is cheaper.
fn effort(view: &View<'_>, request: &SearchRequest<'_>, k: usize) -> Option<usize> {
    match (request.target_recall, view.calibration) {
        (Some(target), Some(learnt)) => learnt.effort(k, target),
        _ => Some(request.ef_search),
    }
}

fn row_filter<'a>(view: &View<'a>, filter: Filter<'a>) -> RowFilter<'a> {
    RowFilter {
        filter,
        docs: view.docs,
        repeated: view.documents.is_some(),
        row_count: view.rows.count(),
    }
}

/// What a query is multiplied with before it is compared.
pub(super) fn own_scale(squared: f64, space: Space) -> f32 {
    match space {
        Space::Cosine => inverse_norm(squared),
        Space::L2
        | Space::InnerProduct
        | Space::Hamming
        | Space::Jaccard
        | Space::MinHash8
        | Space::MinHash32
        | Space::MinHash64 => 1.0,
    }
}

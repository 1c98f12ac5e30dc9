//! What is known before a search starts: the query in the column's form, and the situation to plan by.

use crate::column::View;
use crate::filter::RowFilter;
use crate::options::{inverse_norm, norm_squared};
use crate::plan::{Access, Probing, Situation};
use crate::rows::{RowProbe, StoredQuery};
use crate::search::{Search, SearchRequest};
use crate::{ColumnOptions, Filter, Space, VectorError};

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
        view.integrity.touch_rows()?;
        let row_count = view.rows.count();
        let filter = request.filter.map(|filter| row_filter(view, filter));
        let possible = filter.map_or(row_count, |filter| filter.survivors_max());
        let k = request.k.min(possible);
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
            distance_max: request.max_distance.unwrap_or(f32::INFINITY),
        };
        let situation = Situation {
            row_count,
            survivors: filter.map(|filter| filter.survivors_expected()),
            ef: request.ef_search.max(k).min(row_count),
            dimension: query.dimension,
            row_bytes: view.rows.pitch,
            access: match (&view.graph, &view.codes) {
                (None, _) if !request.exact => match &view.lists {
                    Some(lists) => Access::Lists(Probing {
                        lists: lists.heads.len(),
                        probes: request.probes,
                    }),
                    None => Access::Rows,
                },
                (Some(_), Some(_)) if !request.exact => Access::Codes,
                (Some(_), None) if !request.exact => Access::Graph,
                _ => Access::Rows,
            },
        };
        Ok((search, situation))
    }
}

fn row_filter<'a>(view: &View<'a>, filter: Filter<'a>) -> RowFilter<'a> {
    RowFilter {
        filter,
        docs: view.docs,
        row_count: view.rows.count(),
    }
}

/// What a query is multiplied with before it is compared.
pub(super) fn own_scale(squared: f64, space: Space) -> f32 {
    match space {
        Space::Cosine => inverse_norm(squared),
        Space::L2 | Space::InnerProduct | Space::Hamming | Space::Jaccard => 1.0,
    }
}

//! `geohash_grid` and `geotile_grid`: cells of a grid, which are terms of one source.

use clew_query::AggError;
use clew_query::aggregation::{Direction, Grid, GridSpec, MissingOrder};

use crate::bucket::chain::{Link, Step};
use crate::bucket::terms::{TermsPlan, TermsShape};
use crate::field::TermSets;
use crate::field::context::AggContext;
use crate::field::values::plan_values;
use crate::order::{By, PlannedOrder};

/// Cells of one source.
#[derive(Clone, Debug)]
pub(crate) struct GridPlan {
    pub(crate) link: Link,
    pub(crate) grid: Grid,
    pub(crate) terms: TermsPlan,
}

/// The plan of a grid: its cells are terms of one source.
///
/// # Errors
/// [`AggError`] when the field has no points.
pub(crate) fn plan_grid(spec: &GridSpec, context: &AggContext<'_>) -> Result<GridPlan, AggError> {
    let link = Link {
        name: spec.source.field.clone(),
        values: plan_values(&spec.source, "geo_grid", context)?,
        step: Step::Cell(spec.grid),
        missing_bucket: false,
        direction: Direction::Ascending,
        missing_order: MissingOrder::Default,
    };
    let size = spec.size as usize;
    let shard_size = spec
        .shard_size
        .map_or(size + size / 2 + 10, |asked| asked as usize);
    let terms = TermsPlan {
        size,
        shard_size: shard_size.max(size),
        min_doc_count: 1,
        order: cells_first(),
        filter: TermSets::default(),
        show_error: false,
        shape: TermsShape::Plain,
    };
    Ok(GridPlan {
        link,
        grid: spec.grid,
        terms,
    })
}

/// The fullest cells first, and of equal ones the last.
fn cells_first() -> Vec<PlannedOrder> {
    let falling = |by| PlannedOrder {
        by,
        direction: Direction::Descending,
    };
    vec![falling(By::Count), falling(By::Key)]
}

//! `geohash_grid`, `geotile_grid` and `geohex_grid`: cells of a grid, which are terms of one source.

use clew_query::AggError;
use clew_query::aggregation::{Direction, Grid, GridSpec, MissingOrder};

use crate::bucket::chain::{Chain, Link, LinkStep};
use crate::bucket::cut::cut_terms;
use crate::bucket::shown_terms::terms_result;
use crate::bucket::terms::{TermsPlan, TermsShape, shard_size};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::Collect;
use crate::counted::buckets::Buckets;
use crate::field::context::AggContext;
use crate::field::rows::Repeats;
use crate::field::values::plan_values;
use crate::field::{TermSets, ValuePlan};
use crate::order::{By, PlannedOrder};
use crate::reduce::Budget;
use crate::result::AggResult;
use crate::value::key::Key;

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
/// [`AggError`] when the field has neither points nor shapes that have such cells.
fn plan_grid(spec: &GridSpec, context: &AggContext<'_>) -> Result<GridPlan, AggError> {
    let link = Link {
        name: spec.source.field.clone(),
        values: plan_values(&spec.source, name_of(spec.grid), context)?,
        step: LinkStep::Cell {
            grid: spec.grid,
            bounds: spec.bounds,
        },
        missing_bucket: false,
        repeats: Repeats::Dropped,
        direction: Direction::Ascending,
        missing_order: MissingOrder::Default,
    };
    let size = spec.size as usize;
    let terms = TermsPlan {
        size,
        shard_size: shard_size(spec.shard_size, size),
        min_doc_count: 1,
        shard_min_doc_count: 0,
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

/// What requests call the aggregation.
fn name_of(grid: Grid) -> &'static str {
    match grid {
        Grid::Geohash { .. } => "geohash_grid",
        Grid::Geotile { .. } => "geotile_grid",
        Grid::Geohex { .. } => "geohex_grid",
    }
}

/// The fullest cells first, and of equal ones the last.
fn cells_first() -> Vec<PlannedOrder> {
    let falling = |by| PlannedOrder {
        by,
        direction: Direction::Descending,
    };
    vec![falling(By::Count), falling(By::Key)]
}

impl AskedBuckets for GridSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let plan = plan_grid(self, asking.context)?;
        Ok((ValuePlan::none(), plan.into()))
    }
}

impl BucketAgg for GridPlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        let links = std::slice::from_ref(&self.link);
        Ok(Box::new(Chain::open(segment, plan, links)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let terms = terms_result(of, &self.terms, budget)?;
        let mut buckets = terms.buckets;
        for bucket in &mut buckets {
            let only = match &bucket.key {
                Key::Tuple(keys) => keys.first().cloned(),
                _ => None,
            };
            bucket.key = only.unwrap_or(Key::Null);
        }
        let grid = self.grid;
        Ok(AggResult::Cells { grid, buckets })
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        match self.grid {
            Grid::Geohash { .. } => "GeoHashGridAggregator",
            Grid::Geotile { .. } => "GeoTileGridAggregator",
            Grid::Geohex { .. } => "GeoHexGridAggregator",
        }
    }

    fn order(&self) -> Option<&[PlannedOrder]> {
        Some(&self.terms.order)
    }

    fn cut(&self, buckets: &mut Buckets, parent_count: usize) -> Result<(), AggError> {
        cut_terms(&self.terms, buckets, parent_count)
    }
}

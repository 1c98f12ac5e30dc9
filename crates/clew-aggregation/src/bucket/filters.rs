//! `filter`, `filters` and `adjacency_matrix`: buckets of the documents that given queries match.

use std::sync::Arc;

use clew_query::aggregation::{FilterShape, FiltersSpec};
use clew_query::{AggError, Query};
use clew_search::SegmentBits;

use crate::bucket::only::only_count;
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::places::Places;
use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::context::{AggContext, documents_of};
use crate::limits::Account;
use crate::order::Property;
use crate::reduce::{Budget, results_of};
use crate::result::{AggResult, Bucket, BucketExtra, SingleKind};
use crate::value::key::Key;

pub(crate) struct Filters {
    sets: Vec<Arc<Vec<SegmentBits>>>,
    ord: usize,
    shape: FilterShape,
    hits: Vec<u64>,
    places: Places,
}

impl Filters {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        filters: &FiltersPlan,
    ) -> Result<Self, AggError> {
        Ok(Filters {
            sets: filters.sets.clone(),
            ord: segment.ord,
            shape: filters.shape.clone(),
            hits: Vec::new(),
            places: Places::open(segment, plan)?,
        })
    }
}

impl Collect for Filters {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let count = self.sets.len() as u64;
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            self.hits.clear();
            let sets = (0_u64..).zip(&self.sets);
            let holds = |set: &Arc<Vec<SegmentBits>>| {
                set.get(self.ord).is_some_and(|bits| bits.contains(*doc))
            };
            let hits = sets.filter(|(_, set)| holds(set)).map(|(place, _)| place);
            self.hits.extend(hits);
            let of = (*doc, *parent);
            for (at, place) in self.hits.iter().enumerate() {
                self.places.add(of, *place, account)?;
                if matches!(self.shape, FilterShape::Adjacency { .. }) {
                    for other in &self.hits[at + 1..] {
                        self.places.add(of, (place + 1) * count + other, account)?;
                    }
                }
            }
            let other = matches!(&self.shape, FilterShape::Named { other: Some(_), .. });
            if other && self.hits.is_empty() {
                self.places.add(of, count, account)?;
            }
        }
        self.places.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.places.finish(account)
    }
}

/// Buckets of queries.
#[derive(Clone, Debug)]
pub(crate) struct FiltersPlan {
    pub(crate) names: Vec<String>,
    /// Per query: its documents in each segment.
    pub(crate) sets: Vec<Arc<Vec<SegmentBits>>>,
    pub(crate) shape: FilterShape,
}

/// Runs the queries; their documents are known before any is counted.
///
/// # Errors
/// [`AggError::Query`] when a query is refused.
fn plan_filters(spec: &FiltersSpec, context: &AggContext<'_>) -> Result<FiltersPlan, AggError> {
    let set = |(_, query): &(String, Query)| documents_of(query, context).map(Arc::new);
    Ok(FiltersPlan {
        names: spec.filters.iter().map(|(name, _)| name.clone()).collect(),
        sets: spec.filters.iter().map(set).collect::<Result<_, _>>()?,
        shape: spec.shape.clone(),
    })
}

impl AskedBuckets for FiltersSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let plan = plan_filters(self, asking.context)?;
        Ok((ValuePlan::none(), plan.into()))
    }

    fn takes_pages(&self) -> bool {
        self.shape == FilterShape::Single
    }

    fn factory_name(&self) -> &'static str {
        "FiltersAggregatorFactory"
    }
}

impl BucketAgg for FiltersPlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        Ok(Box::new(Filters::open(segment, plan, self)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let node = of.node;
        let rows = of.rows();
        let mut bucket = |place: i64, name: String| -> Result<Bucket, AggError> {
            budget.take()?;
            let row = rows.iter().find(|row| row.key == place);
            Ok(Bucket {
                key: Key::Str(name.into()),
                doc_count: row.map_or(0, |row| row.count),
                doc_count_error: None,
                extra: BucketExtra::None,
                subs: results_of(&node.subs, row.and_then(|row| row.number), budget)?,
            })
        };
        let count = i64::try_from(self.names.len()).unwrap_or(i64::MAX);
        match &self.shape {
            FilterShape::Single => {
                let only = bucket(0, String::new())?;
                Ok(AggResult::Single {
                    kind: SingleKind::Filter,
                    doc_count: only.doc_count,
                    subs: only.subs,
                })
            }
            FilterShape::Named { keyed, other } => {
                let mut made = Vec::with_capacity(self.names.len() + 1);
                for (place, name) in (0..).zip(&self.names) {
                    made.push(bucket(place, name.clone())?);
                }
                if let Some(other) = other {
                    made.push(bucket(count, other.clone())?);
                }
                Ok(AggResult::Filters {
                    buckets: made,
                    keyed: *keyed,
                })
            }
            FilterShape::Adjacency { separator } => {
                let name = |place: i64| {
                    let at = usize::try_from(place).ok();
                    at.and_then(|at| self.names.get(at))
                        .cloned()
                        .unwrap_or_default()
                };
                let mut made = Vec::with_capacity(rows.len());
                for row in &rows {
                    let text = if row.key < count {
                        name(row.key)
                    } else {
                        let (one, other) = (row.key / count - 1, row.key % count);
                        format!("{}{separator}{}", name(one), name(other))
                    };
                    made.push(bucket(row.key, text)?);
                }
                made.sort_by(|a, b| a.key.cmp(&b.key));
                Ok(AggResult::Adjacency(made))
            }
        }
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        match self.shape {
            FilterShape::Single => "FilterAggregator",
            FilterShape::Named { .. } => "FiltersAggregator",
            FilterShape::Adjacency { .. } => "AdjacencyMatrixAggregator",
        }
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        match self.shape {
            FilterShape::Single => only_count(name),
            FilterShape::Named { .. } | FilterShape::Adjacency { .. } => None,
        }
    }
}

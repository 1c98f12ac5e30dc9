//! The queries inside aggregations that were asked for.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::Query;

use super::tree::{AggSpec, NamedAgg};

impl NamedAgg {
    /// Visits every query of this aggregation and of those inside it; each may be replaced.
    ///
    /// # Errors
    /// The first that `visit` has.
    pub fn for_each_query_mut<E>(
        &mut self,
        visit: &mut dyn FnMut(&mut Query) -> Result<(), E>,
    ) -> Result<(), E> {
        match &mut self.spec {
            AggSpec::Filters(filters) => {
                for (_, query) in &mut filters.filters {
                    query.for_each_mut(visit)?;
                }
            }
            AggSpec::SignificantTerms(significant) => {
                if let Some(query) = &mut significant.background {
                    query.for_each_mut(visit)?;
                }
            }
            AggSpec::TopHits(top) => {
                for key in &mut top.sort {
                    key.for_each_query_mut(visit)?;
                }
            }
            AggSpec::Terms(_)
            | AggSpec::DateHistogram(_)
            | AggSpec::Histogram(_)
            | AggSpec::Range(_)
            | AggSpec::Missing(_)
            | AggSpec::Min(_)
            | AggSpec::Max(_)
            | AggSpec::Avg(_)
            | AggSpec::Sum(_)
            | AggSpec::ValueCount(_)
            | AggSpec::Stats(_)
            | AggSpec::ExtendedStats { .. }
            | AggSpec::Nested { .. }
            | AggSpec::ReverseNested { .. }
            | AggSpec::Relatives { .. }
            | AggSpec::Cardinality { .. }
            | AggSpec::Percentiles(_)
            | AggSpec::MedianDeviation { .. }
            | AggSpec::WeightedAvg { .. }
            | AggSpec::Global
            | AggSpec::Composite(_)
            | AggSpec::MultiTerms(_)
            | AggSpec::RareTerms(_)
            | AggSpec::GeoBounds { .. }
            | AggSpec::GeoCentroid(_)
            | AggSpec::GeoGrid(_)
            | AggSpec::VariableWidth { .. }
            | AggSpec::AutoDateHistogram(_)
            | AggSpec::Sample(_)
            | AggSpec::Matrix { .. }
            | AggSpec::Pipeline(_) => {}
        }
        self.subs
            .iter_mut()
            .try_for_each(|sub| sub.for_each_query_mut(visit))
    }
}

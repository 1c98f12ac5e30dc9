//! The numbers of an aggregation that others can be ordered by.

use clew_query::aggregation::FilterShape;

use crate::order::Property;
use crate::tree::Op;

pub(crate) fn property_of(op: &Op, property: Option<&str>) -> Option<Property> {
    match op {
        Op::TopHits(_)
        | Op::Terms(_)
        | Op::DateHistogram(_)
        | Op::Histogram(_)
        | Op::Range(_)
        | Op::Composite(_)
        | Op::AutoDate(_)
        | Op::Clusters(_)
        | Op::Grid(_)
        | Op::MultiTerms(_) => None,
        Op::Filters(filters) if filters.shape != FilterShape::Single => None,
        Op::Metric(metric) => metric.as_metric().property(property),
        Op::Missing
        | Op::Join(_)
        | Op::Relatives(_)
        | Op::Global
        | Op::Sample(_)
        | Op::Filters(_) => {
            matches!(property, None | Some("_count" | "doc_count")).then_some(Property::Count)
        }
    }
}

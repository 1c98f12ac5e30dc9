//! The numbers of an aggregation that others can be ordered by.

use clew_query::aggregation::FilterShape;

use crate::metric::simple::MomentKind;
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
        | Op::GeoBounds { .. }
        | Op::GeoCentroid
        | Op::Matrix(_)
        | Op::MultiTerms(_) => None,
        Op::Filters(filters) if filters.shape != FilterShape::Single => None,
        Op::Quantiles(plan) => plan.property(property),
        Op::WeightedAvg { .. } => {
            matches!(property, None | Some("value")).then_some(Property::Value)
        }
        Op::Missing
        | Op::Join(_)
        | Op::Relatives(_)
        | Op::Global
        | Op::Sample(_)
        | Op::Filters(_) => {
            matches!(property, None | Some("_count" | "doc_count")).then_some(Property::Count)
        }
        Op::Moments(MomentKind::Stats) | Op::Extended { .. } => {
            let extended = matches!(op, Op::Extended { .. });
            Some(match property? {
                "count" => Property::Count,
                "min" => Property::Min,
                "max" => Property::Max,
                "avg" => Property::Avg,
                "sum" => Property::Sum,
                "sum_of_squares" if extended => Property::SumOfSquares,
                "variance" | "variance_population" if extended => Property::Variance,
                "variance_sampling" if extended => Property::VarianceSampling,
                "std_deviation" | "std_deviation_population" if extended => Property::Deviation,
                "std_deviation_sampling" if extended => Property::DeviationSampling,
                _ => return None,
            })
        }
        Op::Moments(kind) => matches!(property, None | Some("value")).then_some(match kind {
            MomentKind::Min => Property::Min,
            MomentKind::Max => Property::Max,
            MomentKind::Avg => Property::Avg,
            MomentKind::Sum | MomentKind::Stats => Property::Sum,
        }),
        Op::ValueCount | Op::Cardinality { .. } => {
            matches!(property, None | Some("value")).then_some(Property::Count)
        }
    }
}

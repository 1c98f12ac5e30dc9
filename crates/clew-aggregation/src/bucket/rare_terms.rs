//! `rare_terms`: the least frequent values, which are terms in another order. They are counted in full on every shard: what
//! is rare here may be frequent elsewhere.

use clew_query::AggError;
use clew_query::aggregation::RareTermsSpec;

use crate::bucket::terms::{TermsShape, every_term};
use crate::bucket::{AskedBuckets, Asking, BucketPlan};
use crate::field::values::{plan_values, term_filter};
use crate::field::{ValueKind, ValuePlan};

impl AskedBuckets for RareTermsSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let values = plan_values(&self.source, "rare_terms", asking.context)?;
        if values.kind == ValueKind::Double {
            return Err(AggError::invalid(
                "RareTerms aggregation does not support floating point fields.",
            ));
        }
        let filter = term_filter(&self.filter, &values, asking.name)?;
        let shape = TermsShape::Rare {
            max_doc_count: self.max_doc_count,
        };
        let plan = every_term(filter, shape);
        Ok((values, plan.into()))
    }
}

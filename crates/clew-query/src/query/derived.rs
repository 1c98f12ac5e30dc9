//! Names in a query that stand for what scripts make of documents.

use std::sync::Arc;

use clew_schema::DerivedField;
use serde::{Deserialize, Serialize};

use super::tree::Query;

/// A query in which names stand for derived fields that the mapping does not have, or has otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DerivedScope {
    /// The fields, which many parts of a query may share.
    #[serde(with = "shared")]
    pub fields: Arc<[DerivedField]>,
    /// The query.
    pub query: Box<Query>,
}

/// The serialized form of fields that are shared: a list of them.
mod shared {
    use std::sync::Arc;

    use clew_schema::DerivedField;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        fields: &Arc<[DerivedField]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        (**fields).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<[DerivedField]>, D::Error> {
        Vec::<DerivedField>::deserialize(deserializer).map(Arc::from)
    }
}

//! What the inverted lists of an index's shards are formed around: the same for all of them where it fits, so that a search
//! of all prepares its vector once.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_schema::FieldId;
use clew_vector::{ColumnOptions, GraphChoice, SharedCentres, memory_needed_of_part};
use parking_lot::Mutex;

/// The centres of an index's fields. They are known from the first merge on that forms lists, or keeps some, since the index
/// was opened.
#[derive(Debug)]
pub(crate) struct IndexCentres {
    shards: usize,
    fields: Mutex<BTreeMap<FieldId, Arc<SharedCentres>>>,
}

impl IndexCentres {
    /// For an index of so many shards.
    pub(crate) fn new(shards: usize) -> Self {
        IndexCentres {
            shards,
            fields: Mutex::new(BTreeMap::new()),
        }
    }

    /// Bytes of memory that a column of a shard takes at most whose lists are around such centres.
    pub(super) fn memory_needed(
        &self,
        options: &ColumnOptions,
        rows: usize,
        graph: GraphChoice,
    ) -> usize {
        memory_needed_of_part(options, (rows, self.shards), graph)
    }

    /// Those of a field.
    pub(super) fn of(&self, field: FieldId) -> Arc<SharedCentres> {
        let none = || Arc::new(SharedCentres::new(self.shards));
        self.fields.lock().entry(field).or_insert_with(none).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_the_centres_of_a_field() {
        let centres = IndexCentres::new(3);
        let of = |field| centres.of(FieldId::new(field));
        assert!(Arc::ptr_eq(&of(1), &of(1)));
        assert!(!Arc::ptr_eq(&of(1), &of(2)));
        assert_eq!(of(1).parts(), 3);
    }
}

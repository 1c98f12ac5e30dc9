//! How the name of an index says which collection it is, and of which database.

/// The database of those who name none.
pub(crate) const DEFAULT_DATABASE: &str = "default";

/// The name of a collection's index.
pub(crate) fn index_name(database: &str, collection: &str) -> String {
    match database {
        DEFAULT_DATABASE => collection.to_string(),
        other => format!("{other}.{collection}"),
    }
}

/// The database and the collection that an index's name says.
pub(crate) fn database_and_collection(index: &str) -> (&str, &str) {
    index.split_once('.').unwrap_or((DEFAULT_DATABASE, index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_says_its_database_and_its_collection() {
        for (database, collection) in [("default", "books"), ("shop", "books")] {
            let index = index_name(database, collection);
            assert_eq!(database_and_collection(&index), (database, collection));
        }
    }
}

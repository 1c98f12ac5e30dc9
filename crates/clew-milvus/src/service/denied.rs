//! What the properties of a database forbid everybody (`database.force.deny.…`), as its administrators say.
//!
//! It is looked at for every call, and so kept apart from what else is known of databases, which lies behind the catalog's lock.

use std::collections::{BTreeMap, HashMap};

use parking_lot::RwLock;

use super::{Call, Service};
use crate::collection::truth;
use crate::error::{MilvusError, Result};

/// A property, and the calls that it forbids.
type Denial = (&'static str, &'static [&'static str]);

const WRITING: Denial = (
    "database.force.deny.writing",
    &["insert", "upsert", "delete", "import"],
);
const READING: Denial = (
    "database.force.deny.reading",
    &["search", "hybrid_search", "query"],
);
/// The property that forbids what each of the ones below does.
const SCHEMA: &str = "database.force.deny.ddl";
const PARTS_OF_SCHEMA: [Denial; 5] = [
    (
        "database.force.deny.collectionDDL",
        &[
            "create_collection",
            "drop_collection",
            "load_collection",
            "release_collection",
        ],
    ),
    (
        "database.force.deny.partitionDDL",
        &[
            "create_partition",
            "drop_partition",
            "load_partitions",
            "release_partitions",
        ],
    ),
    ("database.force.deny.index", &["create_index", "drop_index"]),
    ("database.force.deny.flush", &["flush"]),
    ("database.force.deny.compaction", &["manual_compaction"]),
];

/// The properties of a database.
type Properties = BTreeMap<String, String>;

/// The databases that forbid anything, by name; nothing before they were looked for, and after one of them was changed.
#[derive(Default)]
pub(super) struct Denials {
    known: RwLock<Option<HashMap<String, Properties>>>,
}

impl Denials {
    /// What a database forbids of what a call does.
    fn of(
        &self,
        (database, call): (&str, &str),
        all: impl FnOnce() -> Vec<(String, Properties)>,
    ) -> Option<&'static str> {
        let said = |known: &HashMap<String, Properties>| {
            let properties = known.get(database)?;
            forbidden(call, properties)
        };
        if let Some(known) = self.known.read().as_ref() {
            return said(known);
        }
        let mut known = self.known.write();
        said(known.get_or_insert_with(|| {
            let forbids = |(_, properties): &(String, Properties)| forbids(properties);
            all().into_iter().filter(forbids).collect()
        }))
    }

    /// Looks for them again, next time.
    pub(super) fn forget(&self) {
        *self.known.write() = None;
    }
}

impl Service {
    /// Refuses a call, by its name, that the database forbids which it is about.
    ///
    /// # Errors
    /// In Milvus' words.
    pub(super) fn check_denied(&self, call: &Call, database: &str, name: &str) -> Result<()> {
        let database = call.database(database);
        let all = || self.properties_of_databases();
        match self.denials().of((database, name), all) {
            None => Ok(()),
            Some(what) => Err(MilvusError::ForceDenied(what)),
        }
    }
}

fn is_set(properties: &Properties, property: &str) -> bool {
    let said = properties.get(property);
    said.is_some_and(|said| truth(said) == Some(true))
}

fn forbids(properties: &Properties) -> bool {
    let parts = PARTS_OF_SCHEMA.iter().map(|denial| denial.0);
    let mut all = parts.chain([WRITING.0, READING.0, SCHEMA]);
    all.any(|property| is_set(properties, property))
}

/// What of a call's kind is forbidden, as Milvus calls it.
fn forbidden(call: &str, properties: &Properties) -> Option<&'static str> {
    let applies = |denial: &Denial| denial.1.contains(&call);
    if applies(&WRITING) && is_set(properties, WRITING.0) {
        return Some("writing");
    }
    if applies(&READING) && is_set(properties, READING.0) {
        return Some("reading");
    }
    let part = PARTS_OF_SCHEMA.iter().find(|denial| applies(denial))?;
    let is_forbidden = is_set(properties, SCHEMA) || is_set(properties, part.0);
    is_forbidden.then_some("DDL")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_forbid_the_calls_that_they_are_about() {
        for (property, said, call, want) in [
            ("writing", "true", "insert", Some("writing")),
            ("writing", "1", "import", Some("writing")),
            ("writing", "false", "insert", None),
            ("writing", "perhaps", "insert", None),
            ("writing", "true", "search", None),
            ("reading", "true", "hybrid_search", Some("reading")),
            ("ddl", "True", "drop_index", Some("DDL")),
            ("ddl", "true", "flush", Some("DDL")),
            ("ddl", "true", "insert", None),
            ("ddl", "true", "alter_database", None),
            ("partitionDDL", "true", "load_partitions", Some("DDL")),
            ("partitionDDL", "true", "load_collection", None),
            ("index", "true", "create_index", Some("DDL")),
        ] {
            let property = format!("database.force.deny.{property}");
            let properties = Properties::from([(property, said.to_string())]);
            assert_eq!(forbidden(call, &properties), want, "{properties:?} {call}");
            assert!(want.is_none() || forbids(&properties), "{properties:?}");
        }
    }

    #[test]
    fn what_is_forbidden_is_read_once_until_it_changes() {
        let denials = Denials::default();
        let property = (
            "database.force.deny.writing".to_string(),
            "true".to_string(),
        );
        let all = |property| vec![("db".to_string(), Properties::from([property]))];
        let asked = |all: Vec<(String, Properties)>| denials.of(("db", "insert"), || all);
        assert_eq!(asked(all(property)), Some("writing"));
        assert_eq!(asked(Vec::new()), Some("writing"));
        denials.forget();
        assert_eq!(asked(Vec::new()), None);
        assert_eq!(denials.of(("other", "insert"), Vec::new), None);
    }
}

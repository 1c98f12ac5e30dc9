//! The `join` field: which kinds of documents there are and which of them have children of which
//! kind.
//!
//! Beside the field, which has the document's own kind, there is a hidden one for each kind with
//! children. It has the id of the parent: in a child the one it names, in a parent its own. So
//! documents that belong together have the same value there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::field::{FieldKind, KeywordStyle, MappedField};
use super::parameters::{boolean, show};
use super::schema::{Mapping, MappingError};

/// Most kinds of documents of one field.
const KINDS_MAX: usize = 1000;

/// The kinds of documents of a join field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JoinRelations {
    /// Parents in the order in which they were named, each with its children.
    parents: Vec<(String, Vec<String>)>,
    /// Kept to be shown again.
    eager: bool,
}

impl JoinRelations {
    /// Reads the parameters of the field.
    pub(super) fn read(name: &str, parameters: &Map<String, Value>) -> Result<Self, MappingError> {
        let mut relations = JoinRelations {
            parents: Vec::new(),
            eager: true,
        };
        if let Some(eager) = parameters.get("eager_global_ordinals") {
            relations.eager = boolean("eager_global_ordinals", eager)?;
        }
        if let Some(written) = parameters.get("relations") {
            let written = written.as_object().ok_or_else(|| {
                MappingError::invalid(format!(
                    "relations should be a map but was of type: {}",
                    show(written)
                ))
            })?;
            for (parent, children) in written {
                let children = match children {
                    Value::Array(items) => items.iter().map(show).collect(),
                    one => vec![show(one)],
                };
                relations.add(parent, children);
            }
        }
        relations.check(name)?;
        Ok(relations)
    }

    fn add(&mut self, parent: &str, children: Vec<String>) {
        let mut seen = BTreeSet::new();
        let children = children.into_iter();
        let children = children
            .filter(|child| seen.insert(child.clone()))
            .collect();
        self.parents.push((parent.to_string(), children));
    }

    pub(super) fn check(&self, name: &str) -> Result<(), MappingError> {
        let mut seen = BTreeSet::new();
        let all = self.parents.iter().flat_map(|(_, children)| children);
        let twice: Vec<String> = all
            .clone()
            .filter(|child| !seen.insert(*child))
            .map(|child| format!("[{child}] cannot have multiple parents"))
            .collect();
        if !twice.is_empty() {
            return Err(MappingError::Refused {
                reason: format!(
                    "invalid definition for join field [{name}]:\n[{}]",
                    twice.join(", ")
                ),
            });
        }
        let kinds = self.parents.len() + all.count();
        if kinds > KINDS_MAX {
            return Err(MappingError::invalid(format!(
                "join field [{name}] has [{kinds}] relations, at most [{KINDS_MAX}] are possible"
            )));
        }
        Ok(())
    }

    /// The kinds that have children.
    pub fn parents(&self) -> impl Iterator<Item = &str> {
        self.parents.iter().map(|(parent, _)| parent.as_str())
    }

    /// The children of a kind; `None` when it has none.
    pub fn children_of(&self, parent: &str) -> Option<&[String]> {
        let mut parents = self.parents.iter();
        parents
            .find(|(name, _)| name == parent)
            .map(|(_, children)| children.as_slice())
    }

    /// The kind whose child this one is.
    pub fn parent_of(&self, child: &str) -> Option<&str> {
        let mut parents = self.parents.iter();
        parents
            .find(|(_, children)| children.iter().any(|name| name == child))
            .map(|(parent, _)| parent.as_str())
    }

    /// What keeps the relations from becoming other ones.
    pub(super) fn conflicts(&self, name: &str, next: &JoinRelations) -> Vec<String> {
        let mut found = Vec::new();
        for parent in self.parents() {
            if next.children_of(parent).is_none() {
                found.push(format!(
                    "cannot remove parent [{parent}] in join field [{name}]"
                ));
            }
        }
        for (parent, children) in &next.parents {
            match self.children_of(parent) {
                None => {
                    if self.parent_of(parent).is_some() {
                        found.push(format!(
                            "cannot create parent [{parent}] from an existing child"
                        ));
                    }
                    let known = children.iter().filter(|c| self.children_of(c).is_some());
                    found.extend(known.map(|child| {
                        format!("cannot create child [{child}] from an existing parent")
                    }));
                }
                Some(before) => {
                    let gone = before.iter().filter(|child| !children.contains(child));
                    found.extend(gone.map(|child| {
                        format!("cannot remove child [{child}] in join field [{name}]")
                    }));
                }
            }
        }
        found
    }

    /// What the mapping's JSON has of it.
    pub(super) fn show(&self, set: &mut dyn FnMut(&str, Value)) {
        set("eager_global_ordinals", json!(self.eager));
        let relations = self.parents.iter().map(|(parent, children)| {
            let children = match &children[..] {
                [only] => json!(only),
                several => json!(several),
            };
            (parent.clone(), children)
        });
        set("relations", Value::Object(relations.collect()));
    }
}

/// The path of the hidden field that has the ids of one kind of parents.
pub(crate) fn parent_path(join: &str, parent: &str) -> String {
    format!("{join}#{parent}")
}

impl Mapping {
    /// The join field and its relations; an index has at most one.
    pub fn join(&self) -> Option<(&MappedField, &JoinRelations)> {
        self.fields.iter().find_map(|field| {
            let relations = field.settings.join.as_deref()?;
            Some((field, relations))
        })
    }

    /// The field with the ids of one kind of parents.
    pub fn join_ids(&self, join: &str, parent: &str) -> Option<&MappedField> {
        self.field(&parent_path(join, parent))
    }

    /// Refuses a join field where none can be.
    pub(super) fn check_join(&self, path: &str, kind: &FieldKind) -> Result<(), MappingError> {
        if !matches!(
            kind,
            FieldKind::Keyword {
                style: KeywordStyle::Join,
                ..
            }
        ) {
            return Ok(());
        }
        if path.contains('.') {
            return Err(MappingError::Refused {
                reason: format!(
                    "join field [{path}] cannot be added inside an object or in a multi-field"
                ),
            });
        }
        match self.join() {
            Some((other, _)) if other.path != path => Err(MappingError::invalid(
                "Field [_parent_join] is defined more than once",
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(relations: Value) -> Result<Mapping, MappingError> {
        Mapping::from_opensearch(
            &json!({"properties": {"j": {"type": "join", "relations": relations}}}),
        )
    }

    #[test]
    fn relations_are_shown_as_they_were_written_and_survive_the_catalog() {
        let written = json!({"q": ["a", "c"], "a": "v"});
        let made = mapping(written.clone()).unwrap();
        let shown = |mapping: &Mapping| mapping.to_opensearch()["properties"].clone();
        assert_eq!(
            shown(&made),
            json!({"j": {"type": "join", "eager_global_ordinals": true, "relations": written}})
        );
        let again = Mapping::decode(&made.encode()).unwrap();
        assert_eq!(shown(&again), shown(&made));
        let (field, relations) = again.join().unwrap();
        assert_eq!(field.path, "j");
        assert_eq!(relations.parent_of("v"), Some("a"));
        assert_eq!(relations.parent_of("q"), None);
        let hidden = again.join_ids("j", "q").unwrap();
        assert!(hidden.settings.hidden && hidden.field.is_some());
    }

    #[test]
    fn relations_grow_but_nothing_is_taken_away() {
        let check = |next: Value, expected: Result<(), &str>| {
            let mut mapping = mapping(json!({"q": "a"})).unwrap();
            let merged = mapping.merge_opensearch(
                &json!({"properties": {"j": {"type": "join", "relations": next}}}),
            );
            match (merged, expected) {
                (Ok(()), Ok(())) => assert!(mapping.join_ids("j", "q").is_some()),
                (Err(error), Err(reason)) => {
                    assert!(error.to_string().contains(reason), "{error}");
                }
                (merged, _) => panic!("{merged:?}"),
            }
        };
        check(json!({"q": ["a", "c"]}), Ok(()));
        check(json!({"q": "a", "p": "x"}), Ok(()));
        check(
            json!({"q": "c"}),
            Err("cannot remove child [a] in join field [j]"),
        );
        check(
            json!({"p": "x"}),
            Err("cannot remove parent [q] in join field [j]"),
        );
        check(
            json!({"q": "a", "a": "v"}),
            Err("cannot create parent [a] from an existing child"),
        );
        check(
            json!({"q": "a", "p": "q"}),
            Err("cannot create child [q] from an existing parent"),
        );
    }

    #[test]
    fn what_cannot_be_joined_is_refused() {
        let error = mapping(json!({"q": "a", "p": "a"})).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("[a] cannot have multiple parents")
        );
        let error = Mapping::from_opensearch(&json!({"properties": {"o": {"properties": {
            "j": {"type": "join", "relations": {"q": "a"}}}}}}))
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "join field [o.j] cannot be added inside an object or in a multi-field"
        );
        let error = Mapping::from_opensearch(&json!({"properties": {
            "j": {"type": "join", "relations": {"q": "a"}},
            "k": {"type": "join", "relations": {"x": "y"}}}}))
        .unwrap_err();
        assert!(error.to_string().contains("more than once"), "{error}");
    }
}

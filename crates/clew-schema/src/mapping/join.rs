//! The `join` field: which kinds of documents there are and which of them have children of which
//! kind.
//!
//! Beside the field, which has the document's own kind, there is a hidden one for each kind with
//! children. It has the id of the parent: in a child the one it names, in a parent its own. So
//! documents that belong together have the same value there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::error::{JoinChange, MappingError};
use super::field::{FieldKind, KeywordStyle, MappedField};
use super::names::parent_path;
use super::schema::Mapping;

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
    /// Kinds that have children, each with its children; `eager` is only shown again.
    pub fn new(parents: impl IntoIterator<Item = (String, Vec<String>)>, eager: bool) -> Self {
        let once = |children: Vec<String>| {
            let mut seen = BTreeSet::new();
            let children = children.into_iter();
            let first = children.filter(|child| seen.insert(child.clone()));
            first.collect()
        };
        let parents = parents.into_iter();
        JoinRelations {
            parents: parents.map(|(parent, all)| (parent, once(all))).collect(),
            eager,
        }
    }

    /// Refuses kinds with several kinds of parents, and too many kinds.
    pub(super) fn check(&self, path: &str) -> Result<(), MappingError> {
        let mut seen = BTreeSet::new();
        let all = self.parents.iter().flat_map(|(_, children)| children);
        let twice = all.clone().filter(|child| !seen.insert(*child));
        let children: Vec<String> = twice.cloned().collect();
        let path = path.to_string();
        if !children.is_empty() {
            return Err(MappingError::ManyParents { path, children });
        }
        let (count, max) = (self.parents.len() + all.count(), KINDS_MAX);
        if count > max {
            return Err(MappingError::TooManyRelations { path, count, max });
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

    /// Whether global ordinals are made before they are asked for: only to be shown again.
    pub fn is_eager(&self) -> bool {
        self.eager
    }

    /// What keeps the relations from becoming other ones.
    pub(super) fn conflicts(&self, next: &JoinRelations) -> Vec<JoinChange> {
        let mut found = Vec::new();
        for parent in self.parents() {
            if next.children_of(parent).is_none() {
                let parent = parent.to_string();
                found.push(JoinChange::ParentRemoved { parent });
            }
        }
        for (parent, children) in &next.parents {
            match self.children_of(parent) {
                None => {
                    if self.parent_of(parent).is_some() {
                        let parent = parent.clone();
                        found.push(JoinChange::ParentOfChild { parent });
                    }
                    let known = children.iter().filter(|c| self.children_of(c).is_some());
                    found.extend(
                        known
                            .cloned()
                            .map(|child| JoinChange::ChildOfParent { child }),
                    );
                }
                Some(before) => {
                    let gone = before.iter().filter(|child| !children.contains(child));
                    found.extend(
                        gone.cloned()
                            .map(|child| JoinChange::ChildRemoved { child }),
                    );
                }
            }
        }
        found
    }
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
        let path = path.to_string();
        if path.contains('.') {
            return Err(MappingError::JoinInside { path });
        }
        match self.join() {
            Some((other, _)) if other.path != path => Err(MappingError::SecondJoin { path }),
            _ => Ok(()),
        }
    }
}

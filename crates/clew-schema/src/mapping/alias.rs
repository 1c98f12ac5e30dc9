//! Field aliases: other names for fields, for queries only. Documents never have values under one.

use super::error::{AliasProblem, MappingError};
use super::field::{FieldKind, MappedField};
use super::names::check_field_name;
use super::schema::Mapping;

impl Mapping {
    /// The field that a path means: its own, or the one that an alias of that path stands for.
    pub fn resolve<'p>(&'p self, path: &'p str) -> &'p str {
        self.aliases.get(path).map_or(path, String::as_str)
    }

    /// Aliases and the paths they stand for.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.aliases
            .iter()
            .map(|(alias, path)| (alias.as_str(), path.as_str()))
    }

    /// All fields by their names, those that aliases give them last.
    pub fn named_fields(&self) -> impl Iterator<Item = (&str, &MappedField)> {
        let fields = self.fields().iter();
        let own = fields.map(|field| (field.path.as_str(), field));
        let aliases = self.aliases();
        let aliases = aliases.filter_map(move |(alias, path)| Some((alias, self.field(path)?)));
        own.chain(aliases)
    }

    /// The field whose values a multi-field has too; `None` of a field with values of its own.
    pub(super) fn source_field(&self, field: &MappedField) -> Option<&MappedField> {
        if !field.multi_field {
            return None;
        }
        let (parent, _) = field.path.rsplit_once('.')?;
        let parent = self.by_id(*self.by_path.get(parent)?)?;
        // Fields that follow from a multi-field have the values that it has.
        self.source_field(parent).or(Some(parent))
    }

    /// Paths in a document whose values the field has: its own, and those that are copied to it.
    pub fn source_paths(&self, field: &MappedField) -> Vec<String> {
        let own = match self.source_field(field) {
            Some(parent) => &parent.path,
            None => &field.path,
        };
        let copied = self.fields.iter().filter(|other| {
            let targets = &other.settings.copy_to;
            !other.multi_field && targets.iter().any(|target| target == own)
        });
        std::iter::once(own.to_string())
            .chain(copied.map(|other| other.path.clone()))
            .collect()
    }

    /// The `flat_object` that a path lies in, the path itself being none of its own.
    pub fn flat_above(&self, path: &str) -> Option<&MappedField> {
        path.rmatch_indices('.')
            .filter_map(|(at, _)| self.field(&path[..at]))
            .find(|field| field.kind == FieldKind::Flat)
            .filter(|_| !self.by_path.contains_key(path))
    }

    /// Takes in an alias.
    pub(super) fn merge_alias(&mut self, alias: String, path: String) -> Result<(), MappingError> {
        check_field_name(&alias)?;
        self.check_names(&alias)?;
        if let Some(field) = self.by_path.get(&alias).and_then(|id| self.by_id(*id)) {
            let from = field.kind.type_name();
            return Err(MappingError::NotAnAlias { alias, from });
        }
        if self.has_object_by_now(&alias) {
            return Err(MappingError::NotAField { path: alias });
        }
        self.check_depth(&alias, 0)?;
        self.aliases.insert(alias, path);
        Ok(())
    }

    /// Refuses aliases of nothing, of themselves and of other aliases.
    pub(super) fn check_aliases(&self) -> Result<(), MappingError> {
        for (alias, path) in &self.aliases {
            let problem = if path == alias {
                AliasProblem::Itself
            } else if self.aliases.contains_key(path) {
                AliasProblem::OtherAlias
            } else if !self.by_path.contains_key(path) {
                AliasProblem::NoField
            } else if self.by_path.contains_key(alias) {
                let alias = alias.clone();
                return Err(MappingError::AliasIsField { alias });
            } else {
                continue;
            };
            let (alias, path) = (alias.clone(), path.clone());
            return Err(MappingError::AliasTarget {
                alias,
                path,
                problem,
            });
        }
        Ok(())
    }

    /// Refuses new aliases of fields that are in other nested objects, where queries would not look for them.
    pub(super) fn check_alias_scopes(&self, before: &Mapping) -> Result<(), MappingError> {
        for (alias, path) in &self.aliases {
            let (from, to) = (self.nested_scope(alias), self.nested_scope(path));
            if from != to && before.aliases.get(alias) != Some(path) {
                return Err(MappingError::AliasTarget {
                    alias: alias.clone(),
                    path: path.clone(),
                    problem: AliasProblem::OtherNested {
                        from: from.map(String::from),
                        to: to.map(String::from),
                    },
                });
            }
        }
        Ok(())
    }
}

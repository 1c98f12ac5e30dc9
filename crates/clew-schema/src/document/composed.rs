//! Values that are more than one scalar: ranges, features, points, vectors, and what else a field takes whole.

use std::borrow::Cow;
use std::collections::BTreeSet;

use tantivy::schema::OwnedValue;

use super::convert::{Misfit, Scalar, geo_point, shape};
use super::error::{DocumentError, UnfitKind, ValueProblem};
use super::failure::{Failure, Result, misfit};
use super::json::JsonKind;
use super::ranges::range_of;
use super::vector::VectorValue;
use super::walk::Walk;
use super::{features, flat, sparse, vector};
use crate::completion::{self, CompletionEntry, CompletionMapping};
use crate::geo::GeoPoint;
use crate::mapping::{FieldKind, FieldLeaf, MappedField, VectorMapping};

impl<'m> Walk<'m, '_> {
    /// A range, as an object of its ends.
    pub(super) fn range_value(&mut self, leaf: &'m FieldLeaf) -> Result<()> {
        let (ends, written) = self.tree()?;
        for id in std::iter::once(&leaf.id).chain(&leaf.copies) {
            let field = self.field(*id);
            let converted = range_of(field, &ends).map(|range| Some(OwnedValue::Bytes(range)));
            self.give(field, converted, written)?;
        }
        Ok(())
    }

    /// Texts to be proposed, in any of the forms they are written in.
    pub(super) fn completion_value(
        &mut self,
        leaf: &'m FieldLeaf,
        mapping: &CompletionMapping,
    ) -> Result<()> {
        let (value, written) = self.tree()?;
        let inputs = self.propose(self.field(leaf.id), mapping, (&value, written))?;
        for input in &inputs {
            self.take_copies(leaf, input.len())?;
        }
        for id in &leaf.multi_fields {
            let follower = self.field(*id);
            if let FieldKind::Completion(own) = &follower.kind {
                self.propose(follower, own, (&value, written))?;
                continue;
            }
            // What is no such field itself has the inputs alone, as texts.
            for input in &inputs {
                self.add_one(*id, &Scalar::Text(Cow::Borrowed(input)))?;
            }
        }
        Ok(())
    }

    /// Gives a field its texts to be proposed, and says which inputs they come from.
    fn propose(
        &mut self,
        field: &'m MappedField,
        mapping: &CompletionMapping,
        (value, written): (&serde_json::Value, &str),
    ) -> Result<BTreeSet<String>> {
        let terms = completion::terms(&field.path, mapping, value).map_err(unfit_completion)?;
        let entries = terms.iter().filter_map(|term| CompletionEntry::read(term));
        let inputs = entries.map(|entry| entry.input.to_string()).collect();
        for term in terms {
            self.give(field, flat::term(term), written)?;
        }
        Ok(inputs)
    }

    /// A query that waits for documents.
    pub(super) fn query_value(&mut self, field: &'m MappedField) -> Result<()> {
        let unfit = |kind: UnfitKind, reason: &str| {
            let reason = reason.to_string();
            DocumentError::Unfit { kind, reason }.into()
        };
        let refused = |reason: &str| unfit(UnfitKind::Illegal, reason);
        let (query, written) = self.tree()?;
        if !query.is_object() {
            let reason = "[_na] query malformed, must start with start_object";
            return Err(unfit(UnfitKind::Syntax, reason));
        }
        if !self.nested.is_empty() {
            return Err(refused("nested objects cannot store percolator queries"));
        }
        if self.queries.iter().any(|(id, _)| *id == field.id) {
            return Err(refused("a document can only contain one percolator query"));
        }
        self.queries.push((field.id, written.to_string()));
        Ok(())
    }

    /// An object whose leaves are terms: each by itself, and behind its path.
    pub(super) fn flat_value(&mut self, leaf: &'m FieldLeaf) -> Result<()> {
        let (object, written) = self.tree()?;
        let field = self.field(leaf.id);
        let terms = flat::leaves(&field.path, &object);
        for (path, value) in terms {
            self.give(field, flat::term(value.clone()), written)?;
            for id in &leaf.multi_fields {
                let behind_path = format!("{path}={value}");
                self.give(self.field(*id), flat::term(behind_path), written)?;
            }
        }
        Ok(())
    }

    /// A value alone where an object of leaves is wanted.
    pub(super) fn lone_value(&mut self, field: &'m MappedField) -> Result<()> {
        if self.leaves_out_by_index(field) {
            return Ok(self.reader.skip_value()?);
        }
        let kind = self.reader.kind()?;
        let scalar = self.scalar(kind)?;
        let cause = ValueProblem::NotFlat {
            field: field.path.clone(),
            token: kind.token(),
        };
        Err(misfit(field, scalar.as_str(), cause))
    }

    /// An object of features and their weights.
    pub(super) fn features_value(&mut self, field: &'m MappedField) -> Result<()> {
        let (object, written) = self.tree()?;
        let features = features::read(&field.path, field.settings.inverse, &object);
        if let Ok(new) = &features {
            let names: Vec<&str> = new.tokens.iter().map(|token| token.text.as_str()).collect();
            let repeated = self.values_for(&field.path).term_of(field, &names);
            if let Some(feature) = repeated {
                let cause = repeated_feature(field, &feature);
                return Err(misfit(field, written, cause));
            }
        }
        let value = features.map(|features| Some(OwnedValue::PreTokStr(features)));
        self.give(field, value, written)
    }

    /// Points, in any of the forms they are written in.
    pub(super) fn geo_value(&mut self, leaf: &'m FieldLeaf, field: &'m MappedField) -> Result<()> {
        let start = self.reader.at;
        self.reader.skip_value()?;
        let written = self.reader.text(start, self.reader.at);
        let points = serde_json::from_str(written)
            .map_err(|error| error.to_string())
            .and_then(|value| GeoPoint::many_from_json(&value));
        let codes: std::result::Result<Vec<u64>, Misfit> = match points {
            Ok(points) => points.into_iter().map(|one| geo_point(Ok(one))).collect(),
            Err(cause) => Err(Misfit::Value(cause.into())),
        };
        match codes {
            Ok(codes) => {
                for code in codes {
                    self.values.push(field, OwnedValue::U64(code));
                }
            }
            Err(_) if self.leaves_out(field) => {
                self.ignore(field);
                return Ok(());
            }
            Err(Misfit::Value(cause)) => return Err(misfit(field, written, cause)),
            Err(Misfit::ImmenseTerm(_)) => {}
        }
        // Other fields that take the same value have it as it is written.
        let text = Scalar::Text(Cow::Borrowed(written.trim_matches('"')));
        self.take_copies(leaf, written.len())?;
        for id in leaf.multi_fields.iter().chain(&leaf.copies) {
            self.add_one(*id, &text)?;
        }
        Ok(())
    }

    /// A shape, in any of the forms it is written in; several in a list are one.
    pub(super) fn shape_value(&mut self, leaf: &'m FieldLeaf) -> Result<()> {
        let (value, written) = self.tree()?;
        self.take_copies(leaf, written.len())?;
        let followers = leaf.multi_fields.iter().chain(&leaf.copies);
        for id in std::iter::once(&leaf.id).chain(followers) {
            let field = self.field(*id);
            if field.kind != FieldKind::GeoShape {
                // Other fields that take the same value have it as it is written.
                let text = Scalar::Text(Cow::Borrowed(written.trim_matches('"')));
                self.add_one(*id, &text)?;
                continue;
            }
            match shape(field, &value) {
                Ok(values) => {
                    for value in values {
                        let document = self.values_for(&field.path);
                        document.push(field, OwnedValue::Bytes(value));
                    }
                }
                Err(unfit) => self.give(field, Err(unfit), written)?,
            }
        }
        Ok(())
    }

    pub(super) fn vector_value(
        &mut self,
        field: &'m MappedField,
        mapping: &VectorMapping,
    ) -> Result<()> {
        let column = &mapping.column;
        if self.reader.kind()? == JsonKind::Null {
            return Ok(self.reader.null()?);
        }
        let start = self.reader.at;
        let mut vector = match vector::read(&mut self.reader, column.dimension)? {
            Ok(vector) => vector,
            Err(cause) => {
                let rest = self.reader.text(start, self.reader.bytes().len());
                return Err(misfit(field, rest, cause));
            }
        };
        vector::clip(&mut vector, mapping);
        let checked =
            vector::check(&vector, column).and_then(|()| vector::check_direction(&vector, mapping));
        self.keep_vector(field, start, checked.map(|()| vector.into()))
    }

    /// An object of weights by dimension.
    pub(super) fn sparse_value(&mut self, field: &'m MappedField) -> Result<()> {
        if self.reader.kind()? == JsonKind::Null {
            return Ok(self.reader.null()?);
        }
        let start = self.reader.at;
        let vector = match sparse::read(&mut self.reader)? {
            Ok(vector) => vector,
            Err(cause) => {
                let rest = self.reader.text(start, self.reader.bytes().len());
                return Err(misfit(field, rest, cause));
            }
        };
        let checked = sparse::check(&vector);
        self.keep_vector(field, start, checked.map(|()| vector.into()))
    }

    /// Keeps a vector that was read from `start` on, if the field can have it.
    fn keep_vector(
        &mut self,
        field: &'m MappedField,
        start: usize,
        checked: std::result::Result<VectorValue, String>,
    ) -> Result<()> {
        let refuse = |walk: &Self, cause: ValueProblem| {
            let written = walk.reader.text(start, walk.reader.at);
            Err(misfit(field, written, cause))
        };
        let vector = match checked {
            Ok(vector) => vector,
            Err(cause) => return refuse(self, cause.into()),
        };
        if self.values.vectors.iter().any(|(id, _)| *id == field.id) {
            let cause = format!(
                "VectorValuesField \"{}\" appears more than once in this document (only one value is allowed per field)",
                field.path
            );
            return refuse(self, cause.into());
        }
        self.values.vectors.push((field.id, vector));
        Ok(())
    }
}

/// The error of a value that makes no texts to be proposed; one of a kind that none of them is has another name.
fn unfit_completion(reason: String) -> Failure {
    let kind = if reason.starts_with("failed to parse [") {
        UnfitKind::Syntax
    } else {
        UnfitKind::Illegal
    };
    DocumentError::Unfit { kind, reason }.into()
}

fn repeated_feature(field: &MappedField, feature: &str) -> String {
    format!(
        "[rank_features] fields do not support indexing multiple values for the same feature \
         [{}.{feature}] in the same document",
        field.path
    )
}

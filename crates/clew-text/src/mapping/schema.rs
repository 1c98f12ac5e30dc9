//! The mapping and the schema it owns. Fields are only ever added, in the order of their ids, so
//! that a schema built later is an extension of one built earlier and old segments stay readable.

use std::collections::BTreeMap;

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, IpAddrOptions, NumericOptions, STORED, STRING, Schema,
    SchemaBuilder, TextFieldIndexing, TextOptions,
};

use super::field::{Dynamic, FieldId, FieldKind, MappedField};

/// Why a mapping was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// The field exists with another kind.
    #[error("mapper [{path}] cannot be changed from type [{from}] to [{to}]")]
    Conflict {
        /// Field path.
        path: String,
        /// Type it has.
        from: &'static str,
        /// Type asked for.
        to: String,
    },
    /// The mapping's JSON is not understood.
    #[error("{reason}")]
    Invalid {
        /// What is wrong, naming the field.
        reason: String,
    },
    /// Too many fields.
    #[error("limit of total fields [{max}] has been exceeded")]
    TooManyFields {
        /// The limit.
        max: usize,
    },
}

/// The fields of an index and the tantivy schema they form.
#[derive(Clone, Debug)]
pub struct Mapping {
    pub(crate) fields: Vec<MappedField>,
    pub(crate) by_path: BTreeMap<String, FieldId>,
    pub(crate) dynamic: Dynamic,
    schema: Schema,
}

impl Default for Mapping {
    fn default() -> Self {
        Self::new()
    }
}

impl Mapping {
    /// A mapping without fields.
    pub fn new() -> Self {
        Mapping {
            fields: Vec::new(),
            by_path: BTreeMap::new(),
            dynamic: Dynamic::True,
            schema: build_schema(&[]).0,
        }
    }

    /// The tantivy field of document ids: raw postings. Ids are read back from another file.
    pub const ID: Field = Field::from_field_id(0);
    /// The tantivy field of the stored source.
    pub const SOURCE: Field = Field::from_field_id(1);

    /// Adds fields (path, kind, indexed, multi-field); the schema is built once for all.
    ///
    /// # Errors
    /// [`MappingError::Conflict`] when a path exists with a different kind; an equal one is kept.
    pub fn add(&mut self, fields: impl IntoIterator<Item = NewField>) -> Result<(), MappingError> {
        for new in fields {
            if let Some(have) = self.field(&new.path) {
                if have.kind.type_name() != new.kind.type_name() {
                    return Err(MappingError::Conflict {
                        path: new.path,
                        from: have.kind.type_name(),
                        to: new.kind.type_name().to_string(),
                    });
                }
                continue;
            }
            let number = u32::try_from(self.fields.len()).expect("fields are limited");
            self.by_path.insert(new.path.clone(), FieldId(number));
            self.fields.push(MappedField {
                path: new.path,
                id: FieldId(number),
                kind: new.kind,
                indexed: new.indexed,
                multi_field: new.multi_field,
                field: None,
            });
        }
        let (schema, tantivy_fields) = build_schema(&self.fields);
        for (field, tantivy_field) in self.fields.iter_mut().zip(tantivy_fields) {
            field.field = tantivy_field;
        }
        self.schema = schema;
        Ok(())
    }

    /// The field at a dotted path.
    pub fn field(&self, path: &str) -> Option<&MappedField> {
        self.by_path.get(path).map(|id| &self.fields[id.0 as usize])
    }
    /// The field with a number.
    pub fn by_id(&self, id: FieldId) -> Option<&MappedField> {
        self.fields.get(id.0 as usize)
    }
    /// All fields in order of creation.
    pub fn fields(&self) -> &[MappedField] {
        &self.fields
    }
    /// The vector fields.
    pub fn vectors(&self) -> impl Iterator<Item = &MappedField> {
        self.fields
            .iter()
            .filter(|f| matches!(f.kind, FieldKind::Vector(_)))
    }
    /// tantivy's schema: `_id`, `_source`, then one field per mapped field that is not a vector.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

/// A field to be added.
#[derive(Clone, Debug)]
pub struct NewField {
    /// Full dotted path.
    pub path: String,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether it can be searched.
    pub indexed: bool,
    /// Whether it is filled from its parent's value.
    pub multi_field: bool,
}

/// The schema, and the tantivy field of each mapped field. Names are generated (`f0`, `f1`, ...)
/// because tantivy gives meaning to dots and refuses some names that users may choose.
fn build_schema(fields: &[MappedField]) -> (Schema, Vec<Option<Field>>) {
    let mut builder = Schema::builder();
    builder.add_text_field("_id", STRING);
    builder.add_text_field("_source", STORED);
    let added = fields
        .iter()
        .map(|field| add_to(&mut builder, field))
        .collect();
    (builder.build(), added)
}

fn add_to(builder: &mut SchemaBuilder, field: &MappedField) -> Option<Field> {
    let name = field.column();
    let numeric = |postings: bool| {
        let options = NumericOptions::default() | FAST;
        if postings && field.indexed {
            options | INDEXED
        } else {
            options
        }
    };
    Some(match &field.kind {
        FieldKind::Text { analyzer } => {
            let mut options = TextOptions::default();
            if field.indexed {
                options = options.set_indexing_options(
                    TextFieldIndexing::default()
                        .set_tokenizer(analyzer)
                        .set_index_option(IndexRecordOption::WithFreqsAndPositions),
                );
            }
            builder.add_text_field(&name, options)
        }
        FieldKind::Keyword { .. } => {
            let mut options = TextOptions::default().set_fast("raw");
            if field.indexed {
                options = options.set_indexing_options(
                    TextFieldIndexing::default()
                        .set_tokenizer("raw")
                        .set_fieldnorms(false)
                        .set_index_option(IndexRecordOption::Basic),
                );
            }
            builder.add_text_field(&name, options)
        }
        FieldKind::Integer(_) | FieldKind::Boolean => builder.add_i64_field(&name, numeric(true)),
        // A timestamp is almost unique: postings for it would cost more than the column's scan.
        FieldKind::Date { .. } => builder.add_i64_field(&name, numeric(false)),
        FieldKind::Float(_) => builder.add_f64_field(&name, numeric(false)),
        FieldKind::Ip => {
            let options = IpAddrOptions::default().set_fast();
            builder.add_ip_addr_field(
                &name,
                if field.indexed {
                    options.set_indexed()
                } else {
                    options
                },
            )
        }
        FieldKind::Vector(_) => return None,
    })
}

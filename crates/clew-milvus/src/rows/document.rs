//! Columns become documents: one JSON object for each row, its vectors beside it.

use clew_schema::{FieldId, Mapping, VectorValue};

use super::column::{InColumn, numbers};
use super::structs::StructColumn;
use crate::collection::{
    Collection, DEFAULT_PARTITION, DYNAMIC, DataType, Field, LONG, MinHash, PARTITION, WRITTEN,
};
use crate::error::{MilvusError, Result};
use crate::proto::FieldData;

/// A row as a document.
pub(crate) struct NewRow {
    /// The primary key as text: the document's id.
    pub(crate) id: String,
    /// The id of the row that goes for it, where that is another one.
    pub(crate) replaces: Option<String>,
    pub(crate) source: Vec<u8>,
    pub(crate) vectors: Vec<(FieldId, VectorValue)>,
}

/// Where the keys of rows come from.
pub(crate) enum Ids<'a> {
    /// The rows have them.
    Given,
    /// They are made, one by one.
    Made(&'a mut dyn FnMut() -> i64),
    /// The rows have those of rows that go for them; their own are made.
    Renewed(&'a mut dyn FnMut() -> i64),
}

/// Makes documents of columns. What is null is left out of them, or said where it takes the place of what a row has.
///
/// # Errors
/// When a column is missing, of another type or length than its field, or a value breaks a rule.
pub(crate) fn documents(
    (collection, mapping): (&Collection, &Mapping),
    columns: &[FieldData],
    rows: usize,
    (partition, written_ms, mut ids): (&str, u64, Ids<'_>),
    says_nulls: bool,
) -> Result<Vec<NewRow>> {
    check_known(collection, columns)?;
    // An index of another protocol has no place for the time.
    let says_when = mapping.field(WRITTEN).is_some();
    let makes_ids = matches!(ids, Ids::Made(_));
    let mut given = Given::read((collection, mapping), columns, (rows, makes_ids))?;
    given.renews = matches!(ids, Ids::Renewed(_));
    given.says_nulls = says_nulls;
    let mut made = Vec::with_capacity(rows);
    for row in 0..rows {
        let mut source = Vec::with_capacity(128);
        source.push(b'{');
        let mut replaces = None;
        let id = match &mut ids {
            Ids::Made(next) => write_key(collection.primary(), next(), &mut source),
            Ids::Given => given.key(row)?,
            Ids::Renewed(next) => {
                let id = write_key(collection.primary(), next(), &mut source);
                replaces = Some(given.key(row)?).filter(|old| *old != id);
                id
            }
        };
        given.write(row, &mut source)?;
        let mut vectors = given.vectors(row, &mut source)?;
        for one in &mut given.structs {
            let is_there = one.write(row, &mut source, &mut vectors)?;
            if says_nulls && !is_there {
                write_null(one.name(), &mut source);
            }
        }
        if partition != DEFAULT_PARTITION {
            source.extend_from_slice(&member(PARTITION));
            source.push(b'"');
            source.extend_from_slice(partition.as_bytes());
            source.extend_from_slice(b"\",");
        }
        if says_when {
            source.extend_from_slice(&member(WRITTEN));
            source.extend_from_slice(written_ms.to_string().as_bytes());
        }
        if source.last() == Some(&b',') {
            source.pop();
        }
        source.push(b'}');
        made.push(NewRow {
            id,
            replaces,
            source,
            vectors,
        });
    }
    Ok(made)
}

/// What a new row has in the fields that none of the columns is of, as an object; none where that is nothing.
pub(crate) fn defaults_beside(collection: &Collection, columns: &[FieldData]) -> Option<Vec<u8>> {
    let mut source = vec![b'{'];
    let mut is_long = false;
    for field in &collection.fields {
        let mut columns = columns.iter().filter(|column| !column.is_dynamic);
        let is_given = columns.any(|column| column.field_name == field.name);
        if let Some(default) = default_json(field).filter(|_| !is_given) {
            source.extend(member(&field.name));
            source.extend(default);
            source.push(b',');
            is_long |= field.has_long_default();
        }
    }
    if is_long {
        source.extend(member(LONG));
        source.extend_from_slice(b"true,");
    }
    // The last comma, or the beginning where nothing follows it.
    (source.pop() == Some(b',')).then(|| {
        source.push(b'}');
        source
    })
}

/// The columns of a request, by what becomes of them.
struct Given<'a> {
    scalars: Vec<Scalar<'a>>,
    vectors: Vec<(FieldId, InColumn<'a>)>,
    signatures: Vec<Signatures<'a>>,
    structs: Vec<StructColumn<'a>>,
    /// What fields begin with that were not given: ready to be written.
    defaults: Vec<u8>,
    /// Whether a text among these may be too long for a term.
    has_long_defaults: bool,
    /// Whether the keys that are given are those of other rows.
    renews: bool,
    /// Whether vectors that are null are said to be.
    says_nulls: bool,
    dynamic: Option<&'a [bytes::Bytes]>,
}

/// The vectors of a field that are made of texts.
struct Signatures<'a> {
    output: FieldId,
    maker: MinHash,
    /// Nothing where no row has a text.
    texts: Option<InColumn<'a>>,
    /// What a row without a text has.
    default: Option<&'a str>,
}

impl Signatures<'_> {
    fn of(&mut self, row: usize) -> VectorValue {
        let text = self.texts.as_mut().and_then(|texts| texts.text(row));
        let bytes = self.maker.signature(text.or(self.default));
        numbers(DataType::BinaryVector, &bytes).into()
    }
}

/// A column of a scalar field.
struct Scalar<'a> {
    column: InColumn<'a>,
    /// Its name as it is written.
    name: Vec<u8>,
    default: Option<Vec<u8>>,
}

impl<'a> Given<'a> {
    fn read(
        (collection, mapping): (&'a Collection, &Mapping),
        columns: &'a [FieldData],
        (rows, makes_ids): (usize, bool),
    ) -> Result<Given<'a>> {
        let mut given = Given {
            scalars: Vec::new(),
            vectors: Vec::new(),
            signatures: Vec::new(),
            structs: Vec::new(),
            defaults: Vec::new(),
            has_long_defaults: false,
            renews: false,
            says_nulls: false,
            dynamic: dynamic_column(collection, columns, rows)?,
        };
        let zone = collection.zone();
        for field in &collection.fields {
            let is_made = field.is_primary && makes_ids;
            let data = columns
                .iter()
                .find(|column| column.field_name == field.name && !column.is_dynamic);
            match data {
                None if field.is_function_output => {
                    given.fill((collection, mapping), field, (columns, rows))?;
                }
                None if is_made => {}
                None => given.leave_out(field)?,
                Some(_) if field.is_function_output => {
                    return Err(MilvusError::invalid(format!(
                        "the field {} is an output of a function and cannot be given",
                        field.name
                    )));
                }
                Some(_) if is_made => {
                    return Err(MilvusError::mismatch(
                        "more fieldData has pass in",
                        format!("no values of the autoID field {}", field.name),
                        "values",
                    ));
                }
                Some(data) => {
                    let column = InColumn::new(field, data, rows)?.in_zone(zone.clone());
                    if field.data_type.is_vector() {
                        given.vectors.push((field_id(mapping, field)?, column));
                    } else {
                        given.scalars.push(Scalar {
                            column,
                            name: member(&field.name),
                            default: default_json(field),
                        });
                    }
                }
            }
        }
        for field in &collection.structs {
            let data = columns
                .iter()
                .find(|column| column.field_name == field.name);
            match data {
                Some(data) => {
                    let column = StructColumn::new(field, data, (rows, mapping))?;
                    given.structs.push(column);
                }
                None if field.nullable => {}
                None => return Err(not_given(&field.name)),
            }
        }
        Ok(given)
    }

    /// A field that a function fills.
    fn fill(
        &mut self,
        (collection, mapping): (&'a Collection, &Mapping),
        field: &Field,
        (columns, rows): (&'a [FieldData], usize),
    ) -> Result<()> {
        let Some((input, maker)) = collection.signatures_of(field)? else {
            return Ok(());
        };
        let mut all = columns.iter().filter(|column| !column.is_dynamic);
        let texts = all.find(|column| column.field_name == input.name);
        let texts = texts.map(|column| InColumn::new(input, column, rows));
        self.signatures.push(Signatures {
            output: field_id(mapping, field)?,
            maker,
            texts: texts.transpose()?,
            default: input.default.as_ref().and_then(|value| value.as_str()),
        });
        Ok(())
    }

    /// A field that no row has.
    fn leave_out(&mut self, field: &Field) -> Result<()> {
        match default_json(field) {
            Some(default) => {
                self.defaults.extend(member(&field.name));
                self.defaults.extend(default);
                self.defaults.push(b',');
                self.has_long_defaults |= field.has_long_default();
                Ok(())
            }
            None if field.nullable => Ok(()),
            None => Err(not_given(&field.name)),
        }
    }

    fn key(&self, row: usize) -> Result<String> {
        let mut scalars = self.scalars.iter();
        let primary = scalars.find(|scalar| scalar.column.field.is_primary);
        let primary = primary.ok_or_else(|| MilvusError::invalid("the primary key is missing"))?;
        primary.column.key(row)
    }

    fn write(&mut self, row: usize, source: &mut Vec<u8>) -> Result<()> {
        let mut is_long = self.has_long_defaults;
        for scalar in &mut self.scalars {
            let field = scalar.column.field;
            if field.is_document_id() || (self.renews && field.is_primary) {
                continue;
            }
            let start = source.len();
            source.extend_from_slice(&scalar.name);
            if !scalar.column.write_json(row, source)? {
                match &scalar.default {
                    Some(default) => {
                        is_long |= scalar.column.field.has_long_default();
                        source.extend_from_slice(default);
                    }
                    None => {
                        source.truncate(start);
                        continue;
                    }
                }
            }
            source.push(b',');
            is_long |= scalar.column.is_long;
        }
        source.extend_from_slice(&self.defaults);
        if is_long {
            source.extend_from_slice(&member(LONG));
            source.extend_from_slice(b"true,");
        }
        match self.dynamic {
            Some(dynamic) => write_dynamic(&dynamic[row], row, source),
            None => Ok(()),
        }
    }

    fn vectors(&mut self, row: usize, source: &mut Vec<u8>) -> Result<Vec<(FieldId, VectorValue)>> {
        let mut own = Vec::with_capacity(self.vectors.len() + self.signatures.len());
        for one in &mut self.signatures {
            own.push((one.output, one.of(row)));
        }
        for (id, column) in &mut self.vectors {
            match column.vector(row)? {
                Some(vector) => own.push((*id, vector)),
                None if self.says_nulls => write_null(&column.field.name, source),
                None => {}
            }
        }
        Ok(own)
    }
}

/// A key that was made, as text and in the document.
fn write_key(primary: &Field, key: i64, source: &mut Vec<u8>) -> String {
    let id = key.to_string();
    source.extend_from_slice(&member(&primary.name));
    match primary.data_type {
        DataType::VarChar => source.extend_from_slice(format!("\"{id}\"").as_bytes()),
        _ => source.extend_from_slice(id.as_bytes()),
    }
    source.push(b',');
    id
}

/// What is said of a field that rows must have and that was not given.
pub(crate) fn not_given(field: &str) -> MilvusError {
    MilvusError::invalid(format!(
        "fieldSchema({field}) has no corresponding fieldData pass in"
    ))
}

pub(super) fn member(name: &str) -> Vec<u8> {
    // Names are letters, digits and underscores, and our own begin with a dollar: nothing to escape.
    format!("\"{name}\":").into_bytes()
}

fn write_null(name: &str, source: &mut Vec<u8>) {
    source.extend_from_slice(&member(name));
    source.extend_from_slice(b"null,");
}

impl Field {
    fn has_long_default(&self) -> bool {
        let default = self.default.as_ref().and_then(|value| value.as_str());
        default.is_some_and(|text| self.is_long(text))
    }
}

fn default_json(field: &Field) -> Option<Vec<u8>> {
    let default = field.default.as_ref()?;
    Some(default.to_string().into_bytes())
}

pub(super) fn field_id(mapping: &Mapping, field: &Field) -> Result<FieldId> {
    let mapped = mapping.field(field.path());
    let vector = mapped.filter(|mapped| mapped.kind.is_vector());
    let missing = || MilvusError::FieldNotFound(field.name.clone());
    Ok(vector.ok_or_else(missing)?.id)
}

/// Refuses columns that the collection has no field for.
fn check_known(collection: &Collection, columns: &[FieldData]) -> Result<()> {
    for column in columns.iter().filter(|column| !column.is_dynamic) {
        let name = &column.field_name;
        let field = collection.field(name).ok();
        let is_field = field.is_some_and(|field| !field.is_part());
        if !is_field && collection.struct_field(name).is_none() {
            return Err(MilvusError::invalid(format!(
                "fieldName {name} not exist in collection schema"
            )));
        }
    }
    Ok(())
}

/// What rows have beyond the fields: one JSON object for each.
fn dynamic_column<'a>(
    collection: &Collection,
    columns: &'a [FieldData],
    rows: usize,
) -> Result<Option<&'a [bytes::Bytes]>> {
    use crate::proto::{field_data, scalar_field};
    let Some(column) = columns.iter().find(|column| column.is_dynamic) else {
        return Ok(None);
    };
    if !collection.dynamic {
        return Err(MilvusError::invalid(
            "without dynamic schema enabled, the field name cannot be set to $meta",
        ));
    }
    let values = match &column.field {
        Some(field_data::Field::Scalars(scalars)) => match &scalars.data {
            Some(scalar_field::Data::JsonData(values)) => &values.data[..],
            _ => &[],
        },
        _ => &[],
    };
    if values.len() != rows {
        return Err(MilvusError::invalid(format!(
            "the num_rows ({}) of the dynamic field is not equal to passed num_rows ({rows})",
            values.len()
        )));
    }
    Ok(Some(values))
}

fn write_dynamic(json: &[u8], row: usize, source: &mut Vec<u8>) -> Result<()> {
    let wrong = |why: String| MilvusError::invalid(format!("the dynamic field of row {row} {why}"));
    let read: serde_json::Result<&serde_json::value::RawValue> = serde_json::from_slice(json);
    let read = read
        .map_err(|error| wrong(format!("is no JSON: {error}")))?
        .get();
    if !read.starts_with('{') {
        return Err(wrong("is no JSON object".to_string()));
    }
    if read == "{}" {
        return Ok(());
    }
    source.extend_from_slice(&member(DYNAMIC));
    source.extend_from_slice(read.as_bytes());
    source.push(b',');
    Ok(())
}

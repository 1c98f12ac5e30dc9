//! What a test asks documents for: single values from columns where their fields have one, all else from the stored
//! source, of which nothing but that is parsed. Nested objects have columns alone: the source is their document's.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clew_query::{Operand, QueryError, Test};
use clew_schema::{
    FieldKind, FloatKind, IntegerKind, MappedField, Mapping, SourceCursor, Sources, each_member,
    short_double,
};
use serde_json::{Map, Number, Value};
use tantivy::columnar::{Cardinality, Column, StrColumn};
use tantivy::{DocId, SegmentReader};

/// Most texts of a column that are kept at hand; of more, each costs a look into the dictionary, and the source is faster
/// where there is one.
const TEXTS_MAX: usize = 4_096;

/// The members of documents that a test reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Inputs {
    /// Those with a column, and its name.
    columns: BTreeMap<String, (Kind, String)>,
    others: BTreeSet<String>,
    /// Whether nested objects are tested.
    of_objects: bool,
}

/// What a column has.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Integer,
    Boolean,
    Double,
    /// Numbers of 32 bits, which documents have as the shortest text that means them.
    Float,
    Text,
}

impl Inputs {
    /// What a test asks documents for, or the nested objects in a scope.
    ///
    /// # Errors
    /// When nested objects are asked for what has no column.
    pub(super) fn of(
        test: &Test,
        mapping: &Mapping,
        scope: Option<&str>,
    ) -> Result<Self, QueryError> {
        let mut uses = BTreeMap::new();
        of_test(test, &mut uses);
        let mut inputs = Inputs {
            of_objects: scope.is_some(),
            ..Inputs::default()
        };
        for (name, single) in uses {
            let field = mapping.field(name).filter(|field| {
                // Documents have what lies inside objects in these, not under the whole path.
                let by_path = inputs.of_objects || !field.path.contains('.');
                single && by_path && field.path == name
            });
            let kind = |field| kind_of(field, inputs.of_objects);
            let column = field.and_then(|field| Some((kind(field)?, field.column())));
            match (column, scope) {
                (Some(column), _) => {
                    inputs.columns.insert(name.to_string(), column);
                }
                (None, None) => {
                    inputs.others.insert(name.to_string());
                }
                (None, Some(path)) => {
                    return Err(QueryError::illegal(format!(
                        "objects in [{path}] are tested by columns alone, and [{name}] has none"
                    )));
                }
            }
        }
        Ok(inputs)
    }

    /// The documents of a segment, as far as the test reads them.
    ///
    /// # Errors
    /// When a file of the segment is damaged.
    pub(super) fn open(&self, reader: &SegmentReader) -> tantivy::Result<Documents> {
        let mut columns = Vec::new();
        let mut others = self.others.clone();
        for (name, (kind, column)) in &self.columns {
            match Values::open((*kind, self.of_objects), column, reader)? {
                Some(values) => columns.push((name.clone(), values)),
                None => {
                    others.insert(name.clone());
                }
            }
        }
        let names = self.columns.keys().chain(&others);
        let members: Map<String, Value> = names.map(|name| (name.clone(), Value::Null)).collect();
        let sources = match others.is_empty() {
            true => None,
            false => Some(Sources::open(reader)?.cursor()),
        };
        Ok(Documents {
            columns,
            others,
            sources,
            document: Value::Object(members),
        })
    }
}

/// Adds what a test reads, and whether it takes single values alone.
fn of_test<'t>(test: &'t Test, uses: &mut BTreeMap<&'t str, bool>) {
    match test {
        Test::Constant(_) => {}
        Test::Compare(_, left, right) => {
            of_operand(left, true, uses);
            of_operand(right, true, uses);
        }
        Test::OneOf(operand, _)
        | Test::Text(operand, _)
        | Test::Shape(operand, _)
        | Test::IsTrue(operand) => {
            of_operand(operand, true, uses);
        }
        // A list without elements is a value, and no column tells it from none.
        Test::Exists(operand) => of_operand(operand, false, uses),
        Test::Contains { list, .. } => of_operand(list, false, uses),
        Test::And(_) | Test::Or(_) | Test::Not(_) => {
            for inside in test.children() {
                of_test(inside, uses);
            }
        }
    }
}

fn of_operand<'t>(operand: &'t Operand, single: bool, uses: &mut BTreeMap<&'t str, bool>) {
    match operand {
        Operand::Literal(_) => {}
        Operand::Field { name, steps } => {
            *uses.entry(name).or_insert(true) &= single && steps.is_empty();
        }
        Operand::Length(list) => of_operand(list, false, uses),
        Operand::Arithmetic(_, left, right) => {
            of_operand(left, single, uses);
            of_operand(right, single, uses);
        }
    }
}

/// What a field's column has, if that is what documents have: nothing is made of their values but what they are. Of nested
/// objects it is all there is.
fn kind_of(field: &MappedField, of_objects: bool) -> Option<Kind> {
    let settings = &field.settings;
    let changed = settings.coerce
        || settings.ignore_malformed
        || settings.null_value.is_some()
        || settings.normalizer.is_some();
    if !settings.doc_values || changed && !of_objects || field.multi_field {
        return None;
    }
    Some(match &field.kind {
        FieldKind::Integer(
            IntegerKind::Byte | IntegerKind::Short | IntegerKind::Integer | IntegerKind::Long,
        ) => Kind::Integer,
        FieldKind::Boolean => Kind::Boolean,
        FieldKind::Float(FloatKind::Double) => Kind::Double,
        FieldKind::Float(FloatKind::Float) => Kind::Float,
        FieldKind::Keyword {
            ignore_above: None, ..
        } => Kind::Text,
        _ => return None,
    })
}

/// A column of a segment.
enum Values {
    /// No document of the segment has a value.
    None,
    Integers(Column<i64>),
    Booleans(Column<i64>),
    Doubles(Column<f64>),
    Floats(Column<f64>),
    /// And the texts that were looked up.
    Texts(StrColumn, HashMap<u64, String>),
}

impl Values {
    /// None where documents have several values, or too many have a text of their own, and there is a source to look
    /// into instead.
    fn open(
        (kind, of_objects): (Kind, bool),
        name: &str,
        reader: &SegmentReader,
    ) -> tantivy::Result<Option<Values>> {
        let columns = reader.fast_fields();
        let is_list = |cardinality| !of_objects && cardinality == Cardinality::Multivalued;
        Ok(match kind {
            Kind::Integer | Kind::Boolean => match columns.column_opt::<i64>(name)? {
                None => Some(Values::None),
                Some(column) if is_list(column.get_cardinality()) => None,
                Some(column) if matches!(kind, Kind::Boolean) => Some(Values::Booleans(column)),
                Some(column) => Some(Values::Integers(column)),
            },
            Kind::Double | Kind::Float => match columns.column_opt::<f64>(name)? {
                None => Some(Values::None),
                Some(column) if is_list(column.get_cardinality()) => None,
                Some(column) if matches!(kind, Kind::Float) => Some(Values::Floats(column)),
                Some(column) => Some(Values::Doubles(column)),
            },
            Kind::Text => match columns.str(name)? {
                None => Some(Values::None),
                Some(column)
                    if is_list(column.ords().get_cardinality())
                        || (!of_objects && column.num_terms() > TEXTS_MAX) =>
                {
                    None
                }
                Some(column) => Some(Values::Texts(column, HashMap::new())),
            },
        })
    }

    fn value(&mut self, doc: DocId) -> tantivy::Result<Value> {
        let value = match self {
            Values::None => None,
            Values::Integers(column) => column.first(doc).map(Value::from),
            Values::Booleans(column) => column.first(doc).map(|value| Value::from(value != 0)),
            Values::Doubles(column) => column.first(doc).and_then(float),
            Values::Floats(column) => column.first(doc).and_then(shortest),
            Values::Texts(column, known) => match column.term_ords(doc).next() {
                None => None,
                Some(ordinal) => Some(Value::from(text(column, known, ordinal)?)),
            },
        };
        Ok(value.unwrap_or_default())
    }
}

fn float(value: f64) -> Option<Value> {
    Number::from_f64(value).map(Value::Number)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the column has numbers of 32 bits"
)]
fn shortest(value: f64) -> Option<Value> {
    float(short_double(value as f32))
}

fn text<'k>(
    column: &StrColumn,
    known: &'k mut HashMap<u64, String>,
    ordinal: u64,
) -> tantivy::Result<&'k str> {
    use std::collections::hash_map::Entry;
    if known.len() >= TEXTS_MAX && !known.contains_key(&ordinal) {
        known.clear();
    }
    Ok(match known.entry(ordinal) {
        Entry::Occupied(found) => found.into_mut(),
        Entry::Vacant(place) => {
            let mut text = String::new();
            column.ord_to_str(ordinal, &mut text)?;
            place.insert(text)
        }
    })
}

/// The documents of a segment, one after the other.
pub(super) struct Documents {
    columns: Vec<(String, Values)>,
    others: BTreeSet<String>,
    /// Where there are others.
    sources: Option<SourceCursor>,
    /// The one that was read last: the members that are asked for, null where it has none.
    document: Value,
}

impl Documents {
    /// A document, as far as the test reads it. What is no document has no values.
    ///
    /// # Errors
    /// When a file of the segment is damaged.
    pub(super) fn get(&mut self, doc: DocId) -> tantivy::Result<&Value> {
        let Value::Object(document) = &mut self.document else {
            return Ok(&self.document);
        };
        for (name, values) in &mut self.columns {
            if let Some(place) = document.get_mut(name) {
                *place = values.value(doc)?;
            }
        }
        if let Some(sources) = &mut self.sources {
            for name in &self.others {
                if let Some(place) = document.get_mut(name) {
                    *place = Value::Null;
                }
            }
            let others = &self.others;
            // What was read of a document that is none stays; nothing else is known of it.
            let _ = each_member(sources.get(doc)?, &mut |name, json| {
                if others.contains(name)
                    && let Some(place) = document.get_mut(name)
                {
                    *place = serde_json::from_str(json.get()).unwrap_or_default();
                }
            });
        }
        Ok(&self.document)
    }
}

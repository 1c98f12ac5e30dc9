//! Values of fields for documents that were found, field by field: from the columns of their segments, and from the
//! stored sources only what has no column.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use clew_platform::{MemoryPurpose, Reservation};
use clew_schema::{FieldId, FieldKind, MappedField, each_member};
use clew_vector::SparseEntry;
use serde_json::value::RawValue;
use tantivy::columnar::{Column, StrColumn};

use crate::base::error::EngineError;
use crate::base::phase::in_span;
use crate::base::search_pool::HERE_MAX;
use crate::node::engine::{Engine, Inner};
use crate::search::knn::search_error;
use crate::search::pinned::{Pinned, PinnedShard};
use crate::search::place::DocPlace;
use crate::search::times::unless_stopped;

/// Documents whose values are read at once.
const PLACES_MAX: usize = 1 << 20;
/// Values that may be read where they are asked for: other kinds of them may take longer than what was read lately, and
/// nobody shall wait for many of those.
const HERE_VALUES_MAX: usize = 1_024;
/// What reading is priced by.
const UNIT_BYTES: usize = 16;

/// The values of one field for some documents, in their order; `None` for those without.
#[derive(Clone, Debug)]
pub enum FieldValues {
    /// Whole numbers; of booleans 0 and 1, of dates milliseconds.
    Integers(Vec<Option<i64>>),
    /// Floating-point numbers.
    Floats(Vec<Option<f64>>),
    /// Keywords.
    Texts(Vec<Option<String>>),
    /// Dense vectors, as numbers of the field's element; of a field in nested objects those of all objects, one after
    /// the other.
    Vectors(Vec<Option<Vec<f32>>>),
    /// Sparse vectors, by ascending dimension.
    Sparse(Vec<Option<Vec<SparseEntry>>>),
    /// What stands in the source, as JSON.
    Json(Vec<Option<Box<RawValue>>>),
}

/// Values of several fields for the same documents.
#[derive(Debug)]
pub struct FieldColumns {
    /// Each field's values, in the order in which they were asked for.
    pub fields: Vec<FieldValues>,
    /// The memory that they take.
    pub memory: Reservation,
}

impl FieldValues {
    fn len(&self) -> usize {
        match self {
            FieldValues::Integers(values) => values.len(),
            FieldValues::Floats(values) => values.len(),
            FieldValues::Texts(values) => values.len(),
            FieldValues::Vectors(values) => values.len(),
            FieldValues::Sparse(values) => values.len(),
            FieldValues::Json(values) => values.len(),
        }
    }
}

/// Which field, and as what its values are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedField {
    /// From its column: one value of each document, which is the least of several. What is no number, boolean, date,
    /// keyword or vector, and what is not mapped, comes as JSON.
    Typed(String),
    /// As it stands in the source, under this name.
    Json(String),
}

impl Engine {
    /// Reads values of some fields for documents of what was pinned, each field aligned with the places.
    ///
    /// Costs a look into each column for each document; the source of a document is unpacked only if one of the fields
    /// is wanted as JSON, and once for all of them. Runs on the engine's search threads, or at once where few values are
    /// wanted, and reading others has lately taken a fraction of a millisecond.
    ///
    /// # Errors
    /// For places of something else, when memory is short, or a file is damaged.
    pub async fn columns(
        &self,
        pinned: &Pinned,
        places: &[DocPlace],
        wanted: &[WantedField],
    ) -> Result<FieldColumns, EngineError> {
        if wanted.is_empty() || places.is_empty() {
            let empty = |one: &WantedField| match one {
                WantedField::Typed(path) => kind_of(pinned, path),
                WantedField::Json(_) => Kind::Json,
            };
            return Ok(FieldColumns {
                fields: wanted.iter().map(|one| empty(one).values(0)).collect(),
                memory: self.inner.memory.open(MemoryPurpose::Searches),
            });
        }
        let read = async {
            if is_small(pinned, places, wanted) {
                let read = || self.inner.columns(pinned, places, wanted);
                return self.inner.pool.run_here(read)?;
            }
            let (inner, pinned) = (self.inner.clone(), pinned.clone());
            let (places, wanted) = (places.to_vec(), wanted.to_vec());
            let read = move || inner.columns(&pinned, &places, &wanted);
            self.inner.pool.run(read).await?
        };
        in_span(&*self.inner.clock, "fetch", || pinned.attributes(), read).await
    }
}

/// What it is to read some fields of so many documents of a shard from their columns; nothing where there are several
/// shards, or what stands in sources is wanted, whose price depends on how long they are.
fn units(pinned: &Pinned, places: usize, wanted: &[WantedField]) -> Option<usize> {
    if pinned.shards().len() != 1 {
        return None;
    }
    let mut bytes = 0;
    for one in wanted {
        let WantedField::Typed(path) = one else {
            return None;
        };
        match kind_of(pinned, path) {
            Kind::Json => return None,
            kind => bytes += bytes_of(pinned, path, kind),
        }
    }
    Some((places * bytes).div_ceil(UNIT_BYTES))
}

/// Whether it is expected to be done before another thread had begun with it.
fn is_small(pinned: &Pinned, places: &[DocPlace], wanted: &[WantedField]) -> bool {
    if places.len() * wanted.len() > HERE_VALUES_MAX {
        return false;
    }
    let price = |units| pinned.shards().first()?.shard.fetch_price.of(units);
    let expected = units(pinned, places.len(), wanted).and_then(price);
    expected.is_some_and(|expected| expected <= HERE_MAX)
}

/// As what a field's values are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integers,
    Floats,
    Texts,
    Vectors,
    Sparse,
    Json,
}

impl Kind {
    fn of(field: &MappedField) -> Kind {
        // What is made of a value before it gets there is not what the document has.
        let as_written = field.settings.null_value.is_none() && field.settings.normalizer.is_none();
        let has_column = field.settings.doc_values && as_written;
        match &field.kind {
            FieldKind::Vector(_) => Kind::Vectors,
            FieldKind::SparseVector => Kind::Sparse,
            FieldKind::Integer(_) | FieldKind::Boolean | FieldKind::Date { .. } if has_column => {
                Kind::Integers
            }
            FieldKind::Float(_) if has_column => Kind::Floats,
            // Longer values are in the source alone.
            FieldKind::Keyword {
                ignore_above: None, ..
            } if has_column => Kind::Texts,
            _ => Kind::Json,
        }
    }

    fn values(self, count: usize) -> FieldValues {
        match self {
            Kind::Integers => FieldValues::Integers(vec![None; count]),
            Kind::Floats => FieldValues::Floats(vec![None; count]),
            Kind::Texts => FieldValues::Texts(vec![None; count]),
            Kind::Vectors => FieldValues::Vectors(vec![None; count]),
            Kind::Sparse => FieldValues::Sparse(vec![None; count]),
            Kind::Json => FieldValues::Json((0..count).map(|_| None).collect()),
        }
    }
}

fn kind_of(pinned: &Pinned, path: &str) -> Kind {
    let mut shards = pinned.shards.iter();
    let field = shards.find_map(|shard| shard.mapping().field(path));
    field.map_or(Kind::Json, Kind::of)
}

impl Inner {
    fn columns(
        &self,
        pinned: &Pinned,
        places: &[DocPlace],
        wanted: &[WantedField],
    ) -> Result<FieldColumns, EngineError> {
        let started = self.clock.monotonic();
        let read = self.read_columns(pinned, places, wanted)?;
        let took = self.clock.monotonic().saturating_sub(started);
        if let Some(units) = units(pinned, places.len(), wanted)
            && let Some(only) = pinned.shards().first()
        {
            only.shard.fetch_price.paid(units, took);
        }
        Ok(read)
    }

    fn read_columns(
        &self,
        pinned: &Pinned,
        places: &[DocPlace],
        wanted: &[WantedField],
    ) -> Result<FieldColumns, EngineError> {
        if places.len() > PLACES_MAX {
            return Err(EngineError::InvalidRequest {
                reason: format!(
                    "values of {} documents are wanted, more than {PLACES_MAX}",
                    places.len()
                ),
            });
        }
        let mut memory = self.memory.open(MemoryPurpose::Searches);
        // Documents of one segment one after the other, as they lie there.
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_unstable_by_key(|&at| places[at]);
        let parts: Vec<&[usize]> = order
            .chunk_by(|&a, &b| {
                (places[a].shard, places[a].segment) == (places[b].shard, places[b].segment)
            })
            .collect();
        let mut all: Vec<FieldValues> = Vec::with_capacity(wanted.len());
        let mut names: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, one) in wanted.iter().enumerate() {
            let (path, kind) = match one {
                WantedField::Typed(path) => (path, kind_of(pinned, path)),
                WantedField::Json(path) => (path, Kind::Json),
            };
            if kind == Kind::Json {
                names.entry(path).or_default().push(number);
            }
            let mut values = kind.values(places.len());
            memory.grow(places.len() * bytes_of(pinned, path, kind))?;
            for part in &parts {
                let target = pinned.shard_at(places[part[0]])?;
                let segment = Segment {
                    target,
                    number: places[part[0]].segment as usize,
                    places,
                    part,
                };
                segment.read(path, &mut values, &mut memory)?;
            }
            debug_assert_eq!(values.len(), places.len());
            all.push(values);
        }
        if !names.is_empty() {
            read_json(pinned, (places, &parts), &names, (&mut all, &mut memory))?;
        }
        for target in &*pinned.shards {
            target.check_readable()?;
        }
        Ok(FieldColumns {
            fields: all,
            memory,
        })
    }
}

/// Reads values that are wanted as they were written out of documents' sources: of parts, each of one segment.
fn read_json(
    pinned: &Pinned,
    (places, parts): (&[DocPlace], &[&[usize]]),
    names: &BTreeMap<&str, Vec<usize>>,
    (all, memory): (&mut [FieldValues], &mut Reservation),
) -> Result<(), EngineError> {
    for part in parts {
        let first = places[part[0]];
        let target = pinned.shard_at(first)?;
        let mut sources = target.view.segments[first.segment as usize].sources();
        for &at in *part {
            unless_stopped()?;
            let source = sources.get(places[at].doc);
            let source = source.map_err(|error| target.shard.tantivy_error(error))?;
            for (number, json) in members(target, source, names)? {
                memory.grow(json.get().len())?;
                if let FieldValues::Json(values) = &mut all[number] {
                    values[at] = Some(json);
                }
            }
        }
    }
    Ok(())
}

/// What a value takes at least.
fn bytes_of(pinned: &Pinned, path: &str, kind: Kind) -> usize {
    let dimension = || {
        let mut shards = pinned.shards.iter();
        let field = shards.find_map(|shard| shard.mapping().field(path));
        match field.map(|field| &field.kind) {
            Some(FieldKind::Vector(vector)) => vector.column.dimension,
            _ => 0,
        }
    };
    match kind {
        Kind::Integers | Kind::Floats => 16,
        Kind::Texts | Kind::Json => 64,
        Kind::Vectors => 24 + 4 * dimension(),
        // Its weights are counted as they are read.
        Kind::Sparse => 24,
    }
}

/// Some documents of one segment.
struct Segment<'a> {
    target: &'a PinnedShard,
    number: usize,
    places: &'a [DocPlace],
    /// Which of the places lie here.
    part: &'a [usize],
}

impl Segment<'_> {
    fn read(
        &self,
        path: &str,
        values: &mut FieldValues,
        memory: &mut Reservation,
    ) -> Result<(), EngineError> {
        let Some(field) = self.target.mapping().field(path) else {
            return Ok(());
        };
        let segment = &self.target.view.segments[self.number];
        let told = |error| self.target.shard.tantivy_error(error);
        let columns = segment.reader.fast_fields();
        let name = field.column();
        match values {
            FieldValues::Integers(values) => {
                let column: Option<Column<i64>> = columns.column_opt(&name).map_err(told)?;
                self.each(values, column, |column, doc| column.first(doc));
            }
            FieldValues::Floats(values) => {
                let column: Option<Column<f64>> = columns.column_opt(&name).map_err(told)?;
                self.each(values, column, |column, doc| column.first(doc));
            }
            FieldValues::Texts(values) => {
                if let Some(column) = columns.str(&name).map_err(told)? {
                    self.texts(values, &column, memory)?;
                }
            }
            FieldValues::Vectors(values) => match self.target.mapping().nested_scope(path) {
                None => self.vectors(values, field.id)?,
                Some(around) => self.object_vectors(values, (field.id, around), memory)?,
            },
            FieldValues::Sparse(values) => self.sparse(values, field.id, memory)?,
            FieldValues::Json(_) => {}
        }
        Ok(())
    }

    fn each<C, T>(
        &self,
        values: &mut [Option<T>],
        column: Option<C>,
        first: impl Fn(&C, u32) -> Option<T>,
    ) {
        let Some(column) = column else { return };
        for &at in self.part {
            values[at] = first(&column, self.places[at].doc);
        }
    }

    /// Each distinct text is looked up once.
    fn texts(
        &self,
        values: &mut [Option<String>],
        column: &StrColumn,
        memory: &mut Reservation,
    ) -> Result<(), EngineError> {
        let mut known: HashMap<u64, String> = HashMap::new();
        for &at in self.part {
            unless_stopped()?;
            let Some(ordinal) = column.term_ords(self.places[at].doc).next() else {
                continue;
            };
            if let Some(text) = known.get(&ordinal) {
                memory.grow(text.len())?;
                values[at] = Some(text.clone());
                continue;
            }
            let mut text = String::new();
            let read = column.ord_to_str(ordinal, &mut text);
            read.map_err(|error| self.target.shard.tantivy_error(error.into()))?;
            memory.grow(2 * text.len())?;
            known.insert(ordinal, text.clone());
            values[at] = Some(text);
        }
        Ok(())
    }

    fn vectors(&self, values: &mut [Option<Vec<f32>>], field: FieldId) -> Result<(), EngineError> {
        let file = self.target.view.segments[self.number].vectors();
        let Some(column) = file.column(field) else {
            return Ok(());
        };
        for &at in self.part {
            unless_stopped()?;
            let vector = column.vector(self.places[at].doc);
            let vector = vector.map_err(|error| search_error(file, error))?;
            values[at] = vector.map(Cow::into_owned);
        }
        Ok(())
    }

    /// The vectors of each document's nested objects, one after the other.
    fn object_vectors(
        &self,
        values: &mut [Option<Vec<f32>>],
        (field, around): (FieldId, &str),
        memory: &mut Reservation,
    ) -> Result<(), EngineError> {
        let segment = &self.target.view.segments[self.number];
        let file = segment.vectors();
        let Some(column) = file.column(field) else {
            return Ok(());
        };
        for &at in self.part {
            unless_stopped()?;
            let mut all = Vec::new();
            for row in segment.objects_of(self.places[at].doc, around) {
                let vector = column.vector(row);
                let vector = vector.map_err(|error| search_error(file, error))?;
                all.extend_from_slice(vector.as_deref().unwrap_or_default());
            }
            memory.grow(4 * all.len())?;
            values[at] = (!all.is_empty()).then_some(all);
        }
        Ok(())
    }

    fn sparse(
        &self,
        values: &mut [Option<Vec<SparseEntry>>],
        field: FieldId,
        memory: &mut Reservation,
    ) -> Result<(), EngineError> {
        let file = self.target.view.segments[self.number].vectors();
        let Some(column) = file.sparse_column(field) else {
            return Ok(());
        };
        for &at in self.part {
            unless_stopped()?;
            let vector = column.vector(self.places[at].doc);
            let vector = vector.map_err(|error| search_error(file, error))?;
            memory.grow(vector.map_or(0, size_of_val))?;
            values[at] = vector.map(<[SparseEntry]>::to_vec);
        }
        Ok(())
    }
}

/// The members of a document's source that have one of these names, and the fields that want them.
pub(crate) fn members(
    target: &PinnedShard,
    source: &[u8],
    names: &BTreeMap<&str, Vec<usize>>,
) -> Result<Vec<(usize, Box<RawValue>)>, EngineError> {
    let mut found: Vec<(usize, &RawValue)> = Vec::new();
    let read = each_member(source, &mut |name, json| {
        let numbers = names.get(name).into_iter().flatten();
        found.extend(numbers.map(|&number| (number, json)));
    });
    read.map_err(|error| EngineError::Corrupt {
        path: target.shard.place.dir.clone(),
        reason: format!("a stored document cannot be read: {error}"),
    })?;
    let owned = found
        .into_iter()
        .map(|(number, json)| (number, json.to_owned()));
    Ok(owned.collect())
}

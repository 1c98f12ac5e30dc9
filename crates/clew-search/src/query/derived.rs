//! Derived fields: what scripts make of documents, and which documents have what is asked of it.
//!
//! A query on such a field is run over small indexes in memory ([`DocumentMatcher`]) of what the script makes of the
//! documents, some hundred at a time: so it means what it would mean on a field of that type. Each document that may match
//! costs a run of the script and its share of such an index; memory is bounded by the batch.
//!
//! Deliberately absent: which documents may match at all, and where such fields are defined.

use std::net::IpAddr;
use std::sync::Arc;

use clew_query::{
    Emitted, Query, QueryError, Script, ScriptError, ScriptErrorKind, ScriptLanguage,
    ScriptPurpose, unless_stopped,
};
use clew_schema::{DerivedField, DerivedKind, FieldSpec, Mapping, MappingSpec, Parsed, values_at};
use serde_json::{Map, Value};
use tantivy::index::SegmentId;
use tantivy::{DocId, SegmentReader};

use super::function::script::{CompiledScript, OpenScript};
use super::percolate::DocumentMatcher;
use super::resolver::SegmentHits;
use crate::segments::SegmentBits;
use crate::snapshot::Snapshot;

/// Documents that are looked at together.
const BATCH_DOCS: usize = 256;
/// The values of these, as JSON, unless one document has more.
const BATCH_BYTES: usize = 1 << 20;

/// What a path names: a derived field, or what lies in its objects.
#[derive(Clone, Debug)]
pub struct DerivedPath {
    path: String,
    field: DerivedField,
    /// The way into its objects.
    inside: Option<String>,
    script: Option<Script>,
    /// What the values are taken as, where that is said.
    kind: Option<DerivedKind>,
}

impl DerivedPath {
    /// What a path names, which leads to this field. Its script is read.
    ///
    /// # Errors
    /// When the script is not understood, or what lies in objects is of no type.
    pub fn new(field: &DerivedField, path: &str) -> Result<Self, QueryError> {
        let script = field.script.as_ref().map(|written| {
            let language = ScriptLanguage::Painless;
            if written.lang != language.name() {
                let reason = format!("script_lang not supported [{}]", written.lang);
                let error = ScriptError::new(ScriptErrorKind::Language, reason);
                return Err(error.of(&written.source));
            }
            let purpose = ScriptPurpose::Derived;
            Script::read(&written.source, language, &written.params, purpose)
        });
        let script = script.transpose().map_err(QueryError::Script)?;
        let inside = (field.path != path).then(|| field.inside(path)).flatten();
        let kind = match inside {
            None => Some(field.kind),
            Some(inside) => match field.properties.get(inside) {
                None => None,
                Some(name) => Some(DerivedKind::named(name).ok_or_else(|| {
                    QueryError::illegal(format!(
                        "Type [{name}] isn't supported in Derived field context."
                    ))
                })?),
            },
        };
        Ok(DerivedPath {
            path: path.to_string(),
            inside: inside.map(str::to_string),
            field: field.clone(),
            script,
            kind,
        })
    }

    /// What makes the values, if anything does.
    pub fn script(&self) -> Option<&Script> {
        self.script.as_ref()
    }

    /// Whether it is objects as a whole.
    pub fn is_object(&self) -> bool {
        self.kind == Some(DerivedKind::Object)
    }

    /// What the values are taken as; `None` where they say so themselves.
    pub fn kind(&self) -> Option<DerivedKind> {
        self.kind
    }

    /// The field that it leads to.
    pub fn field(&self) -> &DerivedField {
        &self.field
    }

    /// The values as they were emitted.
    ///
    /// # Errors
    /// When an object is none.
    pub fn plain(&self, emitted: &[Emitted]) -> Result<Vec<Value>, QueryError> {
        let Some(inside) = &self.inside else {
            return Ok(emitted.iter().map(Emitted::to_json).collect());
        };
        let mut values = Vec::new();
        for one in emitted {
            let text = match one {
                Emitted::Text(text) => text.as_str(),
                _ => "",
            };
            let object = serde_json::from_str::<Value>(text).ok();
            let object = object.filter(Value::is_object);
            let object =
                object.ok_or_else(|| QueryError::illegal("Failed to parse content to map"))?;
            let mut found = Vec::new();
            values_at(&object, inside, &mut found);
            values.extend(found.into_iter().cloned());
        }
        Ok(values)
    }

    /// The values as a field of the type takes them.
    ///
    /// # Errors
    /// When one does not fit the type.
    pub fn typed(&self, emitted: &[Emitted]) -> Result<Vec<Value>, QueryError> {
        match (&self.inside, self.kind) {
            (None, Some(kind)) => {
                let typed = emitted.iter().map(|one| taken(kind, one));
                typed.collect::<Result<_, _>>().map_err(QueryError::illegal)
            }
            _ => self.plain(emitted),
        }
    }

    /// The values as answers show them: as they were emitted, and moments in the format of the field.
    ///
    /// # Errors
    /// When an object is none.
    pub fn shown(
        &self,
        emitted: &[Emitted],
        analyzers: &Mapping,
    ) -> Result<Vec<Value>, QueryError> {
        let values = self.plain(emitted)?;
        if values.is_empty() {
            return Ok(values);
        }
        let document = self.document(values.clone());
        let mapping = match self.kind {
            Some(DerivedKind::Date) => self.mapping(analyzers)?,
            Some(_) => None,
            None => Some(inferred(document.to_string().as_bytes())?),
        };
        let field = mapping.as_ref().and_then(|mapping| {
            let field = mapping.field(&self.path)?;
            Some((mapping, field))
        });
        Ok(match field {
            Some((mapping, field)) => mapping.fetch(field, &document, None),
            None => values,
        })
    }

    /// A mapping in which the values are texts, and a document of it that has them, for a highlighter; none of types that
    /// are no texts.
    ///
    /// # Errors
    /// When a value does not fit the type.
    pub fn highlighted(
        &self,
        emitted: &[Emitted],
        analyzers: &Mapping,
    ) -> Result<Option<(Mapping, Value)>, QueryError> {
        if !matches!(self.kind, Some(DerivedKind::Text | DerivedKind::Keyword)) {
            return Ok(None);
        }
        let document = self.document(self.typed(emitted)?);
        let mapping = self.mapping(analyzers)?;
        Ok(mapping.map(|mapping| (mapping, document)))
    }

    /// A document that has these values and nothing else.
    fn document(&self, values: Vec<Value>) -> Value {
        let names = self.path.rsplit('.');
        names.fold(Value::Array(values), |inner, name| {
            Value::Object(Map::from_iter([(name.to_string(), inner)]))
        })
    }

    /// A mapping of the path alone; `None` where the type is not said.
    fn mapping(&self, analyzers: &Mapping) -> Result<Option<Mapping>, QueryError> {
        // Moments are emitted as numbers, whatever format they are written in.
        let format = self.field.format.as_deref();
        let format = format.map(|format| match format.contains(MILLIS) {
            true => format.to_string(),
            false => format!("{format}||{MILLIS}"),
        });
        let Some(kind) = self
            .kind
            .and_then(|kind| kind.field_kind(format.as_deref()))
        else {
            return Ok(None);
        };
        let mut mapping = Mapping::new();
        mapping.set_analysis(analyzers.analysis().clone());
        let spec = MappingSpec::default().with(FieldSpec {
            ignore_malformed: self.field.ignore_malformed,
            ..FieldSpec::new(self.path.as_str(), kind)
        });
        let merged = mapping.merge(spec);
        merged.map_err(|error| QueryError::illegal(error.to_string()))?;
        Ok(Some(mapping))
    }
}

/// The format of moments as numbers.
const MILLIS: &str = "epoch_millis";

/// A value that was emitted as a field of a type takes it, or why it does not.
fn taken(kind: DerivedKind, emitted: &Emitted) -> Result<Value, String> {
    let no_number = |text: &str| format!("For input string: \"{text}\"");
    Ok(match (kind, emitted) {
        (DerivedKind::Keyword | DerivedKind::Text | DerivedKind::Object, Emitted::Text(_))
        | (DerivedKind::Boolean, Emitted::Bool(_))
        | (DerivedKind::Long | DerivedKind::Date, Emitted::Whole(_))
        | (DerivedKind::Double | DerivedKind::Float, Emitted::Whole(_) | Emitted::Float(_))
        | (DerivedKind::GeoPoint, Emitted::Point(_)) => emitted.to_json(),
        (DerivedKind::Boolean, Emitted::Text(text)) if text == "true" || text == "false" => {
            Value::Bool(text == "true")
        }
        (DerivedKind::Boolean, other) => {
            return Err(format!(
                "Failed to parse value [{}] as only [true] or [false] are allowed.",
                shown(other)
            ));
        }
        (DerivedKind::Long, Emitted::Text(text)) => {
            Value::from(text.parse::<i64>().map_err(|_| no_number(text))?)
        }
        (DerivedKind::Double | DerivedKind::Float, Emitted::Text(text)) => {
            Value::from(text.parse::<f64>().map_err(|_| no_number(text))?)
        }
        (DerivedKind::Long | DerivedKind::Double | DerivedKind::Float, other) => {
            return Err(no_number(&shown(other)));
        }
        (DerivedKind::Ip, Emitted::Text(text)) => match text.parse::<IpAddr>() {
            Ok(_) => Value::from(text.as_str()),
            Err(_) => return Err(format!("'{text}' is not an IP string literal.")),
        },
        (DerivedKind::GeoPoint, _) => {
            return Err(
                "geo_point should be in format emit(double lat, double lon) for derived fields"
                    .to_string(),
            );
        }
        (DerivedKind::Date, other) => return Err(no_cast(other, "java.lang.Long")),
        (
            DerivedKind::Keyword | DerivedKind::Text | DerivedKind::Object | DerivedKind::Ip,
            other,
        ) => return Err(no_cast(other, "java.lang.String")),
    })
}

/// A value as it stands in an error.
fn shown(emitted: &Emitted) -> String {
    match emitted.to_json() {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The error of a value of another class.
fn no_cast(emitted: &Emitted, to: &str) -> String {
    let from = match emitted {
        Emitted::Bool(_) => "java.lang.Boolean",
        Emitted::Whole(number) if i32::try_from(*number).is_ok() => "java.lang.Integer",
        Emitted::Whole(_) => "java.lang.Long",
        Emitted::Float(_) => "java.lang.Double",
        Emitted::Text(_) => "java.lang.String",
        Emitted::Point(_) => return format!("a place cannot be cast to class {to}"),
    };
    format!(
        "class {from} cannot be cast to class {to} ({from} and {to} are in module java.base of \
         loader 'bootstrap')"
    )
}

/// The values that a script gives a derived field, under a mapping.
#[derive(Clone, Debug)]
pub struct DerivedValues {
    path: Arc<DerivedPath>,
    script: Option<Arc<CompiledScript>>,
}

impl DerivedValues {
    /// Of a path; `now_ms` is when the request came, in milliseconds since the epoch.
    pub fn new(path: DerivedPath, mapping: &Mapping, now_ms: i64) -> Self {
        let script = path.script().map(|script| {
            let known = (Vec::new(), now_ms);
            Arc::new(CompiledScript::new(
                script,
                ScriptPurpose::Derived,
                mapping,
                known,
            ))
        });
        DerivedValues {
            path: Arc::new(path),
            script,
        }
    }

    /// The same over a segment.
    ///
    /// # Errors
    /// When a file of the segment is damaged.
    pub fn open(&self, reader: &SegmentReader) -> Result<OpenDerived, QueryError> {
        let script = self.script.as_ref();
        let script = script.map(|script| OpenScript::new(script.clone(), reader));
        Ok(OpenDerived {
            path: self.path.clone(),
            script: script.transpose()?,
        })
    }
}

/// The same over one segment.
pub struct OpenDerived {
    path: Arc<DerivedPath>,
    script: Option<OpenScript>,
}

impl OpenDerived {
    /// The values of a document, as a field of the type takes them.
    ///
    /// # Errors
    /// What went wrong in the script, or that a value does not fit, unless that is to be passed over.
    pub fn values(&mut self, doc: DocId) -> Result<Vec<Value>, QueryError> {
        let Some(script) = &self.script else {
            return Ok(Vec::new());
        };
        let values = script.emitted(doc).map_err(QueryError::Script);
        match values.and_then(|emitted| self.path.typed(&emitted)) {
            Err(_) if self.path.field.ignore_malformed => Ok(Vec::new()),
            values => values,
        }
    }
}

/// The documents among some, segment by segment, whose values a query matches.
///
/// # Errors
/// When the query does not fit the type, the script fails, or nobody waits any more.
pub(crate) fn matching_values(
    path: &DerivedPath,
    query: &Query,
    (snapshot, now_ms): (&Snapshot, i64),
    among: &[SegmentBits],
) -> Result<Vec<(SegmentId, SegmentHits)>, QueryError> {
    let derived = DerivedValues::new(path.clone(), &snapshot.mapping, now_ms);
    let mut batch = Batch {
        path,
        query,
        now_ms,
        mapping: path.mapping(&snapshot.mapping)?,
        docs: Vec::new(),
        documents: Vec::new(),
        bytes: 0,
    };
    if let Some(mapping) = &batch.mapping {
        DocumentMatcher::check(mapping, query)?;
    }
    let mut found = Vec::with_capacity(snapshot.readers.len());
    for (reader, among) in snapshot.readers.iter().zip(among) {
        let mut hits = SegmentHits::new();
        if among.count() > 0 {
            let mut open = derived.open(reader)?;
            for doc in among.iter() {
                unless_stopped()?;
                batch.push(doc, open.values(doc)?, &mut hits)?;
            }
            batch.run(&mut hits)?;
        }
        found.push((reader.segment_id(), hits));
    }
    Ok(found)
}

/// Documents that wait for being looked at together.
struct Batch<'q> {
    path: &'q DerivedPath,
    query: &'q Query,
    now_ms: i64,
    /// What the values are; where that is not said, the first ones say it.
    mapping: Option<Mapping>,
    docs: Vec<DocId>,
    /// Their values, as documents that have nothing else.
    documents: Vec<Vec<u8>>,
    bytes: usize,
}

impl Batch<'_> {
    fn push(
        &mut self,
        doc: DocId,
        values: Vec<Value>,
        hits: &mut SegmentHits,
    ) -> Result<(), QueryError> {
        // No query that is asked here matches what has no value.
        if values.is_empty() {
            return Ok(());
        }
        let document = self.path.document(values).to_string().into_bytes();
        self.bytes += document.len();
        self.docs.push(doc);
        self.documents.push(document);
        match self.docs.len() >= BATCH_DOCS || self.bytes >= BATCH_BYTES {
            true => self.run(hits),
            false => Ok(()),
        }
    }

    /// Looks at the documents that wait, which ascend.
    fn run(&mut self, hits: &mut SegmentHits) -> Result<(), QueryError> {
        let Some(first) = self.documents.first() else {
            return Ok(());
        };
        let mapping = match &mut self.mapping {
            Some(mapping) => mapping,
            none => none.insert(inferred(first)?),
        };
        let matcher = DocumentMatcher::build(mapping, &self.documents)?;
        let matched = matcher.matches(self.query, self.now_ms)?;
        let docs = matched.iter().filter_map(|one| self.docs.get(one.slot));
        hits.extend(docs.map(|doc| (*doc, 1.0)));
        self.docs.clear();
        self.documents.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// The mapping that a document would make of itself.
fn inferred(document: &[u8]) -> Result<Mapping, QueryError> {
    let mut mapping = Mapping::new();
    let parsed = mapping.parse_document(document);
    let parsed = parsed.map_err(|error| QueryError::illegal(error.to_string()))?;
    if let Parsed::NeedsMapping(fields) = parsed {
        let grown = mapping.grow(fields);
        grown.map_err(|error| QueryError::illegal(error.to_string()))?;
    }
    Ok(mapping)
}

#[cfg(test)]
mod tests;

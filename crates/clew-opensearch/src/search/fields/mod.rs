//! `fields`, `docvalue_fields` and `stored_fields`: single values of a hit as flat arrays, taken from
//! its source and written as their fields' types are.

mod check;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::net::Ipv6Addr;

use clew_aggregation::DecimalFormat;
use clew_engine::Hit;
use clew_platform::stopped;
use clew_schema::{
    DateFormat, FieldKind, KeywordStyle, MappedField, Mapping, fraction_text, geo::GeoPoint,
    glob::matches as glob, parse_address, text_of,
};
use serde_json::{Map, Value};

use crate::dsl::{DslError, Field};
use crate::http::error::ApiError;
use crate::http::place::Spot;

pub(super) use check::{COLUMNS_MAX, COLUMNS_SETTING};

/// Where a request asked for values, which decides how they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldsForm {
    /// In the order of the source.
    Fields,
    /// As columns have them: in order, and words once.
    DocValues,
    /// Those that the mapping stores by themselves.
    Stored,
}

/// A field or pattern that was asked for.
#[derive(Clone, Debug)]
struct Wanted {
    pattern: String,
    asked: FieldsForm,
    format: Option<Format>,
}

/// Reads a name, or an object with a name and how its values are to be written.
fn field_and_format(item: &Value) -> Result<(String, Option<&str>), DslError> {
    match item {
        Value::Object(_) => {}
        Value::String(_) | Value::Number(_) | Value::Bool(_) => return Ok((text_of(item), None)),
        Value::Array(_) | Value::Null => {
            let reason = "expected field names or objects with [field]";
            return Err(DslError::parsing(reason).at(Spot::start_of(item)));
        }
    }
    let (mut name, mut format) = (None, None);
    for member in Field::all("docvalues_field", item)? {
        match member.name {
            "field" => name = Some(member.text()?.to_string()),
            "format" if member.value.is_null() => {}
            "format" => format = Some(member.text()?),
            _ => return Err(member.unknown(&["field", "format"])),
        }
    }
    let name = name.ok_or_else(|| DslError::illegal("Required [field]"))?;
    Ok((name, format))
}

/// How values are to be written, which says something else of dates, numbers and places.
#[derive(Clone, Debug)]
struct Format {
    date: Result<DateFormat, String>,
    number: Option<DecimalFormat>,
    place: Option<PlaceFormat>,
}

impl Format {
    fn read(format: &str) -> Self {
        Format {
            date: DateFormat::parse(format).map_err(|error| error.to_string()),
            number: DecimalFormat::parse(format).ok(),
            place: match format {
                "geojson" => Some(PlaceFormat::GeoJson),
                "wkt" => Some(PlaceFormat::WellKnownText),
                _ => None,
            },
        }
    }

    /// Why it is one of nothing; `None` of one that dates, numbers or places have.
    fn refusal(&self) -> Option<String> {
        match self {
            Format {
                date: Err(reason),
                number: None,
                place: None,
            } => Some(reason.clone()),
            _ => None,
        }
    }
}

/// How places are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceFormat {
    GeoJson,
    WellKnownText,
}

/// Field names and patterns that a search wants of each hit.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldList {
    wanted: Vec<Wanted>,
}

/// Where a hit that is a nested object stands in its document.
pub(crate) fn place_of(hit: &Hit) -> Option<String> {
    let steps: Vec<&str> = hit.nested.iter().map(|step| step.field.as_str()).collect();
    (!steps.is_empty()).then(|| steps.join("."))
}

impl FieldList {
    /// Adds names, each alone or as `{"field": .., "format": ..}`.
    pub(crate) fn extend(&mut self, key: &str, value: &Value) -> Result<(), ApiError> {
        let asked = match key {
            "docvalue_fields" => FieldsForm::DocValues,
            "stored_fields" => FieldsForm::Stored,
            _ => FieldsForm::Fields,
        };
        let items = match value {
            Value::Array(items) => items.as_slice(),
            other => std::slice::from_ref(other),
        };
        // A column that is asked for twice is shown twice, anything else once.
        let is_plain = |wanted: &&Wanted| wanted.asked == asked && wanted.format.is_none();
        let plain = self.wanted.iter().filter(is_plain);
        let mut seen: BTreeSet<String> = plain.map(|wanted| wanted.pattern.clone()).collect();
        for item in items {
            let (name, format) = field_and_format(item)?;
            // Columns read it as the field's own.
            let given = format
                .filter(|format| asked == FieldsForm::Fields || *format != "use_field_mapping");
            let format = given.map(Format::read);
            // What is wrong with it for one field, `fields` say when the field is known.
            let is_told_later = asked == FieldsForm::Fields && !name.contains('*');
            if let Some(reason) = format.as_ref().and_then(Format::refusal)
                && !is_told_later
            {
                return Err(ApiError::illegal_argument(reason));
            }
            let is_once = asked != FieldsForm::DocValues && format.is_none();
            if is_once && !seen.insert(name.clone()) {
                continue;
            }
            self.wanted.push(Wanted {
                pattern: name,
                asked,
                format,
            });
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Whether any value comes from the source.
    pub(crate) fn needs_source(&self) -> bool {
        self.wanted
            .iter()
            .any(|wanted| !is_metadata(&wanted.pattern))
    }

    /// The names and patterns that `fields` has, each with whether it asks for a format.
    pub(in crate::search) fn patterns(&self) -> impl Iterator<Item = (&str, bool)> {
        let by_fields = |wanted: &&Wanted| wanted.asked == FieldsForm::Fields;
        let wanted = self.wanted.iter().filter(by_fields);
        wanted.map(|wanted| (wanted.pattern.as_str(), wanted.format.is_some()))
    }

    /// Whether a field is among those wanted.
    pub(crate) fn wants(&self, path: &str) -> bool {
        self.wanted.iter().any(|wanted| glob(&wanted.pattern, path))
    }

    /// The values of a hit; `done` is told when those of a form are found, if any are wanted.
    pub(crate) fn values(&self, hit: &Hit, done: &mut dyn FnMut(FieldsForm)) -> Map<String, Value> {
        let mut values = Map::new();
        // What every document has is shown to those alone who ask for columns.
        let of_columns = |wanted: &&Wanted| wanted.asked == FieldsForm::DocValues;
        for wanted in self.wanted.iter().filter(of_columns) {
            if wanted.pattern == "_seq_no" {
                values.insert("_seq_no".to_string(), Value::from(vec![hit.seq_no]));
            }
            let value = match wanted.pattern.as_str() {
                "_id" => Some(hit.id.as_str()),
                "_index" => Some(hit.index.name()),
                "_routing" => hit.routing.as_deref(),
                _ => None,
            };
            if let Some(value) = value {
                values.insert(wanted.pattern.clone(), Value::from(vec![value]));
            }
        }
        if self.needs_source()
            && let Some(source) = &hit.source
            && let Ok(source) = serde_json::from_slice::<Value>(source)
        {
            let mapping = hit.index.mapping();
            let by_their_names = self.collect_fields(&mapping, &source, &mut values);
            if self.asks(FieldsForm::Fields) {
                done(FieldsForm::Fields);
            }
            let place = place_of(hit);
            let of = (&source, place.as_deref());
            self.collect_others(&mapping, of, (&by_their_names, &mut values));
            if self.asks(FieldsForm::DocValues) {
                done(FieldsForm::DocValues);
            }
        }
        values
    }

    fn asks(&self, form: FieldsForm) -> bool {
        self.wanted.iter().any(|wanted| wanted.asked == form)
    }

    /// The values that a source has of the fields, for a document or for the nested object at a place in it.
    pub(crate) fn collect(
        &self,
        mapping: &Mapping,
        (source, place): (&Value, Option<&str>),
        values: &mut Map<String, Value>,
    ) {
        let by_their_names = self.collect_fields(mapping, source, values);
        self.collect_others(mapping, (source, place), (&by_their_names, values));
    }

    /// What `fields` say, and of which fields: it is shown in place of what columns say of them.
    fn collect_fields<'m>(
        &'m self,
        mapping: &'m Mapping,
        source: &Value,
        values: &mut Map<String, Value>,
    ) -> BTreeSet<&'m str> {
        let mut by_their_names = BTreeSet::new();
        let by_fields = |wanted: &&Wanted| wanted.asked == FieldsForm::Fields;
        for wanted in while_wanted(&self.wanted).filter(by_fields) {
            for (name, field) in wanted.fields(mapping) {
                let found = wanted.fetch(mapping, (name, field), source);
                if !found.is_empty() {
                    by_their_names.insert(name);
                    values.insert(name.to_string(), Value::Array(found));
                }
            }
        }
        by_their_names
    }

    /// What columns and stored fields say of the other fields. Nested objects have columns of their own, which are not
    /// those of the document, or of the object that is named, around them.
    fn collect_others(
        &self,
        mapping: &Mapping,
        (source, place): (&Value, Option<&str>),
        (by_their_names, values): (&BTreeSet<&str>, &mut Map<String, Value>),
    ) {
        let others = |wanted: &&Wanted| wanted.asked != FieldsForm::Fields;
        for wanted in while_wanted(&self.wanted).filter(others) {
            for (name, field) in wanted.fields(mapping) {
                let is_column = wanted.asked == FieldsForm::DocValues;
                if is_column && mapping.nested_scope(&field.path) != place {
                    continue;
                }
                let found = wanted.fetch(mapping, (name, field), source);
                if found.is_empty() || by_their_names.contains(name) {
                    continue;
                }
                // A column that is asked for again is shown again, perhaps in another format.
                match values.get_mut(name) {
                    Some(Value::Array(shown)) if is_column => shown.extend(found),
                    Some(_) => {}
                    None => {
                        values.insert(name.to_string(), Value::Array(found));
                    }
                }
            }
        }
    }
}

/// There may be as many patterns as fit into a body, and each is held against all fields there are. Once the request is
/// over, those that are left are passed over.
fn while_wanted(all: &[Wanted]) -> impl Iterator<Item = &Wanted> {
    all.iter().take_while(|_| !stopped())
}

impl Wanted {
    /// The fields that are meant, by the name that they are shown under: the leaf of a `flat_object` by its own.
    fn fields<'m>(&'m self, mapping: &'m Mapping) -> Vec<(&'m str, &'m MappedField)> {
        let shows = |field: &&MappedField| {
            !field.settings.hidden
                && match self.asked {
                    FieldsForm::Fields => is_fetched(field),
                    FieldsForm::DocValues => field.is_aggregatable() && !is_completed(field),
                    FieldsForm::Stored => field.settings.store,
                }
        };
        if !self.pattern.contains('*') {
            let field = mapping.field(&self.pattern).filter(shows);
            let of_leaf = || {
                let has_leaves = self.asked != FieldsForm::Stored;
                mapping.flat_above(&self.pattern).filter(|_| has_leaves)
            };
            return field
                .or_else(of_leaf)
                .map(|field| (self.pattern.as_str(), field))
                .into_iter()
                .collect();
        }
        let matches = |name: &str| glob(&self.pattern, name);
        mapping
            .named_fields()
            .filter(|(name, field)| matches(name) && shows(field))
            .collect()
    }

    fn fetch(
        &self,
        mapping: &Mapping,
        (name, field): (&str, &MappedField),
        source: &Value,
    ) -> Vec<Value> {
        if field.kind == FieldKind::Flat && mapping.field(name).is_none() {
            return self.leaf(mapping.fetch_leaf(name, source));
        }
        let format = self.format.as_ref();
        let dates = format.and_then(|format| format.date.as_ref().ok());
        let mut found = mapping.fetch(field, source, dates);
        if self.asked == FieldsForm::DocValues {
            if let FieldKind::Keyword {
                style: KeywordStyle::Join,
                ..
            } = field.kind
            {
                only_names(&mut found);
            }
            found.iter_mut().for_each(|value| field.widen(value));
            match field.kind {
                FieldKind::GeoPoint => return points(&found),
                FieldKind::Ip => found.sort_by_key(address),
                _ => found.sort_by(order),
            }
            if matches!(field.kind, FieldKind::Keyword { .. } | FieldKind::Ip) {
                found.dedup();
            }
            // Those without a sign are shown as they are, whatever the format.
            let is_formatted = matches!(field.kind, FieldKind::Integer(_) | FieldKind::Float(_));
            if let Some(numbers) = format.and_then(|format| format.number.as_ref())
                && is_formatted
            {
                let found = found.iter().filter_map(Value::as_f64);
                let shown = found.map(|number| Value::from(numbers.format(number)));
                return shown.collect();
            }
        } else if matches!(field.kind, FieldKind::GeoPoint)
            && format.and_then(|format| format.place) == Some(PlaceFormat::WellKnownText)
        {
            return found.iter().filter_map(well_known_text).collect();
        }
        found
    }

    /// The values of a leaf of a `flat_object`: words, which a column has in order and once.
    fn leaf(&self, mut found: Vec<Value>) -> Vec<Value> {
        if self.asked == FieldsForm::DocValues {
            found.sort_by(order);
            found.dedup();
        }
        found
    }
}

/// Of relations to parents, which have their own column, what the documents are.
fn only_names(relations: &mut [Value]) {
    for relation in relations {
        if let Some(name) = relation.get("name").cloned() {
            *relation = name;
        }
    }
}

/// A point as well-known text.
fn well_known_text(point: &Value) -> Option<Value> {
    let GeoPoint { lat, lon } = GeoPoint::from_json(point).ok()?;
    Some(format!("POINT ({} {})", fraction_text(lon), fraction_text(lat)).into())
}

/// Points as their column has them: in its order, with its precision.
fn points(found: &[Value]) -> Vec<Value> {
    let points = found
        .iter()
        .filter_map(|value| GeoPoint::from_json(value).ok());
    let mut points: Vec<GeoPoint> = points.map(GeoPoint::quantized).collect();
    points.sort_by(|a, b| a.lat.total_cmp(&b.lat).then(a.lon.total_cmp(&b.lon)));
    let shown = |GeoPoint { lat, lon }| {
        Value::from(format!("{}, {}", fraction_text(lat), fraction_text(lon)))
    };
    points.into_iter().map(shown).collect()
}

/// What addresses are ordered by.
fn address(value: &Value) -> Option<Ipv6Addr> {
    parse_address(value.as_str()?)
}

/// Counts of tokens are not in the source: without a column they are nowhere.
fn is_fetched(field: &MappedField) -> bool {
    field.settings.doc_values || field.settings.count_analyzer.is_none()
}

/// Completions are in no column, and shown as they are in the source.
fn is_completed(field: &MappedField) -> bool {
    matches!(field.kind, FieldKind::Completion(_))
}

fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        _ => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a
                .as_f64()
                .partial_cmp(&b.as_f64())
                .unwrap_or(Ordering::Equal),
        },
    }
}

fn is_metadata(pattern: &str) -> bool {
    matches!(
        pattern,
        "_id" | "_index" | "_routing" | "_source" | "_seq_no" | "_version" | "_none_"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_column_is_shown_as_often_as_it_is_asked_for_and_anything_else_once() {
        let names =
            json!(["a", "b", "a", {"field": "a"}, {"field": "a", "format": "use_field_mapping"}]);
        for (key, count) in [("fields", 3), ("stored_fields", 2), ("docvalue_fields", 5)] {
            let mut list = FieldList::default();
            list.extend(key, &names).unwrap();
            list.extend(key, &json!("b")).unwrap();
            let more = usize::from(key == "docvalue_fields");
            assert_eq!(list.wanted.len(), count + more, "{key}");
        }
    }
}

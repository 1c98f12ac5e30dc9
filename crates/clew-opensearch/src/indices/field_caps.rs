//! `_field_caps`: what the fields of several indexes can be used for, by name and type.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clew_engine::{Index, Purpose, SearchRequest, Wildcards};
use clew_platform::{Pace, stopped};
use clew_schema::{BesideTyping, FieldKind, MappedField, Mapping, glob::matches as glob};
use clew_search::TrackTotal;
use serde_json::{Map, Value, json};

use crate::dsl;
use crate::http::error::ApiError;
use crate::http::place::Spot;
use crate::http::reply::Reply;
use crate::search::resolve_documents;
use crate::state::call::Call;

/// Fields that every index has: name, type, whether it can be searched, and aggregated.
const METADATA: [(&str, &str, bool, bool); 12] = [
    (
        "_data_stream_timestamp",
        "_data_stream_timestamp",
        false,
        false,
    ),
    ("_doc_count", "long", false, false),
    ("_feature", "_feature", false, false),
    ("_field_names", "_field_names", true, false),
    ("_id", "_id", true, true),
    ("_ignored", "_ignored", true, false),
    ("_index", "_index", true, true),
    ("_nested_path", "_nested_path", true, false),
    ("_routing", "_routing", true, false),
    ("_seq_no", "_seq_no", true, true),
    ("_source", "_source", false, false),
    ("_version", "_version", false, false),
];

/// What one index says of a field.
#[derive(Clone, Debug)]
struct Own {
    index: String,
    is_searchable: bool,
    is_aggregatable: bool,
    meta: Vec<(String, String)>,
}

/// By field, then by type.
type Gathered = BTreeMap<String, BTreeMap<String, Vec<Own>>>;

/// `GET|POST /{index}/_field_caps`.
pub(crate) async fn field_caps(call: Call) -> Result<Reply, ApiError> {
    let body = call.json()?.unwrap_or_else(|| json!({}));
    let patterns = call.read(&body, |body| patterns(&call, body))?;
    let include_unmapped = call.params.flag("include_unmapped", false)?;
    let indices = match body.get("index_filter").filter(|filter| !filter.is_null()) {
        None => open_ones(&call).await?,
        Some(filter) => filtered(&call, filter).await?,
    };
    // Hundreds of indexes may have thousands of fields each.
    call.showing(move || Ok(told(&indices, &patterns, include_unmapped)))
        .await
}

/// The indexes of the path; closed ones have no fields to tell of, and are no fault either.
async fn open_ones(call: &Call) -> Result<Vec<Arc<Index>>, ApiError> {
    let opened = call.opened_from(Wildcards::OPEN, Purpose::Watch).await?;
    let indices = opened.iter().map(|found| found.index().clone());
    Ok(indices.filter(|index| index.is_open()).collect())
}

/// What is told of indexes' fields; anything once the request is over, as nobody sees it.
fn told(indices: &[Arc<Index>], patterns: &[String], include_unmapped: bool) -> Value {
    let mut names: Vec<String> = indices.iter().map(|i| i.name().to_string()).collect();
    names.sort();
    let mut gathered = Gathered::new();
    for index in indices.iter().take_while(|_| !stopped()) {
        gather(index.name(), &index.mapping(), patterns, &mut gathered);
    }
    let (mut fields, mut pace) = (Map::new(), Pace::of_blocks());
    for (field, mut types) in gathered {
        if pace.is_over() {
            break;
        }
        if include_unmapped {
            add_unmapped(&names, &mut types);
        }
        let is_one = types.len() == 1;
        let shown: Map<String, Value> = types
            .into_iter()
            .map(|(name, own)| {
                let shown = shown(&name, own, is_one);
                (name, shown)
            })
            .collect();
        fields.insert(field, Value::Object(shown));
    }
    let told = [
        ("indices".to_string(), names.into()),
        ("fields".to_string(), Value::Object(fields)),
    ];
    Value::Object(Map::from_iter(told))
}

fn patterns(call: &Call, body: &Value) -> Result<Vec<String>, ApiError> {
    let mut members = body.as_object().into_iter().flatten();
    if let Some((key, value)) =
        members.find(|(key, _)| !matches!(key.as_str(), "index_filter" | "fields"))
    {
        let reason = format!("request does not support [{key}]");
        return Err(ApiError::parsing_at(Spot::name_of(value), reason));
    }
    let mut patterns: Vec<String> = call
        .params
        .list("fields")
        .unwrap_or_default()
        .into_iter()
        .map(String::from)
        .collect();
    match body.get("fields") {
        Some(Value::Array(items)) => {
            patterns.extend(items.iter().filter_map(Value::as_str).map(String::from));
        }
        Some(Value::String(text)) => patterns.extend(text.split(',').map(String::from)),
        _ => {}
    }
    if patterns.is_empty() {
        return Err(ApiError::illegal_argument(
            "specified fields can't be null or empty",
        ));
    }
    Ok(patterns)
}

/// The indexes that have a document which matches.
async fn filtered(call: &Call, filter: &Value) -> Result<Vec<Arc<Index>>, ApiError> {
    let mut query = dsl::parse_query(filter)?;
    resolve_documents(call, call.index_expression(), &mut query).await?;
    let mut kept = Vec::new();
    for index in call.opened(call.index_expression(), Purpose::Read).await? {
        let pinned = call.api.engine.pin(std::slice::from_ref(&index))?;
        let request = SearchRequest {
            size: 0,
            track_total: TrackTotal::UpTo(1),
            ..SearchRequest::new(pinned, query.clone())
        };
        let found = call.api.engine.search(request).await?;
        if found.total.is_some_and(|total| total.value > 0) {
            kept.push(index.index().clone());
        }
    }
    Ok(kept)
}

fn gather(index: &str, mapping: &Mapping, patterns: &[String], gathered: &mut Gathered) {
    // A body has room for a million patterns, each of which is held against all names there are.
    let pace = RefCell::new(Pace::of_lists(patterns.len()));
    let is_wanted = |name: &str| {
        let is_over = pace.borrow_mut().is_over();
        !is_over && patterns.iter().any(|pattern| glob(pattern, name))
    };
    let mut add = |name: &str, type_name: &str, own: Own| {
        let types = gathered.entry(name.to_string()).or_default();
        types.entry(type_name.to_string()).or_default().push(own);
    };
    let own = |is_searchable, is_aggregatable| Own {
        index: index.to_string(),
        is_searchable,
        is_aggregatable,
        meta: Vec::new(),
    };
    for (name, type_name, is_searchable, is_aggregatable) in METADATA {
        if is_wanted(name) {
            add(name, type_name, own(is_searchable, is_aggregatable));
        }
    }
    let is_told =
        |field: &MappedField| !field.settings.hidden || mapping.beside_typing(field).is_some();
    let wanted = mapping
        .named_fields()
        .filter(|(name, field)| is_told(field) && is_wanted(name));
    let mut above = BTreeSet::new();
    for (name, field) in wanted {
        let (type_name, is_searchable, is_aggregatable) = match mapping.beside_typing(field) {
            None => capabilities(field),
            Some(BesideTyping::Neighbours) => ("search_as_you_type", true, false),
            Some(BesideTyping::Beginnings) => ("prefix", true, false),
        };
        let own = Own {
            meta: meta_of(field),
            ..own(is_searchable, is_aggregatable)
        };
        add(name, type_name, own);
        above.extend(name.match_indices('.').map(|(at, _)| &name[..at]));
    }
    // Leaves of a `flat_object` are in no mapping: they are told of where they are asked for by their names.
    let names = patterns.iter().map(String::as_str);
    let names: BTreeSet<&str> = names.filter(|name| !name.contains('*')).collect();
    for name in names {
        if let Some(flat) = mapping.flat_above(name) {
            let own = own(flat.is_searchable(), false);
            add(name, flat.kind.type_name(), own);
        }
    }
    let derived = mapping.derived().iter();
    for field in derived.filter(|field| is_wanted(&field.path)) {
        add(&field.path, "derived", own(false, true));
    }
    // Objects are told of where something in them is asked for, whatever their own names.
    for path in mapping.object_paths() {
        if !above.contains(path.as_str()) {
            continue;
        }
        let type_name = if mapping.is_nested(&path) {
            "nested"
        } else {
            "object"
        };
        add(&path, type_name, own(false, false));
    }
}

/// What the mapping's `meta` says of a field, as texts.
fn meta_of(field: &MappedField) -> Vec<(String, String)> {
    let meta = field.meta().and_then(Value::as_object);
    let shown = meta.into_iter().flatten().map(|(key, value)| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), String::from);
        (key.clone(), text)
    });
    shown.collect()
}

/// The type of a field as it is told of here, whether it is searched, and aggregated: as OpenSearch sorts types, for
/// which a vector is no text to search, and a count of words a number.
fn capabilities(field: &MappedField) -> (&'static str, bool, bool) {
    let name = match field.kind.type_name() {
        "token_count" => "integer",
        name => name,
    };
    match field.kind {
        FieldKind::Vector(_) => (name, false, true),
        FieldKind::Completion(_) => (name, field.is_searchable(), false),
        FieldKind::Percolator | FieldKind::RankFeatures => (name, false, false),
        _ => (name, field.is_searchable(), field.is_aggregatable()),
    }
}

/// The indexes that lack the field, as a type of its own.
fn add_unmapped(indices: &[String], types: &mut BTreeMap<String, Vec<Own>>) {
    let have: BTreeSet<&str> = types
        .values()
        .flatten()
        .map(|own| own.index.as_str())
        .collect();
    let lacking: Vec<Own> = indices
        .iter()
        .filter(|index| !have.contains(index.as_str()))
        .map(|index| Own {
            index: index.clone(),
            is_searchable: false,
            is_aggregatable: false,
            meta: Vec::new(),
        })
        .collect();
    if !lacking.is_empty() {
        types.insert("unmapped".to_string(), lacking);
    }
}

/// A field of one type; the indexes are named only where they differ.
fn shown(type_name: &str, mut own: Vec<Own>, is_one: bool) -> Value {
    own.sort_by(|a, b| a.index.cmp(&b.index));
    let is_searchable = own.iter().all(|own| own.is_searchable);
    let is_aggregatable = own.iter().all(|own| own.is_aggregatable);
    let mut shown = json!({
        "type": type_name,
        "searchable": is_searchable,
        "aggregatable": is_aggregatable,
    });
    let without = |can: fn(&Own) -> bool| -> Vec<&str> {
        let lacking = own.iter().filter(|own| !can(own));
        lacking.map(|own| own.index.as_str()).collect()
    };
    if !is_one {
        shown["indices"] = own.iter().map(|own| own.index.as_str()).collect();
    }
    let unsearchable = without(|own| own.is_searchable);
    if !is_searchable && unsearchable.len() < own.len() {
        shown["non_searchable_indices"] = unsearchable.into();
    }
    let unaggregatable = without(|own| own.is_aggregatable);
    if !is_aggregatable && unaggregatable.len() < own.len() {
        shown["non_aggregatable_indices"] = unaggregatable.into();
    }
    let mut meta: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (key, value) in own.iter().flat_map(|own| &own.meta) {
        meta.entry(key).or_default().insert(value);
    }
    if !meta.is_empty() {
        shown["meta"] = json!(meta);
    }
    shown
}

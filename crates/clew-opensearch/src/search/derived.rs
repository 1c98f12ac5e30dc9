//! `derived`: fields of a search whose values its scripts make, beside those that mappings have. Its queries are told of
//! them, and hits show what is asked for of them.

use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{EngineError, Hit, Index};
use clew_opensearch_mapping::{error_type, read_derived, reason};
use clew_platform::{CancellationToken, Stop};
use clew_query::{DerivedScope, Emitted, Query, QueryError};
use clew_schema::{DerivedField, Mapping, glob::matches as glob};
use clew_search::DerivedPath;
use serde_json::{Map, Value};

use super::fields::FieldList;
use super::highlight::Highlight;
use super::lookup::Queries;
use super::members::unknown_key;
use super::script_fields::SourceDocument;
use crate::http::error::{ApiError, Cause};
use crate::http::script_errors::script_cause;
use crate::state::cluster_settings::{DerivedAllowed, Expensive};
use crate::state::stored_scripts;

/// Derived fields that one search may bring.
const FIELDS_MAX: usize = 100;
const ENABLED_SETTING: &str = "index.query.derived_field.enabled";

/// The derived fields of a search.
#[derive(Clone, Debug, Default)]
pub(super) struct DerivedFields(Arc<[DerivedField]>);

impl DerivedFields {
    /// Reads a `derived` object, which stands under this key in a body with this text.
    pub(super) fn read(key: &str, value: &Value, text: &[u8]) -> Result<Self, ApiError> {
        if !value.is_object() {
            return Err(unknown_key(key, value, text));
        }
        let fields = read_derived(&with_kept_scripts(value))
            .map_err(|error| ApiError::bad_request(error_type(&error), reason(&error)))?;
        match fields.len() > FIELDS_MAX {
            true => Err(ApiError::illegal_argument(format!(
                "a search may have at most [{FIELDS_MAX}] derived fields, got [{}]",
                fields.len()
            ))),
            false => Ok(DerivedFields(fields.into())),
        }
    }

    /// The fields, as aggregations are told of them.
    pub(super) fn shared(&self) -> Arc<[DerivedField]> {
        self.0.clone()
    }

    /// Refuses the fields where they are not allowed.
    pub(super) fn check(
        &self,
        index: &Index,
        (expensive, allowed): (Expensive, DerivedAllowed),
    ) -> Result<(), ApiError> {
        if self.0.is_empty() {
            return Ok(());
        }
        if expensive == Expensive::Refused {
            return Err(switched_off("'search.allow_expensive_queries'"));
        }
        match are_allowed(index, allowed) {
            true => Ok(()),
            false => Err(not_allowed()),
        }
    }

    /// Has the queries of a search know the fields.
    pub(super) fn tell(&self, queries: &mut impl Queries) -> Result<(), ApiError> {
        if self.0.is_empty() {
            return Ok(());
        }
        // What is put into a scope is visited next, and once is enough.
        let mut is_inside = false;
        queries.each(&mut |query| {
            if std::mem::take(&mut is_inside) || !self.may_concern(query) {
                return Ok(());
            }
            let inner = std::mem::replace(query, Query::MatchNone);
            *query = Query::Derived(DerivedScope {
                fields: self.0.clone(),
                query: Box::new(inner),
            });
            is_inside = true;
            Ok(())
        })
    }

    /// Whether a query by itself may be on one of the fields.
    fn may_concern(&self, query: &Query) -> bool {
        let is_named = |path: &str| DerivedField::named(&self.0, path).is_some();
        match query {
            Query::QueryString(_) | Query::MultiMatch(_) => true,
            Query::Geo(geo) => is_named(&geo.field),
            Query::Intervals(intervals) => is_named(&intervals.field),
            Query::DistanceFeature(feature) => is_named(&feature.field),
            leaf => leaf.on_field().is_some_and(|one| is_named(one.field())),
        }
    }

    /// Refuses what is asked of derived fields and cannot be shown.
    pub(super) fn check_fields(&self, list: &FieldList, index: &Index) -> Result<(), ApiError> {
        let mapping = index.mapping();
        let formatted = list.patterns().filter(|(_, has_format)| *has_format);
        let mut derived = formatted.filter(|(pattern, _)| self.field(pattern, &mapping).is_some());
        match derived.next() {
            None => Ok(()),
            Some((pattern, _)) => Err(ApiError::illegal_argument(format!(
                "Field [{pattern}] of type [derived] doesn't support formats."
            ))),
        }
    }

    /// The field that a path leads to, unless documents are indexed with one.
    fn field<'f>(&'f self, path: &str, mapping: &'f Mapping) -> Option<&'f DerivedField> {
        if mapping.field(path).is_some() {
            return None;
        }
        let own = DerivedField::named(&self.0, path);
        own.or_else(|| DerivedField::named(mapping.derived(), path))
    }

    /// What is wanted of a document: paths, and the fields that they lead to.
    fn wanted<'f>(
        &'f self,
        list: &'f FieldList,
        mapping: &'f Mapping,
    ) -> Vec<(&'f str, &'f DerivedField)> {
        let mut wanted = Vec::new();
        for (pattern, _) in list.patterns() {
            if !pattern.contains('*') {
                wanted.extend(self.field(pattern, mapping).map(|field| (pattern, field)));
                continue;
            }
            let all = self.0.iter().chain(mapping.derived());
            let names = all.map(|field| field.path.as_str());
            let names = names.filter(|name| glob(pattern, name));
            let fields = names.filter_map(|name| Some((name, self.field(name, mapping)?)));
            wanted.extend(fields);
        }
        wanted
    }

    /// Adds the values of a hit, whose source is that of a whole document, at a time in milliseconds since the epoch.
    pub(super) fn add(
        &self,
        list: &FieldList,
        (hit, now_ms): (&Hit, i64),
        values: &mut Map<String, Value>,
    ) -> Result<(), ApiError> {
        let mapping = hit.index.mapping();
        let wanted = self.wanted(list, &mapping);
        if wanted.is_empty() {
            return Ok(());
        }
        if !is_time_left()? {
            return Ok(());
        }
        let source = source_of(hit);
        for (path, field) in wanted {
            let derived = DerivedPath::new(field, path).map_err(refused)?;
            let Some(emitted) = emitted(&derived, (&mapping, &source), now_ms)? else {
                continue;
            };
            let found = derived.shown(&emitted, &mapping).map_err(refused)?;
            if !found.is_empty() {
                values.insert(path.to_string(), Value::Array(found));
            }
        }
        Ok(())
    }

    /// The pieces of derived fields that a request names to be highlighted (patterns do not mean them), of a hit, whose source
    /// is that of a whole document, at a time in milliseconds since the epoch.
    pub(super) fn pieces(
        &self,
        highlight: &Highlight,
        (hit, now_ms): (&Hit, i64),
    ) -> Result<Map<String, Value>, ApiError> {
        let mut shown = Map::new();
        let mapping = hit.index.mapping();
        let wanted = highlight.fields.iter().filter_map(|wanted| {
            let field = self.field(&wanted.pattern, &mapping)?;
            Some((wanted, field))
        });
        let wanted: Vec<_> = wanted.collect();
        if wanted.is_empty() || !is_time_left()? {
            return Ok(shown);
        }
        let source = source_of(hit);
        for (wanted, field) in wanted {
            let derived = DerivedPath::new(field, &wanted.pattern).map_err(refused)?;
            let Some(emitted) = emitted(&derived, (&mapping, &source), now_ms)? else {
                continue;
            };
            let texts = derived.highlighted(&emitted, &mapping).map_err(refused)?;
            let Some((own, document)) = texts else {
                continue;
            };
            for (path, pieces) in highlight.pieces_within(hit, (own, &document), wanted)? {
                shown.insert(path, pieces.into());
            }
        }
        Ok(shown)
    }
}

/// The same fields with kept scripts in the places of those that name them.
fn with_kept_scripts(fields: &Value) -> Value {
    let mut filled = fields.clone();
    let fields = filled.as_object_mut().into_iter().flat_map(Map::values_mut);
    let scripts = fields.filter_map(|field| field.get_mut("script")?.as_object_mut());
    scripts.for_each(stored_scripts::fill_in_body);
    filled
}

/// Whether there is time for the scripts of one more hit: there may be many, as for `script_fields`.
fn is_time_left() -> Result<bool, ApiError> {
    match CancellationToken::current().stopped() {
        None => Ok(true),
        Some(Stop::TimedOut) => Ok(false),
        Some(Stop::Cancelled) => Err(refused(QueryError::Stopped)),
    }
}

fn source_of(hit: &Hit) -> Value {
    let source = hit.source.as_deref();
    let source = source.and_then(|source| serde_json::from_slice::<Value>(source).ok());
    source.unwrap_or(Value::Null)
}

/// What a field's script makes of a document; nothing where there is none.
fn emitted(
    derived: &DerivedPath,
    (mapping, source): (&Mapping, &Value),
    now_ms: i64,
) -> Result<Option<Vec<Emitted>>, ApiError> {
    let Some(script) = derived.script() else {
        return Ok(None);
    };
    let mut document = SourceDocument {
        mapping,
        source,
        hit: None,
        paths: script.fields(),
        now_ms,
    };
    let emitted = script.emitted(&mut document);
    let emitted = emitted.map_err(|error| {
        let cause = script_cause(&error);
        ApiError::new(StatusCode::BAD_REQUEST, cause)
    })?;
    Ok(Some(emitted))
}

/// Refuses a query on derived fields of an index's mapping where such are not allowed.
pub(super) fn check_query(
    query: &Query,
    index: &Index,
    allowed: DerivedAllowed,
) -> Result<(), ApiError> {
    let mapping = index.mapping();
    if mapping.derived().is_empty() || are_allowed(index, allowed) {
        return Ok(());
    }
    let own = DerivedFields::default();
    let is_derived = |query: &Query| {
        let path = query.on_field().map(|one| one.field());
        path.is_some_and(|path| own.field(path, &mapping).is_some())
    };
    match query.all().any(is_derived) {
        true => Err(not_allowed()),
        false => Ok(()),
    }
}

/// Whether an index and the cluster have such fields.
fn are_allowed(index: &Index, allowed: DerivedAllowed) -> bool {
    let settings = index.settings();
    let given = settings.given.get(ENABLED_SETTING).map(String::as_str);
    allowed == DerivedAllowed::Yes && given != Some("false")
}

fn not_allowed() -> ApiError {
    switched_off("'index.query.derived_field.enabled' or 'search.derived_field.enabled'")
}

fn switched_off(settings: &str) -> ApiError {
    let reason =
        format!("[derived field] queries cannot be executed when {settings} is set to false.");
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        Cause::new("exception", reason),
    )
}

fn refused(error: QueryError) -> ApiError {
    EngineError::from(error).into()
}

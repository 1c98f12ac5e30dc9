//! Queries that name documents: `terms` may take its values from one, `more_like_this` its texts,
//! `percolate` what it asks about, `geo_shape` its shape. Once a request is read, these documents are, and what they hold
//! is put into the query tree.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{Freshness, Purpose};
use clew_query::{
    DocumentName, GeoQuery, LikeDocument, LikeItem, MoreLikeThis, PercolateQuery, Query, TermsOf,
};
use clew_schema::values_at;
use serde_json::Value;

use super::{default_fields, index_names};
use crate::dsl;
use crate::http::error::{ApiError, Cause};
use crate::state::call::Call;

/// Documents that one request may name.
const DOCUMENTS_MAX: usize = 1024;

/// What is done to each query.
pub(crate) type Visit<'v> = dyn FnMut(&mut Query) -> Result<(), ApiError> + 'v;

/// Something that has queries.
pub(crate) trait Queries {
    /// Visits every query, and those inside it; each may be replaced.
    fn each(&mut self, visit: &mut Visit<'_>) -> Result<(), ApiError>;
}

impl Queries for Query {
    fn each(&mut self, visit: &mut Visit<'_>) -> Result<(), ApiError> {
        self.for_each_mut(visit)
    }
}

impl Queries for Option<Query> {
    fn each(&mut self, visit: &mut Visit<'_>) -> Result<(), ApiError> {
        self.iter_mut()
            .try_for_each(|query| query.for_each_mut(visit))
    }
}

/// The documents of a request by their names; `None` where there is none.
type Documents = BTreeMap<DocumentName, Option<Found>>;

/// A document.
struct Found {
    source: Value,
    version: u64,
}

/// Whether a query, or one inside it, names documents, so that it means nothing before these are read.
pub(crate) fn names_documents(query: &mut Query) -> bool {
    let mut names = BTreeSet::new();
    let noted = query.for_each_mut(&mut |query| {
        note(query, &mut names);
        Ok::<_, ApiError>(())
    });
    noted.is_ok() && !names.is_empty()
}

/// Puts what documents hold where queries name them, and the fields that an index means where they name none; `expression` says which indexes are searched.
pub(crate) async fn resolve(
    call: &Call,
    expression: &str,
    queries: &mut (impl Queries + Send),
) -> Result<(), ApiError> {
    index_names::fill(call, queries)?;
    default_fields::fill(call, expression, queries).await?;
    let mut names = BTreeSet::new();
    queries.each(&mut |query| {
        note(query, &mut names);
        Ok(())
    })?;
    if names.is_empty() {
        return Ok(());
    }
    if names.len() > DOCUMENTS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "a request may name at most [{DOCUMENTS_MAX}] documents, got [{}]",
            names.len()
        )));
    }
    let mut documents = Documents::new();
    for name in names {
        let found = fetch(call, expression, &name).await?;
        documents.insert(name, found);
    }
    queries.each(&mut |query| fill(query, &documents))
}

/// Notes the documents that a query names by itself.
fn note(query: &Query, names: &mut BTreeSet<DocumentName>) {
    match query {
        Query::TermsOf(terms) => {
            names.insert(terms.document.clone());
        }
        Query::Percolate(percolate) => {
            names.extend(percolate.named.iter().map(|named| named.document.clone()));
        }
        Query::Geo(geo) => names.extend(geo.indexed.iter().map(|shape| shape.document.clone())),
        Query::MoreLikeThis(similar) => {
            for item in similar.like.iter().chain(&similar.unlike) {
                if let LikeItem::Named(named) = item {
                    names.insert(named.document.clone());
                }
            }
        }
        _ => {}
    }
}

/// The document; `None` when it does not exist.
async fn fetch(
    call: &Call,
    expression: &str,
    name: &DocumentName,
) -> Result<Option<Found>, ApiError> {
    let indices = match &name.index {
        Some(index) => call.opened(index, Purpose::Read).await?,
        None => call.opened(expression, Purpose::Read).await?,
    };
    let name = name.clone();
    let found = call
        .blocking(move |engine| {
            for index in &indices {
                let routing = name.routing.as_deref();
                if let Some(found) = engine.get(index, &name.id, routing, Freshness::Latest)? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        })
        .await?;
    found
        .map(|document| {
            call.memory.take_json(&document.source)?;
            let source = serde_json::from_slice(&document.source);
            Ok(Found {
                source: source.map_err(|error| ApiError::malformed_json(&error))?,
                version: document.version,
            })
        })
        .transpose()
}

/// Puts documents where a query names them by itself.
fn fill(query: &mut Query, documents: &Documents) -> Result<(), ApiError> {
    match query {
        Query::TermsOf(terms) => *query = values_of(terms, documents)?,
        Query::Percolate(percolate) => fill_percolate(percolate, documents)?,
        Query::MoreLikeThis(similar) => fill_similar(similar, documents),
        Query::Geo(geo) => fill_shape(geo, documents)?,
        _ => {}
    }
    Ok(())
}

fn found<'d>(name: &DocumentName, documents: &'d Documents) -> Option<&'d Found> {
    documents.get(name)?.as_ref()
}

/// The query with the values that a document has; none where there is no document.
fn values_of(terms: &TermsOf, documents: &Documents) -> Result<Query, ApiError> {
    let mut values = Vec::new();
    if let Some(found) = found(&terms.document, documents) {
        values_at(&found.source, &terms.path, &mut values);
    }
    let mut values: Vec<Value> = values.into_iter().cloned().collect();
    if terms.is_packed {
        values = dsl::bitmap_numbers(&values)?;
    }
    Ok(Query::Terms {
        field: terms.field.clone(),
        values,
        boost: terms.boost,
    })
}

/// Puts documents among what something should be like or not; one that does not exist says
/// nothing.
fn fill_similar(similar: &mut MoreLikeThis, documents: &Documents) {
    for items in [&mut similar.like, &mut similar.unlike] {
        let filled = std::mem::take(items).into_iter().filter_map(|item| {
            let LikeItem::Named(named) = item else {
                return Some(item);
            };
            let found = found(&named.document, documents)?;
            Some(LikeItem::Document(LikeDocument {
                document: found.source.clone(),
                is_stored: true,
                analyzers: named.analyzers,
            }))
        });
        *items = filled.collect();
    }
}

/// Puts the shape that a document has in the place of its name.
fn fill_shape(geo: &mut GeoQuery, documents: &Documents) -> Result<(), ApiError> {
    let Some(indexed) = geo.indexed.take() else {
        return Ok(());
    };
    let id = &indexed.document.id;
    let Some(found) = found(&indexed.document, documents) else {
        return Err(ApiError::illegal_argument(format!(
            "Shape with ID [{id}] not found"
        )));
    };
    let mut objects = indexed.path.split('.');
    let shape = objects.try_fold(&found.source, |value, name| value.get(name));
    let shape = shape.or_else(|| found.source.get(&indexed.path));
    let Some(shape) = shape else {
        return Err(ApiError::illegal_argument(format!(
            "Shape with name [{id}] found but missing {} field",
            indexed.path
        )));
    };
    geo.area = dsl::shape_area(shape)?;
    Ok(())
}

/// Puts a document in the place of its name, if it has the version that is asked for.
fn fill_percolate(percolate: &mut PercolateQuery, documents: &Documents) -> Result<(), ApiError> {
    let Some(named) = percolate.named.take() else {
        return Ok(());
    };
    let name = &named.document;
    let id = &name.id;
    let Some(found) = found(name, documents) else {
        let index = name.index.as_deref().unwrap_or_default();
        return Err(ApiError::new(
            StatusCode::NOT_FOUND,
            Cause::new(
                "resource_not_found_exception",
                format!("indexed document [{index}/{id}] couldn't be found"),
            ),
        ));
    };
    let version = found.version;
    if let Some(wanted) = named.version.filter(|wanted| *wanted != version) {
        return Err(ApiError::new(
            StatusCode::CONFLICT,
            Cause::new(
                "version_conflict_engine_exception",
                format!(
                    "[{id}]: version conflict, current version [{version}] is different than the one provided [{wanted}]"
                ),
            ),
        ));
    }
    percolate.documents = Arc::new(vec![found.source.to_string().into_bytes()]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names_in(query: &Value) -> Vec<String> {
        let mut names = BTreeSet::new();
        let mut query = dsl::parse_query(query).unwrap();
        let noted: Result<(), ApiError> = query.each(&mut |query| {
            note(query, &mut names);
            Ok(())
        });
        assert!(noted.is_ok());
        names.into_iter().map(|name| name.id).collect()
    }

    #[test]
    fn only_queries_name_documents() {
        let query = json!({ "bool": { "filter": [
            { "terms": { "user": { "index": "i", "id": "1", "path": "followers" } } },
            { "terms": { "user": ["a", "b"] } },
            { "more_like_this": { "like": ["words", { "_id": 7 }, { "doc": { "a": "b" } }] } },
            { "percolate": { "field": "q", "index": "i", "id": "3" } },
            { "match": { "terms": { "query": "x" } } },
            { "geo_shape": { "at": { "indexed_shape": { "id": "4", "path": "a.b" } } } },
            { "geo_shape": { "at": { "shape": "POINT (1 2)" } } },
            { "percolate": { "field": "q", "document": { "terms": {
                "f": { "id": "9", "path": "p" } }, "mlt": { "like": { "_id": "8" } } } } },
        ] } });
        assert_eq!(names_in(&query), ["7", "1", "3", "4"]);
    }

    #[test]
    fn values_take_the_place_of_a_document() {
        let terms = json!({ "terms": { "user": { "index": "i", "id": "1", "path": "a.b" } } });
        let mut query = dsl::parse_query(&terms).unwrap();
        let mut missing = query.clone();
        let name = DocumentName {
            index: Some("i".to_string()),
            id: "1".to_string(),
            routing: None,
        };
        let source = json!({ "a": [{ "b": 1 }, { "b": [2, null, 3] }] });
        let found = Found { source, version: 1 };
        fill(&mut query, &Documents::from([(name, Some(found))])).unwrap();
        fill(&mut missing, &Documents::new()).unwrap();
        let values = |values: Value| dsl::parse_query(&json!({ "terms": { "user": values } }));
        assert_eq!(query, values(json!([1, 2, 3])).unwrap());
        assert_eq!(missing, values(json!([])).unwrap());
    }
}

//! Queries that name documents: before a query is read, what they hold is put in their place.
//! `terms` may take its values from a document, `more_like_this` its texts.

use axum::http::StatusCode;
use clew_engine::Index;
use serde_json::{Map, Value};

use crate::http::error::{ApiError, Cause};
use crate::state::call::Call;

/// Documents that one request may name.
const DOCUMENTS_MAX: usize = 1024;

/// A document that a query names.
struct Named {
    index: Option<String>,
    id: String,
    routing: Option<String>,
}

/// The source of a document and its version.
type Found = (Value, u64);

/// Puts the content of documents where a request's body names them; `expression` says which
/// indexes are searched.
pub(crate) async fn resolve(
    call: &Call,
    expression: &str,
    mut body: Value,
) -> Result<Value, ApiError> {
    let mut named = Vec::new();
    for_each_place(&mut body, &mut |place| {
        named.extend(document_of(place));
        Ok(())
    })?;
    if named.is_empty() {
        return Ok(body);
    }
    if named.len() > DOCUMENTS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "a request may name at most [{DOCUMENTS_MAX}] documents, got [{}]",
            named.len()
        )));
    }
    let mut documents = Vec::with_capacity(named.len());
    for one in named {
        documents.push(fetch(call, expression, one).await?);
    }
    let mut documents = documents.into_iter();
    for_each_place(&mut body, &mut |place| {
        if document_of(place).is_some() {
            fill(place, documents.next().flatten())?;
        }
        Ok(())
    })?;
    Ok(body)
}

/// Where a document may be named.
enum Place<'a> {
    /// The value of the field in a `terms` query.
    Terms(&'a mut Value),
    /// An item of `like` or `unlike`.
    Like(&'a mut Value),
    /// A `percolate` query.
    Percolate(&'a mut Value),
}

/// Walks the body in an order that stays the same.
fn for_each_place(
    value: &mut Value,
    each: &mut impl FnMut(&mut Place<'_>) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    match value {
        Value::Array(values) => values
            .iter_mut()
            .try_for_each(|value| for_each_place(value, each)),
        Value::Object(object) => {
            for (name, value) in object {
                match (name.as_str(), &mut *value) {
                    ("terms", Value::Object(fields)) => {
                        for (_, value) in fields {
                            each(&mut Place::Terms(value))?;
                        }
                    }
                    ("percolate", Value::Object(_)) => {
                        // What documents are made of is none of our business.
                        each(&mut Place::Percolate(value))?;
                        continue;
                    }
                    ("more_like_this" | "mlt", Value::Object(parameters)) => {
                        like(parameters, each)?
                    }
                    _ => {}
                }
                for_each_place(value, each)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn like(
    parameters: &mut Map<String, Value>,
    each: &mut impl FnMut(&mut Place<'_>) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    for name in ["like", "unlike"] {
        match parameters.get_mut(name) {
            Some(Value::Array(items)) => {
                for item in items {
                    like_item(item, each)?;
                }
            }
            Some(item) => like_item(item, each)?,
            None => {}
        }
    }
    Ok(())
}

fn like_item(
    item: &mut Value,
    each: &mut impl FnMut(&mut Place<'_>) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    // Once it is filled, a document that is named has both.
    if item.get("_id").is_some() && item.get("doc").is_some() {
        let reason = "failed to parse More Like This item. either [id] or [doc] can be specified, but \
                      not both!";
        let cause = Cause::new("parse_exception", reason);
        return Err(ApiError::new(StatusCode::BAD_REQUEST, cause));
    }
    each(&mut Place::Like(item))
}

fn document_of(place: &Place<'_>) -> Option<Named> {
    let (object, index, id, routing) = match place {
        Place::Terms(value) | Place::Percolate(value) => {
            (value.as_object()?, "index", "id", "routing")
        }
        Place::Like(value) => (value.as_object()?, "_index", "_id", "_routing"),
    };
    if matches!(place, Place::Terms(_)) && !object.contains_key("path") {
        return None;
    }
    if object.contains_key("doc") {
        return None;
    }
    let text = |name: &str| match object.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(value @ Value::Number(_)) => Some(value.to_string()),
        _ => None,
    };
    Some(Named {
        index: text(index),
        id: text(id)?,
        routing: text(routing).or_else(|| text("routing")),
    })
}

/// The source of a document; `None` when it does not exist.
async fn fetch(call: &Call, expression: &str, named: Named) -> Result<Option<Found>, ApiError> {
    let indices = match &named.index {
        Some(index) => call.indices_of(index).await?,
        None => call.indices_of(expression).await?,
    };
    let found = call
        .blocking(move |engine| {
            for index in &indices {
                let index: &Index = index;
                let routing = named.routing.as_deref();
                if let Some(found) = engine.get(index, &named.id, routing, true)? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        })
        .await?;
    found
        .map(|document| {
            let source = serde_json::from_slice(&document.source);
            let source = source.map_err(|error| ApiError::malformed_json(&error))?;
            Ok((source, document.version))
        })
        .transpose()
}

fn fill(place: &mut Place<'_>, document: Option<Found>) -> Result<(), ApiError> {
    let (document, version) = match document {
        Some((document, version)) => (Some(document), version),
        None => (None, 0),
    };
    match place {
        Place::Percolate(value) => return fill_percolate(value, document, version),
        Place::Terms(value) => {
            let path = value
                .get("path")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_string();
            let mut found = Vec::new();
            if let Some(document) = &document {
                values_at(document, &path, &mut found);
            }
            **value = Value::Array(found);
        }
        Place::Like(value) => {
            if let (Value::Object(item), Some(document)) = (&mut **value, document) {
                item.insert("doc".to_string(), document);
            }
        }
    }
    Ok(())
}

/// Puts a document in the place of its name, if it has the version that is asked for.
fn fill_percolate(
    value: &mut Value,
    document: Option<Value>,
    version: u64,
) -> Result<(), ApiError> {
    let Value::Object(members) = value else {
        return Ok(());
    };
    let text = |name: &str| match members.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let (index, id) = (text("index"), text("id"));
    let Some(document) = document else {
        return Err(ApiError::new(
            StatusCode::NOT_FOUND,
            Cause::new(
                "resource_not_found_exception",
                format!("indexed document [{index}/{id}] couldn't be found"),
            ),
        ));
    };
    let wanted = members.get("version").and_then(Value::as_u64);
    if wanted.is_some_and(|wanted| wanted != version) {
        let wanted = wanted.unwrap_or_default();
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
    for name in ["index", "type", "id", "routing", "preference", "version"] {
        members.remove(name);
    }
    members.insert("document".to_string(), document);
    Ok(())
}

/// The values at a path, in arrays too.
fn values_at(document: &Value, path: &str, found: &mut Vec<Value>) {
    match document {
        Value::Array(values) => {
            for value in values {
                values_at(value, path, found);
            }
        }
        Value::Object(object) => {
            if let Some(value) = object.get(path) {
                values_at(value, "", found);
            }
            for (at, _) in path.match_indices('.') {
                if let Some(inner) = object.get(&path[..at]) {
                    values_at(inner, &path[at + 1..], found);
                }
            }
        }
        Value::Null => {}
        scalar if path.is_empty() => found.push(scalar.clone()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_documents_are_looked_for() {
        let mut body = json!({
            "query": { "bool": { "filter": [
                { "terms": { "user": { "index": "i", "id": "1", "path": "followers" } } },
                { "terms": { "user": ["a", "b"] } },
                { "more_like_this": { "like": ["words", { "_id": 7 }, { "doc": { "a": "b" } }] } },
            ] } },
            "aggs": { "t": { "terms": { "field": "x", "order": { "_key": "asc" } } } },
        });
        let mut named = Vec::new();
        for_each_place(&mut body, &mut |place| {
            named.extend(document_of(place).map(|one| (one.index, one.id)));
            Ok(())
        })
        .unwrap();
        let index = Some("i".to_string());
        assert_eq!(named, [(index, "1".to_string()), (None, "7".to_string())]);
    }

    #[test]
    fn values_take_the_place_of_a_document() {
        let mut terms = json!({ "index": "i", "id": "1", "path": "a.b" });
        let document = json!({ "a": [{ "b": 1 }, { "b": [2, null, 3] }] });
        fill(&mut Place::Terms(&mut terms), Some((document, 1))).unwrap();
        assert_eq!(terms, json!([1, 2, 3]));
        fill(&mut Place::Terms(&mut terms), None).unwrap();
        assert_eq!(terms, json!([]));
    }
}

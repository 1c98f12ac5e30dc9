//! The description of the API in the terms of OpenAPI 3.1, for tools that generate clients,
//! pages or requests. Made from the table of routes, so that it cannot name a path that is not
//! served, nor miss one; the schemas of bodies and parameters are data beside this file.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::routes::{COMMON_PARAMS, Endpoint, Group, Wing, groups_of};
use crate::state::call::Call;

const SCHEMAS: &str = include_str!("schemas.json");
const PARAMETERS: &str = include_str!("parameters.json");
/// The name under which bodies of lines are told.
const LINES: &str = "Lines";

/// What is described, and its description once somebody asked for it.
#[derive(Default)]
pub(crate) struct Described {
    wings: OnceLock<&'static [Wing]>,
    description: OnceLock<Vec<u8>>,
}

impl Described {
    /// Takes what is served beside the own endpoints.
    pub(crate) fn set_wings(&self, wings: &'static [Wing]) {
        self.wings.get_or_init(|| wings);
    }
}

/// `GET /_openapi.json`.
pub(crate) async fn describe(call: Call) -> Result<Reply, ApiError> {
    let described = call.api.parts.get::<Described>();
    let wings = described.wings.get().copied().unwrap_or_default();
    let text = described
        .description
        .get_or_init(|| description(wings).to_string().into());
    Ok(Reply::raw_json(text.clone()))
}

/// The whole document, of this crate's endpoints and those of `wings`.
///
/// # Panics
/// When the schemas of a wing are not a JSON object; a test calls this with all there are.
fn description(wings: &'static [Wing]) -> Value {
    let known: Map<String, Value> =
        serde_json::from_str(PARAMETERS).expect("the file is compiled in and tested");
    let mut schemas = Map::new();
    for text in std::iter::once(SCHEMAS).chain(wings.iter().map(|wing| wing.schemas)) {
        let more: Map<String, Value> =
            serde_json::from_str(text).expect("the file is compiled in and tested");
        schemas.extend(more);
    }
    let mut paths = Map::new();
    let mut parameters = Map::new();
    for group in groups_of(wings) {
        for endpoint in group.endpoints {
            for path in endpoint.paths {
                let place = paths.entry(*path).or_insert_with(|| json!({}));
                for method in endpoint.methods.split(' ') {
                    let id = format!("{} {method} {path}", endpoint.name);
                    place[method.to_ascii_lowercase()] = operation(group, endpoint, path, id);
                }
                if takes_index_beside(endpoint, path) {
                    parameters.insert(
                        "query.index".to_string(),
                        parameter(&known, "query", "index"),
                    );
                }
                for name in path_names(path) {
                    parameters.insert(format!("path.{name}"), parameter(&known, "path", name));
                }
            }
        }
        for name in uri_names(group) {
            parameters.insert(format!("query.{name}"), parameter(&known, "query", name));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Clew",
            "description": "Search, vectors and documents, as OpenSearch 2.19 answers.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "paths": paths,
        "components": {"parameters": parameters, "schemas": schemas},
    })
}

fn operation(group: &Group, endpoint: &Endpoint, path: &str, id: String) -> Value {
    let reference = |place: &str, name: &str| json!({"$ref": format!("#/components/parameters/{place}.{name}")});
    let in_path = path_names(path).map(|name| reference("path", name));
    let index = takes_index_beside(endpoint, path).then_some("index");
    let in_uri = uri_names(group).into_iter().chain(index);
    let in_uri = in_uri.map(|name| reference("query", name));
    let error = json!({"$ref": "#/components/schemas/Error"});
    let mut operation = json!({
        "operationId": id,
        "tags": [group.class],
        "parameters": in_path.chain(in_uri).collect::<Vec<_>>(),
        "responses": {
            "200": {"description": "The answer."},
            "default": {
                "description": "Why there is no answer.",
                "content": {"application/json": {"schema": error}},
            },
        },
    });
    if let Some(schema) = endpoint.body {
        let media = if schema == LINES {
            "application/x-ndjson"
        } else {
            "application/json"
        };
        let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
        operation["requestBody"] = json!({"content": {media: {"schema": schema}}});
    }
    operation
}

/// Whether indexes are named among the parameters, where the path has no place for them.
fn takes_index_beside(endpoint: &Endpoint, path: &str) -> bool {
    endpoint.takes_index() && !path.contains("{index}")
}

fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn uri_names(group: &Group) -> BTreeSet<&'static str> {
    let own = group.params.iter().copied().flatten();
    COMMON_PARAMS.iter().chain(own).copied().collect()
}

/// A parameter of a kind that is not listed is text.
fn parameter(known: &Map<String, Value>, place: &str, name: &str) -> Value {
    let schema = known.get(&format!("{place}.{name}")).or(known.get(name));
    json!({
        "name": name,
        "in": place,
        "required": place == "path",
        "schema": schema.cloned().unwrap_or_else(|| json!({"type": "string"})),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every `$ref` anywhere in a value.
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(target)) = members.get("$ref") {
                    found.insert(target.clone());
                }
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_has_its_target_and_every_schema_is_used() {
        let document = description(&[]);
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for target in &found {
            let pointer = target.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{target}");
        }
        for name in document["components"]["schemas"]
            .as_object()
            .unwrap()
            .keys()
        {
            assert!(
                found.contains(&format!("#/components/schemas/{name}")),
                "{name}"
            );
        }
    }

    #[test]
    fn every_route_is_described_under_a_name_of_its_own() {
        let document = description(&[]);
        let mut ids = BTreeSet::new();
        for group in groups_of(&[]) {
            for endpoint in group.endpoints {
                for path in endpoint.paths {
                    for method in endpoint.methods.split(' ') {
                        let operation = &document["paths"][*path][method.to_ascii_lowercase()];
                        let id = operation["operationId"].as_str().unwrap();
                        assert!(ids.insert(id.to_string()), "{id}");
                    }
                }
            }
        }
        assert!(ids.len() > 200);
        let search = &document["paths"]["/{index}/_search"]["post"];
        assert_eq!(
            search["requestBody"]["content"]["application/json"]["schema"]["$ref"],
            "#/components/schemas/Search"
        );
        let size = &document["components"]["parameters"]["query.size"];
        assert_eq!(size["schema"]["type"], "integer");
    }
}

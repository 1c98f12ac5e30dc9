//! The body of Elasticsearch's `_bulk`, and the answer to it: actions, each with its document behind it, and an item for each.

use clew_schema::percent::{Plus, decoded};
use serde_json::{Map, Value, json};

use super::answer::Refused;
use super::documents::{DOCUMENTS_MAX, Documents, SenderSaid};
use crate::metadata::{wrong_with_id, wrong_with_index};

/// What a request says of all its actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OfAll {
    pub(super) index: Option<String>,
    pub(super) pipeline: Option<String>,
    pub(super) routing: Option<String>,
}

impl OfAll {
    /// What is in the path, which names an index in front of `/_bulk`, and behind the question mark.
    pub(super) fn new(path: &str, query: Option<&str>) -> Self {
        let index = path.trim_start_matches('/').split('/').next();
        let mut of_all = OfAll {
            index: index
                .filter(|index| !index.is_empty())
                .map(|index| plain(index, Plus::IsPlus)),
            ..OfAll::default()
        };
        for pair in query.unwrap_or_default().split('&') {
            match pair.split_once('=') {
                Some(("pipeline", name)) => of_all.pipeline = Some(plain(name, Plus::IsSpace)),
                Some(("routing", name)) => of_all.routing = Some(plain(name, Plus::IsSpace)),
                _ => {}
            }
        }
        of_all
    }
}

/// A part of an address without its `%XX`; one that is written wrongly stays as it is.
fn plain(text: &str, plus: Plus) -> String {
    match decoded(text, plus) {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        None => text.to_owned(),
    }
}

/// What was made of the actions, in their order.
#[derive(Debug, Default)]
pub(super) struct Actions {
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    action: String,
    /// The index that the action or the request names.
    index: Option<String>,
    id: Option<String>,
    pipeline: Option<String>,
    routing: Option<String>,
    /// Why it was not taken.
    wrong: Option<Wrong>,
}

/// Why an action was not taken: what it is called, and in words.
#[derive(Debug)]
struct Wrong(&'static str, String);

/// What events are of whose senders name no index.
const NO_INDEX: &str = "bulk";

/// Takes a body apart. An action that is not `index` or `create`, whose index or id has no name that one can have, or whose
/// document is none, is answered as wrong; a body that is no list of actions is refused as a whole.
pub(super) fn read(
    body: &[u8],
    of_all: &OfAll,
    documents: &mut Documents,
) -> Result<Actions, Refused> {
    let text = std::str::from_utf8(body)
        .map_err(|error| Refused::Invalid(format!("the body is not UTF-8: {error}")))?;
    let mut actions = Actions::default();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        if actions.items.len() >= DOCUMENTS_MAX {
            let reason = format!("more than {DOCUMENTS_MAX} actions in a request");
            return Err(Refused::Invalid(reason));
        }
        let wrong = |reason: &str| Refused::Invalid(format!("line {}: {reason}", number + 1));
        let mut item = action(line, of_all).map_err(wrong)?;
        if item.action != "delete" {
            let (_, document) = lines
                .next()
                .ok_or_else(|| wrong("the action has no document"))?;
            if item.wrong.is_none() {
                let dataset = item.index.as_deref().unwrap_or(NO_INDEX);
                let added = documents.add(document, dataset, item.said());
                item.wrong = added
                    .err()
                    .map(|reason| Wrong("mapper_parsing", format!("failed to parse: {reason}")));
            }
        }
        actions.items.push(item);
    }
    Ok(actions)
}

/// Reads `{"create":{"_index":"i","_id":"1"}}`.
fn action(line: &str, of_all: &OfAll) -> Result<Item, &'static str> {
    let read: Map<String, Value> =
        serde_json::from_str(line).map_err(|_| "an action is an object of JSON")?;
    // What stands behind its first member is its sender's own, as the attempts of winston-elasticsearch.
    let Some((action, mut parameters)) = read.into_iter().next() else {
        return Err("an action has one member");
    };
    let mut text = |name: &str| match parameters.get_mut(name).map(Value::take) {
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let mut item = Item {
        index: text("_index").or_else(|| of_all.index.clone()),
        id: text("_id"),
        pipeline: text("pipeline").or_else(|| of_all.pipeline.clone()),
        routing: text("routing")
            .or_else(|| text("_routing"))
            .or_else(|| of_all.routing.clone()),
        action,
        wrong: None,
    };
    item.wrong = match item.action.as_str() {
        "index" | "create" => item.wrong(),
        "update" | "delete" => {
            let reason = format!("the collector takes no [{}]", item.action);
            Some(Wrong("illegal_argument", reason))
        }
        _ => return Err("an action is index, create, update or delete"),
    };
    Ok(item)
}

impl Actions {
    /// The answer once everything that could be taken is delivered.
    pub(super) fn answer(self, took_ms: u128) -> Value {
        let errors = self.items.iter().any(|item| item.wrong.is_some());
        let items: Vec<Value> = self.items.into_iter().map(Item::answer).collect();
        json!({"took": took_ms, "errors": errors, "items": items})
    }
}

impl Item {
    /// What is wrong with its index or its id.
    fn wrong(&self) -> Option<Wrong> {
        if let Some(index) = &self.index
            && let Some(reason) = wrong_with_index(index)
        {
            let reason = format!("Invalid index name [{index}], {reason}");
            return Some(Wrong("invalid_index_name", reason));
        }
        let reason = wrong_with_id(self.id.as_ref()?)?;
        Some(Wrong("illegal_argument", reason))
    }

    /// What goes with its document.
    fn said(&self) -> SenderSaid {
        let members = [
            ("_index", &self.index),
            ("_id", &self.id),
            ("pipeline", &self.pipeline),
            ("routing", &self.routing),
        ];
        let member = |(name, value): (&str, &Option<String>)| {
            let value = value.clone()?;
            Some((name.to_owned(), Value::String(value)))
        };
        let mut metadata: Map<String, Value> = members.into_iter().filter_map(member).collect();
        metadata.insert("op_type".to_owned(), self.action.as_str().into());
        SenderSaid {
            id: self.id.clone(),
            metadata,
        }
    }

    fn answer(self) -> Value {
        let mut outcome = Map::new();
        let index = self.index.unwrap_or_else(|| NO_INDEX.to_owned());
        outcome.insert("_index".to_owned(), index.into());
        // Where the sender gives none, the collector's is not told.
        outcome.extend(self.id.map(|id| ("_id".to_owned(), id.into())));
        match self.wrong {
            None => outcome.extend([
                ("result".to_owned(), "created".into()),
                ("status".to_owned(), 201.into()),
            ]),
            Some(Wrong(kind, reason)) => outcome.extend([
                ("status".to_owned(), 400.into()),
                ("error".to_owned(), cause(kind, &reason)),
            ]),
        }
        Value::Object(Map::from_iter([(self.action, Value::Object(outcome))]))
    }
}

/// What is wrong, as clients of Elasticsearch are told it.
pub(super) fn cause(kind: &str, reason: &str) -> Value {
    json!({"type": format!("{kind}_exception"), "reason": reason})
}

#[cfg(test)]
mod tests;

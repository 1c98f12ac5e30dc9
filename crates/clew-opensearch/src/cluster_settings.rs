//! Settings of the whole cluster. None changes anything here; they are kept while the process
//! lives, because tools set them and then read them back.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;
use crate::search::Expensive;
use crate::settings::{flatten_plain, shown, unflatten};

/// Settings kept at most, so that a client cannot fill the memory with them.
const SETTINGS_MAX: usize = 10_000;

type Kept = BTreeMap<String, String>;

/// The settings of both kinds.
#[derive(Default)]
pub(crate) struct ClusterSettings {
    kept: Mutex<Both>,
}

#[derive(Clone, Default)]
struct Both {
    persistent: Kept,
    transient: Kept,
}

/// `GET /_cluster/settings`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let flat = call.params.flag("flat_settings", false)?;
    let both = call.api.cluster_settings.lock().clone();
    let mut body = json!({
        "persistent": render(&both.persistent, flat),
        "transient": render(&both.transient, flat),
    });
    if call.params.flag("include_defaults", false)?
        && let Value::Object(body) = &mut body
    {
        body.insert("defaults".to_string(), json!({}));
    }
    Ok(Reply::json(&body))
}

/// `PUT /_cluster/settings`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let body = call.json_object()?;
    let flat = call.params.flag("flat_settings", false)?;
    let mut changed = Both::default();
    let mut both = call.api.cluster_settings.lock();
    let mut next = both.clone();
    for (name, value) in body.as_object().into_iter().flatten() {
        let (kept, changed) = match name.as_str() {
            "persistent" => (&mut next.persistent, &mut changed.persistent),
            "transient" => (&mut next.transient, &mut changed.transient),
            other => {
                return Err(ApiError::bad_request(
                    "x_content_parse_exception",
                    format!("[cluster_update_settings_request] unknown field [{other}]"),
                ));
            }
        };
        let empty = Map::new();
        for (name, text) in flatten_plain(value.as_object().unwrap_or(&empty))? {
            match text {
                Some(text) => {
                    kept.insert(name.clone(), text.clone());
                    changed.insert(name, text);
                }
                None => {
                    kept.remove(&name);
                }
            }
        }
    }
    if next.persistent.len() + next.transient.len() > SETTINGS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "more than [{SETTINGS_MAX}] cluster settings"
        )));
    }
    if body.as_object().is_none_or(Map::is_empty) {
        return Err(ApiError::validation("no settings to update"));
    }
    call.api.engine.set_buckets_max(buckets_max(&next)?);
    *both = next;
    Ok(Reply::json(&json!({
        "acknowledged": true,
        "persistent": render(&changed.persistent, flat),
        "transient": render(&changed.transient, flat),
    })))
}

/// How many buckets a search may have (`search.max_buckets`).
fn buckets_max(both: &Both) -> Result<usize, ApiError> {
    let name = "search.max_buckets";
    let given = both.transient.get(name).or(both.persistent.get(name));
    let Some(text) = given else {
        return Ok(clew_text::AggLimits::default().buckets_max);
    };
    text.trim_matches('"').parse().map_err(|_| {
        ApiError::illegal_argument(format!(
            "Failed to parse value [{text}] for setting [{name}]"
        ))
    })
}

impl ClusterSettings {
    /// Whether searches may run costly queries (`search.allow_expensive_queries`).
    pub(crate) fn expensive_queries(&self) -> Expensive {
        let both = self.lock();
        let name = "search.allow_expensive_queries";
        let given = both.transient.get(name).or(both.persistent.get(name));
        match given.map(String::as_str) {
            Some("false" | "\"false\"") => Expensive::Refused,
            _ => Expensive::Allowed,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Both> {
        // The maps are replaced whole, so a panic elsewhere cannot leave them half changed.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn render(kept: &Kept, flat: bool) -> Value {
    let pairs = kept
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    if flat {
        Value::Object(
            pairs
                .map(|(name, text)| (name.to_string(), shown(text)))
                .collect(),
        )
    } else {
        Value::Object(unflatten(pairs))
    }
}

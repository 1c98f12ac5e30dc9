//! `_cluster/settings`: reads and changes the settings of the whole cluster.

use serde_json::{Map, Value, json};

use super::usual_settings;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::{flatten_plain, settings_json};
use crate::state::call::Call;
use crate::state::cluster_settings;
use crate::state::cluster_settings::{Changes, Kept};

/// `GET /_cluster/settings`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let flat = call.params.flag("flat_settings", false)?;
    let both = call.api.cluster_settings.both();
    let mut body = json!({
        "persistent": settings_json(&both.persistent, flat),
        "transient": settings_json(&both.transient, flat),
    });
    if call.params.flag("include_defaults", false)?
        && let Value::Object(body) = &mut body
    {
        let unset = usual_settings::unset(&call.api, &both);
        body.insert("defaults".to_string(), settings_json(&unset, flat));
    }
    Ok(Reply::json(&body))
}

/// `PUT /_cluster/settings`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let body = call.json_object()?;
    let flat = call.params.flag("flat_settings", false)?;
    let (persistent, transient) = call.read(&body, read_changes)?;
    if persistent.is_empty() && transient.is_empty() {
        return Err(ApiError::validation("no settings to update"));
    }
    let answer = json!({
        "acknowledged": true,
        "persistent": settings_json(&set_by(&persistent), flat),
        "transient": settings_json(&set_by(&transient), flat),
    });
    let glsn = cluster_settings::change(&call, persistent, transient).await?;
    Ok(Reply::json(&answer).at(glsn))
}

/// What a request changes among the persistent and the transient settings.
fn read_changes(body: &Value) -> Result<(Changes, Changes), ApiError> {
    let (mut persistent, mut transient) = (Changes::new(), Changes::new());
    for (name, value) in body.as_object().into_iter().flatten() {
        let changes = match name.as_str() {
            "persistent" => &mut persistent,
            "transient" => &mut transient,
            // Others are passed over, as there.
            _ => continue,
        };
        let empty = Map::new();
        changes.extend(flatten_plain(value.as_object().unwrap_or(&empty))?);
    }
    Ok((persistent, transient))
}

fn set_by(changes: &Changes) -> Kept {
    let set = |(name, text): (&String, &Option<String>)| Some((name.clone(), text.clone()?));
    changes.iter().filter_map(set).collect()
}

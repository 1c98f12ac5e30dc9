//! Index settings as clients write them (nested or flat, with or without `index.`, numbers or
//! strings) and as the engine takes them. What the engine does not know is kept and shown again.

use std::time::Duration;

use clew_engine::{Block, IndexSettings, MERGE_REORDER, TranslogDurability};
use serde_json::{Map, Value};

use crate::http::error::ApiError;
use crate::http::setting_values::{Flat, flatten_plain, parse_bytes, parse_time};

/// Settings that only the server itself gives an index.
pub(crate) const PRIVATE: &str = "index.clew.";
const SHARDS: &str = "index.number_of_shards";
/// Before the settings of the schemes that fields are scored by.
pub(crate) const SIMILARITY: &str = "index.similarity.";
const SHARDS_MAX: u32 = 1024;
const REFRESH_INTERVAL: &str = "index.refresh_interval";
const DURABILITY: &str = "index.translog.durability";
const SYNC_INTERVAL: &str = "index.translog.sync_interval";
const SYNC_INTERVAL_MIN: Duration = Duration::from_millis(100);
const FLUSH_THRESHOLD: &str = "index.translog.flush_threshold_size";
const EF_SEARCH: &str = "index.knn.algo_param.ef_search";
const HIDDEN: &str = "index.hidden";
const MAX_RESULT_WINDOW: &str = "index.max_result_window";

/// Flattens `{"index":{"a":{"b":1}},"c.d":"x"}` to `index.a.b` and `index.c.d`.
pub(crate) fn flatten(settings: &Map<String, Value>) -> Result<Flat, ApiError> {
    let mut flat = Flat::new();
    for (name, value) in flatten_plain(settings)? {
        let name = if name.starts_with("index.") {
            name
        } else {
            format!("index.{name}")
        };
        flat.insert(name, value);
    }
    Ok(flat)
}

/// Settings of a new index.
pub(crate) fn create(flat: &Flat) -> Result<IndexSettings, ApiError> {
    let mut settings = IndexSettings::default();
    if let Some(Some(text)) = flat.get(SHARDS) {
        settings.shards = bounded(SHARDS, text, 1, u64::from(SHARDS_MAX))
            .and_then(|number| u32::try_from(number).map_err(|_| not_a_number(SHARDS, text)))?;
    }
    merge(&mut settings, flat)?;
    settings
        .given
        .insert(SHARDS.to_string(), settings.shards.to_string());
    Ok(settings)
}

/// Settings of an existing index after an update.
pub(crate) fn update(
    current: &IndexSettings,
    flat: &Flat,
    index: &str,
    uuid: &str,
) -> Result<IndexSettings, ApiError> {
    let shards = current.shards.to_string();
    let is_fixed = |(name, asked): &(&String, &Option<String>)| {
        let current = match name.as_str() {
            SHARDS => Some(shards.as_str()),
            name if name.starts_with(SIMILARITY) => current.given.get(name).map(String::as_str),
            _ => return false,
        };
        asked.as_deref() != current
    };
    if let Some((name, _)) = flat.iter().find(is_fixed) {
        return Err(ApiError::illegal_argument(format!(
            "Can't update non dynamic settings [[{name}]] for open indices [[{index}/{uuid}]]"
        )));
    }
    let mut settings = current.clone();
    merge(&mut settings, flat)?;
    Ok(settings)
}

fn merge(settings: &mut IndexSettings, flat: &Flat) -> Result<(), ApiError> {
    let defaults = IndexSettings::default();
    if let Some(name) = flat.keys().find(|name| name.starts_with(PRIVATE)) {
        return Err(ApiError::illegal_argument(format!(
            "private index setting [{name}] can not be set explicitly"
        )));
    }
    for (name, value) in flat {
        let text = value.as_deref();
        match name.as_str() {
            REFRESH_INTERVAL => {
                settings.refresh_interval =
                    text.map_or(Ok(defaults.refresh_interval), parse_refresh_interval)?;
            }
            DURABILITY => {
                settings.durability = text.map_or(Ok(defaults.durability), parse_durability)?;
            }
            SYNC_INTERVAL => {
                settings.sync_interval =
                    text.map_or(Ok(defaults.sync_interval), parse_sync_interval)?;
            }
            FLUSH_THRESHOLD => {
                let default = Ok(defaults.flush_threshold_bytes);
                settings.flush_threshold_bytes =
                    text.map_or(default, |text| parse_bytes(FLUSH_THRESHOLD, text))?;
            }
            EF_SEARCH => {
                settings.ef_search =
                    text.map_or(Ok(defaults.ef_search), |text| count(EF_SEARCH, text, 2))?;
            }
            MAX_RESULT_WINDOW => {
                let default = Ok(defaults.max_result_window);
                settings.max_result_window =
                    text.map_or(default, |text| count(MAX_RESULT_WINDOW, text, 1))?;
            }
            REPLICAS | TOTAL_FIELDS | DEPTH => {
                text.map(|text| bounded(name, text, 0, u64::from(u32::MAX)))
                    .transpose()?;
            }
            FIELD_NAME_LENGTH => {
                text.map(|text| bounded(name, text, 1, u64::MAX))
                    .transpose()?;
            }
            _ => {
                if let Some(block) = block_of(name) {
                    let block_set = text.map_or(Ok(false), |text| boolean(name, text))?;
                    settings.blocks.retain(|kept| *kept != block);
                    settings.blocks.extend(block_set.then_some(block));
                    settings.blocks.sort_unstable();
                } else if [HIDDEN, MERGE_REORDER].contains(&name.as_str()) {
                    text.map(|text| boolean(name, text)).transpose()?;
                }
            }
        }
        match text {
            Some(text) => settings.given.insert(name.clone(), text.to_string()),
            None => settings.given.remove(name),
        };
    }
    Ok(())
}

const REPLICAS: &str = "index.number_of_replicas";
const TOTAL_FIELDS: &str = "index.mapping.total_fields.limit";
const DEPTH: &str = "index.mapping.depth.limit";
const FIELD_NAME_LENGTH: &str = "index.mapping.field_name_length.limit";

/// The block that a setting sets.
fn block_of(name: &str) -> Option<Block> {
    let name = name.strip_prefix("index.blocks.")?;
    Block::ALL.into_iter().find(|block| block.name() == name)
}

fn boolean(name: &str, text: &str) -> Result<bool, ApiError> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(ApiError::illegal_argument(format!(
            "Failed to parse value [{other}] of [{name}] as only [true] or [false] are allowed."
        ))),
    }
}

/// Zero and -1 both mean that nobody refreshes unless asked.
fn parse_refresh_interval(text: &str) -> Result<Option<Duration>, ApiError> {
    Ok(parse_time(REFRESH_INTERVAL, text)?.filter(|interval| !interval.is_zero()))
}

fn parse_durability(text: &str) -> Result<TranslogDurability, ApiError> {
    match text.to_ascii_lowercase().as_str() {
        "request" => Ok(TranslogDurability::Request),
        "async" => Ok(TranslogDurability::Async),
        _ => Err(ApiError::illegal_argument(format!(
            "unknown value for [{DURABILITY}] must be one of [REQUEST, ASYNC] but was: {text}"
        ))),
    }
}

fn parse_sync_interval(text: &str) -> Result<Duration, ApiError> {
    parse_time(SYNC_INTERVAL, text)?
        .filter(|every| *every >= SYNC_INTERVAL_MIN)
        .ok_or_else(|| {
            ApiError::illegal_argument(format!(
                "failed to parse value [{text}] for setting [{SYNC_INTERVAL}], must be >= [100ms]"
            ))
        })
}

fn count(name: &str, text: &str, min: u64) -> Result<usize, ApiError> {
    let number = bounded(name, text, min, u64::from(u32::MAX >> 1))?;
    usize::try_from(number).map_err(|_| not_a_number(name, text))
}

fn bounded(name: &str, text: &str, min: u64, max: u64) -> Result<u64, ApiError> {
    let number: i64 = text.parse().map_err(|_| not_a_number(name, text))?;
    match u64::try_from(number) {
        Ok(number) if number > max => Err(ApiError::illegal_argument(format!(
            "Failed to parse value [{text}] for setting [{name}] must be <= {max}"
        ))),
        Ok(number) if number >= min => Ok(number),
        _ => Err(ApiError::illegal_argument(format!(
            "Failed to parse value [{text}] for setting [{name}] must be >= {min}"
        ))),
    }
}

fn not_a_number(name: &str, text: &str) -> ApiError {
    ApiError::illegal_argument(format!(
        "Failed to parse value [{text}] for setting [{name}]"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::setting_values::unflatten;
    use serde_json::json;

    fn parsed(settings: Value) -> Result<IndexSettings, ApiError> {
        create(&flatten(settings.as_object().unwrap()).unwrap())
    }

    #[test]
    fn every_way_of_writing_a_setting_means_the_same() {
        for settings in [
            json!({"index": {"number_of_shards": 3, "translog": {"durability": "ASYNC"}}}),
            json!({"number_of_shards": "3", "translog.durability": "async"}),
            json!({"index.number_of_shards": 3, "index": {"translog.durability": "async"}}),
        ] {
            let settings = parsed(settings).unwrap();
            assert_eq!(settings.shards, 3);
            assert_eq!(settings.durability, TranslogDurability::Async);
            assert_eq!(settings.given["index.number_of_shards"], "3");
        }
    }

    #[test]
    fn a_vector_workload_is_understood_and_shown_again() {
        let settings = parsed(json!({"index": {
            "replication": {"type": "DOCUMENT"}, "refresh_interval": "0s",
            "number_of_shards": "18",
            "translog": {"flush_threshold_size": "1gb", "sync_interval": "30s",
                         "durability": "async"},
            "knn.algo_param": {"ef_search": "64"}, "provided_name": "msmarco", "knn": "true",
            "number_of_replicas": "0"}}))
        .unwrap();
        assert_eq!(settings.shards, 18);
        assert_eq!(settings.refresh_interval, None);
        assert_eq!(settings.flush_threshold_bytes, 1 << 30);
        assert_eq!(settings.sync_interval, Duration::from_secs(30));
        assert_eq!(settings.ef_search, 64);
        let given = settings.given.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        let shown = Value::Object(unflatten(given));
        assert_eq!(shown["index"]["replication"]["type"], "DOCUMENT");
        assert_eq!(shown["index"]["knn"], "true");
        assert_eq!(shown["index"]["knn.algo_param"]["ef_search"], "64");
    }

    #[test]
    fn values_out_of_bounds_are_refused() {
        for settings in [
            json!({"number_of_shards": 0}),
            json!({"number_of_shards": 1025}),
            json!({"number_of_shards": "many"}),
            json!({"refresh_interval": "1x"}),
            json!({"translog.durability": "never"}),
            json!({"translog.sync_interval": "1ms"}),
            json!({"translog.flush_threshold_size": "1"}),
            json!({"max_result_window": 0}),
            json!({"refresh_interval": "99999999999999999d"}),
        ] {
            let text = settings.to_string();
            assert!(parsed(settings).is_err(), "{text}");
        }
    }

    #[test]
    fn null_brings_the_default_back_and_shards_never_change() {
        let current = parsed(json!({"refresh_interval": "30s", "x.y": 1})).unwrap();
        let flat = flatten(json!({"refresh_interval": null}).as_object().unwrap()).unwrap();
        let updated = update(&current, &flat, "i", "u").unwrap();
        assert_eq!(
            updated.refresh_interval,
            IndexSettings::default().refresh_interval
        );
        assert_eq!(updated.given.get("index.refresh_interval"), None);
        assert_eq!(updated.given["index.x.y"], "1");
        let flat = flatten(json!({"number_of_shards": 2}).as_object().unwrap()).unwrap();
        assert!(update(&current, &flat, "i", "u").is_err());
    }
}

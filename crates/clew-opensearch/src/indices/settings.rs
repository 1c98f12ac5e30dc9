//! Index settings as clients write them (nested or flat, with or without `index.`, numbers or
//! strings) and as the engine takes them. What the engine does not know is kept and shown again.

use std::collections::BTreeMap;
use std::time::Duration;

use clew_analysis::Analysis;
use clew_engine::{
    Block, CatalogChange, EngineError, Index, IndexSettings, MergeOrder, SettingsChange,
    TranslogDurability,
};
use clew_opensearch_mapping::{check_space, reason};
use clew_schema::MappingLimits;
use serde_json::{Map, Value};

use crate::http::error::ApiError;
use crate::http::setting_values::{Flat, flatten_plain, parse_bytes, parse_time, unflatten};
use crate::indices::analyze::part_limits;
use crate::indices::known_settings;
use crate::state::slow_log;

/// Settings that only the server itself gives an index.
pub(crate) const PRIVATE: &str = "index.clew.";
/// Where data streams stood among the settings before these were typed.
const DATA_STREAM: &str = "index.clew.data_stream";
/// Before the settings that forbid something.
pub(crate) const BLOCKS: &str = "index.blocks.";
/// Into how many slots routing keys fall.
pub(crate) const ROUTING_SLOTS: &str = "index.number_of_routing_shards";
const REPLICAS: &str = "index.number_of_replicas";
/// How copies come by their documents; OpenSearch gives it to every new index, and clients read it from there.
const REPLICATION: &str = "index.replication.type";
const REPLICATION_DEFAULT: &str = "DOCUMENT";
const CODEC: &str = "index.codec";
/// What sources can be asked to be compressed by. All are kept and shown; they are compressed in one way.
const CODECS: [&str; 9] = [
    "default",
    "lucene_default",
    "lz4",
    "best_compression",
    "zlib",
    "zstd",
    "zstd_no_dict",
    "qat_lz4",
    "qat_deflate",
];
const MERGE_REORDER: &str = "index.merge.reorder";
const SHARDS: &str = "index.number_of_shards";
/// Before the settings of the schemes that fields are scored by.
pub(crate) const SIMILARITY: &str = "index.similarity.";
/// Before the settings that make analyzers.
const ANALYSIS: &str = "index.analysis.";
const SHARDS_MAX: u32 = 1024;
const REFRESH_INTERVAL: &str = "index.refresh_interval";
const DURABILITY: &str = "index.translog.durability";
const SYNC_INTERVAL: &str = "index.translog.sync_interval";
const SYNC_INTERVAL_MIN: Duration = Duration::from_millis(100);
const FLUSH_THRESHOLD: &str = "index.translog.flush_threshold_size";
const EF_SEARCH: &str = "index.knn.algo_param.ef_search";
/// The space of vectors whose fields name none.
pub(crate) const SPACE_TYPE: &str = "index.knn.space_type";
const IGNORE_MALFORMED: &str = "index.mapping.ignore_malformed";
const COERCE: &str = "index.mapping.coerce";
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
    check_slots(&settings)?;
    let shards = settings.shards.to_string();
    settings.given.insert(SHARDS.to_string(), shards);
    let replication = settings.given.entry(REPLICATION.to_string());
    replication.or_insert_with(|| REPLICATION_DEFAULT.to_string());
    Ok(settings)
}

/// Refuses slots that the shards cannot share equally.
fn check_slots(settings: &IndexSettings) -> Result<(), ApiError> {
    let shards = settings.shards;
    let Some(slots) = settings.routing_slots else {
        return Ok(());
    };
    if slots < shards {
        return Err(ApiError::illegal_argument(format!(
            "index.number_of_routing_shards [{slots}] must be >= index.number_of_shards [{shards}]"
        )));
    }
    if !slots.is_multiple_of(shards) {
        return Err(ApiError::illegal_argument(format!(
            "the number of source shards [{shards}] must be a factor of [{slots}]"
        )));
    }
    Ok(())
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
            name if [ROUTING_SLOTS, IGNORE_MALFORMED, COERCE].contains(&name)
                || name.starts_with(SIMILARITY) =>
            {
                current.given.get(name).map(String::as_str)
            }
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
    if let Some(name) = flat.keys().find(|name| name.starts_with(PRIVATE)) {
        return Err(ApiError::illegal_argument(format!(
            "private index setting [{name}] can not be set explicitly"
        )));
    }
    flat.iter()
        .try_for_each(|(name, value)| set(settings, name, value.as_deref()))
}

/// Gives one setting another value, or the one that it has when nobody says anything.
///
/// # Errors
/// A value that it cannot have.
pub(crate) fn set(
    settings: &mut IndexSettings,
    name: &str,
    text: Option<&str>,
) -> Result<(), ApiError> {
    take(settings, name, text)?;
    match text {
        Some(text) => settings.given.insert(name.to_string(), text.to_string()),
        None => settings.given.remove(name),
    };
    Ok(())
}

/// What the engine acts on.
fn take(settings: &mut IndexSettings, name: &str, text: Option<&str>) -> Result<(), ApiError> {
    let usual = IndexSettings::default();
    match name {
        REFRESH_INTERVAL => {
            settings.refresh_interval =
                text.map_or(Ok(usual.refresh_interval), parse_refresh_interval)?;
        }
        DURABILITY => {
            settings.durability = text.map_or(Ok(usual.durability), parse_durability)?;
        }
        SYNC_INTERVAL => {
            settings.sync_interval = text.map_or(Ok(usual.sync_interval), parse_sync_interval)?;
        }
        FLUSH_THRESHOLD => {
            let bytes = |text| parse_bytes(FLUSH_THRESHOLD, text);
            settings.flush_threshold_bytes = text.map_or(Ok(usual.flush_threshold_bytes), bytes)?;
        }
        EF_SEARCH => {
            let wide = |text| count(EF_SEARCH, text, 2);
            settings.ef_search = text.map_or(Ok(usual.ef_search), wide)?;
        }
        SPACE_TYPE => {
            let checked = text.map(check_space).transpose();
            checked.map_err(|error| ApiError::illegal_argument(reason(&error)))?;
        }
        MAX_RESULT_WINDOW => {
            let long = |text| count(MAX_RESULT_WINDOW, text, 1);
            settings.max_result_window = text.map_or(Ok(usual.max_result_window), long)?;
        }
        CODEC => text.map_or(Ok(()), check_codec)?,
        REPLICAS => {
            text.map(|text| bounded(name, text, 0, u64::from(u32::MAX)))
                .transpose()?;
        }
        ROUTING_SLOTS => {
            let slots = text.map(|text| number(name, text, 1)).transpose()?;
            settings.routing_slots = slots;
        }
        HIDDEN => {
            settings.hidden = text.map_or(Ok(false), |text| boolean(name, text))?;
        }
        IGNORE_MALFORMED => {
            settings.mapping_limits.ignores_malformed =
                text.map_or(Ok(false), |text| boolean(name, text))?;
        }
        COERCE => {
            let coerces = text.map_or(Ok(true), |text| boolean(name, text))?;
            settings.mapping_limits.coerces_nothing = !coerces;
        }
        MERGE_REORDER => {
            let similar = text.map_or(Ok(false), |text| boolean(name, text))?;
            settings.merge_order = if similar {
                MergeOrder::Similar
            } else {
                MergeOrder::Stacked
            };
        }
        _ => {
            if let Some(block) = block_of(name) {
                let block_set = text.map_or(Ok(false), |text| boolean(name, text))?;
                settings.blocks.retain(|kept| *kept != block);
                settings.blocks.extend(block_set.then_some(block));
                settings.blocks.sort_unstable();
            } else if !slow_log::set(&mut settings.slow, name, text)? {
                take_limit(&mut settings.mapping_limits, name, text)?;
            }
        }
    }
    Ok(())
}

/// A codec is one of a few, or goes by the name of Lucene's class, which begins with a capital.
fn check_codec(text: &str) -> Result<(), ApiError> {
    let is_class = text.starts_with(|first: char| first.is_ascii_uppercase());
    if CODECS.contains(&text) || is_class {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "unknown value for [{CODEC}] must be one of [default, lz4, best_compression, zlib] but is: {text}"
    )))
}

/// A limit of the mapping, when it is one.
fn take_limit(limits: &mut MappingLimits, name: &str, text: Option<&str>) -> Result<(), ApiError> {
    let usual = MappingLimits::default();
    let (limit, usual, min) = match name {
        "index.mapping.total_fields.limit" => (&mut limits.fields_max, usual.fields_max, 0),
        "index.mapping.depth.limit" => (&mut limits.depth_max, usual.depth_max, 1),
        "index.mapping.nested_fields.limit" => {
            (&mut limits.nested_fields_max, usual.nested_fields_max, 0)
        }
        "index.mapping.nested_objects.limit" => {
            (&mut limits.nested_objects_max, usual.nested_objects_max, 0)
        }
        "index.mapping.field_name_length.limit" => {
            (&mut limits.name_chars_max, usual.name_chars_max, 1)
        }
        _ => return Ok(()),
    };
    *limit = match text {
        None => usual,
        Some(text) => {
            let asked = bounded(name, text, min, u64::MAX)?;
            usize::try_from(asked).unwrap_or(usize::MAX)
        }
    };
    Ok(())
}

/// The settings of indexes that were made before all of them were typed. What they said that could not be understood
/// has always counted for nothing.
pub fn read_untyped(settings: &mut IndexSettings) {
    settings.data_stream = settings.given.remove(DATA_STREAM);
    for (name, text) in settings.given.clone() {
        if let Err(error) = take(settings, &name, Some(&text)) {
            tracing::debug!(
                name,
                text,
                reason = error.reason(),
                "an old setting says nothing"
            );
        }
    }
}

/// A refusal of settings as the engine passes it on.
pub(super) fn refused(error: &ApiError) -> EngineError {
    EngineError::InvalidSetting {
        reason: error.reason(),
    }
}

/// What gives an index these settings beside those that it has when it is done.
///
/// # Errors
/// Settings that cannot change, or whose values are wrong.
pub(crate) fn change(index: &Index, flat: &Flat) -> Result<CatalogChange, ApiError> {
    // What is wrong is told before anything is done, and as the protocol has it.
    update(&index.settings(), flat, index.name(), index.uuid())?;
    let (name, uuid) = (index.name().to_string(), index.uuid().to_string());
    let asked = flat.clone();
    let change = SettingsChange::new(move |current| {
        update(current, &asked, &name, &uuid).map_err(|error| refused(&error))
    });
    Ok(CatalogChange::Settings {
        index: index.name().to_string(),
        uuid: index.uuid().to_string(),
        change,
        blocks_alone: flat.keys().all(|name| name.starts_with(BLOCKS)),
    })
}

/// Refuses what an index has of itself, and nobody gives it.
///
/// # Errors
/// The first such setting, in the words of OpenSearch.
pub(crate) fn refuse_managed(flat: &Flat) -> Result<(), ApiError> {
    match flat.keys().find(|name| known_settings::is_managed(name)) {
        None => Ok(()),
        Some(name) => Err(ApiError::illegal_argument(format!(
            "can not update private setting [{name}]; this setting is managed by OpenSearch"
        ))),
    }
}

/// Refuses what an index can only be given while it is closed, and what it keeps from its beginning.
///
/// # Errors
/// All settings that an open index keeps, or the first that a closed one keeps, in the words of OpenSearch.
pub(crate) fn refuse_fixed(index: &Index, flat: &Flat) -> Result<(), ApiError> {
    let settings = index.settings();
    let changes = |&(name, asked): &(&String, &Option<String>)| {
        known_settings::is_fixed(name) && settings.given.get(name) != asked.as_ref()
    };
    let fixed: Vec<&str> = flat
        .iter()
        .filter(changes)
        .map(|(name, _)| name.as_str())
        .collect();
    if !index.is_open() {
        let kept = fixed
            .into_iter()
            .find(|name| known_settings::is_final(name));
        return match kept {
            None => Ok(()),
            Some(name) => Err(ApiError::illegal_argument(format!(
                "final {} setting [{name}], not updateable",
                index.name()
            ))),
        };
    }
    if fixed.is_empty() {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "Can't update non dynamic settings [[{}]] for open indices [[{}/{}]]",
        fixed.join(", "),
        index.name(),
        index.uuid()
    )))
}

/// What gives an index the analyzers that it has with these settings beside its own; none where they say nothing of
/// analyzers.
///
/// # Errors
/// Settings that make no analyzers.
pub(crate) fn change_analysis(
    index: &Index,
    flat: &Flat,
) -> Result<Option<CatalogChange>, ApiError> {
    if !flat.keys().any(|name| name.starts_with(ANALYSIS)) {
        return Ok(None);
    }
    let settings = update(&index.settings(), flat, index.name(), index.uuid())?;
    let source = analysis_of(&settings.given).unwrap_or(Value::Null);
    if !source.is_null() {
        Analysis::check(&source, part_limits(&settings.given))
            .map_err(ApiError::illegal_argument)?;
        Analysis::read(&source).map_err(ApiError::illegal_argument)?;
    }
    Ok(Some(CatalogChange::Analysis {
        index: index.name().to_string(),
        uuid: index.uuid().to_string(),
        source,
    }))
}

/// What settings say of analyzers, nested.
pub(crate) fn analysis_of(given: &BTreeMap<String, String>) -> Option<Value> {
    let given = given.iter();
    let shown = unflatten(given.map(|(name, text)| (name.as_str(), text.as_str())));
    shown.get("index")?.get("analysis").cloned()
}

/// The block that a setting sets.
fn block_of(name: &str) -> Option<Block> {
    let name = name.strip_prefix(BLOCKS)?;
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
            "No enum constant org.opensearch.index.translog.Translog.Durability.{}",
            text.to_ascii_uppercase()
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

fn number(name: &str, text: &str, min: u64) -> Result<u32, ApiError> {
    let number = bounded(name, text, min, u64::from(u32::MAX >> 1))?;
    u32::try_from(number).map_err(|_| not_a_number(name, text))
}

fn count(name: &str, text: &str, min: u64) -> Result<usize, ApiError> {
    let number = number(name, text, min)?;
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
    let reason = format!("Failed to parse value [{text}] for setting [{name}]");
    ApiError::no_number(reason, text)
}

#[cfg(test)]
mod tests;

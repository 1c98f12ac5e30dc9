//! What a search sees of each index: the filters and routing of the aliases that it was found by,
//! the request's own routing, and how much its scores count.

use std::collections::{BTreeMap, BTreeSet};

use clew_engine::{Alias, Index, IndexHandle, IndexPart, Purpose, ResolveOptions, aside};
use clew_query::{Bool, Query, unless_stopped};
use serde_json::Value;

use super::lookup;
use crate::dsl;
use crate::http::error::ApiError;
use crate::http::place::{Spot, token};
use crate::state::call::Call;

/// Most factors in `indices_boost`: each is held against all indexes there are.
const BOOSTS_MAX: usize = 10_000;
/// So few of them hold up nobody.
const BOOSTS_HERE_MAX: usize = 16;

/// `indices_boost`, in the request's order: expressions and factors.
pub(super) type Boosts = Vec<(String, f32)>;

/// What is restricted or boosted, by the indexes' unique ids.
pub(super) async fn parts(
    call: &Call,
    resolved: &[IndexHandle],
    boosts: &Boosts,
    options: ResolveOptions,
) -> Result<BTreeMap<String, IndexPart>, ApiError> {
    let boosts = match boosts.len() > BOOSTS_HERE_MAX {
        true => aside(|| boost_of(call, boosts, options)),
        false => boost_of(call, boosts, options),
    }?;
    let routing = call.params.list("routing");
    let preferred = preferred_shards(call)?;
    let mut parts = BTreeMap::new();
    for found in resolved {
        let through = found.through();
        let mut filter = filter_of(&through)?;
        if let Some(filter) = &mut filter {
            lookup::resolve(call, found.name(), filter).await?;
        }
        let part = IndexPart {
            filter,
            shards: both(
                shards_of(found, &through, routing.as_deref()),
                preferred.clone(),
            ),
            boost: boosts.get(found.uuid()).copied(),
        };
        if part != IndexPart::default() {
            parts.insert(found.uuid().to_string(), part);
        }
    }
    Ok(parts)
}

/// What matches one of the aliases; everything as soon as one has no filter.
fn filter_of(through: &[Alias]) -> Result<Option<Query>, ApiError> {
    let filters: Option<Vec<&Value>> = through.iter().map(|alias| alias.filter.as_ref()).collect();
    let Some(filters) = filters.filter(|filters| !filters.is_empty()) else {
        return Ok(None);
    };
    let mut queries = Vec::with_capacity(filters.len());
    for filter in filters {
        queries.push(dsl::parse_query(filter)?);
    }
    if queries.len() == 1 {
        return Ok(queries.pop());
    }
    Ok(Some(Query::Bool(Bool {
        must: Vec::new(),
        should: queries,
        must_not: Vec::new(),
        filter: Vec::new(),
        minimum_should_match: None,
        boost: 1.0,
    })))
}

/// The shards that the routing keys lead to; `None` means all. Of a request's keys those count that the alias has, too;
/// where it has none of them, no key does, as in OpenSearch.
fn shards_of(index: &Index, through: &[Alias], asked: Option<&[&str]>) -> Option<BTreeSet<u32>> {
    let asked = asked.filter(|keys| !keys.is_empty());
    let fixed: Option<Vec<&str>> = through
        .iter()
        .map(|alias| alias.search_routing.as_deref())
        .collect();
    let fixed = fixed.filter(|keys| !keys.is_empty());
    let keys: Vec<&str> = match (fixed, asked) {
        (None, None) => return None,
        (None, Some(asked)) => asked.to_vec(),
        (Some(fixed), asked) => {
            let keys = fixed.iter().flat_map(|keys| keys.split(','));
            keys.filter(|key| asked.is_none_or(|asked| asked.contains(key)))
                .collect()
        }
    };
    let shards = keys.iter().map(|key| index.shard_number(key));
    (!keys.is_empty()).then(|| shards.collect())
}

/// The shards that both want; `None` means all.
fn both(one: Option<BTreeSet<u32>>, other: Option<BTreeSet<u32>>) -> Option<BTreeSet<u32>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(&one & &other),
        (one, other) => one.or(other),
    }
}

/// The shards that `preference=_shards:0,2` names, of which there may be none; nothing where no shard is preferred to
/// others. One node has no copies to choose between, so that nothing else that is preferred changes anything.
///
/// # Errors
/// What is no number of a shard, and a word that no preference is.
fn preferred_shards(call: &Call) -> Result<Option<BTreeSet<u32>>, ApiError> {
    let preference = preference_of(call)?;
    let Some(numbers) = preference.strip_prefix("_shards:") else {
        return Ok(None);
    };
    let numbers = numbers.split('|').next().unwrap_or_default();
    let number = |text: &str| {
        text.trim().parse().map_err(|_| {
            let reason = format!("no shard has the number [{text}] of [preference]");
            ApiError::illegal_argument(reason)
        })
    };
    numbers
        .split(',')
        .filter(|text| !text.trim().is_empty())
        .map(number)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// What a request prefers among copies of shards, as it says it.
///
/// # Errors
/// A word that no preference is.
pub(crate) fn preference_of(call: &Call) -> Result<&str, ApiError> {
    const WORDS: [&str; 9] = [
        "_shards",
        "_prefer_nodes",
        "_local",
        "_primary",
        "_replica",
        "_primary_first",
        "_replica_first",
        "_only_local",
        "_only_nodes",
    ];
    let preference = call.params.get("preference").unwrap_or_default();
    let word = preference.split(':').next().unwrap_or_default();
    if word.starts_with('_') && !WORDS.contains(&word) {
        let reason = format!("no Preference for [{word}]");
        return Err(ApiError::illegal_argument(reason));
    }
    Ok(preference)
}

/// The first factor that names an index holds for it.
fn boost_of(
    call: &Call,
    boosts: &Boosts,
    options: ResolveOptions,
) -> Result<BTreeMap<String, f32>, ApiError> {
    let mut factors = BTreeMap::new();
    for (expression, factor) in boosts {
        unless_stopped()?;
        for found in call
            .api
            .engine
            .open((expression, options), &call.access, Purpose::Read)?
        {
            factors.entry(found.uuid().to_string()).or_insert(*factor);
        }
    }
    Ok(factors)
}

/// Reads `[{"index": 1.5}, ..]`, or the older `{"index": 1.5, ..}`.
pub(super) fn read_boosts(value: &Value) -> Result<Boosts, ApiError> {
    let objects: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    };
    let mut boosts = Boosts::new();
    for object in objects {
        let Some(members) = object.as_object() else {
            let found = token(object);
            let reason = format!("Expected [START_OBJECT] in [null] but found [{found}]");
            return Err(ApiError::parsing_at(Spot::start_of(object), reason));
        };
        for (name, factor) in members {
            let factor = factor.as_f64().filter(|factor| *factor >= 0.0);
            #[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
            let factor = factor.ok_or_else(|| not_boosts(object))? as f32;
            boosts.push((name.clone(), factor));
        }
    }
    if boosts.len() > BOOSTS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "[indices_boost] has [{}] factors, more than [{BOOSTS_MAX}]",
            boosts.len()
        )));
    }
    Ok(boosts)
}

fn not_boosts(value: &Value) -> ApiError {
    ApiError::bad_request(
        "parsing_exception",
        format!("Expected index names with factors in [indices_boost] but found [{value}]"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn factors_of_indexes_are_counted() {
        let boosts = |count: usize| {
            let factor = |number: usize| json!({ (format!("i{number}")): 1.5 });
            read_boosts(&Value::Array((0..count).map(factor).collect()))
        };
        assert_eq!(boosts(BOOSTS_MAX).unwrap().len(), BOOSTS_MAX);
        let refused = boosts(BOOSTS_MAX + 1).unwrap_err();
        assert!(refused.reason().contains("[10000]"), "{}", refused.reason());
    }
}

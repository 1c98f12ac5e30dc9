//! Aliases: showing them (`GET`, `HEAD`), and changing them (`change`).

mod action;
mod body;
mod change;

use std::collections::{BTreeMap, BTreeSet};

use axum::http::{Method, StatusCode};
use clew_engine::{Alias, Aliases, Index, Purpose, Wildcards};
use clew_schema::glob::matches as glob;
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::call::Call;

pub use body::{AliasBody, read_aliases};
pub(crate) use body::{check_filters, shown_alias, shown_aliases};
pub(crate) use change::{delete, put, update};

/// `GET|HEAD /{index}/_alias/{alias}`: what is there, and 404 when a name that is no pattern is
/// not.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let names: Vec<&str> = call.path("alias").map_or(Vec::new(), |names| {
        names.split(',').filter(|name| !name.is_empty()).collect()
    });
    let mut body = Map::new();
    let mut returned = BTreeSet::new();
    for index in call.indices_from(Wildcards::ALL, Purpose::Show).await? {
        let aliases = aliases_of(&index);
        let found = aliases.iter().filter(|(name, _)| is_wanted(&names, name));
        let found: BTreeMap<&String, &Alias> = found.collect();
        if found.is_empty() && !names.is_empty() {
            continue;
        }
        returned.extend(found.keys().map(ToString::to_string));
        let shown = found
            .into_iter()
            .map(|(name, alias)| (name.clone(), shown_alias(alias)));
        let shown = Value::Object(shown.collect());
        body.insert(index.name().to_string(), json!({ "aliases": shown }));
    }
    let missing = missing(&names, &returned);
    let status = if missing.is_empty() {
        StatusCode::OK
    } else {
        let plural = if missing.len() == 1 {
            "alias"
        } else {
            "aliases"
        };
        let listed: Vec<&str> = missing.into_iter().collect();
        let text = format!("{plural} [{}] missing", listed.join(","));
        body.insert("error".to_string(), Value::from(text));
        body.insert("status".to_string(), Value::from(404));
        StatusCode::NOT_FOUND
    };
    if call.method == Method::HEAD {
        return Ok(Reply::empty(status));
    }
    Ok(Reply::json(&Value::Object(body)).with_status(status))
}

/// The aliases of an index that users gave it. The name of its data stream is no such alias.
pub fn aliases_of(index: &Index) -> Aliases {
    let mut aliases = (*index.aliases()).clone();
    if let Some(stream) = index.data_stream() {
        aliases.remove(&stream);
    }
    aliases
}

/// Whether a list of names, patterns and exclusions means an alias; an empty list means all.
/// Exclusions take away what stands before them.
pub fn is_wanted(names: &[&str], alias: &str) -> bool {
    let mut wanted = names.is_empty();
    for name in names {
        let (pattern, include) = match name.strip_prefix('-') {
            Some(excluded) => (excluded, false),
            None => (*name, true),
        };
        if wanted != include {
            let matched = pattern == "_all" || glob(pattern, alias);
            wanted = if include { matched } else { !matched };
        }
    }
    wanted
}

/// The names that had to be there and are not. Behind the first pattern a leading `-` excludes.
fn missing<'a>(names: &[&'a str], returned: &BTreeSet<String>) -> BTreeSet<&'a str> {
    let is_pattern = |name: &str| name.contains('*');
    let first_pattern = names.iter().position(|name| is_pattern(name));
    let first_pattern = first_pattern.unwrap_or(names.len());
    let mut missing = BTreeSet::new();
    for (at, name) in names.iter().enumerate() {
        let excludes = at > first_pattern && name.starts_with('-');
        if *name == "_all" || is_pattern(name) || excludes || returned.contains(*name) {
            continue;
        }
        let later = names.iter().skip((at + 1).max(first_pattern));
        let mut exclusions = later.filter_map(|name| name.strip_prefix('-'));
        let excluded = exclusions.any(|pattern| pattern == "_all" || glob(pattern, name));
        if !excluded {
            missing.insert(*name);
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &[&str], found: &[&str], lacking: &[&str]) {
        let all = ["a1", "a2", "b1", "b2", "x"];
        let wanted = all.iter().filter(|alias| is_wanted(names, alias));
        let wanted: Vec<&str> = wanted.copied().collect();
        assert_eq!(wanted, found, "{names:?}");
        let returned = wanted.iter().map(ToString::to_string).collect();
        let missing: Vec<&str> = missing(names, &returned).into_iter().collect();
        assert_eq!(missing, lacking, "{names:?}");
    }

    #[test]
    fn names_patterns_and_exclusions() {
        check(&[], &["a1", "a2", "b1", "b2", "x"], &[]);
        check(&["_all"], &["a1", "a2", "b1", "b2", "x"], &[]);
        check(&["a*", "b1"], &["a1", "a2", "b1"], &[]);
        check(&["b2", "a*", "-a1"], &["a2", "b2"], &[]);
        check(&["a1", "b1", "-a*"], &["b1"], &[]);
        check(&["a1", "none"], &["a1"], &["none"]);
        check(&["-a1", "a*", "-a2"], &["a1"], &["-a1"]);
        check(&["a*", "-none", "b*"], &["a1", "a2", "b1", "b2"], &[]);
        check(&["a1", "b2", "-a*", "-b2"], &[], &[]);
        check(&["-none", "-none*", "-other"], &[], &["-none"]);
    }
}

//! Logstash's filters that look at the names of fields, `prune` and `de_dot`, and `bytes`; and why some others have no counterpart.

use serde_json::{Value, json};

use super::filters::pairs;
use super::path;
use crate::config::import::keys::Keys;
use crate::config::import::patterns::expression;
use crate::config::import::told::Told;
use crate::config::import::{programs, texts};

/// Why a filter is left out.
pub(super) fn why_left_out(name: &str) -> &'static str {
    match name {
        "aggregate" | "elapsed" => {
            "has no counterpart: it puts several events together, and here each is taken by itself"
        }
        "geoip" => {
            "has no counterpart in a collector: a pipeline of the server has [geoip], and the output's [pipeline] names it"
        }
        "clone" | "split" => "has no counterpart: a line is one event",
        "dns" | "elasticsearch" | "http" | "jdbc_streaming" | "memcached" => {
            "has no counterpart: an event makes no requests"
        }
        "metrics" => "has no counterpart: the server counts, by an aggregation",
        "throttle" => "has no counterpart: see [rate_limit]",
        _ => "has no counterpart",
    }
}

/// `bytes`: a size that is written with its unit, as a number.
pub(super) fn size(keys: &mut Keys, steps: &mut Vec<Value>) {
    let mut field = |key: &str| keys.take_text(key).map(|name| path(&name));
    let source = field("source").unwrap_or_else(|| "message".to_owned());
    let target = field("target").unwrap_or_else(|| source.clone());
    let base = match keys.take_text("conversion_method").as_deref() {
        Some("metric") => 10,
        _ => 2,
    };
    // What is not there is no size, either, and is told by the filter's tag.
    steps.push(programs::size(&source, &target, base));
}

/// `prune`: takes away fields by their names, or by what they say.
pub(super) fn prune(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    // Names may be told by other fields, if it is said that they are.
    let is_told_by_others = keys.take_flag("interpolate") == Some(true);
    for (key, keeps) in [("blacklist_names", false), ("whitelist_names", true)] {
        let names = texts(keys.take(key).unwrap_or_default());
        let (named, fixed): (Vec<String>, Vec<String>) = names
            .into_iter()
            .partition(|name| is_told_by_others && name.contains("%{") || name.contains('\''));
        for name in named {
            let reason = format!("[{key}] has [{name}], which no pattern of a name here can be");
            told.tell(line, place, reason);
        }
        if !fixed.is_empty() {
            steps.push(programs::pruned(&fixed, keeps));
        }
    }
    for (key, keeps) in [("blacklist_values", false), ("whitelist_values", true)] {
        for (name, pattern) in pairs(keys.take(key)) {
            let field = path(&name);
            let patterns = texts(pattern);
            let fits = patterns
                .iter()
                .map(|pattern| json!({"regexp": {&field: expression(pattern)}}));
            let fits = json!({"or": fits.collect::<Vec<Value>>()});
            let condition = match keeps {
                true => json!({"not": fits}),
                false => fits,
            };
            steps
                .push(json!({"remove": {"field": field, "ignore_missing": true, "if": condition}}));
        }
    }
}

/// `de_dot`: names with dots get another sign, or become objects in each other.
pub(super) fn without_dots(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    let fields = texts(keys.take("fields").unwrap_or_default());
    let separator = keys.take_text("separator");
    let is_nested = keys.take_flag("nested") == Some(true);
    // How deep objects are looked into makes no difference to names at the root.
    keys.take("recursive");
    if !is_nested {
        let separator = separator.as_deref().unwrap_or("_");
        steps.push(programs::without_dots(&fields, separator));
    } else if fields.is_empty() {
        let reason =
            "[nested]: for those who search, names with dots are objects in each other anyway";
        told.tell(line, place, reason);
    }
    for field in fields
        .iter()
        .filter(|field| is_nested && field.contains('.'))
    {
        steps.push(json!({"dot_expander": {"field": field, "ignore_failure": true}}));
    }
}

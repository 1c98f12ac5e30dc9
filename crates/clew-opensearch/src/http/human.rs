//! `human`: figures of bytes and of milliseconds are told in words, too, beside the numbers.

use std::time::Duration;

use clew_engine::Took;
use serde_json::{Map, Value};

use crate::http::error::ApiError;
use crate::http::params::Params;
use crate::http::reply::Reply;
use crate::http::setting_values::size_in_words;

/// An answer of figures, which stand in words before the numbers where `human` asks for that.
///
/// # Errors
/// When `human` is no flag.
pub(crate) fn of_figures(mut figures: Value, params: &Params) -> Result<Reply, ApiError> {
    if params.flag("human", false)? {
        tell(&mut figures);
    }
    Ok(Reply::json(&figures))
}

/// Tells figures in words, at every depth; there are no deeper ones than those that endpoints write.
fn tell(figures: &mut Value) {
    match figures {
        Value::Array(items) => items.iter_mut().for_each(tell),
        Value::Object(members) => {
            let mut told = Map::new();
            for (name, mut figure) in std::mem::take(members) {
                tell(&mut figure);
                if let Some((short, words)) = in_words(&name, &figure) {
                    told.insert(short.to_string(), words.into());
                }
                told.insert(name, figure);
            }
            *members = told;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The name of a figure without its unit, and the figure in words; `None` of what has no unit, and of moments.
fn in_words<'n>(name: &'n str, figure: &Value) -> Option<(&'n str, String)> {
    let number = figure.as_u64()?;
    let bytes = name.strip_suffix("_in_bytes").or_else(|| {
        let short = name.strip_suffix("_bytes")?;
        short.ends_with("_size").then_some(short)
    });
    if let Some(short) = bytes {
        return Some((short, size_in_words(number, None)));
    }
    let short = name.strip_suffix("_in_millis")?;
    let is_moment = short == "start_time";
    (!is_moment).then(|| (short, Took(Duration::from_millis(number)).to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_are_told_in_words() {
        let mut figures = json!({
            "mem": [{"used_in_bytes": 2048, "used_percent": 3}],
            "query_time_in_millis": 1500,
            "start_time_in_millis": 1_700_000_000_000_u64,
            "store_size_bytes": 7,
            "limit_size": "1kb", "limit_size_in_bytes": 1024,
            "none_in_bytes": null,
        });
        tell(&mut figures);
        let want = json!({
            "mem": [{"used": "2kb", "used_in_bytes": 2048, "used_percent": 3}],
            "query_time": "1.5s", "query_time_in_millis": 1500,
            "start_time_in_millis": 1_700_000_000_000_u64,
            "store_size": "7b", "store_size_bytes": 7,
            "limit_size": "1kb", "limit_size_in_bytes": 1024,
            "none_in_bytes": null,
        });
        assert_eq!(figures, want);
    }
}

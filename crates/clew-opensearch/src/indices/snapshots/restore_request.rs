//! What a restore is asked to do.

use regex::Regex;
use serde_json::{Map, Value};

use super::create::{read_flag, read_names, unknown_parameter};
use crate::http::error::ApiError;
use crate::http::setting_values::Flat;
use crate::indices::{known_settings, settings};

/// A pattern is compiled before anything is known of it.
const PATTERN_BYTES_MAX: usize = 1000;

/// What a request says of the restore.
pub(super) struct RestoreRequest {
    pub(super) indices: String,
    pub(super) ignore_unavailable: bool,
    pub(super) include_global_state: bool,
    pub(super) include_aliases: bool,
    pub(super) rename: Option<(Regex, String)>,
    pub(super) rename_alias: Option<(Regex, String)>,
    pub(super) settings: Flat,
    pub(super) ignored_settings: Vec<String>,
}

/// Reads a body; without one everything is restored as it was.
pub(super) fn read(body: Option<&Value>) -> Result<RestoreRequest, ApiError> {
    let mut asked = RestoreRequest {
        indices: String::new(),
        ignore_unavailable: false,
        include_global_state: false,
        include_aliases: true,
        rename: None,
        rename_alias: None,
        settings: Flat::new(),
        ignored_settings: Vec::new(),
    };
    let empty = Map::new();
    let members = body.and_then(Value::as_object).unwrap_or(&empty);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("indices", value) => asked.indices = read_names(value)?,
            ("ignore_unavailable", value) => asked.ignore_unavailable = read_flag(key, value)?,
            ("include_global_state", value) => asked.include_global_state = read_flag(key, value)?,
            ("include_aliases", value) => asked.include_aliases = read_flag(key, value)?,
            ("partial" | "allow_no_indices", value) => {
                read_flag(key, value)?;
            }
            ("index_settings", Value::Object(settings)) => {
                asked.settings = settings::flatten(settings)?;
                known_settings::check(&asked.settings)?;
            }
            ("ignore_index_settings", value) => {
                let names = read_names(value)?;
                asked.ignored_settings = names.split(',').map(String::from).collect();
            }
            (
                "rename_pattern"
                | "rename_replacement"
                | "rename_alias_pattern"
                | "rename_alias_replacement",
                Value::String(_),
            )
            | ("expand_wildcards", _) => {}
            ("storage_type", Value::String(kind)) if kind == "local" => {}
            (other, _) => return Err(unknown_parameter(other)),
        }
    }
    asked.rename = read_rename(members, "rename_pattern", "rename_replacement")?;
    asked.rename_alias = read_rename(members, "rename_alias_pattern", "rename_alias_replacement")?;
    Ok(asked)
}

fn read_rename(
    members: &Map<String, Value>,
    pattern: &str,
    replacement: &str,
) -> Result<Option<(Regex, String)>, ApiError> {
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    let (Some(pattern), Some(replacement)) = (text(pattern), text(replacement)) else {
        return Ok(None);
    };
    if pattern.len() > PATTERN_BYTES_MAX || replacement.len() > PATTERN_BYTES_MAX {
        return Err(ApiError::illegal_argument("a rename pattern is too long"));
    }
    let compiled = Regex::new(pattern).map_err(|error| {
        ApiError::illegal_argument(format!("cannot read the pattern [{pattern}]: {error}"))
    })?;
    Ok(Some((compiled, braced(replacement))))
}

/// `$1x` means the first group and an x, which is written `${1}x` here.
fn braced(replacement: &str) -> String {
    let mut braced = String::new();
    let mut rest = replacement;
    while let Some((before, after)) = rest.split_once('$') {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (number, left) = after.split_at(digits);
        braced.push_str(before);
        if number.is_empty() {
            braced.push('$');
        } else {
            braced.push_str(&format!("${{{number}}}"));
        }
        rest = left;
    }
    braced + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_a_replacement_are_told_from_what_follows() {
        let rename = |pattern: &str, replacement: &str, name: &str| {
            let pattern = Regex::new(pattern).unwrap();
            pattern.replace_all(name, braced(replacement)).into_owned()
        };
        assert_eq!(rename("index_(.+)", "restored_$1", "index_a"), "restored_a");
        assert_eq!(rename("(.+)", "$1_copy", "a"), "a_copy");
        assert_eq!(braced("a$b"), "a$b");
    }
}

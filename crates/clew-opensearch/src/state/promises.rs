//! Settings of the cluster by which somebody guards it: who makes indexes without being asked to, who takes away many
//! at once, and who changes anything at all. What cannot be held to is refused, so that nobody relies on it.

use clew_engine::{AutoCreation, CreationRule};

use crate::http::error::ApiError;
use crate::state::call::Call;
use crate::state::cluster_settings::Changes;

const AUTO_CREATION: &str = "action.auto_create_index";
const NAMES_REQUIRED: &str = "action.destructive_requires_name";

/// Blocks of the whole cluster, which there are none of.
const BLOCKS: [&str; 3] = [
    "cluster.blocks.read_only",
    "cluster.blocks.read_only_allow_delete",
    "cluster.blocks.create_index",
];

/// Which indexes writes make that find none.
///
/// # Errors
/// Patterns without a name.
pub(crate) fn auto_creation(
    given: &dyn Fn(&str) -> Option<String>,
) -> Result<AutoCreation, ApiError> {
    let Some(text) = given(AUTO_CREATION) else {
        return Ok(AutoCreation::Everything);
    };
    match text.as_str() {
        "true" => return Ok(AutoCreation::Everything),
        "false" => return Ok(AutoCreation::Nothing),
        _ => {}
    }
    let rule = |part: &str| {
        let (made, pattern) = match (part.strip_prefix('-'), part.strip_prefix('+')) {
            (Some(pattern), _) => (false, pattern),
            (None, Some(pattern)) => (true, pattern),
            (None, None) => (true, part),
        };
        let pattern = pattern.to_string();
        (!pattern.is_empty()).then_some(CreationRule { pattern, made })
    };
    let rules: Option<Vec<CreationRule>> = text.split(',').map(str::trim).map(rule).collect();
    rules.map(AutoCreation::Rules).ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "Can't parse [{text}] for setting [{AUTO_CREATION}] must be either [true, false, or a \
             comma separated list of index patterns]"
        ))
    })
}

/// Refuses to set blocks of the whole cluster: indexes have their own. One that older builds kept stands in no other
/// change's way.
///
/// # Errors
/// The first of them that a change sets.
pub(crate) fn refuse_blocks(changes: &Changes) -> Result<(), ApiError> {
    let is_set = |name: &&str| {
        let asked = changes.get(*name).and_then(Option::as_deref);
        asked.is_some_and(|text| text.trim_matches('"') == "true")
    };
    let set = BLOCKS.into_iter().find(is_set);
    match set {
        Some(name) => Err(ApiError::illegal_argument(format!(
            "setting [{name}] is not supported, block indexes by [index.blocks] instead"
        ))),
        None => Ok(()),
    }
}

/// Refuses a request of this kind about indexes that it does not name, where the cluster wants them named.
///
/// # Errors
/// As OpenSearch refuses it.
pub(crate) fn check_named(call: &Call) -> Result<(), ApiError> {
    let settings = &call.api.cluster_settings;
    if settings.given(NAMES_REQUIRED).as_deref() != Some("true") {
        return Ok(());
    }
    let expression = call.index_expression();
    let is_unnamed = |part: &str| part.is_empty() || part == "_all" || part.contains('*');
    if expression.split(',').map(str::trim).any(is_unnamed) {
        return Err(ApiError::illegal_argument(
            "Wildcard expressions or all indices are not allowed",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<AutoCreation, String> {
        let given = |name: &str| (name == AUTO_CREATION).then(|| text.to_string());
        auto_creation(&given).map_err(|error| error.reason())
    }

    #[test]
    fn patterns_say_which_indexes_are_made() {
        let rule = |pattern: &str, made| CreationRule {
            pattern: pattern.to_string(),
            made,
        };
        assert_eq!(read("true"), Ok(AutoCreation::Everything));
        assert_eq!(read("false"), Ok(AutoCreation::Nothing));
        assert_eq!(
            read("+a*, -b*,c"),
            Ok(AutoCreation::Rules(vec![
                rule("a*", true),
                rule("b*", false),
                rule("c", true)
            ]))
        );
        for wrong in ["", "a,,b", "+", "a,-"] {
            assert!(read(wrong).is_err_and(|reason| reason.starts_with("Can't parse")));
        }
    }

    #[test]
    fn blocks_that_nobody_holds_to_are_refused() {
        for (asked, refused) in [
            (Some("true"), true),
            (Some("\"true\""), true),
            (Some("false"), false),
            (None, false),
        ] {
            let changes = Changes::from([(BLOCKS[2].to_string(), asked.map(String::from))]);
            assert_eq!(refuse_blocks(&changes).is_err(), refused, "{asked:?}");
        }
        // What is kept from before is no change.
        assert!(refuse_blocks(&Changes::new()).is_ok());
    }
}

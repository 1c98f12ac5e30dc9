//! Settings of the cluster that statements heed: whether a language is on, and how many rows an answer has that says nothing
//! else.

use clew_opensearch::wing::Call;

use crate::Language;
use crate::error::SqlError;
use crate::statement::plan::ROWS_MAX;

/// Under what names a setting is known.
const SQL: [&str; 2] = ["plugins.sql.enabled", "opendistro.sql.enabled"];
const PPL: [&str; 2] = ["plugins.ppl.enabled", "opendistro.ppl.enabled"];
const DELETE: [&str; 2] = [
    "plugins.sql.delete.enabled",
    "opendistro.sql.delete.enabled",
];
const SIZE: [&str; 2] = ["plugins.query.size_limit", "opendistro.query.size_limit"];

/// Refuses statements of a language that is turned off.
pub(super) fn check_enabled(call: &Call, language: Language) -> Result<(), SqlError> {
    let names = match language {
        Language::Sql => SQL,
        Language::Ppl => PPL,
    };
    if given(call, names).is_some_and(|text| text.trim() == "false") {
        return Err(SqlError::disabled(language));
    }
    Ok(())
}

/// Refuses statements that delete, unless they were allowed.
pub(super) fn check_delete(call: &Call, statement: &str) -> Result<(), SqlError> {
    let first = statement.split_whitespace().next().unwrap_or_default();
    let is_allowed = given(call, DELETE).is_some_and(|text| text.trim() == "true");
    if first.eq_ignore_ascii_case("delete") && !is_allowed {
        return Err(SqlError::delete_disabled());
    }
    Ok(())
}

/// How many rows an answer has where the statement does not say.
pub(super) fn rows_max(call: &Call) -> usize {
    let given = given(call, SIZE).and_then(|text| text.trim().parse().ok());
    given.unwrap_or(ROWS_MAX).min(ROWS_MAX)
}

fn given(call: &Call, names: [&str; 2]) -> Option<String> {
    names
        .into_iter()
        .find_map(|name| call.api.cluster_setting(name))
}

//! What queries may not do: limits of an index, and costly queries that the cluster does not allow.

use axum::http::StatusCode;
use clew_engine::Index;
use clew_query::{BoostMode, FunctionKind, Query};
use clew_schema::FieldKind;
use clew_search::longest_expression;

use super::{control, fields, highlight, inner, script_fields};
use crate::http::error::{ApiError, Cause};
use crate::state::cluster_settings::Expensive;

const TERMS_MAX: usize = 65_536;
const TERMS_SETTING: &str = "index.max_terms_count";
const REGEX_LENGTH_MAX: usize = 1000;
const REGEX_LENGTH_SETTING: &str = "index.max_regex_length";

/// The settings of an index that bound what one search asks of it, and what they are where nobody gave them.
pub(crate) fn usual_limits() -> [(&'static str, usize); 9] {
    [
        (TERMS_SETTING, TERMS_MAX),
        (REGEX_LENGTH_SETTING, REGEX_LENGTH_MAX),
        (control::WINDOW_SETTING, control::WINDOW_MAX),
        (control::PIT_SLICES_SETTING, control::SLICES_MAX),
        (control::SCROLL_SLICES_SETTING, control::SLICES_MAX),
        (inner::WINDOW_SETTING, inner::WINDOW_MAX),
        (fields::COLUMNS_SETTING, fields::COLUMNS_MAX),
        (script_fields::SCRIPTS_SETTING, script_fields::SCRIPTS_MAX),
        (highlight::ANALYZED_MAX_SETTING, highlight::ANALYZED_MAX),
    ]
}

/// The limit that an index was given by a setting, or else the usual one.
pub(super) fn limit(index: &Index, setting: &str, usual: usize) -> usize {
    let settings = index.settings();
    let given = settings.given.get(setting);
    given.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Refuses a query that asks for too much of an index.
pub(crate) fn check(query: &Query, index: &Index, expensive: Expensive) -> Result<(), ApiError> {
    for query in query.all() {
        match query {
            Query::Terms { values, .. } => check_terms(values.len(), index)?,
            Query::Regexp(pattern) => {
                let letters = pattern.value.chars().count();
                check_regex(letters, "Regexp Query request", index)?;
            }
            Query::QueryString(text) => {
                check_regex(longest_expression(text), "[query_string]", index)?;
            }
            _ => {}
        }
        if expensive == Expensive::Refused
            && let Some(what) = what_is_costly(query, index)
        {
            return Err(costly(&what));
        }
    }
    Ok(())
}

/// Refuses more terms than an index allows.
fn check_terms(terms: usize, index: &Index) -> Result<(), ApiError> {
    let terms_max = limit(index, TERMS_SETTING, TERMS_MAX);
    if terms <= terms_max {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "The number of terms [{terms}] used in the Terms Query request has exceeded the allowed \
         maximum of [{terms_max}]. This maximum can be set by changing the [{TERMS_SETTING}] index \
         level setting."
    )))
}

/// Refuses a regular expression that has more letters than it may.
fn check_regex(letters: usize, used_in: &str, index: &Index) -> Result<(), ApiError> {
    let letters_max = limit(index, REGEX_LENGTH_SETTING, REGEX_LENGTH_MAX);
    if letters <= letters_max {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "The length of regex [{letters}] used in the {used_in} has exceeded the allowed maximum of \
         [{letters_max}]. This maximum can be set by changing the [{REGEX_LENGTH_SETTING}] index \
         level setting."
    )))
}

/// The name of a query that costs much, and what else is to be said of it.
fn what_is_costly(query: &Query, index: &Index) -> Option<(String, &'static str)> {
    let is_words = |path: &str| {
        index.mapping().field(path).is_some_and(|field| {
            matches!(
                field.kind,
                FieldKind::Text { .. } | FieldKind::Keyword { .. }
            )
        })
    };
    let plain = |name: &str| Some((format!("[{name}] queries"), ""));
    match query {
        Query::Prefix(pattern) if is_words(&pattern.field) => Some((
            "[prefix] queries".to_string(),
            " For optimised prefix queries on text fields please enable [index_prefixes].",
        )),
        Query::Wildcard(pattern) if is_words(&pattern.field) => plain("wildcard"),
        Query::Regexp(pattern) if is_words(&pattern.field) => plain("regexp"),
        Query::Fuzzy { field, .. } if is_words(field) => plain("fuzzy"),
        Query::Related(_) | Query::Nested(_) => plain("joining"),
        Query::Percolate(_) => plain("percolate"),
        Query::FunctionScore(function) => match &function.functions[..] {
            [one] if matches!(one.kind, FunctionKind::Test(_)) => plain("script"),
            [one]
                if matches!(one.kind, FunctionKind::Script(_))
                    && function.boost_mode == BoostMode::Replace =>
            {
                plain("script score")
            }
            _ => None,
        },
        Query::Range(range) if is_words(&range.field) => Some((
            "[range] queries on [text] or [keyword] fields".to_string(),
            "",
        )),
        _ => None,
    }
}

fn costly((what, advice): &(String, &'static str)) -> ApiError {
    let reason = format!(
        "{what} cannot be executed when 'search.allow_expensive_queries' is set to false.{advice}"
    );
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        Cause::new("exception", reason),
    )
}

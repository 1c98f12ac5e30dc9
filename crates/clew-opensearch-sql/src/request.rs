//! What a request about a statement says.

use clew_opensearch::wing::Call;
use serde_json::Value;

use crate::Language;
use crate::error::SqlError;
use crate::statement::plan::Statement;
use crate::statement::{ppl, select};

/// Statements up to this become too little to be counted.
const SHORT_BYTES: usize = 4 << 10;
/// What a word or a sign becomes: a token, an expression, a part of a search.
const WORD_BYTES: usize = 512;

/// What a statement becomes until it is a search: nearly all of its words have a sign or a space beside them.
fn plan_bytes(text: &[u8]) -> usize {
    if text.len() <= SHORT_BYTES {
        return 0;
    }
    let signs = text.iter().filter(|byte| !byte.is_ascii_alphanumeric());
    signs.count().saturating_mul(WORD_BYTES)
}

/// How many rows a page has, which may be written as a text; 0 where the rows come all at once.
fn fetch_size(value: &Value) -> Result<usize, SqlError> {
    let written = value.as_str().and_then(|text| text.trim().parse().ok());
    let size: Option<i64> = value.as_i64().or(written);
    let size = size.ok_or_else(|| SqlError::argument("Failed to parse field [fetch_size]"))?;
    usize::try_from(size)
        .map_err(|_| SqlError::argument("Fetch_size must be greater or equal to 0"))
}

/// A request's body.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) query: String,
    pub(super) cursor: Option<String>,
    pub(super) fetch_size: usize,
    pub(super) filter: Option<Value>,
    pub(super) parameters: Vec<Value>,
}

impl Request {
    pub(super) fn of(call: &Call) -> Result<Self, SqlError> {
        let body = call.json_object()?;
        call.memory.take(plan_bytes(&call.body))?;
        let mut request = Request::default();
        for (key, value) in body.as_object().into_iter().flatten() {
            let wrong = || SqlError::argument(format!("[{key}] cannot be [{value}]"));
            match key.as_str() {
                "query" => request.query = value.as_str().ok_or_else(wrong)?.to_string(),
                "cursor" => request.cursor = Some(value.as_str().ok_or_else(wrong)?.to_string()),
                "fetch_size" => request.fetch_size = fetch_size(value)?,
                "filter" => {
                    let is_some = value.as_object().is_some_and(|filter| !filter.is_empty());
                    request.filter = is_some.then(|| value.clone());
                }
                "parameters" => {
                    let values = value.as_array().ok_or_else(wrong)?;
                    let value = |item: &Value| item.get("value").cloned().ok_or_else(wrong);
                    request.parameters = values.iter().map(value).collect::<Result<_, _>>()?;
                }
                _ => return Err(SqlError::argument(format!("unknown field [{key}]"))),
            }
        }
        if request.query.trim().is_empty() && request.cursor.is_none() {
            return Err(SqlError::argument("[query] is missing"));
        }
        Ok(request)
    }

    pub(super) fn statement(&self, language: Language) -> Result<Statement, SqlError> {
        match language {
            Language::Sql => select::parse(&self.query, self.parameters.clone()),
            Language::Ppl => ppl::parse(&self.query),
        }
    }
}

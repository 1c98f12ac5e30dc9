//! What a request about a statement says.

use serde_json::Value;

use super::error::SqlError;
use super::plan::Statement;
use super::{Language, ppl, select};
use crate::call::Call;

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
        let mut request = Request::default();
        for (key, value) in body.as_object().into_iter().flatten() {
            let wrong = || SqlError::argument(format!("[{key}] cannot be [{value}]"));
            match key.as_str() {
                "query" => request.query = value.as_str().ok_or_else(wrong)?.to_string(),
                "cursor" => request.cursor = Some(value.as_str().ok_or_else(wrong)?.to_string()),
                "fetch_size" => {
                    let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
                    request.fetch_size = size.ok_or_else(wrong)?;
                }
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

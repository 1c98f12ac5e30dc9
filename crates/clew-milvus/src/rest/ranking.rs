//! How hits are ranked anew.

use super::body::{Body, Result, wrong};
use crate::proto::*;

/// The functions that rank hits anew (`functionScore`).
///
/// # Errors
/// For what is none.
pub(super) fn function_score(body: &Body) -> Result<Option<FunctionScore>> {
    /// Milvus' number of such functions.
    const RERANK: i32 = 3;
    let given = Body(body.object("functionScore")?);
    let mut functions = Vec::new();
    for one in given.list("functions") {
        let members = one.as_object().cloned();
        let one = Body(members.ok_or_else(|| wrong("functions", "a list of objects"))?);
        functions.push(FunctionSchema {
            name: one.text_or("name", "")?,
            description: one.text_or("description", "")?,
            r#type: RERANK,
            input_field_names: one.texts("inputFieldNames")?,
            params: one.pairs("params")?,
            ..FunctionSchema::default()
        });
    }
    let params = given.pairs("params")?;
    Ok((!functions.is_empty()).then_some(FunctionScore { functions, params }))
}

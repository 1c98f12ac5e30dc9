//! `lookup` and `expand` of PPL, as they are written.

use crate::error::SqlError;
use crate::statement::expr::Expr;
use crate::statement::plan::{Expand, Lookup, Output, Plan, Rows, Stage};
use crate::statement::sources::whole;
use crate::statement::words::Parser;

/// `lookup index key [as column], .. [replace|append field [as column], ..]`.
pub(crate) fn lookup(parser: &mut Parser<'_>, stages: &mut Vec<Stage>) -> Result<(), SqlError> {
    let mut other = Plan {
        indices: Some(parser.indices(true)?),
        ..Plan::default()
    };
    let keys = parser.list(renamed)?;
    let appends = parser.keyword("append");
    let columns = if appends || parser.keyword("replace") {
        parser.list(renamed)?
    } else {
        Vec::new()
    };
    if !columns.is_empty() {
        let read = keys.iter().chain(&columns);
        let outputs = read.map(|(there, _)| Output::named(Expr::column(there), there));
        other.stages.push(Stage::Project(outputs.collect()));
    }
    let number = parser.done_before(whole(other), true)?;
    stages.push(Stage::Lookup(Lookup {
        rows: Rows::Of(number),
        keys,
        columns,
        appends,
    }));
    Ok(())
}

/// `expand column [as name]`.
pub(crate) fn expand(parser: &mut Parser<'_>) -> Result<Stage, SqlError> {
    let (column, name) = renamed(parser)?;
    Ok(Stage::Expand(Expand { column, name }))
}

/// A name, and another that it is given, or itself.
fn renamed(parser: &mut Parser<'_>) -> Result<(String, String), SqlError> {
    let name = parser.name()?;
    let other = if parser.keyword("as") {
        parser.name()?
    } else {
        name.clone()
    };
    Ok((name, other))
}

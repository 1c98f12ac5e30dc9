//! SELECTs whose rows are put together: `UNION`, `MINUS`, `INTERSECT`.

use serde_json::{Number, Value};

use crate::error::SqlError;
use crate::statement::expr::Expr;
use crate::statement::order::{limit, sort_keys};
use crate::statement::plan::{Combine, Combining, Plan, Rows, Stage};
use crate::statement::select::one_select;
use crate::statement::sources::whole;
use crate::statement::words::Parser;

/// One SELECT or several, whose rows are put together. An order and a limit behind the last are of all of them.
pub(crate) fn select(parser: &mut Parser<'_>) -> Result<Plan, SqlError> {
    let plan = one_select(parser, true)?;
    continued(parser, plan)
}

/// The first SELECT, which was read, with those that follow.
pub(crate) fn continued(parser: &mut Parser<'_>, mut plan: Plan) -> Result<Plan, SqlError> {
    let mut is_combined = false;
    while let Some(kind) = combining(parser) {
        is_combined = true;
        let other = if parser.symbol("(") {
            parser.select()?
        } else {
            parser.expect_keyword("select")?;
            one_select(parser, false)?
        };
        let number = parser.done_before(whole(other), true)?;
        plan.stages.push(Stage::Combine(Combine {
            kind,
            rows: Rows::Of(number),
        }));
    }
    if is_combined {
        order_combined(parser, &mut plan)?;
    }
    Ok(plan)
}

fn combining(parser: &mut Parser<'_>) -> Option<Combining> {
    if parser.keyword("union") {
        let all = parser.keyword("all");
        parser.keyword("distinct");
        return Some(if all {
            Combining::All
        } else {
            Combining::Distinct
        });
    }
    if parser.keyword("minus") || parser.keyword("except") {
        return Some(Combining::Without);
    }
    parser.keyword("intersect").then_some(Combining::Common)
}

/// The order and the limit of a union: by names and places of the first SELECT's columns.
fn order_combined(parser: &mut Parser<'_>, plan: &mut Plan) -> Result<(), SqlError> {
    let labels: Vec<String> = match plan
        .stages
        .iter()
        .rfind(|stage| matches!(stage, Stage::Project(_)))
    {
        Some(Stage::Project(outputs)) => {
            let labels = outputs.iter().map(|output| output.label().to_string());
            labels.collect()
        }
        _ => Vec::new(),
    };
    if parser.keywords(&["order", "by"]) {
        let mut keys = sort_keys(parser)?;
        for key in &mut keys {
            if let Expr::Literal(Value::Number(place)) = &key.expr {
                let at = place.as_u64().and_then(|place| usize::try_from(place).ok());
                let label = at.and_then(|at| labels.get(at.checked_sub(1)?));
                let label = label.filter(|label| !label.ends_with('*'));
                key.expr = Expr::column(label.ok_or_else(|| no_place(place))?);
            }
        }
        plan.stages.push(Stage::Sort(keys));
    }
    if parser.keyword("limit") {
        let (count, offset) = limit(parser)?;
        plan.stages.push(Stage::Limit { count, offset });
    }
    Ok(())
}

/// A place in the result at which there is no column.
pub(crate) fn no_place(place: &Number) -> SqlError {
    SqlError::semantic(format!("there is no column {place} in the result"))
}

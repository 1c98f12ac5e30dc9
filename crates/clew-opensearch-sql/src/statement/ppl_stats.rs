//! `stats` and `eventstats` of PPL.

use serde_json::Value;

use crate::error::SqlError;
use crate::statement::expr::{AGGREGATES, Call, Expr};
use crate::statement::order::check_keys;
use crate::statement::plan::{Group, Output, Stage, Window};
use crate::statement::ppl::labelled;
use crate::statement::words::Parser;

/// `stats aggregates [by keys]`; a span of time comes before the other keys.
pub(crate) fn stats(parser: &mut Parser<'_>) -> Result<Group, SqlError> {
    let aggregates = parser.list(|parser| {
        let start = parser.position();
        let mut expr = match percentile(parser)? {
            Some(percentile) => percentile,
            None => parser.expr()?,
        };
        let Expr::Call(call) = &mut expr else {
            return Err(SqlError::semantic(format!(
                "stats needs an aggregate, not [{}]",
                parser.written_since(start)
            )));
        };
        told_otherwise(call);
        if !AGGREGATES.contains(&call.name.as_str()) {
            return Err(SqlError::semantic(format!(
                "unsupported function name: {}",
                call.name
            )));
        }
        labelled(parser, start, expr)
    })?;
    let mut keys = if parser.keyword("by") {
        parser.list(key)?
    } else {
        Vec::new()
    };
    check_keys(keys.len())?;
    let is_span = |key: &Output| matches!(&key.expr, Expr::Call(call) if call.name == "span");
    keys.sort_by_key(|key| !is_span(key));
    Ok(Group { keys, aggregates })
}

/// `percentile<50>(column)`.
fn percentile(parser: &mut Parser<'_>) -> Result<Option<Expr>, SqlError> {
    if !parser.is_keyword(0, "percentile") || !parser.is_symbol(1, "<") {
        return Ok(None);
    }
    parser.at += 2;
    let percent = parser.count()?;
    parser.expect(">")?;
    parser.expect("(")?;
    let of = parser.expr()?;
    parser.expect(")")?;
    let args = vec![of, Expr::Literal(percent.into())];
    Ok(Some(Expr::call("percentile", args)))
}

/// An aggregate that has another name here as the one that it is.
fn told_otherwise(call: &mut Call) {
    match call.name.as_str() {
        "c" => call.name = "count".to_string(),
        "distinct_count" | "dc" => {
            call.name = "count".to_string();
            call.distinct = true;
        }
        "median" if call.args.len() == 1 => {
            call.name = "percentile".to_string();
            call.args.push(Expr::Literal(50.into()));
        }
        _ => {}
    }
    if call.name != "count" {
        return;
    }
    match call.args.first_mut() {
        None => call.args.push(Expr::Star),
        // How often a condition holds.
        Some(Expr::Call(of)) if of.name == "eval" && of.args.len() == 1 => {
            let rest = [Expr::Literal(1.into()), Expr::Literal(Value::Null)];
            of.name = "case".to_string();
            of.args.extend(rest);
        }
        Some(_) => {}
    }
}

/// `eventstats aggregates [by keys]`: what `stats` says of a group, beside each of its rows.
pub(crate) fn event_stats(
    parser: &mut Parser<'_>,
    stages: &mut Vec<Stage>,
) -> Result<(), SqlError> {
    let group = stats(parser)?;
    let partition: Vec<Expr> = group.keys.into_iter().map(|key| key.expr).collect();
    let mut shown = Vec::new();
    for (number, output) in group.aggregates.into_iter().enumerate() {
        let Expr::Call(call) = output.expr else {
            return Err(SqlError::semantic("eventstats needs aggregates"));
        };
        partition.iter().try_for_each(|key| parser.copies(key))?;
        let column = format!("#event{}-{number}", stages.len());
        shown.push((output.name, Expr::column(&column)));
        stages.push(Stage::Window(Window {
            column,
            call,
            partition: partition.clone(),
            order: Vec::new(),
            frame: None,
        }));
    }
    stages.push(Stage::Eval(shown));
    Ok(())
}

fn key(parser: &mut Parser<'_>) -> Result<Output, SqlError> {
    let start = parser.position();
    let expr = parser.expr()?;
    labelled(parser, start, expr)
}

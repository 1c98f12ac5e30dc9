//! Statements of PPL: a source, then commands between pipes.

use crate::error::SqlError;
use crate::functions::regexes::{GROUP, REMOVED, groups};
use crate::statement::expr::{Expr, Logic, as_number};
use crate::statement::grok::grok;
use crate::statement::lookup::{expand, lookup};
use crate::statement::order::{check_keys, check_stars};
use crate::statement::plan::{Dedup, Group, Output, Plan, SortKey, Stage, Statement, Top, Window};
use crate::statement::ppl_join::{join, joins};
use crate::statement::ppl_stats::{event_stats, stats};
use crate::statement::words::Parser;

/// How many rows `head`, `top` and `rare` leave unless they say.
const COUNT_DEFAULT: usize = 10;

/// How many commands a statement may have.
const COMMANDS_MAX: usize = 100;

/// Commands of OpenSearch that are not here.
const UNSUPPORTED: &[&str] = &[
    "kmeans",
    "ad",
    "ml",
    "appendcol",
    "fieldsummary",
    "subquery",
];

/// Reads a statement.
pub(crate) fn parse(text: &str) -> Result<Statement, SqlError> {
    let mut parser = Parser::new(text, Vec::new())?;
    if parser.keyword("describe") {
        return Ok(Statement::Describe {
            table: parser.indices(true)?,
            columns: "%".to_string(),
            stages: told_stages(&mut parser)?,
        });
    }
    if parser.keywords(&["show", "datasources"]) {
        return Ok(Statement::ShowSources {
            stages: told_stages(&mut parser)?,
        });
    }
    let is_explained = parser.keyword("explain");
    let plan = pipeline(&mut parser)?;
    finish(&mut parser)?;
    if !parser.windows.is_empty() {
        return Err(SqlError::unsupported("a window function"));
    }
    let plan = Plan {
        subqueries: std::mem::take(&mut parser.subqueries),
        ..plan
    };
    Ok(match is_explained {
        true => Statement::Explain(plan),
        false => Statement::Rows(plan),
    })
}

/// A statement ends here, perhaps with a semicolon.
fn finish(parser: &mut Parser<'_>) -> Result<(), SqlError> {
    parser.symbol(";");
    match parser.is_done() {
        true => Ok(()),
        false => Err(parser.error("'|'")),
    }
}

/// The commands behind what is told of indexes or sources: those that need nothing but its rows.
fn told_stages(parser: &mut Parser<'_>) -> Result<Vec<Stage>, SqlError> {
    let mut stages = Vec::new();
    commands(parser, &mut stages)?;
    finish(parser)?;
    if !parser.subqueries.is_empty() || !parser.windows.is_empty() {
        return Err(SqlError::unsupported("this command behind such rows"));
    }
    Ok(stages)
}

/// Conditions, which all have to hold where there is nothing between them.
fn conditions(parser: &mut Parser<'_>) -> Result<Expr, SqlError> {
    let first = parser.expr()?;
    let mut all = vec![first];
    while !is_end(parser) {
        let at = parser.at;
        let next = parser.expr()?;
        if matches!(next, Expr::Column(_) | Expr::Literal(_) | Expr::Star) {
            parser.at = at;
            return Err(parser.error("'|'"));
        }
        all.push(next);
    }
    Ok(match <[Expr; 1]>::try_from(all) {
        Ok([one]) => one,
        Err(all) => Expr::Logic(Logic::And, all),
    })
}

/// Whether no more of a command is to come.
fn is_end(parser: &Parser<'_>) -> bool {
    let ends = ["|", "]", ";"];
    parser.is_done() || ends.iter().any(|end| parser.is_symbol(0, end))
}

/// A source and the commands behind it.
pub(crate) fn pipeline(parser: &mut Parser<'_>) -> Result<Plan, SqlError> {
    parser.keyword("search");
    if !parser.keyword("source") && !parser.keyword("index") {
        return Err(parser.error("SOURCE"));
    }
    parser.expect("=")?;
    let mut indices = parser.indices(true)?;
    // Behind the comma of a list there may be blanks.
    while indices.ends_with(',') || parser.is_symbol(0, ",") {
        if parser.symbol(",") {
            indices.push(',');
        }
        indices.push_str(&parser.indices(true)?);
    }
    let mut stages = Vec::new();
    if !is_end(parser) {
        stages.push(Stage::Filter(conditions(parser)?));
    }
    commands(parser, &mut stages)?;
    Ok(Plan {
        indices: Some(indices),
        stages,
        ..Plan::default()
    })
}

/// Commands, each behind a pipe.
fn commands(parser: &mut Parser<'_>, stages: &mut Vec<Stage>) -> Result<(), SqlError> {
    while parser.symbol("|") {
        command(parser, stages)?;
        if stages.len() > COMMANDS_MAX {
            return Err(SqlError::too_large(format!(
                "the query has more than {COMMANDS_MAX} commands"
            )));
        }
    }
    Ok(())
}

impl Parser<'_> {
    /// Whether a source in brackets comes next.
    pub(crate) fn is_subsearch(&self) -> bool {
        let is_source = |at: usize| {
            let is_word = self.is_keyword(at, "source") || self.is_keyword(at, "index");
            is_word && self.is_symbol(at + 1, "=")
        };
        self.is_symbol(0, "[") && (is_source(1) || self.is_keyword(1, "search") && is_source(2))
    }

    /// A source and commands in brackets, in place of values: the column that stands for them.
    pub(crate) fn subsearch(&mut self) -> Result<Expr, SqlError> {
        self.deeper()?;
        self.expect("[")?;
        let plan = pipeline(self)?;
        self.expect("]")?;
        self.depth -= 1;
        self.values_of(plan)
    }
}

fn command(parser: &mut Parser<'_>, stages: &mut Vec<Stage>) -> Result<(), SqlError> {
    if let Some(kind) = joins(parser) {
        return join(parser, kind, stages);
    }
    if let Some(name) = UNSUPPORTED.iter().find(|name| parser.is_keyword(0, name)) {
        return Err(SqlError::unsupported(&format!("the command [{name}]")));
    }
    let stage = if parser.keyword("where") {
        Stage::Filter(conditions(parser)?)
    } else if parser.keyword("fields") || parser.keyword("table") {
        fields(parser)?
    } else if parser.keyword("rename") {
        Stage::Rename(parser.list(|parser| {
            let from = parser.name()?;
            parser.expect_keyword("as")?;
            Ok((from, parser.name()?))
        })?)
    } else if parser.keyword("eval") {
        let new = parser.list(|parser| {
            let name = parser.name()?;
            parser.expect("=")?;
            Ok((name, as_number(parser.expr()?)))
        })?;
        // Each sees those before it.
        stages.extend(new.into_iter().map(|new| Stage::Eval(vec![new])));
        return Ok(());
    } else if parser.keyword("stats") {
        Stage::Group(stats(parser)?)
    } else if parser.keyword("eventstats") {
        return event_stats(parser, stages);
    } else if parser.keyword("sort") {
        return sort(parser, stages);
    } else if parser.keyword("head") {
        let count = if parser.is_count() {
            parser.count()?
        } else {
            COUNT_DEFAULT
        };
        let offset = if parser.keyword("from") {
            parser.count()?
        } else {
            0
        };
        Stage::Limit { count, offset }
    } else if parser.keyword("top") {
        return top(parser, stages, false);
    } else if parser.keyword("rare") {
        return top(parser, stages, true);
    } else if parser.keyword("dedup") {
        dedup(parser)?
    } else if parser.keyword("fillnull") {
        fill_null(parser)?
    } else if parser.keyword("parse") {
        parsed(parser)?
    } else if parser.keyword("patterns") {
        patterns(parser)?
    } else if parser.keyword("lookup") {
        return lookup(parser, stages);
    } else if parser.keyword("expand") {
        expand(parser)?
    } else if parser.keyword("flatten") {
        Stage::Flatten(parser.name()?)
    } else if parser.keyword("grok") {
        return grok(parser, stages);
    } else if parser.keyword("trendline") {
        return trendline(parser, stages);
    } else {
        return Err(parser.error("a command"));
    };
    stages.push(stage);
    Ok(())
}

/// `trendline [sort column] sma(points, column) [as name] ...`: means of the last so many rows, of those that have a value.
fn trendline(parser: &mut Parser<'_>, stages: &mut Vec<Stage>) -> Result<(), SqlError> {
    if parser.keyword("sort") {
        let descending = parser.symbol("-");
        parser.symbol("+");
        stages.push(Stage::Sort(vec![SortKey {
            expr: Expr::Column(parser.name()?),
            descending,
            nulls_first: !descending,
        }]));
    }
    let (mut known, mut windows, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let kind = match ["sma", "wma"]
            .iter()
            .find(|kind| parser.is_keyword(0, kind))
        {
            Some(kind) => *kind,
            None if windows.is_empty() => return Err(parser.error("SMA or WMA")),
            None => break,
        };
        parser.keyword(kind);
        parser.expect("(")?;
        let points = parser.count()?;
        parser.expect(",")?;
        let of = parser.name()?;
        parser.expect(")")?;
        let name = if parser.keyword("as") {
            parser.name()?
        } else {
            format!("{of}_trendline")
        };
        let column = format!("#trend{}-{}", stages.len(), windows.len());
        known.push(Expr::Not(Box::new(Expr::IsNull(Box::new(Expr::column(
            &of,
        ))))));
        shown.push((name, Expr::column(&column)));
        windows.push(Stage::Window(Window::moving(column, kind, of, points)?));
    }
    stages.push(Stage::Filter(Expr::Logic(Logic::And, known)));
    stages.append(&mut windows);
    stages.push(Stage::Eval(shown));
    Ok(())
}

/// `fillnull with value in columns`, `fillnull value=value columns`, or `fillnull using column = value, ...`.
fn fill_null(parser: &mut Parser<'_>) -> Result<Stage, SqlError> {
    let filled = |name: String, value: Expr| {
        let either = Expr::call("coalesce", vec![Expr::column(&name), value]);
        (name, either)
    };
    if parser.keyword("using") {
        return Ok(Stage::Eval(parser.list(|parser| {
            let name = parser.name()?;
            parser.expect("=")?;
            Ok(filled(name, parser.expr()?))
        })?));
    }
    let value = if parser.keyword("value") {
        parser.expect("=")?;
        parser.sum()?
    } else {
        parser.expect_keyword("with")?;
        let value = parser.sum()?;
        parser.expect_keyword("in")?;
        value
    };
    let names = parser.list(Parser::name)?;
    names.iter().try_for_each(|_| parser.copies(&value))?;
    let new = names.into_iter().map(|name| filled(name, value.clone()));
    Ok(Stage::Eval(new.collect()))
}

/// `parse column 'pattern'`: a column for each named group of the pattern.
fn parsed(parser: &mut Parser<'_>) -> Result<Stage, SqlError> {
    let of = parser.sum()?;
    let pattern = parser.text()?;
    let groups = groups(&pattern)?;
    groups.iter().try_for_each(|_| parser.copies(&of))?;
    let new = groups.into_iter().map(|group| {
        let constants = [pattern.clone(), group.clone()].map(|text| Expr::Literal(text.into()));
        let args = std::iter::once(of.clone()).chain(constants).collect();
        (group, Expr::call(GROUP, args))
    });
    Ok(Stage::Eval(new.collect()))
}

/// `patterns [new_field='name'] [pattern='pattern'] column`: what is left of a text without letters and digits, or
/// without what a pattern fits.
fn patterns(parser: &mut Parser<'_>) -> Result<Stage, SqlError> {
    let mut name = "patterns_field".to_string();
    let mut pattern = "[a-zA-Z0-9]".to_string();
    while parser.is_symbol(1, "=") {
        let option = if parser.keyword("new_field") {
            &mut name
        } else if parser.keyword("pattern") {
            &mut pattern
        } else {
            return Err(parser.error("NEW_FIELD or PATTERN"));
        };
        parser.expect("=")?;
        *option = parser.text()?;
    }
    let of = parser.sum()?;
    let left = Expr::call(REMOVED, vec![of, Expr::Literal(pattern.into())]);
    Ok(Stage::Eval(vec![(name, left)]))
}

fn fields(parser: &mut Parser<'_>) -> Result<Stage, SqlError> {
    if parser.symbol("-") {
        return Ok(Stage::Drop(parser.list(Parser::name)?));
    }
    parser.symbol("+");
    let outputs = parser.list(|parser| {
        // A star stands for any letters of a name.
        if parser.is_symbol(0, "*") || parser.is_symbol(1, "*") {
            return Ok(Output::named(Expr::Star, parser.indices(false)?));
        }
        let name = parser.name()?;
        Ok(Output::named(Expr::column(&name), name))
    })?;
    check_stars(&outputs)?;
    Ok(Stage::Project(outputs))
}

/// An expression by the name it is given, or as it was written.
pub(crate) fn labelled(
    parser: &mut Parser<'_>,
    start: usize,
    expr: Expr,
) -> Result<Output, SqlError> {
    let written = match &expr {
        Expr::Column(name) => name.clone(),
        _ => parser.written_since(start).to_string(),
    };
    let name = if parser.keyword("as") {
        parser.alias()?.unwrap_or(written)
    } else {
        written
    };
    Ok(Output::named(expr, name))
}

fn sort(parser: &mut Parser<'_>, stages: &mut Vec<Stage>) -> Result<(), SqlError> {
    let count = if parser.is_count() {
        Some(parser.count()?)
    } else {
        None
    };
    let keys = parser.list(|parser| {
        let mut descending = parser.symbol("-");
        if !descending {
            parser.symbol("+");
        }
        let casts = ["auto", "str", "num", "ip"];
        let is_cast =
            parser.is_symbol(1, "(") && casts.iter().any(|cast| parser.is_keyword(0, cast));
        if is_cast {
            parser.name()?;
            parser.expect("(")?;
        }
        let expr = Expr::Column(parser.name()?);
        if is_cast {
            parser.expect(")")?;
        }
        if parser.keyword("desc") || parser.keyword("d") {
            descending = true;
        } else if !parser.keyword("asc") {
            parser.keyword("a");
        }
        Ok(SortKey {
            expr,
            descending,
            nulls_first: !descending,
        })
    })?;
    check_keys(keys.len())?;
    stages.push(Stage::Sort(keys));
    // None are as many as there are.
    stages.extend(
        count
            .filter(|count| *count > 0)
            .map(|count| Stage::Limit { count, offset: 0 }),
    );
    Ok(())
}

/// `top [n] columns [by columns]`: groups by how often they are, without saying how often.
fn top(parser: &mut Parser<'_>, stages: &mut Vec<Stage>, is_rare: bool) -> Result<(), SqlError> {
    let count = if parser.is_count() {
        parser.count()?
    } else {
        COUNT_DEFAULT
    };
    let columns = parser.list(Parser::name)?;
    let by = if parser.keyword("by") {
        parser.list(Parser::name)?
    } else {
        Vec::new()
    };
    let output = |name: &String| Output::named(Expr::column(name), name);
    let counted = "#count";
    stages.push(Stage::Group(Group {
        keys: columns.iter().chain(&by).map(output).collect(),
        aggregates: vec![Output::named(
            Expr::call("count", vec![Expr::Star]),
            counted,
        )],
    }));
    stages.push(Stage::Top(Top {
        count,
        is_rare,
        by: by.len(),
    }));
    stages.push(Stage::Project(
        by.iter().chain(&columns).map(output).collect(),
    ));
    Ok(())
}

fn dedup(parser: &mut Parser<'_>) -> Result<Stage, SqlError> {
    let count = if parser.is_count() {
        parser.count()?
    } else {
        1
    };
    if count == 0 {
        return Err(SqlError::argument(
            "Number of duplicate events must be greater than 0",
        ));
    }
    let columns = parser.list(Parser::name)?;
    let mut dedup = Dedup {
        count,
        columns,
        keeps_empty: false,
        is_consecutive: false,
    };
    loop {
        let option = if parser.keyword("keepempty") {
            &mut dedup.keeps_empty
        } else if parser.keyword("consecutive") {
            &mut dedup.is_consecutive
        } else {
            return Ok(Stage::Dedup(dedup));
        };
        parser.expect("=")?;
        *option = parser.keyword("true");
        if !*option && !parser.keyword("false") {
            return Err(parser.error("true or false"));
        }
    }
}

//! Statements of SQL.

use std::cell::Cell;

use serde_json::Value;

use crate::error::SqlError;
use crate::statement::deletion::deletion;
use crate::statement::expr::{Expr, as_number};
use crate::statement::nested::Nested;
use crate::statement::order::{check_keys, group_keys, limit, outputs, sort_keys};
use crate::statement::parser::COPIES_MAX;
use crate::statement::plan::{Group, Output, Plan, SortKey, Stage, Statement, Window};
use crate::statement::sources::Source;
use crate::statement::subquery::is_made;
use crate::statement::unions::{continued, no_place, select};
use crate::statement::window::is_windowed;
use crate::statement::words::Parser;

/// Reads a statement; `parameters` stand for its question marks.
pub(crate) fn parse(text: &str, parameters: Vec<Value>) -> Result<Statement, SqlError> {
    let mut parser = Parser::new(text, parameters)?;
    let statement = if parser.keywords(&["show", "tables"]) {
        parser.expect_keyword("like")?;
        Statement::ShowTables {
            like: parser.indices(true)?,
        }
    } else if parser.keywords(&["describe", "tables"]) {
        parser.expect_keyword("like")?;
        // Of the letters that a pattern stands for, those of an index are written with a star.
        let table = parser.indices(true)?.replace('%', "*");
        let is_narrow = parser.keywords(&["columns", "like"]);
        let columns = if is_narrow {
            parser.indices(false)?
        } else {
            "%".to_string()
        };
        Statement::Describe {
            table,
            columns,
            stages: Vec::new(),
        }
    } else if parser.keyword("delete") {
        Statement::Delete(deletion(&mut parser)?)
    } else {
        let plan = if parser.is_symbol(0, "(") && parser.is_keyword(1, "select") {
            parser.at += 1;
            let first = parser.select()?;
            continued(&mut parser, first)?
        } else {
            parser.expect_keyword("select")?;
            select(&mut parser)?
        };
        Statement::Rows(Plan {
            subqueries: std::mem::take(&mut parser.subqueries),
            ..plan
        })
    };
    parser.symbol(";");
    if !parser.is_done() {
        return Err(parser.error("the end of the statement"));
    }
    Ok(statement)
}

/// A SELECT as it was written.
struct Select {
    distinct: bool,
    /// Whether rows of the result that are the same are shown once.
    is_unique: bool,
    outputs: Vec<Output>,
    from: Option<Source>,
    filter: Option<Expr>,
    keys: Vec<Output>,
    having: Option<Expr>,
    order: Vec<SortKey>,
    limit: Option<(usize, usize)>,
    windows: Vec<Window>,
    nested: Nested,
}

/// A SELECT, with the order and the limit behind it or without.
pub(crate) fn one_select(parser: &mut Parser<'_>, has_order: bool) -> Result<Plan, SqlError> {
    // Those of the SELECT around this one are its own.
    let windows_around = std::mem::take(&mut parser.windows);
    let distinct = parser.keyword("distinct");
    parser.keyword("all");
    let outputs = outputs(parser)?;
    let from = if parser.keyword("from") {
        Some(Source::read(parser)?)
    } else {
        None
    };
    let names = from.as_ref().map(|from| from.names.clone());
    let around = std::mem::replace(&mut parser.around, names.unwrap_or_default());
    let filter = if parser.keyword("where") {
        Some(parser.expr()?)
    } else {
        None
    };
    let (keys, group_order) = if parser.keywords(&["group", "by"]) {
        group_keys(parser)?
    } else {
        (Vec::new(), Vec::new())
    };
    let having = if parser.keyword("having") {
        Some(parser.expr()?)
    } else {
        None
    };
    let order = if has_order && parser.keywords(&["order", "by"]) {
        sort_keys(parser)?
    } else {
        group_order
    };
    let limit = if has_order && parser.keyword("limit") {
        Some(limit(parser)?)
    } else {
        None
    };
    parser.around = around;
    let mut select = Select {
        distinct,
        is_unique: false,
        outputs,
        from,
        filter,
        keys,
        having,
        order,
        limit,
        windows: std::mem::replace(&mut parser.windows, windows_around),
        nested: Nested::default(),
    };
    let is_joined = select.from.as_ref().is_some_and(Source::is_joined);
    if !is_joined {
        select.drop_prefix()?;
    }
    select.resolve_names()?;
    select.check_filter()?;
    if is_joined {
        select.join(parser)?;
    } else {
        select.take_nested()?;
    }
    select.plan()
}

/// A column of the result.
pub(crate) fn output(parser: &mut Parser<'_>) -> Result<Output, SqlError> {
    let start = parser.position();
    if parser.symbol("*") {
        return Ok(Output::named(Expr::Star, "*"));
    }
    if parser.is_symbol(1, ".") && parser.is_symbol(2, "*") {
        let name = parser.name()?;
        parser.at += 2;
        return Ok(Output::named(Expr::Star, format!("{name}.*")));
    }
    if parser.is_keyword(0, "from") {
        return Err(parser.error("an expression"));
    }
    let expr = parser.expr()?;
    let name = match &expr {
        Expr::Column(name) if !is_made(&expr) => name.clone(),
        _ => parser.written_since(start).to_string(),
    };
    let alias = parser.alias()?;
    Ok(Output {
        expr: as_number(expr),
        name,
        alias,
    })
}

impl Select {
    /// Columns lose the name of the index before them.
    fn drop_prefix(&mut self) -> Result<(), SqlError> {
        let names = self.from.iter().flat_map(|from| &from.names);
        let names: Vec<String> = names.map(|name| format!("{name}.")).collect();
        let stars = self.outputs.iter_mut();
        for output in stars.filter(|output| output.expr == Expr::Star) {
            let prefix = output.name.strip_suffix('*').unwrap_or_default();
            if !prefix.is_empty() && !names.iter().any(|name| name == prefix) {
                return Err(SqlError::unknown_column(&output.name));
            }
            output.name = "*".to_string();
        }
        let mut change = |expr: &Expr| match expr {
            Expr::Column(name) => {
                let bare = names.iter().find_map(|prefix| name.strip_prefix(prefix))?;
                Some(Expr::column(bare))
            }
            _ => None,
        };
        for output in self.outputs.iter_mut().chain(&mut self.keys) {
            output.expr = output.expr.clone().replaced(&mut change);
            if let Expr::Column(name) = &output.expr
                && !is_made(&output.expr)
            {
                output.name.clone_from(name);
            }
        }
        let order = self.order.iter_mut().map(|key| &mut key.expr);
        let windows = self.windows.iter_mut().flat_map(Window::exprs_mut);
        let conditions = order.chain(&mut self.filter).chain(&mut self.having);
        for expr in conditions.chain(windows) {
            *expr = expr.clone().replaced(&mut change);
        }
        Ok(())
    }

    /// A condition of documents is no condition of groups or windows.
    fn check_filter(&self) -> Result<(), SqlError> {
        let is =
            |wanted: &dyn Fn(&Expr) -> bool| self.filter.iter().any(|filter| filter.any(wanted));
        let what = if is(&Expr::is_aggregate) {
            "an aggregate"
        } else if is(&is_windowed) {
            "a window function"
        } else {
            return Ok(());
        };
        Err(SqlError::semantic(format!(
            "{what} cannot be used in WHERE"
        )))
    }

    /// Puts the rows of all sources together.
    fn join(&mut self, parser: &mut Parser<'_>) -> Result<(), SqlError> {
        let Some(from) = self.from.take() else {
            return Ok(());
        };
        for expr in self.exprs_mut() {
            let old = std::mem::replace(expr, Expr::Star);
            *expr = old.replaced(&mut |part| from.qualified(part));
        }
        let mut names = Vec::new();
        self.exprs().for_each(|expr| expr.columns(&mut names));
        let stars = self.outputs.iter();
        let stars = stars.filter(|output| output.expr == Expr::Star);
        let stars: Vec<String> = stars.map(|output| output.name.clone()).collect();
        let conditions = &mut self.filter;
        self.from = Some(from.assembled(parser, names, &stars, conditions)?);
        Ok(())
    }

    /// All expressions.
    fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let outputs = self.outputs.iter().chain(&self.keys);
        let conditions = self.filter.iter().chain(&self.having);
        outputs
            .map(|output| &output.expr)
            .chain(self.order.iter().map(|key| &key.expr))
            .chain(conditions)
            .chain(self.windows.iter().flat_map(Window::exprs))
    }

    /// The same, to be changed.
    fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let outputs = self.outputs.iter_mut().chain(&mut self.keys);
        let conditions = self.filter.iter_mut().chain(&mut self.having);
        outputs
            .map(|output| &mut output.expr)
            .chain(self.order.iter_mut().map(|key| &mut key.expr))
            .chain(conditions)
            .chain(self.windows.iter_mut().flat_map(Window::exprs_mut))
    }

    /// Nested objects that are shown become rows.
    fn take_nested(&mut self) -> Result<(), SqlError> {
        let outputs = self.outputs.iter_mut().chain(&mut self.keys);
        let order = self.order.iter_mut().map(|key| &mut key.expr);
        for expr in outputs.map(|output| &mut output.expr).chain(order) {
            *expr = self.nested.taken(std::mem::replace(expr, Expr::Star))?;
        }
        Ok(())
    }

    /// Keys, orders and conditions over groups may name a column of the result, or its place.
    fn resolve_names(&mut self) -> Result<(), SqlError> {
        let outputs = &self.outputs;
        let copies = Cell::new(0_usize);
        let copied = |output: &Output| {
            copies.set(copies.get().saturating_add(output.expr.size()));
            (copies.get() <= COPIES_MAX).then(|| output.expr.clone())
        };
        let aliased = |expr: &Expr| match expr {
            Expr::Column(name) => {
                let found = outputs
                    .iter()
                    .find(|output| output.alias.as_ref() == Some(name));
                found.and_then(copied)
            }
            _ => None,
        };
        let placed = |expr: &Expr| match expr {
            Expr::Literal(Value::Number(place)) => {
                let at = place
                    .as_u64()
                    .and_then(|place| usize::try_from(place).ok()?.checked_sub(1));
                let found = at
                    .and_then(|at| outputs.get(at))
                    .filter(|output| output.expr != Expr::Star);
                found.map(copied).ok_or_else(|| no_place(place))
            }
            _ => Ok(None),
        };
        let exprs = self.keys.iter_mut().map(|key| &mut key.expr);
        for expr in exprs.chain(self.order.iter_mut().map(|key| &mut key.expr)) {
            *expr = match placed(expr)? {
                Some(found) => found,
                None => expr.clone().replaced(&mut |part| aliased(part)),
            };
        }
        if let Some(having) = &mut self.having {
            *having = having.clone().replaced(&mut |part| aliased(part));
        }
        if copies.get() > COPIES_MAX {
            return Err(SqlError::too_large(format!(
                "the query would repeat more than {COPIES_MAX} parts of expressions"
            )));
        }
        Ok(())
    }

    fn plan(mut self) -> Result<Plan, SqlError> {
        let (indices, mut stages) = match self.from.take() {
            Some(Source { plan, .. }) => (plan.indices, plan.stages),
            None => (None, Vec::new()),
        };
        if let Some(filter) = self.filter.take() {
            stages.push(Stage::Filter(filter));
        }
        stages.extend(self.nested.stages());
        let group = self.group()?;
        // A search is a condition of documents wherever it is written.
        let is_searched = self.having.as_ref().is_some_and(Expr::is_search);
        if group.is_none() && self.having.is_some() && !is_searched {
            return Err(SqlError::semantic("HAVING needs GROUP BY or an aggregate"));
        }
        stages.extend(group.map(Stage::Group));
        stages.extend(self.having.take().map(Stage::Filter));
        stages.extend(self.windows.into_iter().map(Stage::Window));
        if !self.order.is_empty() {
            stages.push(Stage::Sort(self.order));
        }
        let limit = self
            .limit
            .map(|(count, offset)| Stage::Limit { count, offset });
        if self.is_unique {
            stages.extend([Stage::Project(self.outputs), Stage::Unique]);
            stages.extend(limit);
        } else {
            stages.extend(limit);
            stages.push(Stage::Project(self.outputs));
        }
        Ok(Plan {
            indices,
            stages,
            ..Plan::default()
        })
    }

    /// Whether anything that is shown, chosen or ordered by is an aggregate.
    fn has_aggregates(&self) -> bool {
        let having_or_order = self
            .having
            .iter()
            .chain(self.order.iter().map(|key| &key.expr));
        let mut shown = self
            .outputs
            .iter()
            .map(|output| &output.expr)
            .chain(having_or_order)
            .chain(self.windows.iter().flat_map(Window::exprs));
        shown.any(|expr| expr.any(&Expr::is_aggregate))
    }

    /// The groups, if there are any; what is shown of them then reads columns of the groups.
    fn group(&mut self) -> Result<Option<Group>, SqlError> {
        let aggregates = self.has_aggregates();
        if self.distinct {
            let has_star = self.outputs.iter().any(|output| output.expr == Expr::Star);
            let is_grouped = aggregates || !self.keys.is_empty();
            self.is_unique = has_star || is_grouped || !self.windows.is_empty();
            if !self.is_unique {
                self.keys.clone_from(&self.outputs);
            }
        }
        if !aggregates && self.keys.is_empty() {
            return Ok(None);
        }
        check_keys(self.keys.len())?;
        self.show_keys();
        for (number, key) in self.keys.iter_mut().enumerate() {
            if key.expr.any(&Expr::is_aggregate) {
                return Err(SqlError::semantic("GROUP BY cannot contain an aggregate"));
            }
            if !matches!(key.expr, Expr::Column(_)) {
                key.name = format!("#key{number}");
            }
            key.alias = None;
        }
        let mut group = Group {
            keys: std::mem::take(&mut self.keys),
            aggregates: Vec::new(),
        };
        let mut grouped = |expr: &Expr| group.column_of(expr);
        let order = self.order.iter_mut().map(|key| &mut key.expr);
        let shown = self
            .outputs
            .iter_mut()
            .map(|output| &mut output.expr)
            .chain(order);
        let windows = self.windows.iter_mut().flat_map(Window::exprs_mut);
        for expr in shown.chain(&mut self.having).chain(windows) {
            *expr = expr.clone().replaced(&mut grouped);
        }
        self.check_grouped(&group)?;
        Ok(Some(group))
    }

    /// Of groups, a star stands for the keys.
    fn show_keys(&mut self) {
        if self.keys.is_empty() {
            return;
        }
        let shown = std::mem::take(&mut self.outputs).into_iter();
        let shown = shown.flat_map(|output| {
            if output.expr == Expr::Star {
                self.keys.clone()
            } else {
                vec![output]
            }
        });
        self.outputs = shown.collect();
    }

    fn check_grouped(&self, group: &Group) -> Result<(), SqlError> {
        let having_or_order = self
            .having
            .iter()
            .chain(self.order.iter().map(|key| &key.expr));
        let mut names = Vec::new();
        for expr in self
            .outputs
            .iter()
            .map(|output| &output.expr)
            .chain(having_or_order)
        {
            if *expr == Expr::Star {
                names.push("*".to_string());
            }
            expr.columns(&mut names);
        }
        for expr in self.windows.iter().flat_map(Window::exprs) {
            expr.columns(&mut names);
        }
        let known =
            |name: &str| name.starts_with('#') || group.keys.iter().any(|key| key.name == name);
        match names.iter().find(|name| !known(name)) {
            Some(name) => Err(SqlError::semantic(format!(
                "Explicit GROUP BY clause is required because expression [{name}] contains non-aggregated column"
            ))),
            None => Ok(()),
        }
    }
}

impl Group {
    /// The column of the groups that an expression is, which is made where it is a new aggregate.
    fn column_of(&mut self, expr: &Expr) -> Option<Expr> {
        if let Some(key) = self.keys.iter().find(|key| key.expr == *expr) {
            return Some(Expr::column(&key.name));
        }
        if !expr.is_aggregate() {
            return None;
        }
        let have = self
            .aggregates
            .iter()
            .position(|aggregate| aggregate.expr == *expr);
        let at = have.unwrap_or_else(|| {
            let name = format!("#aggregate{}", self.aggregates.len());
            self.aggregates.push(Output::named(expr.clone(), name));
            self.aggregates.len() - 1
        });
        Some(Expr::column(&self.aggregates[at].name))
    }
}

//! What a statement means, in the terms that SQL and PPL have in common: rows of some indexes that go
//! through stages. How much of it a search can do is decided elsewhere.

use std::sync::Arc;

use crate::error::SqlError;
use crate::fields::{Fields, SqlType};
use crate::statement::expr::{Call, Expr};
use crate::statement::frame::Frame;
use crate::statement::nested::expand_stars;
use crate::table::Table;

/// Rows of an answer that says nothing else.
pub(crate) const ROWS_MAX: usize = 10_000;
/// Documents that are looked at where no search can do the work, and the most that `LIMIT` can ask for.
pub(crate) const SCANNED_MAX: usize = 100_000;

/// A statement that reads rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plan {
    /// Where the rows come from; one row without columns where it is not said.
    pub(crate) indices: Option<String>,
    pub(crate) stages: Vec<Stage>,
    /// Plans that are done before this one, each before those that it is part of.
    pub(crate) subqueries: Vec<Subquery>,
}

/// A plan that is done before the one that it is part of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subquery {
    pub(crate) plan: Plan,
    /// Whether its rows are wanted as they are; else the values of its only column.
    pub(crate) is_rows: bool,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    Rows(Plan),
    /// What would be done for the rows.
    Explain(Plan),
    /// The documents that the plan finds are deleted.
    Delete(Plan),
    /// Where indexes may be.
    ShowSources {
        stages: Vec<Stage>,
    },
    /// The indexes whose names are like a pattern.
    ShowTables {
        like: String,
    },
    /// The fields, with names like a pattern, of indexes.
    Describe {
        table: String,
        columns: String,
        stages: Vec<Stage>,
    },
}

/// One step from rows to rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stage {
    Filter(Expr),
    /// Columns that are added, or replaced by their names.
    Eval(Vec<(String, Expr)>),
    Group(Group),
    Sort(Vec<SortKey>),
    Limit {
        count: usize,
        offset: usize,
    },
    Dedup(Dedup),
    /// Rows that are the same in all columns, only the first of them.
    Unique,
    Project(Vec<Output>),
    Rename(Vec<(String, String)>),
    Drop(Vec<String>),
    Top(Top),
    Window(Window),
    Lookup(Lookup),
    Expand(Expand),
    /// Columns for what is in the objects of a column; known as soon as fields are.
    Flatten(String),
    /// All columns get these letters before their names.
    Prefix {
        prefix: String,
        /// Columns that are wanted beside those of a star.
        also: Vec<String>,
    },
    /// All columns can be called by another name, too: theirs behind this one and a dot.
    Qualify(String),
    Join(Join),
    Combine(Combine),
    Unnest(Unnest),
}

/// Rows of another plan beside those so far.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Join {
    pub(crate) kind: JoinKind,
    pub(crate) rows: Rows,
    /// What has to be the same, of the rows so far and of the others.
    pub(crate) keys: Vec<(Expr, Expr)>,
    /// What else has to hold of both together.
    pub(crate) condition: Option<Expr>,
}

/// Values of another plan's rows beside or in place of those of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lookup {
    pub(crate) rows: Rows,
    /// What has to be the same: the column of the others, and that of the rows so far.
    pub(crate) keys: Vec<(String, String)>,
    /// What is looked up: the column of the others, and what it is called here; all without any.
    pub(crate) columns: Vec<(String, String)>,
    /// Whether only values that are missing are filled in.
    pub(crate) appends: bool,
}

/// One row for each value of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expand {
    pub(crate) column: String,
    /// What the column is called then.
    pub(crate) name: String,
}

/// Which rows a join makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinKind {
    /// Those that belong together.
    Inner,
    /// Also those so far that have none beside them.
    Left,
    /// Also the others that have none beside them.
    Right,
    /// Both of these.
    Full,
    /// Those so far, once each, that have some beside them; without what is beside them.
    Semi,
    /// Those so far that have none beside them; likewise.
    Anti,
}

impl JoinKind {
    /// Whether rows stay that have none of the others beside them.
    pub(crate) fn keeps_left(self) -> bool {
        matches!(self, JoinKind::Left | JoinKind::Full | JoinKind::Anti)
    }

    /// Whether others stay that have none of the rows so far beside them.
    pub(crate) fn keeps_right(self) -> bool {
        matches!(self, JoinKind::Right | JoinKind::Full)
    }

    /// Whether only the rows so far are shown.
    pub(crate) fn shows_left(self) -> bool {
        matches!(self, JoinKind::Semi | JoinKind::Anti)
    }
}

/// Rows of another plan below those so far, or compared with them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Combine {
    pub(crate) kind: Combining,
    pub(crate) rows: Rows,
}

/// How rows are put together with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combining {
    /// All of both.
    All,
    /// Those of both, each once.
    Distinct,
    /// Those that are not among the others, each once.
    Without,
    /// Those that are among the others, each once.
    Common,
}

/// Rows that are made before a plan is done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rows {
    /// Of the subquery with this number.
    Of(usize),
    Made(Arc<Table>),
}

/// One row for each of the objects in a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unnest {
    /// The column with the objects, which is empty behind it.
    pub(crate) column: String,
    pub(crate) parts: Vec<MemberColumn>,
    /// Whether rows without objects stay.
    pub(crate) keeps_left: bool,
}

/// A member of objects that becomes a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemberColumn {
    /// The column with the values of all objects, which tells the type, and is empty behind it.
    pub(crate) column: String,
    /// Where it is in an object.
    pub(crate) path: String,
    pub(crate) name: String,
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output {
    /// A star stands for all columns.
    pub(crate) expr: Expr,
    pub(crate) name: String,
    pub(crate) alias: Option<String>,
}

impl Output {
    pub(crate) fn named(expr: Expr, name: impl Into<String>) -> Self {
        Output {
            expr,
            name: name.into(),
            alias: None,
        }
    }

    /// What later stages call it.
    pub(crate) fn label(&self) -> &str {
        self.alias.as_ref().unwrap_or(&self.name)
    }
}

/// Rows into groups: the columns are the aggregates, then the keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) keys: Vec<Output>,
    pub(crate) aggregates: Vec<Output>,
}

/// What rows are ordered by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SortKey {
    pub(crate) expr: Expr,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

/// Rows with the same values in some columns, only the first of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dedup {
    pub(crate) count: usize,
    pub(crate) columns: Vec<String>,
    /// Rows without a value in one of the columns.
    pub(crate) keeps_empty: bool,
    /// Only where they follow each other.
    pub(crate) is_consecutive: bool,
}

/// The most or least frequent of groups: the first column counts, the last `by` columns tell within which.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Top {
    pub(crate) count: usize,
    pub(crate) is_rare: bool,
    pub(crate) by: usize,
}

/// A function that tells of each row what it is among those around it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    /// The name of the column with its values.
    pub(crate) column: String,
    pub(crate) call: Call,
    /// Rows with the same values are looked at together, by themselves.
    pub(crate) partition: Vec<Expr>,
    pub(crate) order: Vec<SortKey>,
    /// Which rows of them are looked at for one; unless it is said, all up to it and those beside it, or, without an order,
    /// all.
    pub(crate) frame: Option<Frame>,
}

impl Stage {
    /// Whether it makes one row of each, in the same order, by the row alone.
    pub(crate) fn is_row_by_row(&self) -> bool {
        matches!(
            self,
            Stage::Eval(_)
                | Stage::Project(_)
                | Stage::Rename(_)
                | Stage::Drop(_)
                | Stage::Prefix { .. }
        )
    }

    /// Its name where a plan is explained.
    pub(crate) fn operator(&self) -> &'static str {
        match self {
            Stage::Filter(_) => "FilterOperator",
            Stage::Eval(_) => "EvalOperator",
            Stage::Group(_) => "AggregationOperator",
            Stage::Sort(_) => "SortOperator",
            Stage::Limit { .. } => "LimitOperator",
            Stage::Dedup(_) | Stage::Unique => "DedupeOperator",
            Stage::Project(_) => "ProjectOperator",
            Stage::Rename(_) => "RenameOperator",
            Stage::Flatten(_) => "FlattenOperator",
            Stage::Lookup(_) => "LookupOperator",
            Stage::Expand(_) => "ExpandOperator",
            Stage::Drop(_) => "RemoveOperator",
            Stage::Top(_) => "RareTopNOperator",
            Stage::Window(_) => "WindowOperator",
            Stage::Prefix { .. } | Stage::Qualify(_) => "RenameOperator",
            Stage::Join(_) => "JoinOperator",
            Stage::Combine(combine) => match combine.kind {
                Combining::All | Combining::Distinct => "UnionOperator",
                Combining::Without => "MinusOperator",
                Combining::Common => "IntersectOperator",
            },
            Stage::Unnest(_) => "NestedOperator",
        }
    }

    /// Adds the columns that it reads.
    pub(crate) fn columns(&self, names: &mut Vec<String>) {
        match self {
            Stage::Filter(expr) => expr.columns(names),
            Stage::Eval(new) => new.iter().for_each(|(_, expr)| expr.columns(names)),
            Stage::Group(group) => {
                let outputs = group.keys.iter().chain(&group.aggregates);
                outputs.for_each(|output| output.expr.columns(names));
            }
            Stage::Sort(keys) => keys.iter().for_each(|key| key.expr.columns(names)),
            Stage::Limit { .. }
            | Stage::Top(_)
            | Stage::Drop(_)
            | Stage::Qualify(_)
            | Stage::Unique
            | Stage::Combine(_) => {}
            Stage::Prefix { also, .. } => names.extend(also.iter().cloned()),
            Stage::Flatten(name) => names.push(name.clone()),
            Stage::Expand(expand) => names.push(expand.column.clone()),
            Stage::Lookup(lookup) => {
                let pairs = lookup.keys.iter().chain(&lookup.columns);
                names.extend(pairs.map(|(_, here)| here.clone()));
            }
            Stage::Join(join) => {
                join.keys.iter().for_each(|(left, _)| left.columns(names));
                join.condition.iter().for_each(|expr| expr.columns(names));
            }
            Stage::Unnest(unnest) => {
                names.push(unnest.column.clone());
                names.extend(unnest.parts.iter().map(|part| part.column.clone()));
            }
            Stage::Dedup(dedup) => names.extend(dedup.columns.iter().cloned()),
            Stage::Project(outputs) => outputs.iter().for_each(|output| output.expr.columns(names)),
            Stage::Rename(pairs) => names.extend(pairs.iter().map(|(from, _)| from.clone())),
            Stage::Window(window) => window.exprs().for_each(|expr| expr.columns(names)),
        }
    }

    /// All expressions of it, to be changed.
    pub(crate) fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Stage::Filter(expr) => vec![expr],
            Stage::Eval(new) => new.iter_mut().map(|(_, expr)| expr).collect(),
            Stage::Group(group) => {
                let outputs = group.keys.iter_mut().chain(&mut group.aggregates);
                outputs.map(|output| &mut output.expr).collect()
            }
            Stage::Sort(keys) => keys.iter_mut().map(|key| &mut key.expr).collect(),
            Stage::Project(outputs) => outputs.iter_mut().map(|output| &mut output.expr).collect(),
            Stage::Window(window) => window.exprs_mut().collect(),
            Stage::Join(join) => {
                let keys = join.keys.iter_mut();
                let keys = keys.flat_map(|(left, right)| [left, right]);
                keys.chain(&mut join.condition).collect()
            }
            Stage::Limit { .. }
            | Stage::Dedup(_)
            | Stage::Unique
            | Stage::Flatten(_)
            | Stage::Lookup(_)
            | Stage::Expand(_)
            | Stage::Rename(_)
            | Stage::Drop(_)
            | Stage::Top(_)
            | Stage::Prefix { .. }
            | Stage::Qualify(_)
            | Stage::Combine(_)
            | Stage::Unnest(_) => Vec::new(),
        }
    }

    /// Leaves none of the rows that it puts beside or below its own.
    pub(crate) fn forget_rows(&mut self) {
        if let Some(Rows::Made(table)) = self.rows_mut() {
            *table = Arc::new(Table::empty(table.columns.clone()));
        }
    }

    /// The rows that it puts beside or below its own.
    pub(crate) fn rows_mut(&mut self) -> Option<&mut Rows> {
        match self {
            Stage::Join(join) => Some(&mut join.rows),
            Stage::Combine(combine) => Some(&mut combine.rows),
            Stage::Lookup(lookup) => Some(&mut lookup.rows),
            _ => None,
        }
    }

    /// Whether it does the same before a stage that it stands behind.
    fn may_precede(&self, earlier: &Stage) -> bool {
        match (self, earlier) {
            (Stage::Filter(_), Stage::Sort(_)) => true,
            (_, earlier) if !earlier.is_row_by_row() => false,
            (Stage::Limit { .. }, _) => true,
            // What is searched for is named in other ways, too.
            (Stage::Filter(expr), Stage::Eval(_)) if expr.is_search() => false,
            (Stage::Filter(_) | Stage::Sort(_), earlier) => {
                let mut names = Vec::new();
                self.columns(&mut names);
                names.iter().all(|name| earlier.passes(name))
            }
            _ => false,
        }
    }

    /// Whether a column is the same before and behind it.
    fn passes(&self, name: &str) -> bool {
        match self {
            Stage::Eval(new) => new.iter().all(|(made, _)| made != name),
            Stage::Drop(names) => names.iter().all(|dropped| dropped != name),
            Stage::Rename(pairs) => pairs.iter().all(|(from, to)| from != name && to != name),
            Stage::Project(outputs) => {
                let same = |output: &Output| matches!(&output.expr, Expr::Column(column) if column == name);
                match outputs.iter().find(|output| output.label() == name) {
                    Some(output) => same(output),
                    None => outputs.iter().any(|output| output.expr == Expr::Star),
                }
            }
            _ => false,
        }
    }

    /// Whether the columns before it that it does not read are gone behind it.
    pub(crate) fn forgets(&self) -> bool {
        match self {
            Stage::Group(_) => true,
            Stage::Project(outputs) => outputs.iter().all(|output| output.expr != Expr::Star),
            _ => false,
        }
    }
}

impl Plan {
    /// Makes columns of the objects that are to be flattened, and of stars of nested ones: one for each field below them.
    ///
    /// # Errors
    /// A column that is no object of an index.
    pub(crate) fn flattened(mut self, fields: &Fields) -> Result<Self, SqlError> {
        for stage in &mut self.stages {
            expand_stars(stage, fields)?;
            let Stage::Flatten(path) = stage else {
                continue;
            };
            let kind = fields.require(path)?.kind;
            if !matches!(kind, SqlType::Object | SqlType::Nested) {
                return Err(SqlError::semantic(format!(
                    "flatten needs an object, and [{path}] is of the type [{}]",
                    kind.name()
                )));
            }
            let names = fields.below(path);
            let columns =
                names.map(|name| (name.to_string(), Expr::column(format!("{path}.{name}"))));
            *stage = Stage::Eval(columns.collect());
        }
        Ok(self)
    }

    /// Moves conditions, orders and limits before what makes one row of each, where a search can do them.
    pub(crate) fn reordered(mut self) -> Self {
        for last in 1..self.stages.len() {
            let mut at = last;
            while at > 0 && self.stages[at].may_precede(&self.stages[at - 1]) {
                self.stages.swap(at, at - 1);
                at -= 1;
            }
        }
        self
    }
}

//! Rows, and the stages of a plan over them. This is what each stage means; where a search can do
//! the same, it only does it sooner.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use clew_opensearch::wing::RequestMemory;
use clew_platform::sorted_while_wanted;
use clew_schema::glob::matches as glob;
use serde_json::Value;

use crate::error::SqlError;
use crate::fields::is_metadata;
use crate::stages::budget::{Budget, Walk, ended};
use crate::stages::eval::{Bound, bind, compare};
use crate::stages::fold;
use crate::stages::join::{combined, joined, unnested};
use crate::stages::lookup::{expanded, looked_up};
use crate::stages::window::windowed;
use crate::statement::expr::Expr;
use crate::statement::plan::{Dedup, Output, SortKey, Stage, Top};
use crate::table::{Column, Columns, Row, Table};

impl Table {
    /// The rows behind all stages.
    pub(crate) fn through(
        self,
        stages: &[Stage],
        memory: &RequestMemory,
    ) -> Result<Self, SqlError> {
        // One `eval` is a stage for each column that it adds, and a `SELECT` has one for each window: all their values stand
        // in the rows together.
        let adds = |stage: &Stage| matches!(stage, Stage::Eval(_) | Stage::Window(_));
        let mut steps = stages.chunk_by(|a, b| adds(a) && adds(b));
        steps.try_fold(self, |table, step| {
            let mut budget = Budget::of(memory);
            let mut stages = step.iter();
            stages.try_fold(table, |table, stage| {
                table.stage(stage, (memory, &mut budget))
            })
        })
    }

    /// Without the columns that were only fetched for a stage.
    pub(crate) fn shown(self) -> Self {
        let is_shown: Vec<bool> = self
            .columns
            .0
            .iter()
            .map(|column| !column.is_hidden)
            .collect();
        if is_shown.iter().all(|shown| *shown) {
            return self;
        }
        let keep = |row: Row| {
            let shown = row.into_iter().zip(&is_shown);
            shown
                .filter(|(_, shown)| **shown)
                .map(|(value, _)| value)
                .collect()
        };
        Table {
            columns: Columns(
                self.columns
                    .0
                    .into_iter()
                    .filter(|column| !column.is_hidden)
                    .collect(),
            ),
            rows: self.rows.into_iter().map(keep).collect(),
        }
    }

    fn stage(
        mut self,
        stage: &Stage,
        (memory, budget): (&RequestMemory, &mut Budget<'_>),
    ) -> Result<Self, SqlError> {
        match stage {
            Stage::Filter(expr) => {
                let (condition, _) = bind(expr, &self.columns)?;
                self.kept(|row| condition.is_true(row))
            }
            Stage::Eval(new) => self.evaluated(new, budget),
            Stage::Group(group) => fold::grouped(self, group),
            Stage::Sort(keys) => self.sorted(keys),
            Stage::Limit { count, offset } => {
                self.rows.drain(..(*offset).min(self.rows.len()));
                self.rows.truncate(*count);
                Ok(self)
            }
            Stage::Dedup(dedup) => self.deduplicated(dedup),
            Stage::Unique => {
                let mut seen = BTreeSet::new();
                self.kept(|row| seen.insert(key_of(row.iter())))
            }
            Stage::Project(outputs) => self.projected(outputs, memory),
            Stage::Rename(pairs) => {
                for (from, to) in pairs {
                    let place = self.columns.place(from)?;
                    self.columns.0[place].name.clone_from(to);
                }
                Ok(self)
            }
            Stage::Drop(names) => {
                for name in names {
                    let place = self.columns.place(name)?;
                    self.columns.0.remove(place);
                    self.rows.iter_mut().for_each(|row| drop(row.remove(place)));
                }
                Ok(self)
            }
            Stage::Top(top) => self.most_frequent(top),
            Stage::Lookup(lookup) => looked_up(self, lookup, memory),
            Stage::Expand(expand) => expanded(self, expand, memory),
            Stage::Flatten(name) => Err(SqlError::semantic(format!(
                "flatten needs a field of an index, not [{name}]"
            ))),
            Stage::Window(window) => windowed(self, window, budget),
            Stage::Prefix { prefix, .. } => {
                for column in &mut self.columns.0 {
                    if column.name.starts_with('#') {
                        column.is_hidden = true;
                    } else {
                        column.name.insert_str(0, prefix);
                    }
                }
                Ok(self)
            }
            Stage::Qualify(source) => {
                for column in &mut self.columns.0 {
                    column.qualified = Some(format!("{source}.{}", column.name));
                }
                Ok(self)
            }
            Stage::Join(join) => joined(self, join, memory),
            Stage::Combine(combine) => combined(self, combine, memory),
            Stage::Unnest(unnest) => unnested(self, unnest, memory),
        }
    }

    /// The rows that are to stay.
    pub(crate) fn kept(mut self, mut stays: impl FnMut(&Row) -> bool) -> Result<Self, SqlError> {
        let mut walk = Walk::begin();
        let mut walked = Ok(());
        self.rows.retain(|row| {
            if walked.is_ok() {
                walked = walk.step();
            }
            walked.is_ok() && stays(row)
        });
        walked.map(|()| self)
    }

    fn evaluated(
        mut self,
        new: &[(String, Expr)],
        budget: &mut Budget<'_>,
    ) -> Result<Self, SqlError> {
        for (name, expr) in new {
            let (bound, kind) = bind(expr, &self.columns)?;
            let place = self.columns.place(name).ok();
            for row in &mut self.rows {
                let value = bound.value(row);
                budget.spend(&value)?;
                match place {
                    Some(place) => row[place] = value,
                    None => row.push(value),
                }
            }
            let column = Column::new(name, kind);
            match place {
                Some(place) => self.columns.0[place] = column,
                None => self.columns.0.push(column),
            }
        }
        Ok(self)
    }

    fn projected(self, outputs: &[Output], memory: &RequestMemory) -> Result<Self, SqlError> {
        let mut columns = Vec::new();
        let mut bound: Vec<Bound> = Vec::new();
        for output in outputs {
            if output.expr == Expr::Star {
                for (place, column) in self.columns.0.iter().enumerate() {
                    // What was made for the statement was written by nobody.
                    let is_made = column.is_hidden || column.name.starts_with('#');
                    let is_meant = glob(&output.name, &column.name);
                    if is_meant && !is_made && !is_metadata(&column.name) {
                        columns.push(column.clone());
                        bound.push(Bound::Place(place));
                    }
                }
                continue;
            }
            let (value, kind) = bind(&output.expr, &self.columns)?;
            columns.push(Column {
                written: output.alias.is_some().then(|| output.name.clone()),
                ..Column::new(output.label(), kind)
            });
            bound.push(value);
        }
        let mut budget = Budget::of(memory);
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let row: Row = bound.iter().map(|value| value.value(row)).collect();
            budget.spend_row(&row)?;
            rows.push(row);
        }
        Ok(Table {
            columns: Columns(columns),
            rows,
        })
    }

    pub(crate) fn sorted(mut self, keys: &[SortKey]) -> Result<Self, SqlError> {
        let mut bound = Vec::with_capacity(keys.len());
        for key in keys {
            bound.push((bind(&key.expr, &self.columns)?.0, key));
        }
        let mut walk = Walk::begin();
        let valued = |row: Row| -> Result<(Vec<Value>, Row), SqlError> {
            walk.step()?;
            let values: Vec<Value> = bound.iter().map(|(expr, _)| expr.value(&row)).collect();
            Ok((values, row))
        };
        let rows: Result<Vec<(Vec<Value>, Row)>, SqlError> =
            self.rows.into_iter().map(valued).collect();
        let rows = sorted_while_wanted(rows?, |(left, _), (right, _)| {
            let pairs = left.iter().zip(right).zip(keys);
            let mut orders = pairs.map(|((left, right), key)| ordered(left, right, key));
            orders
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        });
        let rows = rows.ok_or_else(ended)?;
        self.rows = rows.into_iter().map(|(_, row)| row).collect();
        Ok(self)
    }

    fn deduplicated(self, dedup: &Dedup) -> Result<Self, SqlError> {
        let places: Result<Vec<usize>, SqlError> = dedup
            .columns
            .iter()
            .map(|name| self.columns.place(name))
            .collect();
        let places = places?;
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut last = String::new();
        self.kept(|row| {
            if places.iter().any(|place| row[*place].is_null()) {
                return dedup.keeps_empty;
            }
            let key = key_of(places.iter().map(|place| &row[*place]));
            if dedup.is_consecutive && key != last {
                seen.clear();
                last.clone_from(&key);
            }
            let times = seen.entry(key).or_default();
            *times += 1;
            *times <= dedup.count
        })
    }

    /// The first column counts, and the last tell within which rows the most frequent are wanted.
    fn most_frequent(mut self, top: &Top) -> Result<Self, SqlError> {
        let first_by = self.columns.0.len() - top.by.min(self.columns.0.len());
        let count_of = |row: &Row| row.first().and_then(Value::as_i64).unwrap_or(0);
        let within = |row: &Row| key_of(row[first_by..].iter());
        let mut order: BTreeMap<String, usize> = BTreeMap::new();
        let mut placed = Vec::with_capacity(self.rows.len());
        let mut walk = Walk::begin();
        for row in self.rows {
            walk.step()?;
            let next = order.len();
            let place = *order.entry(within(&row)).or_insert(next);
            let count = count_of(&row);
            placed.push(((place, if top.is_rare { count } else { -count }), row));
        }
        let placed = sorted_while_wanted(placed, |(a, _), (b, _)| a.cmp(b));
        let placed = placed.ok_or_else(ended)?;
        self.rows = placed.into_iter().map(|(_, row)| row).collect();
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        self.kept(|row| {
            let times = taken.entry(within(row)).or_default();
            *times += 1;
            *times <= top.count
        })
    }
}

/// Values that are the same give the same text.
pub(crate) fn key_of<'v>(values: impl Iterator<Item = &'v Value>) -> String {
    let mut key = String::new();
    for value in values {
        key.push_str(&value.to_string());
        key.push('\u{0}');
    }
    key
}

fn ordered(left: &Value, right: &Value, key: &SortKey) -> Ordering {
    let nulls = match (left.is_null(), right.is_null()) {
        (true, true) => return Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => {
            let order = compare(left, right).unwrap_or(Ordering::Equal);
            return if key.descending {
                order.reverse()
            } else {
                order
            };
        }
    };
    if key.nulls_first {
        nulls
    } else {
        nulls.reverse()
    }
}

/// How many different values there are.
pub(crate) fn distinct<'v>(values: impl Iterator<Item = &'v Value>) -> usize {
    values
        .map(|value| key_of(std::iter::once(value)))
        .collect::<BTreeSet<String>>()
        .len()
}

//! How much of a plan a search does: the conditions, then either the groups or the order and the limit.

use serde_json::{Map, Value, json};

use crate::error::SqlError;
use crate::fields::{Field, Fields, SqlType};
use crate::pushed::filter;
use crate::pushed::groups::Groups;
use crate::statement::expr::{Expr, Logic, conjuncts};
use crate::statement::highlight;
use crate::statement::plan::{Plan, SortKey, Stage};
use crate::table::{Column, Columns};

/// How times are asked for, whatever format their mapping has.
const TIME_FORMAT: &str = "strict_date_optional_time_nanos";

/// A plan behind its search.
#[derive(Debug)]
pub(crate) struct Pushed {
    pub(crate) query: Option<Value>,
    pub(crate) read: RowSource,
    /// What is left to do with the rows.
    pub(crate) rest: Vec<Stage>,
}

/// What of the search's answer becomes rows.
#[derive(Debug)]
pub(crate) enum RowSource {
    Hits(Hits),
    Groups(Groups),
}

/// Documents as rows.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    pub(crate) columns: Vec<(Column, Field)>,
    sort: Vec<Value>,
    pub(crate) offset: usize,
    pub(crate) limit: Option<usize>,
}

impl Pushed {
    pub(crate) fn of(plan: Plan, fields: &Fields) -> Result<Self, SqlError> {
        let mut stages = plan.reordered().stages;
        let mut queries = Vec::new();
        let mut left = Vec::new();
        let filters = stages
            .iter()
            .take_while(|stage| matches!(stage, Stage::Filter(_)))
            .count();
        for stage in stages.drain(..filters) {
            if let Stage::Filter(expr) = stage {
                for part in conjuncts(expr) {
                    match filter::query(&part, fields)? {
                        Some(query) => queries.push((part.is_search(), query)),
                        None => left.push(part),
                    }
                }
            }
        }
        let query = together(queries);
        if !left.is_empty() {
            stages.insert(0, Stage::Filter(Expr::Logic(Logic::And, left)));
        }
        let groups = match stages.first() {
            Some(Stage::Group(group)) => Groups::of(group, fields)?,
            _ => None,
        };
        if let Some(groups) = groups {
            stages.remove(0);
            return Ok(Pushed {
                query,
                read: RowSource::Groups(groups),
                rest: stages,
            });
        }
        let mut hits = Hits::default();
        hits.take_order(&mut stages, fields)?;
        hits.take_columns(&stages, fields);
        Ok(Pushed {
            query,
            read: RowSource::Hits(hits),
            rest: stages,
        })
    }

    /// The columns that the search's rows have.
    pub(crate) fn columns(&self) -> Columns {
        match &self.read {
            RowSource::Hits(hits) => Columns(
                hits.columns
                    .iter()
                    .map(|(column, _)| column.clone())
                    .collect(),
            ),
            RowSource::Groups(groups) => groups.columns(),
        }
    }

    /// Adds a condition that was given beside the statement.
    pub(crate) fn add_query(&mut self, query: Value) {
        let mut queries = vec![(false, query)];
        queries.extend(self.query.take().map(|query| (true, query)));
        self.query = together(queries);
    }

    /// The search's body, without how many of its hits or groups are wanted.
    pub(crate) fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        if let Some(query) = &self.query {
            body.insert("query".into(), query.clone());
        }
        match &self.read {
            RowSource::Hits(hits) => hits.describe(&mut body),
            RowSource::Groups(groups) => groups.describe(&mut body),
        }
        body
    }

    /// Whether a page of the search's rows can go through the rest without the other pages.
    pub(crate) fn is_paged(&self) -> bool {
        let by_row = |stage: &Stage| stage.is_row_by_row() || matches!(stage, Stage::Filter(_));
        matches!(&self.read, RowSource::Hits(hits) if hits.offset == 0)
            && self.rest.iter().all(by_row)
    }

    /// Whether the statement says how many rows it wants, or makes groups of all there are.
    pub(crate) fn is_limited(&self) -> bool {
        let is_open = matches!(&self.read, RowSource::Hits(hits) if hits.limit.is_none());
        let limits = |stage: &Stage| matches!(stage, Stage::Limit { .. } | Stage::Group(_));
        !is_open || self.rest.iter().any(limits)
    }

    /// Whether rows of others are put beside or below its own: that takes long however few those are.
    pub(crate) fn has_others(&self) -> bool {
        let is_other =
            |stage: &Stage| matches!(stage, Stage::Join(_) | Stage::Combine(_) | Stage::Lookup(_));
        self.rest.iter().any(is_other)
    }

    /// Whether every row must be looked at before one can be shown.
    pub(crate) fn needs_all(&self) -> bool {
        !self.rest.iter().all(Stage::is_row_by_row)
    }
}

/// All conditions as one query. What searches for something gives the score, the others none.
fn together(queries: Vec<(bool, Value)>) -> Option<Value> {
    let (mut must, mut filter) = (Vec::new(), Vec::new());
    for (scores, query) in queries {
        if scores {
            must.push(query)
        } else {
            filter.push(query)
        }
    }
    match (must.len(), filter.len()) {
        (0, 0) => None,
        (1, 0) => must.pop(),
        (0, _) => Some(json!({"bool": {"filter": filter}})),
        (_, 0) => Some(json!({"bool": {"must": must}})),
        _ => Some(json!({"bool": {"must": must, "filter": filter}})),
    }
}

impl Hits {
    /// Takes an order by fields, and the limit behind it, away from the stages.
    fn take_order(&mut self, stages: &mut Vec<Stage>, fields: &Fields) -> Result<(), SqlError> {
        if let Some(Stage::Sort(keys)) = stages.first() {
            let sort: Option<Vec<Value>> = keys
                .iter()
                .map(|key| sort_of(key, fields).transpose())
                .collect::<Option<Result<_, _>>>()
                .transpose()?;
            let Some(sort) = sort else {
                return Ok(());
            };
            self.sort = sort;
            stages.remove(0);
        }
        if let Some(Stage::Limit { count, offset }) = stages.first() {
            (self.limit, self.offset) = (Some(*count), *offset);
            stages.remove(0);
        }
        Ok(())
    }

    /// The columns that the stages read; what a star stands for as long as none forgets it.
    fn take_columns(&mut self, stages: &[Stage], fields: &Fields) {
        let forgetting = stages.iter().position(Stage::forgets);
        // Behind other names it is not known any more which are wanted.
        let is_renamed = |stage: &Stage| matches!(stage, Stage::Prefix { .. } | Stage::Qualify(_));
        let forgetting = forgetting.filter(|at| !stages.iter().take(*at).any(is_renamed));
        let mut names = Vec::new();
        let reading = forgetting.map_or(stages, |at| &stages[..=at]);
        reading.iter().for_each(|stage| stage.columns(&mut names));
        let top: &[String] = if forgetting.is_some() {
            &[]
        } else {
            fields.top()
        };
        for name in top.iter().chain(&names) {
            let is_new = self.columns.iter().all(|(column, _)| column.name != *name);
            let field = fields.get(name).cloned();
            let field = field.or_else(|| highlight::made_field(name));
            if let (true, Some(field)) = (is_new, field) {
                let column = Column {
                    is_hidden: forgetting.is_none() && !top.contains(name),
                    ..Column::new(name, field.kind)
                };
                self.columns.push((column, field));
            }
        }
    }

    /// The paths of documents that the columns are read from.
    pub(crate) fn sources(&self) -> Vec<&str> {
        let columns = self.columns.iter().map(|(_, field)| field);
        columns
            .filter(|field| field.in_source)
            .map(|field| field.path.as_str())
            .collect()
    }

    fn describe(&self, body: &mut Map<String, Value>) {
        let columns = || self.columns.iter().map(|(_, field)| field);
        let is_time = |field: &&Field| field.kind.is_time();
        let source: Vec<&str> = columns()
            .filter(|field| field.in_source && !is_time(field))
            .map(|field| field.path.as_str())
            .collect();
        let made = columns().filter(|field| is_time(field) || !field.in_source);
        let made: Vec<Value> = made
            .filter(|field| !crate::fields::is_metadata(&field.path))
            .filter(|field| highlight::asked(&field.path).is_none())
            .map(|field| match field.kind {
                kind if kind.is_time() => json!({"field": field.path, "format": TIME_FORMAT}),
                _ => json!({"field": field.path}),
            })
            .collect();
        body.insert(
            "_source".into(),
            if source.is_empty() {
                false.into()
            } else {
                source.into()
            },
        );
        let highlights = columns().filter_map(|field| highlight::asked(&field.path));
        let highlights: Map<String, Value> = highlights
            .map(|(field, options)| {
                let options = serde_json::from_str(options);
                (field.to_string(), options.unwrap_or_default())
            })
            .collect();
        if !highlights.is_empty() {
            body.insert("highlight".into(), json!({"fields": highlights}));
        }
        if !made.is_empty() {
            body.insert("fields".into(), made.into());
        }
        if !self.sort.is_empty() {
            body.insert("sort".into(), self.sort.clone().into());
            if columns().any(|field| matches!(field.path.as_str(), "_score" | "_maxscore")) {
                body.insert("track_scores".into(), true.into());
            }
        }
    }
}

/// One key of a search's order; `None` where the field has no column to sort by.
fn sort_of(key: &SortKey, fields: &Fields) -> Result<Option<Value>, SqlError> {
    let Expr::Column(name) = &key.expr else {
        return Ok(None);
    };
    let Some(field) = fields.get(name) else {
        return Ok(None);
    };
    let order = if key.descending { "desc" } else { "asc" };
    if name == "_score" {
        return Ok(Some(json!({"_score": {"order": order}})));
    }
    let (Some(path), false) = (&field.exact, field.in_nested) else {
        return Ok(None);
    };
    if crate::fields::is_metadata(name) {
        return Ok((name == "_id").then(|| json!({path: {"order": order}})));
    }
    let missing = if key.nulls_first { "_first" } else { "_last" };
    let unmapped = match field.kind {
        kind if kind.is_time() => "date",
        SqlType::Text => "keyword",
        kind => kind.name(),
    };
    Ok(Some(
        json!({path: {"order": order, "missing": missing, "unmapped_type": unmapped}}),
    ))
}

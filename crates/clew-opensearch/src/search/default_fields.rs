//! `index.query.default_field`: where words are looked for that name no field, index by index.

use std::collections::BTreeMap;

use clew_engine::{Index, Purpose};
use clew_query::{Bool, FieldBoost, Query};
use serde_json::Value;

use super::lookup::Queries;
use crate::http::error::ApiError;
use crate::http::setting_values;
use crate::state::call::Call;

const DEFAULT_FIELD: &str = "index.query.default_field";

/// Fields, none of which means all, and the names of the indexes whose words are looked for there.
type Groups = BTreeMap<Vec<String>, Vec<String>>;

/// Names the fields of queries that name none, where an index says other ones than all; `expression` says which indexes
/// are searched.
pub(super) async fn fill(
    call: &Call,
    expression: &str,
    queries: &mut (impl Queries + Send),
) -> Result<(), ApiError> {
    let mut is_needed = false;
    queries.each(&mut |query| {
        is_needed |= lacks_fields(query);
        Ok(())
    })?;
    if !is_needed {
        return Ok(());
    }
    // What is wrong with the expression is told where the indexes are opened to be searched.
    let Ok(indices) = call.opened(expression, Purpose::Read).await else {
        return Ok(());
    };
    let mut groups = Groups::new();
    for index in &indices {
        let group = groups.entry(default_fields(index)).or_default();
        group.push(index.name().to_string());
    }
    if groups.keys().all(Vec::is_empty) {
        return Ok(());
    }
    queries.each(&mut |query| {
        if lacks_fields(query) {
            *query = in_groups(query, &groups);
        }
        Ok(())
    })
}

/// The fields that an index's settings name; none where all are meant.
fn default_fields(index: &Index) -> Vec<String> {
    let settings = index.settings();
    let Some(text) = settings.given.get(DEFAULT_FIELD) else {
        return Vec::new();
    };
    let fields: Vec<String> = match setting_values::shown(text) {
        Value::Array(items) => {
            let names = items.iter().filter_map(Value::as_str);
            names.map(str::to_string).collect()
        }
        _ => {
            let names = text.split(',').map(str::trim);
            let names = names.filter(|name| !name.is_empty());
            names.map(str::to_string).collect()
        }
    };
    if fields.iter().any(|field| field == "*") {
        return Vec::new();
    }
    fields
}

fn lacks_fields(query: &Query) -> bool {
    match query {
        Query::QueryString(string) => string.fields.is_empty(),
        Query::MultiMatch(multi) => multi.fields.is_empty(),
        _ => false,
    }
}

/// The query with each group's fields, in the indexes of the group.
fn in_groups(query: &Query, groups: &Groups) -> Query {
    let mut parts = Vec::with_capacity(groups.len());
    for (fields, names) in groups {
        let own = with_fields(query, fields);
        if groups.len() == 1 {
            return own;
        }
        let names = names.iter().map(|name| Value::from(name.as_str()));
        let of_group = Query::Terms {
            field: "_index".to_string(),
            values: names.collect(),
            boost: 1.0,
        };
        parts.push(Query::Bool(Bool {
            must: vec![own],
            filter: vec![of_group],
            ..Bool::default()
        }));
    }
    Query::Bool(Bool {
        should: parts,
        ..Bool::default()
    })
}

/// The query over these fields; over all of them values that do not fit match nothing.
fn with_fields(query: &Query, fields: &[String]) -> Query {
    let mut query = query.clone();
    let is_all = fields.is_empty();
    let named = if is_all {
        vec![FieldBoost::parse("*")]
    } else {
        fields
            .iter()
            .map(|field| FieldBoost::parse(field))
            .collect()
    };
    match &mut query {
        Query::QueryString(string) => {
            string.fields = named;
            string.lenient |= is_all;
        }
        Query::MultiMatch(multi) => {
            multi.fields = named;
            multi.clause.lenient |= is_all;
        }
        _ => {}
    }
    query
}

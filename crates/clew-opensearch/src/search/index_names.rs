//! `_index` in queries: the name of an alias means the indexes that have it, as in OpenSearch. Patterns mean names of indexes
//! alone.

use clew_query::Query;
use serde_json::Value;

use super::lookup::Queries;
use crate::http::error::ApiError;
use crate::state::call::Call;

const INDEX_FIELD: &str = "_index";

/// Puts the names of indexes beside those of aliases that queries ask for.
///
/// # Errors
/// None of its own.
pub(super) fn fill(call: &Call, queries: &mut impl Queries) -> Result<(), ApiError> {
    let mut is_asked = false;
    queries.each(&mut |query| {
        is_asked |= names_of(query).is_some();
        Ok(())
    })?;
    if !is_asked {
        return Ok(());
    }
    let aliases = call.api.engine.aliases();
    queries.each(&mut |query| {
        let Some((names, boost)) = names_of(query) else {
            return Ok(());
        };
        let holders = names.iter().filter_map(|name| aliases.get(name.as_str()?));
        let holders = holders.flatten().map(|index| Value::from(index.name()));
        let meant: Vec<Value> = holders.chain(names.iter().cloned()).collect();
        if meant.len() > names.len() {
            *query = Query::Terms {
                field: INDEX_FIELD.to_string(),
                values: meant,
                boost,
            };
        }
        Ok(())
    })
}

/// The names that a query asks for, and its factor.
fn names_of(query: &Query) -> Option<(&[Value], f32)> {
    match query {
        Query::Term(term) if term.field == INDEX_FIELD => {
            Some((std::slice::from_ref(&term.value), term.boost))
        }
        Query::Terms {
            field,
            values,
            boost,
        } if field == INDEX_FIELD => Some((&values[..], *boost)),
        _ => None,
    }
}

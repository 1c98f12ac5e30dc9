//! `has_child`, `has_parent` and `parent_id`.

use clew_query::{JoinScore, Query, Related, RelatedQuery};
use serde_json::Value;

use super::nested::score_mode;
use super::object::Parameters;
use super::{DslError, query};

pub(super) fn has_child(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("has_child", body)?;
    let common = Common::read(&mut parameters)?;
    let kind = parameters.text("type")?;
    let inner = parameters.take("query");
    let score = match parameters.text("score_mode")? {
        None => JoinScore::None,
        Some(name) => score_mode(&name)?,
    };
    let (min, max) = counts(&mut parameters)?;
    parameters.finish()?;
    let kind = kind.ok_or_else(|| missing("has_child", "type"))?;
    let inner = inner.ok_or_else(|| missing("has_child", "query"))?;
    let query = Box::new(query(inner, depth + 1)?);
    Ok(common.of(
        kind,
        Related::Child {
            query,
            score,
            min,
            max,
        },
    ))
}

pub(super) fn has_parent(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("has_parent", body)?;
    let common = Common::read(&mut parameters)?;
    let kind = parameters.text("parent_type")?;
    let inner = parameters.take("query");
    let score = match parameters.flag("score")? {
        Some(true) => JoinScore::Max,
        _ => JoinScore::None,
    };
    parameters.finish()?;
    let kind = kind.ok_or_else(|| missing("has_parent", "parent_type"))?;
    let inner = inner.ok_or_else(|| missing("has_parent", "query"))?;
    let query = Box::new(query(inner, depth + 1)?);
    Ok(common.of(kind, Related::Parent { query, score }))
}

pub(super) fn parent_id(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("parent_id", body)?;
    let common = Common::read(&mut parameters)?;
    let kind = parameters.text("type")?;
    let id = parameters.text("id")?;
    parameters.finish()?;
    let kind = kind.ok_or_else(|| missing("parent_id", "type"))?;
    let id = id.ok_or_else(|| missing("parent_id", "id"))?;
    Ok(common.of(kind, Related::ParentId(id)))
}

/// What all of them take.
struct Common {
    boost: f32,
    ignore_unmapped: bool,
}

impl Common {
    fn read(parameters: &mut Parameters<'_>) -> Result<Self, DslError> {
        // What is wanted from inside the hits is read with the search around it.
        parameters.ignore(&["inner_hits"]);
        Ok(Common {
            boost: parameters.boost()?,
            ignore_unmapped: parameters.flag("ignore_unmapped")?.unwrap_or(false),
        })
    }

    fn of(self, kind: String, way: Related) -> Query {
        Query::Related(RelatedQuery {
            kind,
            way,
            ignore_unmapped: self.ignore_unmapped,
            boost: self.boost,
        })
    }
}

fn missing(query: &str, name: &str) -> DslError {
    DslError::illegal(format!("[{query}] requires '{name}' field"))
}

/// How many children must match, and how many may.
fn counts(parameters: &mut Parameters<'_>) -> Result<(u32, u32), DslError> {
    let mut count = |name: &str| -> Result<Option<u32>, DslError> {
        let Some(value) = parameters.take(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::String(text) => text.parse::<i64>().ok(),
            value => value.as_i64(),
        };
        let number = number.and_then(|number| u32::try_from(number).ok());
        number.map(Some).ok_or_else(|| {
            DslError::illegal(format!("[has_child] requires non-negative '{name}' field"))
        })
    };
    // No children at all is no match either, so that 0 means the same as 1.
    let min = count("min_children")?.unwrap_or(1);
    let max = count("max_children")?.unwrap_or(u32::MAX);
    if max < min {
        return Err(DslError::illegal(
            "[has_child] 'max_children' is less than 'min_children'",
        ));
    }
    Ok((min, max))
}

//! Conditions as queries. What no query can say is left to be looked at row by row.

use serde_json::{Map, Value, json};

use crate::error::SqlError;
use crate::fields::{Field, Fields, SqlType, is_of_search};
use crate::functions::time;
use crate::stages::eval::bind;
use crate::statement::expr::{Call, Expr, Logic, Op, RELEVANCE};
use crate::statement::nested::field_and_path;
use crate::table::Columns;

/// The query of a condition; `None` where only the rows can tell.
///
/// # Errors
/// A column that there is not, or a search that is not written as it must be.
pub(crate) fn query(expr: &Expr, fields: &Fields) -> Result<Option<Value>, SqlError> {
    if let Some(query) = nested(expr, fields)? {
        return Ok(Some(query));
    }
    match expr {
        Expr::Logic(logic, parts) => {
            let queries: Option<Vec<Value>> = parts
                .iter()
                .map(|part| query(part, fields).transpose())
                .map(|part| part.transpose())
                .collect::<Result<Option<Vec<Value>>, SqlError>>()?;
            // Scores are of no use unless something is searched for.
            let clause = match logic {
                Logic::And if expr.is_search() => "must",
                Logic::And => "filter",
                Logic::Or => "should",
            };
            Ok(queries.map(|queries| json!({"bool": {clause: queries}})))
        }
        Expr::Not(part) => {
            Ok(query(part, fields)?.map(|query| json!({"bool": {"must_not": [query]}})))
        }
        Expr::IsNull(part) => {
            if let Expr::Literal(value) = &**part {
                return Ok(Some(all_or_none(value.is_null())));
            }
            let Some(field) = column(part, fields)? else {
                return Ok(None);
            };
            Ok(Some(
                json!({"bool": {"must_not": [{"exists": {"field": field.path}}]}}),
            ))
        }
        Expr::In(part, list) => Ok(one_of(part, list, fields)?),
        Expr::Binary(op, left, right) => {
            if let (Some(field), Some(value)) = (column(left, fields)?, constant(right)) {
                return Ok(comparison(*op, field, &value));
            }
            if let (Some(value), Some(field)) = (constant(left), column(right, fields)?)
                && *op != Op::Like
            {
                return Ok(comparison(op.swapped(), field, &value));
            }
            Ok(None)
        }
        Expr::Column(_) => {
            let field = column(expr, fields)?.filter(|field| field.kind == SqlType::Boolean);
            Ok(field.map(|field| json!({"term": {&field.path: true}})))
        }
        Expr::Call(call) => called(call, fields),
        Expr::Literal(Value::Bool(truth)) => Ok(Some(all_or_none(*truth))),
        Expr::Literal(_) | Expr::Star => Ok(None),
    }
}

/// The query of what holds everywhere, or nowhere.
fn all_or_none(holds: bool) -> Value {
    if holds {
        json!({"match_all": {}})
    } else {
        json!({"match_none": {}})
    }
}

/// `nested(path, condition)`, or a condition on `nested(path.field)`: one of the objects at the path has to fit.
fn nested(expr: &Expr, fields: &Fields) -> Result<Option<Value>, SqlError> {
    let is_nested = |part: &Expr| matches!(part, Expr::Call(call) if call.name == "nested");
    // What is put together is looked at part by part.
    if matches!(expr, Expr::Logic(..) | Expr::Not(_)) || !expr.any(&is_nested) {
        return Ok(None);
    }
    let (path, condition) = match expr {
        Expr::Call(call) if is_nested(expr) => match call.args.as_slice() {
            [
                Expr::Column(path) | Expr::Literal(Value::String(path)),
                condition,
            ] if !matches!(condition, Expr::Column(_)) => (Some(path.clone()), condition.clone()),
            _ => within(expr.clone())?,
        },
        other => within(other.clone())?,
    };
    let Some(path) = path else {
        return Ok(None);
    };
    let inner = query(&condition, &fields.inside(&path))?;
    Ok(inner.map(|inner| json!({"nested": {"path": path, "query": inner}})))
}

/// A condition with the fields themselves in place of `nested`, and the path that they are below.
fn within(condition: Expr) -> Result<(Option<String>, Expr), SqlError> {
    let mut paths: Vec<Result<String, SqlError>> = Vec::new();
    let condition = condition.replaced(&mut |part| match part {
        Expr::Call(call) if call.name == "nested" => match field_and_path(call) {
            Ok((field, path)) => {
                paths.push(Ok(path.to_string()));
                Some(Expr::column(field))
            }
            Err(error) => {
                paths.push(Err(error));
                None
            }
        },
        _ => None,
    });
    let mut paths: Vec<String> = paths.into_iter().collect::<Result<_, _>>()?;
    paths.dedup();
    match paths.len() {
        0 | 1 => Ok((paths.pop(), condition)),
        _ => Err(SqlError::semantic(
            "one condition cannot be on nested objects of several paths",
        )),
    }
}

/// The value of an expression that has no columns, if it has one.
fn constant(expr: &Expr) -> Option<Value> {
    if let Some(value) = expr.constant() {
        return Some(value);
    }
    let mut names = Vec::new();
    expr.columns(&mut names);
    if !names.is_empty() || !matches!(expr, Expr::Call(_) | Expr::Binary(..)) {
        return None;
    }
    let (bound, _) = bind(expr, &Columns::default()).ok()?;
    Some(bound.value(&[])).filter(|value| !value.is_null())
}

/// The field that an expression is, where a query over documents can ask for it.
fn column<'f>(expr: &Expr, fields: &'f Fields) -> Result<Option<&'f Field>, SqlError> {
    let Expr::Column(name) = expr else {
        return Ok(None);
    };
    let field = fields.require(name)?;
    let askable = !field.in_nested && !matches!(field.kind, SqlType::Nested) && !is_of_search(name);
    Ok(Some(field).filter(|_| askable))
}

/// The path under which a query compares whole values; the words of a text that has no other.
fn compared(field: &Field) -> &str {
    field.exact.as_deref().unwrap_or(&field.path)
}

/// A value as the query of a field takes it.
fn operand(field: &Field, value: &Value) -> Option<Value> {
    match (field.kind, value) {
        // Searches see times of day as moments of 1970.
        (SqlType::Time, _) | (_, Value::Null | Value::Array(_) | Value::Object(_)) => None,
        (kind, Value::String(text)) if kind.is_time() => Some(time::full(text)?.into()),
        (SqlType::Keyword | SqlType::Text | SqlType::Ip, Value::String(_)) => Some(value.clone()),
        (SqlType::Boolean, Value::Bool(_)) => Some(value.clone()),
        (kind, Value::Number(_)) if kind.is_number() || kind.is_time() => Some(value.clone()),
        // Numbers are compared with texts as numbers, where they are some.
        (kind, Value::String(text)) if kind.is_number() => {
            text.trim().parse::<f64>().ok().map(|_| text.trim().into())
        }
        _ => None,
    }
}

fn comparison(op: Op, field: &Field, value: &Value) -> Option<Value> {
    let path = compared(field);
    if op == Op::Like {
        let pattern = value.as_str().map(wildcards)?;
        return matches!(field.kind, SqlType::Keyword | SqlType::Text)
            .then(|| json!({"wildcard": {path: {"value": pattern, "case_insensitive": true}}}));
    }
    let value = operand(field, value)?;
    let bound = match op {
        Op::Less => "lt",
        Op::LessOrEqual => "lte",
        Op::Greater => "gt",
        Op::GreaterOrEqual => "gte",
        Op::Equal => return Some(equal(field, value)),
        Op::Unequal => {
            let exists = json!({"exists": {"field": field.path}});
            return Some(json!({"bool": {"filter": [exists], "must_not": [equal(field, value)]}}));
        }
        _ => return None,
    };
    Some(json!({"range": {path: ranged(field, &[(bound, value)])}}))
}

fn equal(field: &Field, value: Value) -> Value {
    let path = compared(field);
    if field.kind.is_time() {
        return json!({"range": {path: ranged(field, &[("gte", value.clone()), ("lte", value)])}});
    }
    json!({"term": {path: value}})
}

/// Times are given in full, whatever format their mapping takes.
fn ranged(field: &Field, bounds: &[(&str, Value)]) -> Value {
    let mut range: Map<String, Value> = bounds
        .iter()
        .map(|(bound, value)| (bound.to_string(), value.clone()))
        .collect();
    if field.kind.is_time() {
        range.insert(
            "format".into(),
            "strict_date_optional_time_nanos||epoch_millis".into(),
        );
    }
    Value::Object(range)
}

fn one_of(part: &Expr, list: &[Expr], fields: &Fields) -> Result<Option<Value>, SqlError> {
    let Some(field) = column(part, fields)? else {
        return Ok(None);
    };
    let values: Option<Vec<Value>> = list
        .iter()
        .map(|item| operand(field, &item.constant()?))
        .collect();
    let Some(values) = values else {
        return Ok(None);
    };
    if field.kind.is_time() {
        let any: Vec<Value> = values
            .into_iter()
            .map(|value| equal(field, value))
            .collect();
        return Ok(Some(json!({"bool": {"should": any}})));
    }
    Ok(Some(json!({"terms": {compared(field): values}})))
}

/// A pattern of `LIKE` or `wildcard_query` as one of `wildcard`: in OpenSearch both have the signs of the other, too.
fn wildcards(pattern: &str) -> String {
    let mut wildcards = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '%' => wildcards.push('*'),
            '_' => wildcards.push('?'),
            '\\' => match characters.next() {
                Some(next @ ('%' | '_')) => wildcards.push(next),
                next => {
                    wildcards.push('\\');
                    wildcards.extend(next);
                }
            },
            other => wildcards.push(other),
        }
    }
    wildcards
}

fn called(call: &Call, fields: &Fields) -> Result<Option<Value>, SqlError> {
    let name = call.name.as_str();
    match (name, call.args.as_slice()) {
        ("isnull", [part]) => return query(&Expr::IsNull(Box::new(part.clone())), fields),
        ("isnotnull", [part]) => {
            let null = Expr::IsNull(Box::new(part.clone()));
            return query(&Expr::Not(Box::new(null)), fields);
        }
        ("like", [part, pattern]) => {
            let like = Expr::Binary(Op::Like, Box::new(part.clone()), Box::new(pattern.clone()));
            return query(&like, fields);
        }
        ("cidrmatch", [part, Expr::Literal(block @ Value::String(_))]) => {
            let field = column(part, fields)?.filter(|field| field.kind == SqlType::Ip);
            return Ok(field.map(|field| json!({"term": {&field.path: block}})));
        }
        _ if !RELEVANCE.contains(&name) => return Ok(None),
        _ => {}
    }
    searched(call, fields).map(Some)
}

/// The query of a function that searches.
fn searched(call: &Call, fields: &Fields) -> Result<Value, SqlError> {
    let name = call.name.as_str();
    let options = || call.options.iter().cloned();
    if name == "query" {
        let [Expr::Literal(text @ Value::String(_))] = call.args.as_slice() else {
            return Err(malformed(name, "query('words')"));
        };
        let members = options().chain([("query".to_string(), text.clone())]);
        return Ok(json!({"query_string": Value::Object(members.collect())}));
    }
    let (kind, key) = match name {
        "match" | "matchquery" | "match_query" => ("match", "query"),
        "match_phrase" | "matchphrase" | "matchphrasequery" => ("match_phrase", "query"),
        "wildcard_query" | "wildcardquery" => ("wildcard", "value"),
        "multi_match" | "multimatch" | "multimatchquery" => ("multi_match", "query"),
        other => (other, "query"),
    };
    let [target, text] = call.args.as_slice() else {
        return Err(malformed(name, "a field and a text"));
    };
    let text = text
        .constant()
        .ok_or_else(|| malformed(name, "a field and a text"))?;
    let text = match (kind, text) {
        ("wildcard", Value::String(pattern)) => wildcards(&pattern).into(),
        (_, text) => text,
    };
    let members = options().chain([(key.to_string(), text)]);
    if matches!(kind, "multi_match" | "query_string" | "simple_query_string") {
        let listed = match target {
            Expr::Literal(list @ Value::Array(_)) => list.clone(),
            Expr::Literal(Value::String(name)) | Expr::Column(name) => json!([name]),
            _ => return Err(malformed(name, "a list of fields and a text")),
        };
        check_listed(&listed, fields)?;
        let members: Map<String, Value> = members.chain([("fields".to_string(), listed)]).collect();
        return Ok(json!({kind: members}));
    }
    let path = match target {
        Expr::Literal(Value::String(name)) | Expr::Column(name) => &fields.require(name)?.path,
        _ => return Err(malformed(name, "a field and a text")),
    };
    let members: Map<String, Value> = members.collect();
    Ok(json!({kind: {path: members}}))
}

fn check_listed(listed: &Value, fields: &Fields) -> Result<(), SqlError> {
    let names = listed
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    for name in names {
        let bare = name.split('^').next().unwrap_or(name);
        if !bare.contains('*') {
            fields.require(bare)?;
        }
    }
    Ok(())
}

fn malformed(name: &str, wanted: &str) -> SqlError {
    SqlError::semantic(format!("{name} function expected {wanted}"))
}

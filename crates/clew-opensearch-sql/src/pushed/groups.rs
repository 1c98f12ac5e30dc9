//! Groups as aggregations of a search: `composite` pages through all of them, so that every count is
//! exact however many there are.

use serde_json::{Map, Value, json};

use crate::error::SqlError;
use crate::fields::{Field, Fields, SqlType, is_metadata};
use crate::functions::cast::{cast, of_number};
use crate::functions::time;
use crate::pushed::filter;
use crate::stages::fold;
use crate::stages::fold::Aggregate;
use crate::statement::expr::{Call, Expr};
use crate::statement::plan::Group;
use crate::table::{Column, Columns, Row};

/// Groups that one search brings.
const PAGE_GROUPS: usize = 5_000;

/// The name of the aggregation whose buckets are the groups.
const GROUPS: &str = "groups";

/// Groups that a search can make.
#[derive(Debug)]
pub(crate) struct Groups {
    keys: Vec<(Column, Value)>,
    aggregates: Vec<(Column, Aggregate, Option<Value>)>,
}

impl Groups {
    /// `None` where a key or an aggregate is of more than a field.
    pub(crate) fn of(group: &Group, fields: &Fields) -> Result<Option<Self>, SqlError> {
        let mut keys = Vec::new();
        for key in &group.keys {
            let Some((kind, source)) = key_source(&key.expr, fields)? else {
                return Ok(None);
            };
            keys.push((Column::new(key.label(), kind), source));
        }
        let mut aggregates = Vec::new();
        for (aggregate, call, output) in fold::calls(group)? {
            let Some((of, body)) = measured(aggregate, call, fields)? else {
                return Ok(None);
            };
            let column = Column::new(output.label(), aggregate.kind(of)?);
            aggregates.push((column, aggregate, body));
        }
        Ok(Some(Groups { keys, aggregates }))
    }

    pub(crate) fn columns(&self) -> Columns {
        let aggregates = self.aggregates.iter().map(|(column, ..)| column);
        Columns(
            aggregates
                .chain(self.keys.iter().map(|(column, _)| column))
                .cloned()
                .collect(),
        )
    }

    /// What a search's body says of the groups.
    pub(crate) fn describe(&self, body: &mut Map<String, Value>) {
        let mut measures = Map::new();
        for (number, (_, _, measure)) in self.aggregates.iter().enumerate() {
            if let Some(measure) = measure {
                measures.insert(format!("a{number}"), measure.clone());
            }
        }
        body.insert("size".into(), 0.into());
        let is_counted = self.keys.is_empty();
        body.insert("track_total_hits".into(), is_counted.into());
        if !is_counted {
            let sources = self.keys.iter().enumerate();
            let sources: Vec<Value> = sources
                .map(|(number, (_, source))| json!({format!("k{number}"): source}))
                .collect();
            let mut groups = json!({"composite": {"size": PAGE_GROUPS, "sources": sources}});
            if !measures.is_empty() {
                groups["aggs"] = Value::Object(measures);
            }
            body.insert("aggs".into(), json!({GROUPS: groups}));
        } else if !measures.is_empty() {
            body.insert("aggs".into(), Value::Object(measures));
        }
    }

    /// The body of the next page.
    pub(crate) fn after(body: &mut Map<String, Value>, key: Value) {
        if let Some(composite) = body
            .get_mut("aggs")
            .and_then(|aggs| aggs.pointer_mut("/groups/composite"))
        {
            composite["after"] = key;
        }
    }

    /// The rows of an answer, and the key that the next page comes behind.
    pub(crate) fn rows(&self, answer: &Value) -> (Vec<Row>, Option<Value>) {
        if self.keys.is_empty() {
            let total = answer
                .pointer("/hits/total/value")
                .cloned()
                .unwrap_or_default();
            let none = Value::Null;
            let row = self.measures(answer.get("aggregations").unwrap_or(&none), &total);
            return (vec![row], None);
        }
        let groups = answer.pointer("/aggregations/groups");
        let buckets = groups
            .and_then(|groups| groups.get("buckets"))
            .and_then(Value::as_array);
        let buckets = buckets.map(Vec::as_slice).unwrap_or_default();
        let rows = buckets.iter().map(|bucket| {
            let mut row = self.measures(bucket, &bucket["doc_count"]);
            let key = |(number, (column, _)): (usize, &(Column, Value))| {
                key_value(column.kind, &bucket["key"][format!("k{number}")])
            };
            row.extend(self.keys.iter().enumerate().map(key));
            row
        });
        let after = groups.and_then(|groups| groups.get("after_key")).cloned();
        (
            rows.collect(),
            after.filter(|_| buckets.len() >= PAGE_GROUPS),
        )
    }

    fn measures(&self, results: &Value, documents: &Value) -> Row {
        let one =
            |(number, (column, aggregate, _)): (usize, &(Column, Aggregate, Option<Value>))| {
                measure(
                    *aggregate,
                    column.kind,
                    &results[format!("a{number}")],
                    documents,
                )
            };
        self.aggregates.iter().enumerate().map(one).collect()
    }
}

/// A field whose whole values a search can put together.
fn aggregated<'f>(
    expr: &Expr,
    fields: &'f Fields,
) -> Result<Option<(&'f Field, &'f str)>, SqlError> {
    let Expr::Column(name) = expr else {
        return Ok(None);
    };
    let field = fields.require(name)?;
    if field.in_nested || is_metadata(name) {
        return Ok(None);
    }
    Ok(field.exact.as_deref().map(|path| (field, path)))
}

/// The source of a composite aggregation that a key is.
fn key_source(expr: &Expr, fields: &Fields) -> Result<Option<(SqlType, Value)>, SqlError> {
    let with = |kind: &str, path: &str, more: Option<(&str, Value)>| {
        let mut source = json!({"field": path, "missing_bucket": true, "missing_order": "first", "order": "asc"});
        if let Some((name, value)) = more {
            source[name] = value;
        }
        json!({kind: source})
    };
    let (of, width) = match expr {
        Expr::Call(call) if call.name == "span" => match call.args.as_slice() {
            [of, Expr::Literal(width)] => (of, Some(width)),
            _ => {
                return Err(SqlError::semantic(
                    "span function expected a field and an interval",
                ));
            }
        },
        other => (other, None),
    };
    let Some((field, path)) = aggregated(of, fields)? else {
        return Ok(None);
    };
    let source = match (width, field.kind) {
        (None, _) => with("terms", path, None),
        (Some(Value::String(width)), kind) if kind.is_time() => {
            with("date_histogram", path, Some(interval(width)?))
        }
        (Some(Value::Number(width)), kind) if kind.is_number() => {
            with("histogram", path, Some(("interval", width.clone().into())))
        }
        (Some(width), kind) => {
            return Err(SqlError::semantic(format!(
                "a span of [{width}] cannot be used on [{}]",
                kind.name()
            )));
        }
    };
    Ok(Some((field.kind, source)))
}

/// Lengths that are the same everywhere are fixed; of the others there can be only one.
fn interval(text: &str) -> Result<(&'static str, Value), SqlError> {
    if time::fixed_millis(text).is_some() {
        return Ok(("fixed_interval", text.into()));
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..).unwrap_or_default() {
        unit @ ("w" | "M" | "q" | "y") => format!("1{unit}"),
        "minute" => "1m".into(),
        "hour" => "1h".into(),
        "day" => "1d".into(),
        "week" | "weeks" => "1w".into(),
        "mon" | "month" | "months" => "1M".into(),
        "quarter" | "quarters" => "1q".into(),
        "year" | "years" => "1y".into(),
        _ => return Err(SqlError::semantic(format!("[{text}] is no interval"))),
    };
    if !matches!(digits, "" | "1") {
        return Err(SqlError::semantic(format!(
            "[{text}] is no interval: calendar units come one at a time"
        )));
    }
    Ok(("calendar_interval", unit.into()))
}

/// The condition of `CASE WHEN condition THEN 1 END`: to count its values is to count where it holds.
fn counted(expr: &Expr) -> Option<&Expr> {
    let Expr::Call(call) = expr else {
        return None;
    };
    match call.args.as_slice() {
        [condition, Expr::Literal(value), Expr::Literal(Value::Null)]
            if call.name == "case" && !value.is_null() =>
        {
            Some(condition)
        }
        _ => None,
    }
}

/// The aggregation of an aggregate, where it needs one, and the type that it is of.
fn measured(
    aggregate: Aggregate,
    call: &Call,
    fields: &Fields,
) -> Result<Option<(SqlType, Option<Value>)>, SqlError> {
    let Some(arg) = call
        .args
        .first()
        .filter(|_| aggregate != Aggregate::CountAll)
    else {
        return Ok(Some((SqlType::Undefined, None)));
    };
    if let (Aggregate::Count, Some(condition)) = (aggregate, counted(arg)) {
        let query = filter::query(condition, fields)?;
        return Ok(query.map(|query| (SqlType::Integer, Some(json!({"filter": query})))));
    }
    if let (Aggregate::Count, Expr::Column(name)) = (aggregate, arg) {
        let field = fields.require(name)?;
        let exists = json!({"filter": {"exists": {"field": field.path}}});
        return Ok((!field.in_nested).then_some((field.kind, Some(exists))));
    }
    let Some((field, path)) = aggregated(arg, fields)? else {
        return Ok(None);
    };
    let is_number = field.kind.is_number();
    let is_ordered = is_number || field.kind.is_time();
    let kind = match aggregate {
        Aggregate::CountDistinct => "cardinality",
        Aggregate::Sum if is_number => "sum",
        Aggregate::Average if is_ordered => "avg",
        Aggregate::Least if is_ordered => "min",
        Aggregate::Greatest if is_ordered => "max",
        Aggregate::Spread { .. } if is_number => "extended_stats",
        Aggregate::Percentile(percent) if is_number => {
            let body = json!({"percentiles": {"field": path, "percents": [percent]}});
            return Ok(Some((field.kind, Some(body))));
        }
        _ => return Ok(None),
    };
    Ok(Some((field.kind, Some(json!({kind: {"field": path}})))))
}

fn measure(aggregate: Aggregate, kind: SqlType, result: &Value, documents: &Value) -> Value {
    let number = |value: Option<&Value>| match value.and_then(Value::as_f64) {
        Some(number) => of_number(kind, number),
        None => Value::Null,
    };
    match aggregate {
        Aggregate::CountAll => documents.clone(),
        Aggregate::Count => result["doc_count"].clone(),
        Aggregate::Percentile(_) => {
            let values = result["values"].as_object();
            number(values.and_then(|values| values.values().next()))
        }
        Aggregate::Spread { root, sampled } => number(result.get(match (root, sampled) {
            (true, false) => "std_deviation_population",
            (true, true) => "std_deviation_sampling",
            (false, false) => "variance_population",
            (false, true) => "variance_sampling",
        })),
        Aggregate::Least | Aggregate::Greatest | Aggregate::Average if kind.is_time() => {
            let millis = result["value"]
                .as_f64()
                .map(|millis| of_number(SqlType::Long, millis));
            key_value(kind, &millis.unwrap_or_default())
        }
        _ => number(result.get("value")),
    }
}

/// A key of a bucket as a value of its column.
fn key_value(kind: SqlType, key: &Value) -> Value {
    match (kind, key) {
        (_, Value::Null) => Value::Null,
        (kind, key) if kind.is_time() => {
            let millis = of_number(SqlType::Long, key.as_f64().unwrap_or(f64::NAN)).as_i64();
            cast(kind, &millis.and_then(time::of_millis).into())
        }
        (SqlType::Boolean, Value::Number(_) | Value::String(_)) => cast(kind, key),
        (kind, Value::Number(_)) if kind.is_number() => cast(kind, key),
        _ => key.clone(),
    }
}

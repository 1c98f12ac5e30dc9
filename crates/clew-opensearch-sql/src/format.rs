//! Rows as answers: with their schema as JSON, or as lines of text.

use clew_opensearch::wing::{Call, Reply};
use serde_json::{Map, Value, json};

use crate::Language;
use crate::error::SqlError;
use crate::functions::cast::shown;
use crate::table::{Row, Table};

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Format {
    /// Rows with their schema, as SQL has them.
    Jdbc,
    /// The same as PPL has them: types have their own names, and there is no status.
    Simple,
    /// Columns by their names, as charts of Dashboards ask PPL for them.
    Viz,
    Csv {
        sanitize: bool,
    },
    Raw,
    /// The answer of the search itself, where its hits are the rows; else rows.
    Json,
}

impl Format {
    pub(super) fn of(call: &Call, language: Language) -> Result<Self, SqlError> {
        let name = call.params.get("format").unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "json" if language == Language::Sql => Ok(Format::Json),
            "jdbc" | "" if language == Language::Sql => Ok(Format::Jdbc),
            "jdbc" | "json" | "" => Ok(Format::Simple),
            "viz" if language == Language::Ppl => Ok(Format::Viz),
            "csv" => Ok(Format::Csv {
                sanitize: call.params.flag("sanitize", true)?,
            }),
            "raw" => Ok(Format::Raw),
            _ => Err(SqlError::argument(format!(
                "response in {name} format is not supported."
            ))),
        }
    }

    /// The answer; `total` is how many rows there are with those of other pages.
    pub(super) fn reply(self, table: &Table, total: usize, cursor: Option<String>) -> Reply {
        match self {
            Format::Jdbc | Format::Json => jdbc(table, total, cursor),
            Format::Simple => simple(table),
            Format::Viz => by_column(table),
            Format::Csv { sanitize } => lines(table, ',', sanitize),
            Format::Raw => lines(table, '|', false),
        }
    }
}

fn jdbc(table: &Table, total: usize, cursor: Option<String>) -> Reply {
    let schema: Vec<Value> = table
        .columns
        .0
        .iter()
        .map(|column| match &column.written {
            Some(written) => {
                json!({"name": written, "alias": column.name, "type": column.kind.name()})
            }
            None => json!({"name": column.name, "type": column.kind.name()}),
        })
        .collect();
    let mut rest = Map::new();
    rest.insert("total".into(), total.into());
    rest.insert("size".into(), table.rows.len().into());
    if let Some(cursor) = cursor {
        rest.insert("cursor".into(), cursor.into());
    }
    rest.insert("status".into(), 200.into());
    with_rows(&schema, &table.rows, &rest)
}

/// An answer with rows, which are written as they are: they may take hundreds of megabytes.
fn with_rows(schema: &[Value], rows: &[Row], rest: &Map<String, Value>) -> Reply {
    let mut json = b"{\"schema\":".to_vec();
    let mut written = serde_json::to_writer(&mut json, schema);
    json.extend_from_slice(b",\"datarows\":");
    written = written.and_then(|()| serde_json::to_writer(&mut json, rows));
    for (name, value) in rest {
        json.extend_from_slice(format!(",\"{name}\":{value}").as_bytes());
    }
    json.push(b'}');
    written.expect("a JSON value has text keys only");
    Reply::raw_json(json)
}

fn simple(table: &Table) -> Reply {
    let columns = table.columns.0.iter();
    let schema: Vec<Value> = columns
        .map(|column| json!({"name": column.name, "type": column.kind.own_name()}))
        .collect();
    let count = Value::from(table.rows.len());
    let rest = ["total", "size"].map(|name| (name.to_string(), count.clone()));
    with_rows(&schema, &table.rows, &rest.into_iter().collect())
}

fn by_column(table: &Table) -> Reply {
    let mut data = Map::new();
    let mut fields: Vec<Value> = Vec::new();
    for (place, column) in table.columns.0.iter().enumerate() {
        let values = table.rows.iter();
        let values = values.map(|row| row.get(place).cloned().unwrap_or_default());
        data.insert(column.name.clone(), values.collect());
        fields.push(json!({"name": column.name, "type": column.kind.name()}));
    }
    Reply::json(&json!({
        "data": data,
        "metadata": {"fields": fields},
        "size": table.rows.len(),
        "status": 200,
    }))
}

fn lines(table: &Table, separator: char, sanitize: bool) -> Reply {
    let names = table.columns.0.iter().map(|column| column.name.clone());
    let mut text = line(names, separator, sanitize);
    for row in &table.rows {
        let cells = row.iter().map(|value| {
            if value.is_null() {
                String::new()
            } else {
                shown(value)
            }
        });
        text.push('\n');
        text.push_str(&line(cells, separator, sanitize));
    }
    Reply::text(text)
}

/// What a spreadsheet would take for a formula is sanitized.
fn line(cells: impl Iterator<Item = String>, separator: char, sanitize: bool) -> String {
    let cells = cells.map(|mut cell| {
        if sanitize && cell.starts_with(['=', '+', '-', '@']) {
            cell.insert(0, '\'');
        }
        if cell.contains([separator, '"', '\n', '\r']) {
            cell = format!("\"{}\"", cell.replace('"', "\"\""));
        }
        cell
    });
    cells.collect::<Vec<_>>().join(&separator.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let cells = || ["=1", "a,b", "x\"y", "a|b"].map(String::from).into_iter();
        assert_eq!(line(cells(), ',', true), "'=1,\"a,b\",\"x\"\"y\",a|b");
        assert_eq!(line(cells(), '|', false), "=1|a,b|\"x\"\"y\"|\"a|b\"");
    }
}

//! `lookup`: more fields from the row of a table whose key a field says.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use serde_json::{Map, Value as Json};

use super::cut::line_of;
use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot};
use crate::members::{flag, names, optional, text};
use crate::pipeline::Flow;
use crate::text::{Cell, Csv, Span};

/// Rows of a table.
const ROWS_MAX: usize = 1_000_000;

#[derive(Debug)]
struct Lookup {
    field: Slot,
    ignore_missing: bool,
    /// Where the columns go, each with its number in a row.
    targets: Vec<(usize, Slot)>,
    /// The rows' cells behind each other.
    cells: Vec<Span>,
    texts: String,
    columns: usize,
    /// The number of the row of each key.
    rows: HashMap<Box<str>, usize, FixedState>,
}

pub(super) fn read_lookup(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let field = slot(event, &text(config, "field")?)?;
    let table = text(config, "csv")?;
    // Where the table is from.
    config.remove("file");
    let key = optional(config, "key")?;
    let wanted = names(config, "columns")?;
    let target = optional(config, "target_field")?;
    // Programs that write tables put a mark of the encoding in front.
    let table = table.strip_prefix('\u{feff}').unwrap_or(&table);
    let mut lines = table.lines().filter(|line| !line.trim().is_empty());
    let mut reader = Reader::default();
    let header = lines.next().and_then(|line| reader.cells(line));
    let header = header.ok_or_else(|| wrong("has no line with the names of its columns"))?;
    let key = match key {
        None => 0,
        Some(key) => place(&header, &key)?,
    };
    let chosen: Vec<usize> = match &wanted {
        None => (0..header.len()).filter(|column| *column != key).collect(),
        Some(wanted) => wanted
            .iter()
            .map(|name| place(&header, name))
            .collect::<Result<_, _>>()?,
    };
    let mut targets = Vec::new();
    for column in chosen {
        let name = &header[column];
        let path = target.as_ref().map(|target| format!("{target}.{name}"));
        targets.push((column, slot(event, path.as_ref().unwrap_or(name))?));
    }
    let mut lookup = Lookup {
        field,
        ignore_missing: flag(config, "ignore_missing", false)?,
        targets,
        cells: Vec::new(),
        texts: String::new(),
        columns: header.len(),
        rows: HashMap::default(),
    };
    for (number, line) in lines.enumerate() {
        let row = reader.cells(line).filter(|row| row.len() == header.len());
        let row = row.ok_or_else(|| {
            let line = number + 2;
            wrong(&format!("has not {} cells in its row {line}", header.len()))
        })?;
        if number >= ROWS_MAX {
            return Err(wrong(&format!("has more than {ROWS_MAX} rows")));
        }
        lookup.add(&row, key)?;
    }
    Ok(Box::new(lookup))
}

fn wrong(reason: &str) -> DefinitionError {
    DefinitionError::refused("csv", reason)
}

fn place(header: &[String], name: &str) -> Result<usize, DefinitionError> {
    let place = header.iter().position(|column| column == name);
    place.ok_or_else(|| wrong(&format!("has no column [{name}]")))
}

/// Cuts lines into cells.
#[derive(Debug, Default)]
struct Reader {
    cells: Vec<Cell>,
    made: String,
}

impl Reader {
    fn cells(&mut self, line: &str) -> Option<Vec<String>> {
        let csv = Csv {
            separator: ',',
            quote: '"',
            trim: true,
        };
        self.made.clear();
        if !csv.cut(line, usize::MAX, &mut self.cells, &mut self.made) {
            return None;
        }
        let text = |cell: &Cell| match cell {
            Cell::Line(span) => span.of(line).to_owned(),
            Cell::Made(span) => span.of(&self.made).to_owned(),
        };
        Some(self.cells.iter().map(text).collect())
    }
}

impl Lookup {
    /// Adds a row; of rows with one key the first counts.
    fn add(&mut self, row: &[String], key: usize) -> Result<(), DefinitionError> {
        if self.rows.contains_key(row[key].as_str()) {
            return Ok(());
        }
        let number = self.rows.len();
        self.rows.insert(row[key].as_str().into(), number);
        for cell in row {
            let start = self.texts.len();
            self.texts.push_str(cell);
            if self.texts.len() > crate::text::LINE_BYTES_MAX {
                return Err(wrong("is too large"));
            }
            self.cells.push(Span::new(start, self.texts.len()));
        }
        Ok(())
    }
}

impl Step for Lookup {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let Some(key) = line_of(event, self.field, self.ignore_missing)? else {
            return Ok(Flow::On);
        };
        // What no row is about stays as it is.
        let Some(row) = self.rows.get(event.at(key)) else {
            return Ok(Flow::On);
        };
        let cells = &self.cells[row * self.columns..];
        for (column, target) in &self.targets {
            let cell = cells[*column].of(&self.texts);
            if !cell.is_empty() {
                event.put_text(*target, cell)?;
            }
        }
        Ok(Flow::On)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::Value;
    use crate::plan::Plan;

    const TABLE: &str = "code,name,team\r\n17,\"Cart, new\",blue\n18,Pay,\n17,again,red\n";

    fn run(step: &Json, text: &str) -> Result<Json, String> {
        let mut plan = Plan::default();
        let code = plan.slot("code").unwrap();
        plan.add(step).map_err(|error| error.to_string())?;
        let line = plan.event.begin(text).unwrap();
        plan.event.put(code, Value::Text(line)).unwrap();
        plan.run(0).unwrap();
        let mut out = Vec::new();
        plan.event.write(&mut out);
        Ok(serde_json::from_slice(&out).unwrap())
    }

    #[test]
    fn the_row_of_a_key_becomes_fields() {
        let step = |more: Json| {
            let mut parameters = json!({"field": "code", "csv": TABLE});
            let members = parameters.as_object_mut().unwrap();
            members.extend(more.as_object().unwrap().clone());
            json!({"lookup": parameters})
        };
        let check = |more: Json, text: &str, expected: Json| {
            assert_eq!(run(&step(more), text).unwrap(), expected);
        };
        let whole = json!({"code": "17", "name": "Cart, new", "team": "blue"});
        check(json!({}), "17", whole);
        check(json!({}), "18", json!({"code": "18", "name": "Pay"}));
        check(json!({}), "19", json!({"code": "19"}));
        let inside = json!({"target_field": "service", "columns": ["team"]});
        check(
            inside,
            "17",
            json!({"code": "17", "service": {"team": "blue"}}),
        );
        let by_name = json!({"key": "name", "columns": ["team"], "target_field": "of"});
        check(
            by_name,
            "again",
            json!({"code": "again", "of": {"team": "red"}}),
        );
        let marked = json!({"csv": format!("\u{feff}{TABLE}"), "key": "code", "columns": ["team"]});
        check(marked, "17", json!({"code": "17", "team": "blue"}));
        let refused = |more: Json, expected: &str| {
            let error = run(&step(more), "").unwrap_err();
            assert_eq!(error, format!("[csv] {expected}"));
        };
        refused(json!({"key": "no"}), "has no column [no]");
        refused(
            json!({"csv": ""}),
            "has no line with the names of its columns",
        );
        refused(json!({"csv": "a,b\n1"}), "has not 2 cells in its row 2");
    }
}

//! Tables of `_cat`: chosen and sorted columns, as aligned text or as JSON.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use clew_schema::glob::matches as glob;
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::formats::Format;
use crate::http::reply::Reply;
use crate::state::call::Call;

/// On which side a column's cells stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A column: name, other names, what it says, where cells stand.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    pub(super) about: &'static str,
    pub(super) align: Align,
    /// Shown although nobody asked for it.
    pub(super) shown: bool,
    /// Of all copies, and asked for by its name behind `pri.`, of the primaries alone: there are no others.
    pub(super) of_copies: bool,
}

/// A column whose cells stand left.
pub(super) const fn text(
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
) -> Column {
    Column {
        align: Align::Left,
        ..number(name, aliases, about)
    }
}

/// A column whose cells stand right.
pub(super) const fn number(
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
) -> Column {
    Column {
        name,
        aliases,
        about,
        align: Align::Right,
        shown: true,
        of_copies: false,
    }
}

/// A column that is shown only when it is asked for; its cells stand right.
pub(super) const fn hidden(
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
) -> Column {
    Column {
        shown: false,
        ..number(name, aliases, about)
    }
}

/// Columns and rows; every row has a cell for every column.
pub(super) struct Table<'a> {
    pub(super) columns: &'a [Column],
    pub(super) rows: Vec<Vec<String>>,
}

/// A table as it was asked for.
enum Shown {
    Text(String),
    /// What its columns say.
    Help(String),
    Json(Value),
}

impl Table<'_> {
    /// Answers as the request's `h`, `s`, `v`, `help` and `format` ask.
    pub(super) fn reply(self, call: &Call) -> Result<Reply, ApiError> {
        Ok(match self.shown(call)? {
            Shown::Text(text) | Shown::Help(text) => Reply::text(text),
            Shown::Json(rows) => Reply::json(&rows),
        })
    }

    /// The same for a page of a longer table: what it is of, and the token of the next one.
    pub(super) fn reply_page(
        self,
        call: &Call,
        (what, next): (&str, Option<String>),
    ) -> Result<Reply, ApiError> {
        Ok(match self.shown(call)? {
            Shown::Text(mut text) => {
                text.push_str("next_token ");
                text.push_str(next.as_deref().unwrap_or("null"));
                text.push('\n');
                Reply::text(text)
            }
            Shown::Help(text) => Reply::text(text),
            Shown::Json(rows) => Reply::json(&json!({"next_token": next, what: rows})),
        })
    }

    fn shown(mut self, call: &Call) -> Result<Shown, ApiError> {
        let params = &call.params;
        if params.flag("help", false)? {
            return Ok(Shown::Help(self.help()));
        }
        self.sort(params.list("s").unwrap_or_default())?;
        let chosen = self.choose(params.list("h"));
        match params.get("format") {
            Some(name) if Format::named(name).is_some() => Ok(Shown::Json(self.json(&chosen))),
            // What is no format is none that was asked for.
            _ => Ok(Shown::Text(self.text(&chosen, params.flag("v", false)?))),
        }
    }

    fn help(&self) -> String {
        let mut lines = Vec::new();
        for column in self.columns {
            let (name, about) = (column.name, column.about);
            lines.push((name.to_string(), column.aliases.join(","), about));
            if column.of_copies {
                lines.push((format!("pri.{name}"), String::new(), about));
            }
        }
        let name_width = lines.iter().map(|(name, ..)| name.len()).max();
        let alias_width = lines.iter().map(|(_, aliases, _)| aliases.len()).max();
        let (name_width, alias_width) = (name_width.unwrap_or(0), alias_width.unwrap_or(0));
        let about_width = lines.iter().map(|(.., about)| about.chars().count()).max();
        let about_width = about_width.unwrap_or(0);
        let lines = lines.iter().map(|(name, aliases, about)| {
            // The last column is filled up like the others, as OpenSearch has it.
            format!("{name:<name_width$} | {aliases:<alias_width$} | {about:<about_width$}\n")
        });
        lines.collect()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.is(name))
    }

    fn sort(&mut self, keys: Vec<&str>) -> Result<(), ApiError> {
        // Stable sorts by the last key first give the order by all keys.
        for key in keys.iter().rev() {
            let (name, descending) = match key.rsplit_once(':') {
                Some((name, "desc")) => (name, true),
                Some((name, "asc")) => (name, false),
                _ => (*key, false),
            };
            let at = self.position(name).ok_or_else(|| {
                ApiError::bad_request(
                    "unsupported_operation_exception",
                    format!("Unable to sort by unknown sort key `{name}`"),
                )
            })?;
            self.rows.sort_by(|a, b| {
                let order = compare(&a[at], &b[at]);
                if descending { order.reverse() } else { order }
            });
        }
        Ok(())
    }

    /// The chosen columns, each with the name it was asked for by. Unknown names choose nothing.
    fn choose(&self, names: Option<Vec<&str>>) -> Vec<(usize, String)> {
        let Some(names) = names else {
            let all = self.columns.iter().enumerate();
            return all
                .filter(|(_, column)| column.shown)
                .map(|(at, column)| (at, column.name.to_string()))
                .collect();
        };
        let (mut chosen, mut seen) = (Vec::new(), BTreeSet::new());
        for name in names {
            for (at, column) in self.columns.iter().enumerate() {
                // By each of its names once, as in OpenSearch.
                for shown in column.named_by(name) {
                    if seen.insert((at, shown.clone())) {
                        chosen.push((at, shown));
                    }
                }
            }
        }
        chosen
    }

    fn json(&self, chosen: &[(usize, String)]) -> Value {
        let rows = self.rows.iter().map(|row| {
            let cells = chosen
                .iter()
                .map(|(at, name)| (name.clone(), cell(&row[*at])));
            Value::Object(cells.collect::<Map<_, _>>())
        });
        Value::Array(rows.collect())
    }

    fn text(&self, chosen: &[(usize, String)], header: bool) -> String {
        let cells = |row: &[String]| -> Vec<String> {
            chosen.iter().map(|(at, _)| row[*at].clone()).collect()
        };
        let mut lines: Vec<Vec<String>> = Vec::with_capacity(self.rows.len() + 1);
        if header {
            lines.push(chosen.iter().map(|(_, name)| name.clone()).collect());
        }
        lines.extend(self.rows.iter().map(|row| cells(row)));
        let widths: Vec<usize> = (0..chosen.len())
            .map(|at| {
                lines
                    .iter()
                    .map(|line| line[at].chars().count())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for line in &lines {
            for (at, cell) in line.iter().enumerate() {
                let width = widths[at];
                let last = at + 1 == line.len();
                match self.columns[chosen[at].0].align {
                    Align::Right => text.push_str(&format!("{cell:>width$}")),
                    Align::Left if last => text.push_str(cell),
                    Align::Left => text.push_str(&format!("{cell:<width$}")),
                }
                if !last {
                    text.push(' ');
                }
            }
            text.push('\n');
        }
        text
    }
}

/// Empty cells come first, then what amounts to something, by how much, then texts.
fn compare(a: &str, b: &str) -> Ordering {
    match (amount(a), amount(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (None, None) => a.cmp(b),
        (Some(_), None) if b.is_empty() => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) if a.is_empty() => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
    }
}

/// What a cell amounts to that is a number, a size, a time or a share: sizes in bytes, times in nanoseconds.
fn amount(cell: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 15] = [
        ("", 1.0),
        ("%", 1.0),
        ("b", 1.0),
        ("kb", 1024.0),
        ("mb", 1_048_576.0),
        ("gb", 1_073_741_824.0),
        ("tb", 1_099_511_627_776.0),
        ("pb", 1_125_899_906_842_624.0),
        ("nanos", 1.0),
        ("micros", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("m", 6e10),
        ("h", 3.6e12),
        ("d", 8.64e13),
    ];
    let digits = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-';
    let end = cell
        .find(|letter: char| !digits(letter))
        .unwrap_or(cell.len());
    let (number, unit) = cell.split_at(end);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    Some(number.parse::<f64>().ok()? * factor)
}

/// A cell as JSON has it: null where a column has nothing to say.
fn cell(text: &str) -> Value {
    match text {
        "" => Value::Null,
        text => Value::from(text),
    }
}

impl Column {
    fn is(&self, name: &str) -> bool {
        let of_primaries = || self.of_copies && name.strip_prefix("pri.") == Some(self.name);
        self.name == name || self.aliases.contains(&name) || of_primaries()
    }

    /// The names under which it is asked for by one that may be a pattern, also of one of its other names: its own, and that
    /// of the primaries.
    fn named_by(&self, asked: &str) -> Vec<String> {
        let fits = |name: &str| asked.contains('*') && glob(asked, name);
        let own = match self.is(asked) {
            true => Some(asked.to_string()),
            false => {
                let fits = fits(self.name) || self.aliases.iter().any(|alias| fits(alias));
                fits.then(|| self.name.to_string())
            }
        };
        let of_primaries = self.of_copies.then(|| format!("pri.{}", self.name));
        let of_primaries = of_primaries.filter(|name| fits(name));
        own.into_iter().chain(of_primaries).collect()
    }
}

/// The same, of text.
pub(super) const fn hidden_text(
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
) -> Column {
    Column {
        shown: false,
        ..text(name, aliases, about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        text("index", &["i", "idx"], "name"),
        number("docs.count", &["dc"], "documents"),
    ];

    fn table() -> Table<'static> {
        let row = |name: &str, docs: &str| vec![name.to_string(), docs.to_string()];
        Table {
            columns: COLUMNS,
            rows: vec![row("b", "9"), row("long", "10"), row("a", "9")],
        }
    }

    #[test]
    fn numbers_stand_right_and_names_left() {
        let table = table();
        let chosen = table.choose(None);
        assert_eq!(
            table.text(&chosen, true),
            "index docs.count\nb              9\nlong          10\na              9\n"
        );
    }

    #[test]
    fn columns_are_chosen_and_sorted_by_any_of_their_names() {
        let mut table = table();
        table.sort(vec!["dc:desc", "i"]).unwrap();
        let chosen = table.choose(Some(vec!["dc", "i*"]));
        assert_eq!(table.text(&chosen, false), "10 long\n 9 a\n 9 b\n");
        assert!(table.sort(vec!["x"]).is_err());
        // Once each, however often it is asked for.
        let chosen = table.choose(Some(vec!["dc", "i", "dc", "docs.*", "docs.count"]));
        assert_eq!(
            table.text(&chosen, false),
            "10 long 10\n 9 a     9\n 9 b     9\n"
        );
    }

    #[test]
    fn what_columns_say_stands_in_columns_too() {
        assert_eq!(
            table().help(),
            "index      | i,idx | name     \ndocs.count | dc    | documents\n"
        );
    }

    #[test]
    fn sizes_and_times_are_sorted_by_what_they_amount_to() {
        for (cells, want) in [
            (
                ["10mb", "9kb", "1.5gb", "208b"],
                ["208b", "9kb", "10mb", "1.5gb"],
            ),
            (["1.2s", "900ms", "2m", "0s"], ["0s", "900ms", "1.2s", "2m"]),
            (
                ["100.0%", "9.5%", "20%", "3%"],
                ["3%", "9.5%", "20%", "100.0%"],
            ),
            (["b9", "a10", "a9", "-"], ["-", "a10", "a9", "b9"]),
        ] {
            let rows = cells.map(|cell| vec![String::new(), cell.to_string()]);
            let mut table = Table {
                columns: COLUMNS,
                rows: rows.to_vec(),
            };
            table.sort(vec!["dc"]).unwrap();
            let sorted: Vec<&str> = table.rows.iter().map(|row| row[1].as_str()).collect();
            assert_eq!(sorted, want);
        }
    }

    #[test]
    fn what_is_of_all_copies_is_of_the_primaries() {
        let column = Column {
            of_copies: true,
            ..number("merges.total", &["mt"], "merges")
        };
        assert!(column.is("pri.merges.total") && column.is("mt"));
        assert!(!COLUMNS[1].is("pri.docs.count"));
        for (asked, want) in [
            ("*", "merges.total pri.merges.total"),
            ("pri.*", "pri.merges.total"),
            ("merges.*", "merges.total"),
            ("m?", ""),
            ("m*t", "merges.total"),
            ("mt", "mt"),
            ("pri.merges.total", "pri.merges.total"),
        ] {
            assert_eq!(column.named_by(asked).join(" "), want, "{asked}");
        }
    }
}

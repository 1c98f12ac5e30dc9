//! `PostgreSQL`'s log: as text (`text.rs`), as CSV (`csv.rs`), and as JSON, which is a table of `columns/`. What its messages say is
//! found here for all three.

mod csv;
mod text;

pub(super) use csv::{begins as begins_csv, parse as parse_csv};
pub(super) use text::{begins, parse};

use super::fields::{Fields, SOURCE};
use super::token::{level, present};

/// The level of a severity; `DETAIL` and its like have none.
pub(super) fn level_of(severity: &str) -> Option<&'static str> {
    level(severity.trim_end_matches(|letter: char| letter.is_ascii_digit()))
}

fn is_severity(name: &str) -> bool {
    const NAMES: [&str; 18] = [
        "LOG",
        "ERROR",
        "FATAL",
        "PANIC",
        "WARNING",
        "NOTICE",
        "INFO",
        "DEBUG1",
        "DEBUG2",
        "DEBUG3",
        "DEBUG4",
        "DEBUG5",
        "DETAIL",
        "HINT",
        "STATEMENT",
        "CONTEXT",
        "QUERY",
        "LOCATION",
    ];
    NAMES.contains(&name)
}

/// A name, unless it stands for none.
pub(super) fn known(name: &str) -> Option<&str> {
    present(name).filter(|name| !matches!(*name, "[unknown]" | "[local]"))
}

/// Who is connected.
pub(super) fn client<'a>((address, port): (&'a str, Option<u16>), fields: &mut Fields<'a>) {
    fields.address(&SOURCE, address);
    fields.text("postgresql.log.client_addr", address);
    if let Some(port) = port.map(u64::from) {
        fields.number("source.port", port);
        fields.number("postgresql.log.client_port", port);
    }
}

/// What a message says of a statement: `duration: 12.345 ms  execute NAME: QUERY`, or `statement: QUERY`.
pub(super) fn statement<'a>(message: &'a str, fields: &mut Fields<'a>) {
    const STEPS: [&str; 6] = [
        "execute fetch from",
        "execute",
        "parse",
        "bind",
        "statement",
        "fastpath function call",
    ];
    let mut rest = message;
    if let Some((nanoseconds, behind)) = duration(message) {
        fields.number("event.duration", nanoseconds);
        rest = behind;
    }
    let step = STEPS
        .iter()
        .find_map(|step| Some((*step, rest.strip_prefix(step)?)));
    let Some((step, behind)) = step else {
        return;
    };
    let Some((name, query)) = behind.split_once(": ") else {
        return;
    };
    // A name is a word; `statement of ...: ` is prose.
    let name = name.trim_start();
    if name.contains(' ') || (step == "statement" && !name.is_empty()) {
        return;
    }
    fields.text("postgresql.log.query_step", step);
    if name != "<unnamed>" {
        fields.text("postgresql.log.query_name", name);
    }
    fields.text("postgresql.log.query", query);
}

/// Nanoseconds of `duration: 12.345 ms`, which has three decimals, and what follows.
fn duration(text: &str) -> Option<(u64, &str)> {
    let (milliseconds, behind) = text.strip_prefix("duration: ")?.split_once(" ms")?;
    let (whole, decimals) = milliseconds.split_once('.')?;
    let micros: u64 = decimals.parse().ok().filter(|_| decimals.len() == 3)?;
    let micros = whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1000)?
        .checked_add(micros)?;
    Some((micros.checked_mul(1000)?, behind.trim_start()))
}

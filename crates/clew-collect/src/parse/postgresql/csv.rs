//! `PostgreSQL`'s `csvlog`: 23 to 26 cells, as its versions have them, some of which have several lines.

use std::borrow::Cow;

use super::super::fields::Fields;
use super::super::stamp::{begins_with_day, iso_zoned};
use super::super::token::text_start;
use super::super::{Civil, Record, Times};
use super::{client, is_severity, known, level_of, statement};

/// No version has more.
const CELLS_MAX: usize = 64;
/// Up to the message.
const CELLS_MIN: usize = 14;

const USER: usize = 1;
const DATABASE: usize = 2;
const PROCESS: usize = 3;
const CLIENT: usize = 4;
const LINE_NUMBER: usize = 6;
const STARTED: usize = 8;
const TRANSACTION: usize = 10;
const SEVERITY: usize = 11;
const STATE: usize = 12;
const MESSAGE: usize = 13;

/// Cells that are kept as they are.
const TEXTS: [(usize, &str); 12] = [
    (5, "postgresql.log.session_id"),
    (7, "postgresql.log.command_tag"),
    (9, "postgresql.log.virtual_transaction_id"),
    (SEVERITY, "postgresql.log.severity"),
    (STATE, "postgresql.log.sql_state_code"),
    (14, "postgresql.log.detail"),
    (15, "postgresql.log.hint"),
    (16, "postgresql.log.internal_query"),
    (18, "postgresql.log.context"),
    (19, "postgresql.log.query"),
    (21, "postgresql.log.location"),
    (22, "postgresql.log.application_name"),
];
const BACKEND: usize = 23;
const QUERY_ID: usize = 25;

/// Whether a line is the first of an event.
pub(crate) fn begins(line: &[u8]) -> bool {
    /// A time is no longer, with its zone.
    const TIME_BYTES_MAX: usize = 64;
    let timed = || iso_zoned(text_start(line, TIME_BYTES_MAX));
    begins_with_day(line) && timed().is_some_and(|(_, rest)| rest.starts_with(','))
}

/// Takes an event, all lines of it.
pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (stamp, rest) = iso_zoned(event)?;
    rest.starts_with(',').then_some(())?;
    let cells = cells(event)?;
    (cells.len() >= CELLS_MIN).then_some(())?;
    let cell = |at: usize| cells.get(at).map_or("", |cell| cell.as_ref());
    (is_severity(cell(SEVERITY)) && cell(STATE).len() == 5).then_some(())?;
    let mut fields = Fields::default();
    fields.text("process.name", "postgres");
    for (name, at) in [
        ("process.pid", PROCESS),
        ("postgresql.log.session_line_number", LINE_NUMBER),
        ("postgresql.log.transaction_id", TRANSACTION),
    ] {
        if let Ok(number) = cell(at).parse() {
            fields.number(name, number);
        }
    }
    fields.text("user.name", known(cell(USER)).unwrap_or(""));
    fields.text(
        "postgresql.log.database",
        known(cell(DATABASE)).unwrap_or(""),
    );
    if let Some(from) = known(cell(CLIENT)) {
        let ported = from.rsplit_once(':');
        let ported = ported.and_then(|(address, port)| Some((address, port.parse().ok()?)));
        let ported = ported.map(|(address, port)| (address, Some(port)));
        client(ported.unwrap_or((from, None)), &mut fields);
    }
    if let Some((started, _)) = iso_zoned(cell(STARTED)) {
        let mut text = Vec::new();
        Civil::from_utc_ms(started.epoch_ms(times)).push_iso(&mut text);
        fields.text(
            "postgresql.log.session_start_time",
            String::from_utf8(text).ok()?,
        );
    }
    for (at, name) in TEXTS {
        let text = cell(at);
        if !text.is_empty() {
            fields.text(name, text);
        }
    }
    fields.text("postgresql.log.backend_type", cell(BACKEND));
    fields.text("postgresql.log.query_id", cell(QUERY_ID));
    statement(cell(MESSAGE), &mut fields);
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    record.level = level_of(cell(SEVERITY));
    fields.write(record);
    Some(())
}

/// The cells of an event; nothing if a quote is not closed, or stands elsewhere than around a cell.
fn cells(event: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut cells = Vec::new();
    let mut rest = event;
    while cells.len() < CELLS_MAX {
        let (cell, behind) = match rest.strip_prefix('"') {
            Some(inside) => quoted(inside)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                let (cell, behind) = rest.split_at(end);
                (!cell.contains('"')).then_some(())?;
                (Cow::Borrowed(cell), behind)
            }
        };
        cells.push(cell);
        if behind.is_empty() {
            return Some(cells);
        }
        rest = behind.strip_prefix(',')?;
    }
    None
}

/// A cell whose first quote was passed, in which those of its text are doubled, and what follows.
fn quoted(inside: &str) -> Option<(Cow<'_, str>, &str)> {
    let bytes = inside.as_bytes();
    let mut from = 0;
    let mut has_quotes = false;
    loop {
        let at = from + memchr::memchr(b'"', bytes.get(from..)?)?;
        if bytes.get(at + 1) != Some(&b'"') {
            let text = &inside[..at];
            let text = match has_quotes {
                true => Cow::Owned(text.replace("\"\"", "\"")),
                false => Cow::Borrowed(text),
            };
            return Some((text, &inside[at + 1..]));
        }
        has_quotes = true;
        from = at + 2;
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn events_of_one_line_and_of_several() {
        let check = |line: &str, expected| {
            testing::check(ParserName::PostgresqlCsv, line, expected);
        };
        check(
            "2026-01-02 03:04:05.678 UTC,\"jo\",\"shop\",59,\"10.0.0.7:42642\",5ff25f96.3b,3,\"SELECT\",2026-01-02 03:00:00 UTC,3/0,0,LOG,00000,\"duration: 0.658 ms  statement: SELECT 'a',\n\"\"b\"\";\",,,,,,,,,\"psql\",\"client backend\"",
            Some(concat!(
                r#"2026-01-02T03:04:05.678Z info {"event":{"duration":658000},"#,
                r#""postgresql":{"log":{"application_name":"psql","backend_type":"client backend","client_addr":"10.0.0.7","#,
                r#""client_port":42642,"command_tag":"SELECT","database":"shop","query":"SELECT 'a',\n\"b\";","#,
                r#""query_step":"statement","session_id":"5ff25f96.3b","session_line_number":3,"#,
                r#""session_start_time":"2026-01-02T03:00:00.000Z","severity":"LOG","sql_state_code":"00000","#,
                r#""transaction_id":0,"virtual_transaction_id":"3/0"}},"process":{"name":"postgres","pid":59},"#,
                r#""source":{"address":"10.0.0.7","ip":"10.0.0.7","port":42642},"user":{"name":"jo"}}"#
            )),
        );
        check(
            "2026-01-02 03:04:05.678 UTC,,,1,,5ff25f96.1,2,,2026-01-02 03:00:00 UTC,,0,FATAL,57P03,\"the database system is starting up\",,,,,,,,,\"\"",
            Some(concat!(
                r#"2026-01-02T03:04:05.678Z fatal {"postgresql":{"log":{"session_id":"5ff25f96.1","session_line_number":2,"#,
                r#""session_start_time":"2026-01-02T03:00:00.000Z","severity":"FATAL","sql_state_code":"57P03","#,
                r#""transaction_id":0}},"process":{"name":"postgres","pid":1}}"#
            )),
        );
        for (zone, hour) in [("-03", "06"), ("CST", "03")] {
            let line = format!(
                "2026-01-02 03:04:05.678 {zone},,,,,,,,2026-01-02 03:00:00 {zone},,,LOG,00000,x"
            );
            let expected = format!(
                r#"2026-01-02T{hour}:04:05.678Z info {{"postgresql":{{"log":{{"session_start_time":"2026-01-02T{hour}:00:00.000Z","severity":"LOG","sql_state_code":"00000"}}}},"process":{{"name":"postgres"}}}}"#
            );
            testing::check(ParserName::PostgresqlCsv, &line, Some(&expected));
        }
        for other in [
            "2026-01-02 03:04:05.678 UTC [12] LOG:  x",
            "2026-01-02 03:04:05,a,b,c,d,e,f,g,h,i,j,k,l,m,n",
            "2026-01-02 03:04:05.678 UTC,\"jo",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn first_lines_are_known_by_their_time() {
        for first in [
            "2026-01-02 03:04:05.678 UTC,\"a",
            "2026-01-02 03:04:05 +03,,",
        ] {
            assert!(super::begins(first.as_bytes()), "{first}");
        }
        assert!(super::begins(b"2026-01-02 03:04:05 CST,\xff"));
        for other in [
            "2026-01-02 03:04:05.678 UTC x",
            "SELECT 1,",
            "",
            "2026-01-02,1",
        ] {
            assert!(!super::begins(other.as_bytes()), "{other}");
        }
    }
}

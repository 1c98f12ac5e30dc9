//! MySQL's log of slow queries, with what Percona and MariaDB, and `log_slow_extra`, tell beside it. An event has a time, unless it is
//! of the same second as the one before it in old versions, who asked, pairs of a name and a number, and the query.

use super::compact;
use super::fields::{Fields, SOURCE, are_digits, is_decimal, nanoseconds};
use super::stamp::iso;
use super::{Record, Times};

/// What a pair holds, and its name.
enum Pair {
    /// Seconds with a fraction, which all took.
    Duration,
    Number(&'static str),
    /// Seconds with a fraction.
    Seconds(&'static str),
    Text(&'static str),
    /// `Yes` or `No`.
    Flag(&'static str),
    /// A time, kept as it is.
    Moment(&'static str),
}

const PAIRS: [(&str, Pair); 48] = [
    ("Query_time", Pair::Duration),
    ("Start", Pair::Moment("event.start")),
    ("End", Pair::Moment("event.end")),
    ("Lock_time", Pair::Seconds("mysql.slowlog.lock_time.sec")),
    ("Rows_sent", Pair::Number("mysql.slowlog.rows_sent")),
    ("Rows_examined", Pair::Number("mysql.slowlog.rows_examined")),
    ("Rows_affected", Pair::Number("mysql.slowlog.rows_affected")),
    ("Bytes_sent", Pair::Number("mysql.slowlog.bytes_sent")),
    (
        "Bytes_received",
        Pair::Number("mysql.slowlog.bytes_received"),
    ),
    ("Thread_id", Pair::Number("mysql.thread_id")),
    ("Schema", Pair::Text("mysql.slowlog.schema")),
    ("Last_errno", Pair::Number("mysql.slowlog.last_errno")),
    ("Errno", Pair::Number("mysql.slowlog.last_errno")),
    ("Killed", Pair::Number("mysql.slowlog.killed")),
    ("Tmp_tables", Pair::Number("mysql.slowlog.tmp_tables")),
    (
        "Tmp_disk_tables",
        Pair::Number("mysql.slowlog.tmp_disk_tables"),
    ),
    (
        "Tmp_table_sizes",
        Pair::Number("mysql.slowlog.tmp_table_sizes"),
    ),
    (
        "Created_tmp_tables",
        Pair::Number("mysql.slowlog.tmp_tables"),
    ),
    (
        "Created_tmp_disk_tables",
        Pair::Number("mysql.slowlog.tmp_disk_tables"),
    ),
    ("QC_hit", Pair::Flag("mysql.slowlog.query_cache_hit")),
    ("QC_Hit", Pair::Flag("mysql.slowlog.query_cache_hit")),
    ("Full_scan", Pair::Flag("mysql.slowlog.full_scan")),
    ("Full_join", Pair::Flag("mysql.slowlog.full_join")),
    ("Tmp_table", Pair::Flag("mysql.slowlog.tmp_table")),
    (
        "Tmp_table_on_disk",
        Pair::Flag("mysql.slowlog.tmp_table_on_disk"),
    ),
    ("Filesort", Pair::Flag("mysql.slowlog.filesort")),
    (
        "Filesort_on_disk",
        Pair::Flag("mysql.slowlog.filesort_on_disk"),
    ),
    ("Priority_queue", Pair::Flag("mysql.slowlog.priority_queue")),
    ("Merge_passes", Pair::Number("mysql.slowlog.merge_passes")),
    (
        "Sort_merge_passes",
        Pair::Number("mysql.slowlog.sort_merge_passes"),
    ),
    (
        "Sort_range_count",
        Pair::Number("mysql.slowlog.sort_range_count"),
    ),
    ("Sort_rows", Pair::Number("mysql.slowlog.sort_rows")),
    (
        "Sort_scan_count",
        Pair::Number("mysql.slowlog.sort_scan_count"),
    ),
    ("Read_first", Pair::Number("mysql.slowlog.read_first")),
    ("Read_last", Pair::Number("mysql.slowlog.read_last")),
    ("Read_key", Pair::Number("mysql.slowlog.read_key")),
    ("Read_next", Pair::Number("mysql.slowlog.read_next")),
    ("Read_prev", Pair::Number("mysql.slowlog.read_prev")),
    ("Read_rnd", Pair::Number("mysql.slowlog.read_rnd")),
    ("Read_rnd_next", Pair::Number("mysql.slowlog.read_rnd_next")),
    (
        "Log_slow_rate_type",
        Pair::Text("mysql.slowlog.log_slow_rate_type"),
    ),
    ("InnoDB_trx_id", Pair::Text("mysql.slowlog.innodb.trx_id")),
    (
        "InnoDB_IO_r_ops",
        Pair::Number("mysql.slowlog.innodb.io_r_ops"),
    ),
    (
        "InnoDB_IO_r_bytes",
        Pair::Number("mysql.slowlog.innodb.io_r_bytes"),
    ),
    (
        "InnoDB_IO_r_wait",
        Pair::Seconds("mysql.slowlog.innodb.io_r_wait.sec"),
    ),
    (
        "InnoDB_rec_lock_wait",
        Pair::Seconds("mysql.slowlog.innodb.rec_lock_wait.sec"),
    ),
    (
        "InnoDB_queue_wait",
        Pair::Seconds("mysql.slowlog.innodb.queue_wait.sec"),
    ),
    (
        "InnoDB_pages_distinct",
        Pair::Number("mysql.slowlog.innodb.pages_distinct"),
    ),
];

/// Whether a line begins an event, or what a server writes when it begins.
pub(crate) fn is_head(line: &[u8]) -> bool {
    line.starts_with(TIME.as_bytes()) || is_banner(line)
}

/// Whether a line is the first that a server writes when it begins: `/usr/sbin/mysqld, Version: 8.0.36 (...). started with:`.
fn is_banner(line: &[u8]) -> bool {
    let is_end = line.trim_ascii_end().ends_with(b" started with:");
    is_end && memchr::memmem::find(line, b", Version: ").is_some()
}

/// Whether a line says whose event it is.
pub(crate) fn is_name(line: &[u8]) -> bool {
    line.starts_with(USER.as_bytes())
}

const TIME: &str = "# Time: ";
const USER: &str = "# User@Host: ";

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    if is_banner(event.lines().next()?.as_bytes()) {
        return Some(());
    }
    let mut fields = Fields::default();
    let mut ms = None;
    let mut is_named = false;
    let mut rest = event;
    while rest.starts_with('#') {
        let (line, behind) = first_line(rest).unwrap_or((rest, ""));
        if let Some(time) = line.strip_prefix(TIME) {
            let stamped = iso(time).or_else(|| compact::mysql(time));
            ms = stamped.map(|(stamp, _)| stamp.epoch_ms(times));
        } else if let Some(name) = line.strip_prefix(USER) {
            user(name, &mut fields)?;
            is_named = true;
        } else {
            pairs(line, &mut fields);
        }
        rest = behind;
    }
    is_named.then_some(())?;
    let query = settings(rest, &mut ms, &mut fields);
    fields.text("mysql.slowlog.query", query.trim_end());
    record.timestamp_ms = ms;
    fields.write(record);
    Some(())
}

/// The first of several lines, as servers on Windows end them, too, and the others.
fn first_line(text: &str) -> Option<(&str, &str)> {
    let (line, behind) = text.split_once('\n')?;
    Some((line.strip_suffix('\r').unwrap_or(line), behind))
}

/// `jo[jo] @ localhost [10.0.0.7]  Id: 12`.
fn user<'a>(said: &'a str, fields: &mut Fields<'a>) -> Option<()> {
    let (name, rest) = said.split_once('[')?;
    let (current, rest) = rest.split_once("] @ ")?;
    let (host, rest) = rest.split_once('[')?;
    let (address, rest) = rest.split_once(']')?;
    fields.text("user.name", name);
    fields.text("mysql.slowlog.current_user", current);
    fields.text("source.domain", host.trim_end());
    if !address.is_empty() {
        fields.address(&SOURCE, address);
    }
    let id = rest.trim_start().strip_prefix("Id:").map(str::trim);
    if let Some(Ok(id)) = id.map(str::parse::<u64>) {
        fields.number("mysql.thread_id", id);
    }
    Some(())
}

/// `# Query_time: 1.500000  Lock_time: 0.000120  Schema:   Killed: 0`.
fn pairs<'a>(line: &'a str, fields: &mut Fields<'a>) {
    let mut words = line
        .trim_start_matches('#')
        .split_ascii_whitespace()
        .peekable();
    while let Some(word) = words.next() {
        let Some(name) = word.strip_suffix(':') else {
            continue;
        };
        // A name without a value is followed by the next name.
        let Some(value) = words.next_if(|value| !value.ends_with(':')) else {
            continue;
        };
        if let Some((_, pair)) = PAIRS.iter().find(|(known, _)| *known == name) {
            pair.take(value, fields);
        }
    }
}

impl Pair {
    /// Keeps a value, if it is what it should be.
    fn take<'a>(&self, value: &'a str, fields: &mut Fields<'a>) {
        match *self {
            Pair::Duration => {
                if let Some(nanoseconds) = nanoseconds(value) {
                    fields.number("event.duration", nanoseconds);
                }
            }
            Pair::Number(name) => {
                if let Ok(number) = value.parse() {
                    fields.number(name, number);
                }
            }
            Pair::Seconds(name) if is_decimal(value) => fields.fraction(name, value),
            Pair::Seconds(_) => {}
            Pair::Text(name) => fields.text(name, value),
            Pair::Flag(name) => fields.flag(name, value == "Yes"),
            Pair::Moment(name) if iso(value).is_some_and(|(_, rest)| rest.is_empty()) => {
                fields.text(name, value);
            }
            Pair::Moment(_) => {}
        }
    }
}

/// Takes what the server puts in front of a query, so that it can be run again: `use shop;`, `SET timestamp=1767323045;`. The time of
/// a query without one is that.
fn settings<'a>(text: &'a str, ms: &mut Option<i64>, fields: &mut Fields<'a>) -> &'a str {
    let mut rest = text;
    while let Some((line, behind)) = first_line(rest) {
        if let Some(schema) = line.strip_prefix("use ") {
            fields.text("mysql.slowlog.schema", schema.trim_end_matches(';'));
        } else if let Some(settings) = line.strip_prefix("SET ") {
            let mut settings = settings.trim_end_matches(';').split(',');
            let seconds = settings.find_map(|setting| setting.strip_prefix("timestamp="));
            let Some(seconds) = seconds.filter(|seconds| are_digits(seconds)) else {
                break;
            };
            let since_epoch = seconds.parse::<i64>().ok();
            *ms = ms.or_else(|| since_epoch?.checked_mul(1_000));
        } else {
            break;
        }
        rest = behind;
    }
    rest
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    fn check(event: &str, expected: Option<&str>) {
        testing::check(ParserName::MysqlSlowlog, event, expected);
    }

    #[test]
    fn events_with_what_servers_tell_beside_the_query() {
        check(
            "# Time: 2026-01-02T03:04:05.678901Z\n# User@Host: jo[root] @ localhost [10.0.0.7]  Id:    37\n# Query_time: 1.500000  Lock_time: 0.000120 Rows_sent: 1  Rows_examined: 20\nuse shop;\nSET timestamp=1767323044;\nSELECT *\n  FROM orders;",
            Some(concat!(
                r#"2026-01-02T03:04:05.678Z - {"event":{"duration":1500000000},"mysql":{"slowlog":{"current_user":"root","#,
                r#""lock_time":{"sec":0.000120},"query":"SELECT *\n  FROM orders;","rows_examined":20,"rows_sent":1,"#,
                r#""schema":"shop"},"thread_id":37},"source":{"address":"10.0.0.7","domain":"localhost","ip":"10.0.0.7"},"#,
                r#""user":{"name":"jo"}}"#
            )),
        );
        check(
            "# User@Host: jo[jo] @  []\n# Thread_id: 8  Schema:   Last_errno: 0  Killed: 0  QC_hit: No\n# Query_time: 0.5  Lock_time: 0.1  Rows_sent: 0  Rows_examined: 0\n# No InnoDB statistics available for this query\n#   InnoDB_IO_r_ops: 3  InnoDB_IO_r_wait: 0.25\nSET timestamp=1767323045;\nSELECT 1;\n",
            Some(concat!(
                r#"2026-01-02T03:04:05.000Z - {"event":{"duration":500000000},"mysql":{"slowlog":{"current_user":"jo","#,
                r#""innodb":{"io_r_ops":3,"io_r_wait":{"sec":0.25}},"killed":0,"last_errno":0,"lock_time":{"sec":0.1},"#,
                r#""query":"SELECT 1;","query_cache_hit":false,"rows_examined":0,"rows_sent":0},"thread_id":8},"#,
                r#""user":{"name":"jo"}}"#
            )),
        );
        check(
            "/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:\nTcp port: 3306  Unix socket: /x\nTime                 Id Command    Argument",
            Some(" - {}"),
        );
        // As `log_slow_extra` has it.
        check(
            "# User@Host: jo[jo] @ localhost []  Id: 1\n# Query_time: 0.5 Thread_id: 1 Created_tmp_tables: 2 Start: 2026-01-02T03:04:04.082107Z End: 2026-01-02T03:04:05.582107Z\nSELECT 1;",
            Some(concat!(
                r#" - {"event":{"duration":500000000,"end":"2026-01-02T03:04:05.582107Z","start":"2026-01-02T03:04:04.082107Z"},"#,
                r#""mysql":{"slowlog":{"current_user":"jo","query":"SELECT 1;","tmp_tables":2},"thread_id":1},"#,
                r#""source":{"domain":"localhost"},"user":{"name":"jo"}}"#
            )),
        );
        // As servers on Windows end lines.
        check(
            "# User@Host: jo[jo] @ localhost []\r\n# Query_time: 0.5\r\nuse shop;\r\nSET timestamp=1767323045;\r\nSELECT 1;",
            Some(concat!(
                r#"2026-01-02T03:04:05.000Z - {"event":{"duration":500000000},"mysql":{"slowlog":{"current_user":"jo","#,
                r#""query":"SELECT 1;","schema":"shop"}},"source":{"domain":"localhost"},"user":{"name":"jo"}}"#
            )),
        );
        for other in [
            "# Time: 2026-01-02T03:04:05Z\nSELECT 1;",
            "SELECT 1;",
            "# x",
        ] {
            check(other, None);
        }
        // A statement that ends like the first line of a server is none.
        assert!(!super::is_head(b"-- the job was started with:"));
        assert!(super::is_head(b"mysqld, Version: 5.7.1. started with:\r"));
    }
}

//! Logs of programs in Java, as layouts of Log4j and Logback write them: what most programs have (`log4j`), and those of
//! Elasticsearch and OpenSearch, Logstash, Kafka, and ZooKeeper. The lines of a trace belong to the line before them.

mod elasticsearch;
mod kafka;
mod log4j;
mod logstash;
mod zookeeper;

pub(super) use elasticsearch::parse as parse_elasticsearch;
pub(super) use kafka::parse as parse_kafka;
pub(super) use log4j::{begins as begins_log4j, parse as parse_log4j};
pub(super) use logstash::parse as parse_logstash;
pub(super) use zookeeper::parse as parse_zookeeper;

use super::Record;
use super::fields::Fields;
use super::stamp::begins_with_day;
use super::token::level;

/// Whether a line begins with a day, or with one in brackets.
pub(super) fn begins_with_time(line: &[u8]) -> bool {
    begins_with_day(line.strip_prefix(b"[").unwrap_or(line))
}

/// The level that a word in capitals says.
fn level_of(word: &str) -> Option<&'static str> {
    let is_capital = word.bytes().all(|byte| byte.is_ascii_uppercase());
    level(word).filter(|_| is_capital)
}

/// Whether a word may be the name of a class, of a package, or of a logger that is called so.
fn is_class(word: &str) -> bool {
    let is_letter =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$' | b'-');
    word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && word.bytes().all(is_letter)
}

/// The exception that an event's second line names, what it says of itself, and the lines from there on.
struct Trace<'a> {
    class: &'a str,
    message: &'a str,
    whole: &'a str,
}

impl<'a> Trace<'a> {
    fn of(event: &'a str) -> Option<Self> {
        let (_, whole) = event.split_once('\n')?;
        let whole = whole.trim_end();
        let first = whole.lines().next()?;
        let (class, message) = first.split_once(": ").unwrap_or((first, ""));
        let class = class.trim_end_matches(':');
        let is_one = is_class(class) && class.contains('.');
        is_one.then_some(Trace {
            class,
            message,
            whole,
        })
    }
}

/// Writes an event with its time, its level, and what its trace says.
fn write<'a>(
    (ms, level): (Option<i64>, Option<&'static str>),
    trace: Option<Trace<'a>>,
    mut fields: Fields<'a>,
    record: &mut Record,
) {
    if let Some(trace) = trace {
        fields.text("error.type", trace.class);
        fields.text("error.message", trace.message);
        fields.text("error.stack_trace", trace.whole);
    }
    record.timestamp_ms = ms;
    record.level = level;
    fields.write(record);
}

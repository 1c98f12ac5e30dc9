//! Lines that have a time, a level, a thread and the name of a logger, in one of the usual orders:
//!
//! - `2026-01-02 03:04:05,678 INFO [main] a.b.C: text` and `... INFO a.b.C: text`, of Hadoop and what was made after it;
//! - `2026-01-02 03:04:05.678 [main] INFO  a.b.C - text`, of Log4j 2 and Logback, and `03:04:05.678 [main] ...`, their own layout, which
//!   says no day: such lines have no time, since it would be guessed;
//! - `2026-01-02T03:04:05.678+01:00  INFO 123 --- [app] [main] a.b.C : text`, of Spring Boot;
//! - `INFO  [main] 2026-01-02 03:04:05,678 C.java:12 - text`, of Cassandra;
//! - `02-Jan-2026 03:04:05.678 INFO [main] a.b.C.method text`, of Tomcat;
//! - `26/01/02 03:04:05 INFO C: text`, of Spark, and `260102 030405 143 INFO a.C: text`, of HDFS, with the number of a thread.

use super::super::compact::{hdfs, spark};
use super::super::fields::{Fields, are_digits};
use super::super::stamp::{Stamp, begins_with_day, day_first, iso, time_of_day, two};
use super::super::token::{enclosed, split, text_start, word};
use super::super::{Civil, Record, Times};
use super::{Trace, is_class, level_of, write};

/// What stands in front of a text.
#[derive(Default)]
struct Head<'a> {
    stamp: Option<Stamp>,
    level: Option<&'static str>,
    thread: &'a str,
    logger: &'a str,
    process: Option<u64>,
    /// The number of a thread.
    thread_number: Option<u64>,
    /// A file and the number of a line.
    place: Option<(&'a str, u64)>,
}

/// Whether a line begins an event: traces and other lines go on with the line before them. One with a day begins one, too, which a
/// program beside it has written in a layout of its own.
pub(crate) fn begins(line: &[u8]) -> bool {
    // As far as a head may go.
    const HEAD_BYTES_MAX: usize = 512;
    if begins_with_day(line) {
        return true;
    }
    let text = text_start(line, HEAD_BYTES_MAX);
    head(text).is_some() || spark(text).is_some() || hdfs(text).is_some()
}

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (line, _) = event.split_once('\n').unwrap_or((event, ""));
    let head = head(line)?;
    let mut fields = Fields::default();
    fields.text("log.logger", head.logger);
    fields.text("process.thread.name", head.thread);
    if let Some(process) = head.process {
        fields.number("process.pid", process);
    }
    if let Some(number) = head.thread_number {
        fields.number("process.thread.id", number);
    }
    if let Some((file, number)) = head.place {
        fields.text("log.origin.file.name", file);
        fields.number("log.origin.file.line", number);
    }
    let ms = head.stamp.map(|stamp| stamp.epoch_ms(times));
    write((ms, head.level), Trace::of(event), fields, record);
    Some(())
}

fn head(line: &str) -> Option<Head<'_>> {
    if line.starts_with(|first: char| first.is_ascii_uppercase()) {
        return level_first(line);
    }
    if let Some(head) = short_head(line) {
        return Some(head);
    }
    let mut head = Head::default();
    let (rest, is_tomcat) = match iso(line) {
        Some((stamp, rest)) => {
            head.stamp = Some(stamp);
            (rest, false)
        }
        None => match day_first(line) {
            Some((stamp, rest)) => {
                head.stamp = Some(stamp);
                (rest, true)
            }
            None => (behind_clock(line)?, false),
        },
    };
    let rest = rest.strip_prefix(' ')?.trim_start();
    let rest = if let Some((thread, rest)) = threaded(rest) {
        head.thread = thread;
        let (severity, rest) = word(rest)?;
        head.level = Some(level_of(severity)?);
        rest
    } else {
        let (severity, rest) = word(rest)?;
        head.level = Some(level_of(severity)?);
        match head.spring_boot(rest) {
            Some(rest) => rest,
            None => match threaded(rest) {
                Some((thread, rest)) => {
                    head.thread = thread;
                    rest
                }
                // A line of a clock alone has a thread, or is another program's.
                None if head.stamp.is_some() => rest,
                None => return None,
            },
        }
    };
    head.logger = logger(rest, is_tomcat && !head.thread.is_empty())?;
    let has_package = head.logger.contains('.');
    (has_package || !head.thread.is_empty()).then_some(head)
}

impl<'a> Head<'a> {
    /// `123 --- [app] [main] `, behind which the ids of a trace may stand in brackets, or blanks for them; and the rest.
    fn spring_boot(&mut self, text: &'a str) -> Option<&'a str> {
        let (process, rest) = word(text)?;
        let rest = rest.strip_prefix("--- ")?;
        self.process = Some(process.parse().ok()?);
        let (mut thread, mut rest) = threaded(rest)?;
        if let Some((second, behind)) = threaded(rest) {
            (thread, rest) = (second, behind);
        }
        self.thread = thread;
        if let Some((_, behind)) = enclosed(rest, '[', b']') {
            rest = behind.strip_prefix(' ')?;
        }
        Some(rest)
    }
}

/// `[main] `, and what follows.
fn threaded(text: &str) -> Option<(&str, &str)> {
    let (thread, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let thread = thread.trim();
    (!thread.is_empty()).then_some((thread, rest.trim_start()))
}

/// The name of a logger, behind which a text begins.
fn logger(text: &str, is_followed_by_text: bool) -> Option<&str> {
    let (name, rest) = word(text)?;
    // Where a context would stand that is empty, as Flink has it.
    let rest = rest.strip_prefix("[] ").unwrap_or(rest);
    let (name, is_marked) = match name.strip_suffix(':') {
        Some(name) => (name, true),
        None => (name, ["- ", ": "].iter().any(|mark| rest.starts_with(mark))),
    };
    // A number of a line may stand behind it.
    let name = split(name, b':')
        .filter(|(_, line)| are_digits(line))
        .map_or(name, |(name, _)| name);
    (is_logger(name) && (is_marked || is_followed_by_text)).then_some(name)
}

/// Whether a word may be the name of a logger: those of Tomcat name a container, too, `o.a.c.c.C.[Tomcat].[localhost].[/]`.
fn is_logger(name: &str) -> bool {
    let (class, container) = name.split_once(".[").unwrap_or((name, "]"));
    is_class(class) && container.ends_with(']')
}

/// What follows `03:04:05.678`.
fn behind_clock(line: &str) -> Option<&str> {
    let bytes = line.as_bytes();
    time_of_day(bytes, 0, Civil::day(2000, 1, 1))?;
    let is_fraction = matches!(bytes.get(8)?, b'.' | b',') && bytes.get(11)?.is_ascii_digit();
    two(bytes, 9).filter(|_| is_fraction)?;
    line.get(12..)
}

/// Spark's and HDFS', whose times no other layout has: loggers need no package there.
fn short_head(line: &str) -> Option<Head<'_>> {
    let mut head = Head::default();
    let (stamp, rest) = match spark(line) {
        Some(found) => found,
        None => {
            let (stamp, rest) = hdfs(line)?;
            let (number, rest) = word(rest.trim_start())?;
            head.thread_number = Some(number.parse().ok()?);
            (stamp, rest)
        }
    };
    head.stamp = Some(stamp);
    let (severity, rest) = word(rest.trim_start())?;
    head.level = Some(level_of(severity)?);
    head.logger = logger(rest, false)?;
    Some(head)
}

/// `INFO  [main] 2026-01-02 03:04:05,678 C.java:12 - text`.
fn level_first(line: &str) -> Option<Head<'_>> {
    let (severity, rest) = word(line)?;
    let level = level_of(severity)?;
    let (thread, rest) = threaded(rest)?;
    let (stamp, rest) = iso(rest)?;
    let (place, rest) = word(rest.strip_prefix(' ')?)?;
    rest.starts_with("- ").then_some(())?;
    let (file, number) = place.rsplit_once(':')?;
    let class = file.strip_suffix(".java")?;
    Some(Head {
        stamp: Some(stamp),
        level: Some(level),
        thread,
        logger: class,
        process: None,
        thread_number: None,
        place: Some((file, number.parse().ok()?)),
    })
}

#[cfg(test)]
mod tests;

//! From a line to fields. Each format has its own file with one `parse` function, those that are columns a table in `columns/`; the
//! list of all of them (`parsers.rs`) knows their names and nothing of their insides.
//!
//! A parser takes a line or refuses it, it never fails: a refused line is sent as it is.

mod stamp;
mod token;

mod access;
mod alternatives;
mod apache_error;
mod apt_history;
mod auditd;
mod auth;
mod cef;
mod cisco;
mod columns;
mod compact;
mod dpkg;
mod elsewhere;
mod fields;
mod glog;
mod haproxy;
mod health_app;
mod icinga;
mod iptables;
mod java;
mod json_lines;
mod logcat;
mod mongodb;
mod mysql_error;
mod mysql_slowlog;
mod nats;
mod nginx_error;
mod openstack;
mod plain;
mod postfix;
mod postgresql;
mod proxifier;
mod rabbitmq;
mod redis;
mod supercomputer;
mod syslog;
mod windows_cbs;

mod auto;
mod joining;
mod parsers;

pub use auto::Fit;
pub(crate) use auto::{choose, first_that_takes, tell_choice};
pub(crate) use cef::is_cef;
pub(crate) use clew_ingest::{Civil, SECOND_BYTES, Times};
pub(crate) use joining::{Joining, Within};
pub(crate) use parsers::known_names;
pub use parsers::{ParserChoice, ParserName, UnknownParser};
pub(crate) use plain::begins_as_log;
pub(crate) use syslog::LEVELS;
pub(crate) use token::LEVEL_NAMES;

use crate::json::Members;

/// What a parser found in a line. Reused from line to line.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// When it happened; `None` means that the line does not say.
    pub(crate) timestamp_ms: Option<i64>,
    /// `log.level`.
    pub(crate) level: Option<&'static str>,
    /// Members of `event` beside `dataset`.
    pub(crate) event: Members,
    /// Members of `log` beside `file`, `offset`, `level` and `flags`.
    pub(crate) log: Members,
    /// Members of the document's root; never `event`, `log`, `host` or `message`.
    pub(crate) fields: Members,
}

impl Record {
    pub(crate) fn clear(&mut self) {
        self.timestamp_ms = None;
        self.level = None;
        self.event.clear();
        self.log.clear();
        self.fields.clear();
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Civil, ParserName, Record, Times};
    use jiff::tz::TimeZone;

    /// What a parser makes of a line, as JSON text: time, level, then all members; UTC, and the
    /// newest time is 2026-06-30.
    pub(crate) fn parsed(parser: ParserName, line: &str) -> Option<String> {
        let mut times = Times::new(TimeZone::UTC);
        times.newest_ms = 1_782_777_600_000;
        let mut record = Record::default();
        parser.parse(line, &mut times, &mut record)?;
        let mut out = Vec::new();
        if let Some(ms) = record.timestamp_ms {
            Civil::from_utc_ms(ms).push_iso(&mut out);
        }
        out.extend_from_slice(format!(" {} ", record.level.unwrap_or("-")).as_bytes());
        let parts = [("event", &record.event), ("log", &record.log)];
        let mut members: Vec<String> = parts
            .iter()
            .filter(|(_, members)| !members.bytes().is_empty())
            .map(|(name, members)| {
                format!(
                    "\"{name}\":{{{}}}",
                    String::from_utf8_lossy(members.bytes())
                )
            })
            .collect();
        if !record.fields.bytes().is_empty() {
            members.push(String::from_utf8_lossy(record.fields.bytes()).into_owned());
        }
        let object = format!("{{{}}}", members.join(","));
        serde_json::from_str::<serde_json::Value>(&object).expect("parsers write valid JSON");
        Some(String::from_utf8(out).unwrap() + &object)
    }

    /// Checks a line against the text [`parsed`] makes; `None` for a refusal.
    #[track_caller]
    pub(crate) fn check(parser: ParserName, line: &str, expected: Option<&str>) {
        assert_eq!(parsed(parser, line).as_deref(), expected, "{line}");
        // No prefix of a line may panic, and no byte may be needed that is not there.
        for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
            parsed(parser, &line[..end]);
        }
    }
}

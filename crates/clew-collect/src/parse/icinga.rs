//! The log of Icinga: `[2026-01-02 03:04:05 +0100] information/Notification: text`, and without a time while it starts.

use super::fields::Fields;
use super::stamp::iso;
use super::token::{level, split};
use super::{Record, Times};

static SEVERITIES: [&str; 5] = ["critical", "warning", "information", "notice", "debug"];

/// Whether a line is none of those in which an event says where it comes from.
pub(crate) fn begins(line: &[u8]) -> bool {
    let has_severity = |severity: &&str| {
        let behind = line.strip_prefix(severity.as_bytes());
        behind.is_some_and(|behind| behind.starts_with(b"/"))
    };
    line.starts_with(b"[") || SEVERITIES.iter().any(has_severity)
}

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (stamp, rest) = match event.strip_prefix('[') {
        Some(behind) => {
            let (stamp, rest) = iso(behind)?;
            (Some(stamp), rest.strip_prefix("] ")?)
        }
        None => (None, event),
    };
    let (severity, rest) = split(rest, b'/')?;
    SEVERITIES.contains(&severity).then_some(())?;
    let (facility, _) = rest.split_once(": ")?;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (!facility.is_empty() && facility.bytes().all(is_letter)).then_some(())?;
    record.level = level(severity);
    record.timestamp_ms = stamp.map(|stamp| stamp.epoch_ms(times));
    let mut fields = Fields::default();
    fields.text("log.logger", facility);
    fields.write(record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn lines_with_a_time_and_those_of_its_start() {
        let check = |line, expected| testing::check(ParserName::Icinga, line, expected);
        check(
            "[2026-01-02 04:04:05 +0100] warning/PluginNotificationTask: Notification command (PID: 1) failed\nContext:\n\t(0) x",
            Some(r#"2026-01-02T03:04:05.000Z warning {"log":{"logger":"PluginNotificationTask"}}"#),
        );
        check(
            "information/cli: Icinga application loader (version: r2.6.3-1)",
            Some(r#" info {"log":{"logger":"cli"}}"#),
        );
        for other in [
            "[2026-01-02 04:04:05 +0100] INFO/a: b",
            "information/a b: c",
            "notice: x",
            "debug/x",
        ] {
            check(other, None);
        }
    }
}

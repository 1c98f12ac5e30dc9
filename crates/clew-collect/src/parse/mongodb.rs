//! The log of MongoDB: since 4.4 one object a line, before `2026-01-02T03:04:05.678+0000 I NETWORK  [conn1] text`.

use super::columns::{MONGODB, parse_object};
use super::fields::{Fields, SOURCE, are_digits};
use super::stamp::iso;
use super::token::{enclosed, present, word};
use super::{Record, Times};

/// What stands before the address of a client.
static BEFORE_CLIENTS: [&str; 3] = [
    "connection accepted from ",
    "end connection ",
    "received client metadata from ",
];

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    if line.trim_ascii_start().starts_with('{') {
        return parse_object(&MONGODB, line, times, record);
    }
    let (stamp, rest) = iso(line)?;
    let (severity, rest) = word(rest.strip_prefix(' ')?)?;
    let level = level_of(severity)?;
    let (component, rest) = word(rest)?;
    let is_component = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-');
    component.bytes().all(is_component).then_some(())?;
    let (context, text) = enclosed(rest, '[', b']')?;
    let text = text.trim_start();

    let mut fields = Fields::default();
    fields.text(
        "mongodb.log.component",
        present(component).unwrap_or_default(),
    );
    fields.text("mongodb.log.context", context);
    let mut behind = BEFORE_CLIENTS
        .iter()
        .filter_map(|sign| text.strip_prefix(sign));
    if let Some((client, _)) = behind.next().and_then(word) {
        fields.address(&SOURCE, client);
    }
    // Of what took long, the last word says how long.
    let took = text
        .rsplit(' ')
        .next()
        .and_then(|last| last.strip_suffix("ms"));
    if let Some(took) = took.filter(|took| are_digits(took)) {
        fields.milliseconds(took.parse().ok()?)?;
    }
    record.level = Some(level);
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    fields.write(record);
    Some(())
}

/// The level of a letter; behind the one of what is for those who look for mistakes a digit says how much it is.
fn level_of(severity: &str) -> Option<&'static str> {
    Some(match severity.as_bytes() {
        b"F" => "fatal",
        b"E" => "error",
        b"W" => "warning",
        b"I" => "info",
        [b'D'] | [b'D', b'1'..=b'5'] => "debug",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn lines_from_before_it_wrote_objects() {
        let check = |line, expected| testing::check(ParserName::Mongodb, line, expected);
        check(
            "2026-01-02T04:04:05.678+0100 I CONTROL  [initandlisten] db version v3.2.11",
            Some(
                r#"2026-01-02T03:04:05.678Z info {"mongodb":{"log":{"component":"CONTROL","context":"initandlisten"}}}"#,
            ),
        );
        check(
            "2026-01-02T03:04:05.678+0000 I  NETWORK  [listener] connection accepted from 10.0.0.7:5678 #1 (1 connection now open)",
            Some(concat!(
                r#"2026-01-02T03:04:05.678Z info {"mongodb":{"log":{"component":"NETWORK","context":"listener"}},"#,
                r#""source":{"address":"10.0.0.7","ip":"10.0.0.7","port":5678}}"#
            )),
        );
        check(
            "2026-01-02T03:04:05.678+0000 D1 COMMAND  [conn3] command shop.orders command: find { find: \"orders\" } 120ms",
            Some(
                r#"2026-01-02T03:04:05.678Z debug {"event":{"duration":120000000},"mongodb":{"log":{"component":"COMMAND","context":"conn3"}}}"#,
            ),
        );
        check(
            "2026-01-02T03:04:05.678+0000 E -        [main] x",
            Some(r#"2026-01-02T03:04:05.678Z error {"mongodb":{"log":{"context":"main"}}}"#),
        );
        for other in [
            "2026-01-02T03:04:05.678+0000 INFO CONTROL [main] x",
            "2026-01-02T03:04:05.678+0000 I control [main] x",
            "2026-01-02T03:04:05.678+0000 I CONTROL main] x",
        ] {
            check(other, None);
        }
    }
}

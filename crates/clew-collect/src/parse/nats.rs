//! The log of NATS' server: `[1] 2026/01/02 03:04:05.678901 [INF] text`, of a client
//! `[1] 2026/01/02 03:04:05.678901 [TRC] 10.0.0.7:38630 - cid:1 - ->> [PING]`.

use super::fields::{Fields, SOURCE, are_digits};
use super::stamp::iso;
use super::token::{enclosed, level, word};
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (pid, rest) = enclosed(line, '[', b']')?;
    let pid: u64 = pid.parse().ok().filter(|_| are_digits(pid))?;
    let (stamp, rest) = iso(rest.strip_prefix(' ')?)?;
    let (severity, text) = enclosed(rest.strip_prefix(' ')?, '[', b']')?;
    (severity.len() == "INF".len()).then_some(())?;
    let severity = level(severity)?;
    let mut fields = Fields::default();
    fields.number("process.pid", pid);
    of_client(text.trim_start(), &mut fields);
    record.level = Some(severity);
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    fields.write(record);
    Some(())
}

/// Takes what a line says of a client, if it is about one.
fn of_client<'a>(text: &'a str, fields: &mut Fields<'a>) -> Option<()> {
    let (address, rest) = text.split_once(" - ")?;
    let (id, rest) = rest.strip_prefix("cid:")?.split_once(" - ")?;
    are_digits(id).then_some(())?;
    fields.address(&SOURCE, address);
    fields.text("nats.log.client.id", id);
    let (way, rest) = word(rest)?;
    let direction = match way {
        "->>" => "inbound",
        "<<-" => "outbound",
        _ => return None,
    };
    fields.text("network.direction", direction);
    let (said, _) = rest.strip_prefix('[')?.split_once([' ', ']'])?;
    fields.text("nats.log.msg.type", said.to_ascii_lowercase());
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn lines_of_the_server_and_of_clients() {
        let check = |line, expected| testing::check(ParserName::Nats, line, expected);
        check(
            "[12] 2026/01/02 03:04:05.678901 [INF] Server is ready - really",
            Some(r#"2026-01-02T03:04:05.678Z info {"process":{"pid":12}}"#),
        );
        check(
            "[1] 2026/01/02 03:04:05.678901 [TRC] 10.0.0.7:38630 - cid:3 - ->> [SUB foo  1]",
            Some(concat!(
                r#"2026-01-02T03:04:05.678Z trace {"nats":{"log":{"client":{"id":"3"},"msg":{"type":"sub"}}},"#,
                r#""network":{"direction":"inbound"},"process":{"pid":1},"#,
                r#""source":{"address":"10.0.0.7","ip":"10.0.0.7","port":38630}}"#
            )),
        );
        check(
            "[1] 2026/01/02 03:04:05.678901 [ERR] 10.0.0.7:38630 - cid:3 - authorization error",
            Some(concat!(
                r#"2026-01-02T03:04:05.678Z error {"nats":{"log":{"client":{"id":"3"}}},"process":{"pid":1},"#,
                r#""source":{"address":"10.0.0.7","ip":"10.0.0.7","port":38630}}"#
            )),
        );
        for other in [
            "[x] 2026/01/02 03:04:05.678901 [INF] y",
            "[1] 2026/01/02 03:04:05.678901 [info] y",
            "[1] 2026/01/02 03:04:05.678901 INF y",
        ] {
            check(other, None);
        }
    }
}

//! What Proxifier tells of connections: `[10.30 16:49:06] chrome.exe - host:443 open through proxy ...`.

use super::compact::bracketed;
use super::fields::{Fields, Side};
use super::token::word;
use super::{Record, Times};

/// Whom a program has connected to.
const DESTINATION: Side = Side {
    address: "destination.address",
    ip: "destination.ip",
    port: "destination.port",
};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    /// No program's name is longer.
    const PROGRAM_BYTES_MAX: usize = 256;
    let (stamp, rest) = bracketed(line.strip_prefix('[')?, times)?;
    let (program, said) = rest.strip_prefix(' ')?.split_once(" - ")?;
    (!program.is_empty() && program.len() <= PROGRAM_BYTES_MAX).then_some(())?;
    let mut fields = Fields::default();
    // A program of 64 bits is marked where others have 32.
    fields.text("process.name", program.trim_end_matches(" *64"));
    if let Some((target, what)) = word(said).filter(|(target, _)| target.contains(':')) {
        fields.address(&DESTINATION, target);
        let action = match word(what) {
            Some(("open", _)) => "open",
            Some(("close,", _)) => "close",
            Some(("error", _)) => "error",
            _ => "",
        };
        fields.text("event.action", action);
        let number = |text: &str| word(text)?.0.parse::<u64>().ok();
        if let Some(sent) = what.strip_prefix("close, ").and_then(number) {
            fields.number("source.bytes", sent);
        }
        let received = what.split_once("sent, ").map(|(_, behind)| behind);
        if let Some(received) = received.and_then(number) {
            fields.number("destination.bytes", received);
        }
    }
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    fields.write(record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::ParserName;
    use crate::parse::testing::check;

    #[test]
    fn connections_have_a_program_and_a_destination() {
        for (line, expected) in [
            (
                "[10.30 16:49:06] chrome.exe - proxy.example:5070 open through proxy proxy.example:5070 HTTPS",
                r#"2025-10-30T16:49:06.000Z - {"event":{"action":"open"},"destination":{"address":"proxy.example","port":5070},"process":{"name":"chrome.exe"}}"#,
            ),
            (
                "[10.30 16:49:08] app.exe *64 - 10.1.2.3:80 close, 1293 bytes (1.26 KB) sent, 2439 bytes (2.38 KB) received, lifetime 00:01",
                r#"2025-10-30T16:49:08.000Z - {"event":{"action":"close"},"destination":{"address":"10.1.2.3","bytes":2439,"ip":"10.1.2.3","port":80},"process":{"name":"app.exe"},"source":{"bytes":1293}}"#,
            ),
            (
                "[10.30 16:49:09] app.exe - proxy:1 error : Could not connect",
                r#"2025-10-30T16:49:09.000Z - {"event":{"action":"error"},"destination":{"address":"proxy","port":1},"process":{"name":"app.exe"}}"#,
            ),
            (
                "[10.30 16:49:09] app.exe - it said something",
                r#"2025-10-30T16:49:09.000Z - {"process":{"name":"app.exe"}}"#,
            ),
        ] {
            check(ParserName::Proxifier, line, Some(expected));
        }
        for line in [
            "[10.30 16:49:06] no program",
            "10.30 16:49:06 a - b:1 open",
            "[10.30] a - b:1 open",
        ] {
            check(ParserName::Proxifier, line, None);
        }
    }
}

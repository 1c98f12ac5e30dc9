//! What the firewall of Linux tells of packets through its kernel, behind a header of syslog: `kernel: [UFW BLOCK] IN=eth0 OUT= MAC=...
//! SRC=10.0.0.7 DST=10.0.0.1 LEN=52 ... PROTO=TCP SPT=4567 DPT=443`. What other programs say beside it is an event of syslog.

use super::fields::{DESTINATION, Fields, SOURCE, are_digits};
use super::syslog::{self, Message};
use super::token::enclosed;
use super::{Record, Times};

/// An address of a network card, `90:10:20:76:8d:20`.
const MAC_BYTES: usize = 17;

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let Message { program, content } = syslog::header(line, times, record)?;
    if program == "kernel"
        && let Some((before, packet)) = packet_of(content)
    {
        let mut fields = Fields::default();
        decided(before, &mut fields);
        // What a message of ICMP is about is a packet of its own, in brackets.
        for word in packet.split(' ').take_while(|word| !word.starts_with('[')) {
            if let Some((key, value)) = word.split_once('=') {
                take(key, value, &mut fields);
            }
        }
        fields.write(record);
    }
    Some(())
}

/// Whether a line's record is one of a packet.
pub(super) fn is_its(record: &Record) -> bool {
    memchr::memmem::find(record.fields.bytes(), b"\"iptables\":{\"").is_some()
}

/// What stands before a packet's pairs, and these.
fn packet_of(content: &str) -> Option<(&str, &str)> {
    let mut places = content
        .match_indices("IN=")
        .map(|(at, _)| content.split_at(at));
    places.find(|(before, packet)| {
        let is_word = before.is_empty() || before.ends_with(|last: char| " ]:".contains(last));
        is_word && packet.contains(" SRC=")
    })
}

/// Takes a pair; what is not as it should be is passed over.
fn take<'a>(key: &str, value: &'a str, fields: &mut Fields<'a>) {
    let number = |fields: &mut Fields<'a>, name: &'static str| {
        if let Ok(number) = value.parse() {
            fields.number(name, number);
        }
    };
    match key {
        "IN" => fields.text("iptables.input_device", value),
        "OUT" => fields.text("iptables.output_device", value),
        "SRC" => {
            let family = if value.contains(':') { "ipv6" } else { "ipv4" };
            fields.address(&SOURCE, value);
            fields.text("network.type", family);
        }
        "DST" => fields.address(&DESTINATION, value),
        "SPT" => number(fields, "source.port"),
        "DPT" => number(fields, "destination.port"),
        // Where it goes to, where it is from, and what it has.
        "MAC" => {
            fields.text(
                "destination.mac",
                value.get(..MAC_BYTES).unwrap_or_default(),
            );
            let from = value.get(MAC_BYTES + 1..2 * MAC_BYTES + 1);
            fields.text("source.mac", from.unwrap_or_default());
        }
        "PROTO" if are_digits(value) => fields.text("network.iana_number", value),
        "PROTO" if value == "ICMPv6" => fields.text("network.transport", "ipv6-icmp"),
        "PROTO" => fields.text("network.transport", value.to_ascii_lowercase()),
        "LEN" => number(fields, "iptables.length"),
        "ID" => number(fields, "iptables.id"),
        "TTL" | "HOPLIMIT" => number(fields, "iptables.ttl"),
        "TYPE" => number(fields, "iptables.icmp.type"),
        "CODE" => number(fields, "iptables.icmp.code"),
        "WINDOW" => number(fields, "iptables.tcp.window"),
        _ => {}
    }
}

/// What was decided, as far as the rule says so: `[UFW BLOCK]`, `[WAN_OUT-2000-A]` of Ubiquiti's devices, or the last word of `iptables DROP:`.
fn decided<'a>(before: &'a str, fields: &mut Fields<'a>) {
    let mut said = before.trim();
    // The kernel's own clock may stand in front.
    if let Some((inside, rest)) = enclosed(said, '[', b']') {
        let is_clock = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b' ');
        if inside.bytes().all(is_clock) {
            said = rest.trim_start();
        }
    }
    let Some((rule, _)) = enclosed(said, '[', b']') else {
        let last = said
            .strip_suffix(':')
            .and_then(|said| said.rsplit(' ').next());
        let action = last.unwrap_or_default().to_ascii_lowercase();
        fields.text("event.action", action);
        return;
    };
    if let Some(action) = rule.strip_prefix("UFW ") {
        fields.text("event.action", action.to_ascii_lowercase());
    } else if let Some((rule, letter)) = rule.rsplit_once('-') {
        let action = match letter {
            "A" => "accept",
            "D" => "drop",
            "R" => "reject",
            _ => return,
        };
        let (name, number) = rule.rsplit_once('-').unwrap_or((rule, ""));
        fields.text("event.action", action);
        fields.text("rule.name", name);
        fields.text("rule.id", number);
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    fn check(content: &str, expected: &str) {
        let line = format!("Jun 14 09:08:07 fw1 {content}");
        let found = testing::parsed(ParserName::Iptables, &line).unwrap();
        let head = r#"2026-06-14T09:08:07.000Z - "#;
        let found = found.strip_prefix(head).unwrap();
        let found: serde_json::Value = serde_json::from_str(found).unwrap();
        let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&found[name], value, "{name} of {content}");
        }
        let has_packet = found.get("iptables").is_some();
        assert_eq!(has_packet, expected.get("iptables").is_some(), "{content}");
        for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
            testing::parsed(ParserName::Iptables, &line[..end]);
        }
    }

    #[test]
    fn packets_of_the_firewall() {
        check(
            "kernel: [16571.459614] [UFW BLOCK] IN=eth0 OUT= MAC=90:10:35:5a:1e:3a:90:10:9e:ec:2c:71:08:00 SRC=10.0.0.7 DST=10.0.0.1 LEN=52 TOS=0x00 PREC=0x00 TTL=115 ID=15743 DF PROTO=TCP SPT=17805 DPT=445 WINDOW=8192 RES=0x00 SYN URGP=0 ",
            r#"{
                "event": {"action": "block"},
                "process": {"name": "kernel"},
                "source": {"address": "10.0.0.7", "ip": "10.0.0.7", "mac": "90:10:9e:ec:2c:71", "port": 17805},
                "destination": {"address": "10.0.0.1", "ip": "10.0.0.1", "mac": "90:10:35:5a:1e:3a", "port": 445},
                "network": {"transport": "tcp", "type": "ipv4"},
                "iptables": {"input_device": "eth0", "length": 52, "ttl": 115, "id": 15743, "tcp": {"window": 8192}}
            }"#,
        );
        check(
            "kernel: [WAN_OUT-2000-D]IN=eth0 OUT=eth2 MAC= SRC=::1 DST=::2 LEN=104 TC=0 HOPLIMIT=64 PROTO=ICMPv6 TYPE=128 CODE=0 ID=3427 SEQ=1",
            r#"{
                "event": {"action": "drop"},
                "rule": {"name": "WAN_OUT", "id": "2000"},
                "source": {"address": "::1", "ip": "::1"},
                "network": {"transport": "ipv6-icmp", "type": "ipv6"},
                "iptables": {
                    "input_device": "eth0", "output_device": "eth2", "length": 104, "ttl": 64, "id": 3427,
                    "icmp": {"type": 128, "code": 0}
                }
            }"#,
        );
        check(
            "kernel: iptables DROP_INPUT: IN= OUT=lo SRC=10.0.0.7 DST=10.0.0.1 LEN=88 PROTO=ICMP TYPE=3 CODE=3 [SRC=10.0.0.1 DST=10.0.0.9 LEN=60 PROTO=UDP SPT=21 ]",
            r#"{
                "event": {"action": "drop_input"},
                "source": {"address": "10.0.0.7", "ip": "10.0.0.7"},
                "network": {"transport": "icmp", "type": "ipv4"},
                "iptables": {"output_device": "lo", "length": 88, "icmp": {"type": 3, "code": 3}}
            }"#,
        );
        for other in [
            "kernel: [1.2] usb 1-1: LOGIN=x",
            "shop[7]: IN=a SRC=b",
            "kernel: IN=a",
        ] {
            check(other, "{}");
        }
    }
}

//! What devices of security tell others, by itself or behind a header of syslog: ArcSight's
//! `CEF:0|VENDOR|PRODUCT|VERSION|CODE|NAME|SEVERITY|key=value key=value`, and QRadar's `LEEF:1.0|VENDOR|PRODUCT|VERSION|CODE|key=value`,
//! which has tabs between pairs, or in `LEEF:2.0` what it says behind the code.

use std::borrow::Cow;
use std::net::IpAddr;

use super::stamp::{iso, rfc3164};
use super::token::split;
use super::{Record, Times, syslog};
use crate::json::Members;

/// No device has as many extensions.
const PAIRS_MAX: usize = 256;
/// No key is longer.
const KEY_BYTES_MAX: usize = 64;

/// A key, and the one that CEF means by it.
const FULL_NAMES: [(&str, &str); 42] = [
    ("act", "deviceAction"),
    ("app", "applicationProtocol"),
    ("cat", "deviceEventCategory"),
    ("cnt", "baseEventCount"),
    ("cs1", "deviceCustomString1"),
    ("cs1Label", "deviceCustomString1Label"),
    ("cs2", "deviceCustomString2"),
    ("cs2Label", "deviceCustomString2Label"),
    ("cs3", "deviceCustomString3"),
    ("cs3Label", "deviceCustomString3Label"),
    ("cs4", "deviceCustomString4"),
    ("cs4Label", "deviceCustomString4Label"),
    ("cs5", "deviceCustomString5"),
    ("cs5Label", "deviceCustomString5Label"),
    ("cs6", "deviceCustomString6"),
    ("cs6Label", "deviceCustomString6Label"),
    ("dhost", "destinationHostName"),
    ("dmac", "destinationMacAddress"),
    ("dntdom", "destinationNtDomain"),
    ("dpid", "destinationProcessId"),
    ("dproc", "destinationProcessName"),
    ("dpt", "destinationPort"),
    ("dst", "destinationAddress"),
    ("duid", "destinationUserId"),
    ("duser", "destinationUserName"),
    ("dvc", "deviceAddress"),
    ("dvchost", "deviceHostName"),
    ("end", "endTime"),
    ("fname", "filename"),
    ("fsize", "fileSize"),
    ("in", "bytesIn"),
    ("msg", "message"),
    ("out", "bytesOut"),
    ("proto", "transportProtocol"),
    ("request", "requestUrl"),
    ("rt", "deviceReceiptTime"),
    ("shost", "sourceHostName"),
    ("spt", "sourcePort"),
    ("src", "sourceAddress"),
    ("start", "startTime"),
    ("suid", "sourceUserId"),
    ("suser", "sourceUserName"),
];

/// What stands in front of the pairs.
struct Head<'a> {
    /// `cef` or `leef`.
    format: &'static str,
    version: &'a str,
    vendor: Cow<'a, str>,
    product: Cow<'a, str>,
    product_version: Cow<'a, str>,
    code: Cow<'a, str>,
    name: Cow<'a, str>,
    severity: Cow<'a, str>,
}

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (format, at) = begin(line.as_bytes())?;
    let (before, event) = line.split_at(at);
    let (head, pairs) = match format {
        "cef" => cef(event)?,
        _ => leef(event)?,
    };
    if before.is_empty() || syslog::header(before, times, record).is_none() {
        record.clear();
        record.timestamp_ms = iso(before).map(|(stamp, _)| stamp.epoch_ms(times));
    }
    let said = ["rt", "devTime", "end", "start"];
    let mut said = said.into_iter().map(|key| get(&pairs, key));
    let ms = said.find_map(|text| moment(text, times));
    record.timestamp_ms = ms.or(record.timestamp_ms);
    write(&head, &pairs, record);
    Some(())
}

/// Whether a line has an event in it, by itself or behind a header of syslog.
pub(crate) fn is_cef(line: &[u8]) -> bool {
    begin(line).is_some()
}

/// Where the event begins, and in which format.
fn begin(line: &[u8]) -> Option<(&'static str, usize)> {
    /// A header of syslog is no longer.
    const HEADER_BYTES_MAX: usize = 512;
    let near = &line[..line.len().min(HEADER_BYTES_MAX)];
    [("cef", "CEF:"), ("leef", "LEEF:")]
        .into_iter()
        .find_map(|(format, begin)| {
            let at = memchr::memmem::find(near, begin.as_bytes())?;
            let is_word = at == 0 || near[at - 1] == b' ';
            is_word.then_some((format, at))
        })
}

/// The parts of a head that a bar ends, and what is behind them. In a part, a backslash stands in front of bars and of backslashes.
fn parts<const N: usize>(text: &str) -> Option<([Cow<'_, str>; N], &str)> {
    let mut rest = text;
    let mut found: [Cow<'_, str>; N] = std::array::from_fn(|_| Cow::Borrowed(""));
    for part in &mut found {
        let end = unescaped(rest, b'|')?;
        *part = plain(&rest[..end]);
        rest = &rest[end + 1..];
    }
    Some((found, rest))
}

/// Where the first such byte is that no backslash stands in front of.
fn unescaped(text: &str, byte: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(byte, b'\\', bytes.get(from..)?)?;
        if bytes[at] == byte {
            return Some(at);
        }
        from = at + 2;
    }
}

/// A text without the backslashes that stand in front of signs.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some(sign @ ('\\' | '|' | '=')) => out.push(sign),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// A key, and its value.
type Pair<'a> = (&'a str, Cow<'a, str>);

fn cef(event: &str) -> Option<(Head<'_>, Vec<Pair<'_>>)> {
    let (version, rest) = split(event.strip_prefix("CEF:")?, b'|')?;
    let ([vendor, product, product_version, code, name], rest) = parts::<5>(rest)?;
    // Nothing has to follow the severity.
    let end = unescaped(rest, b'|').unwrap_or(rest.len());
    let (severity, extensions) = rest.split_at(end);
    let head = Head {
        format: "cef",
        version: version.trim(),
        vendor,
        product,
        product_version,
        code,
        name,
        severity: plain(severity.trim()),
    };
    let extensions = extensions.strip_prefix('|').unwrap_or(extensions);
    Some((head, spaced_pairs(extensions)))
}

/// Pairs with blanks between them, which values may have, too: a value ends in front of the key of the next pair.
fn spaced_pairs(text: &str) -> Vec<Pair<'_>> {
    let mut pairs = Vec::new();
    let Some(mut sign) = unescaped(text, b'=') else {
        return pairs;
    };
    let mut key = text[..sign].trim();
    let mut rest = text;
    loop {
        rest = &rest[sign + 1..];
        // The next sign that a key stands in front of, and where that key begins.
        let mut from = 0;
        let next = loop {
            let Some(at) = unescaped(&rest[from..], b'=').map(|at| from + at) else {
                break None;
            };
            let lowest = at.saturating_sub(KEY_BYTES_MAX);
            let mut near = rest.as_bytes()[lowest..at].iter();
            let begin = near.rposition(|byte| *byte == b' ');
            let begin = begin.map(|blank| lowest + blank + 1);
            if let Some(begin) = begin.filter(|begin| is_key(&rest[*begin..at])) {
                break Some((begin, at));
            }
            from = at + 1;
        };
        let end = next.map_or(rest.len(), |(begin, _)| begin);
        add(&mut pairs, key, plain(rest[..end].trim()));
        let Some((begin, at)) = next else {
            return pairs;
        };
        (key, sign) = (&rest[begin..at], at);
    }
}

fn leef(event: &str) -> Option<(Head<'_>, Vec<Pair<'_>>)> {
    let (version, rest) = split(event.strip_prefix("LEEF:")?, b'|')?;
    let ([vendor, product, product_version, code], mut rest) = parts::<4>(rest)?;
    let mut separator = '\t';
    if version.starts_with('2') {
        let (said, behind) = split(rest, b'|')?;
        let hexadecimal = said.strip_prefix("0x").or_else(|| said.strip_prefix('x'));
        let of_number = hexadecimal.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let said = of_number.map(char::from).or_else(|| said.chars().next());
        separator = said.unwrap_or(separator);
        rest = behind;
    }
    let mut pairs = Vec::new();
    for (key, value) in rest.split(separator).filter_map(|pair| split(pair, b'=')) {
        add(&mut pairs, key.trim(), Cow::Borrowed(value));
    }
    let severity = Cow::Owned(get(&pairs, "sev").to_owned());
    let head = Head {
        format: "leef",
        version,
        vendor,
        product,
        product_version,
        code,
        name: Cow::Borrowed(""),
        severity,
    };
    Some((head, pairs))
}

fn is_key(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && text.bytes().all(is_sign)
}

/// Adds a pair, unless there is one with its key.
fn add<'a>(pairs: &mut Vec<Pair<'a>>, key: &'a str, value: Cow<'a, str>) {
    if pairs.len() < PAIRS_MAX && is_key(key) && get(pairs, key).is_empty() {
        pairs.push((key, value));
    }
}

/// A value, or nothing.
fn get<'p>(pairs: &'p [Pair<'_>], key: &str) -> &'p str {
    let found = pairs.iter().find(|(name, _)| *name == key);
    found.map_or("", |(_, value)| &**value)
}

/// Milliseconds since the epoch, `Jan 02 2026 03:04:05` or an ISO 8601 text.
fn moment(text: &str, times: &mut Times) -> Option<i64> {
    let is_epoch = text.len() == 13 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_epoch {
        return text.parse().ok();
    }
    let (stamp, _) = rfc3164(text, times).or_else(|| iso(text))?;
    Some(stamp.epoch_ms(times))
}

fn write(head: &Head<'_>, pairs: &[Pair<'_>], record: &mut Record) {
    let of = |keys: [&str; 2]| {
        let mut values = keys.into_iter().map(|key| get(pairs, key));
        values.find(|value| !value.is_empty()).unwrap_or("")
    };
    record.event.text("code", &head.code);
    record.event.text("action", of(["act", "action"]));
    if let Ok(severity) = head.severity.parse() {
        record.event.number("severity", severity);
    }
    record.fields.object("observer", |o| {
        o.text("vendor", &head.vendor);
        o.text("product", &head.product);
        o.text("version", &head.product_version);
        o.text("hostname", of(["dvchost", "identHostName"]));
    });
    for (side, address, port, host, user, bytes) in [
        (
            "source",
            "src",
            ["spt", "srcPort"],
            "shost",
            ["suser", "usrName"],
            ["in", "srcBytes"],
        ),
        (
            "destination",
            "dst",
            ["dpt", "dstPort"],
            "dhost",
            ["duser", ""],
            ["out", "dstBytes"],
        ),
    ] {
        record.fields.object(side, |o| {
            let address = get(pairs, address);
            o.text("address", address);
            if address.parse::<IpAddr>().is_ok() {
                o.text("ip", address);
            }
            number(o, "port", of(port));
            number(o, "bytes", of(bytes));
            o.text("domain", get(pairs, host));
            o.object("user", |o| o.text("name", of(user)));
        });
    }
    record.fields.object("network", |o| {
        o.text("transport", &get(pairs, "proto").to_ascii_lowercase());
        o.text("protocol", &get(pairs, "app").to_ascii_lowercase());
    });
    record
        .fields
        .object("url", |o| o.text("original", of(["request", "url"])));
    record.fields.object(head.format, |o| {
        o.text("version", head.version);
        o.text("name", &head.name);
        o.text("severity", &head.severity);
        o.object("device", |o| {
            o.text("vendor", &head.vendor);
            o.text("product", &head.product);
            o.text("version", &head.product_version);
            o.text("event_class_id", &head.code);
        });
        o.object("extensions", |o| write_extensions(o, head.format, pairs));
    });
}

/// All pairs; those of CEF under the names that it means by their keys, unless a pair has that for its key.
fn write_extensions(o: &mut Members, format: &str, pairs: &[Pair<'_>]) {
    for (key, value) in pairs {
        let full = FULL_NAMES.iter().find(|(short, _)| short == key);
        let full = full.filter(|_| format == "cef").map(|(_, full)| *full);
        let name = full.filter(|full| get(pairs, full).is_empty());
        o.named_text(name.unwrap_or(*key), value);
    }
}

fn number(o: &mut Members, name: &'static str, text: &str) {
    if let Ok(number) = text.parse() {
        o.number(name, number);
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    fn check(line: &str, expected: Option<&str>) {
        testing::check(ParserName::Cef, line, expected);
    }

    #[test]
    fn events_of_cef_behind_a_header() {
        check(
            r"Jun 14 09:08:07 fw1 CEF:0|Security|threat\|manager|1.0|100|worm stopped|10|src=10.0.0.1 dst=2.1.2.2 spt=1232 proto=TCP msg=a b\=c d=\\ suser=Jo Doe",
            Some(concat!(
                r#"2026-06-14T09:08:07.000Z - {"event":{"code":"100","severity":10},"log":{"syslog":{"hostname":"fw1"}},"#,
                r#""observer":{"vendor":"Security","product":"threat|manager","version":"1.0"},"#,
                r#""source":{"address":"10.0.0.1","ip":"10.0.0.1","port":1232,"user":{"name":"Jo Doe"}},"#,
                r#""destination":{"address":"2.1.2.2","ip":"2.1.2.2"},"network":{"transport":"tcp"},"#,
                r#""cef":{"version":"0","name":"worm stopped","severity":"10","#,
                r#""device":{"vendor":"Security","product":"threat|manager","version":"1.0","event_class_id":"100"},"#,
                r#""extensions":{"sourceAddress":"10.0.0.1","destinationAddress":"2.1.2.2","sourcePort":"1232","transportProtocol":"TCP","#,
                r#""message":"a b=c","d":"\\","sourceUserName":"Jo Doe"}}}"#
            )),
        );
    }

    #[test]
    fn events_of_leef_with_both_separators() {
        for line in [
            "LEEF:1.0|Vendor|Product|4.0|15345|src=192.0.2.0\tsev=5\tdevTime=1791635696789",
            "LEEF:2.0|Vendor|Product|4.0|15345|^|src=192.0.2.0^sev=5^devTime=1791635696789",
            "LEEF:2.0|Vendor|Product|4.0|15345|x5E|src=192.0.2.0^sev=5^devTime=1791635696789",
        ] {
            let version = &line[5..8];
            let expected = format!(
                concat!(
                    r#"2026-10-10T12:34:56.789Z - {{"event":{{"code":"15345","severity":5}},"#,
                    r#""observer":{{"vendor":"Vendor","product":"Product","version":"4.0"}},"#,
                    r#""source":{{"address":"192.0.2.0","ip":"192.0.2.0"}},"leef":{{"version":"{}","severity":"5","#,
                    r#""device":{{"vendor":"Vendor","product":"Product","version":"4.0","event_class_id":"15345"}},"#,
                    r#""extensions":{{"src":"192.0.2.0","sev":"5","devTime":"1791635696789"}}}}}}"#
                ),
                version
            );
            check(line, Some(&expected));
        }
    }

    #[test]
    fn other_lines_are_refused() {
        for line in [
            "Jun 14 09:08:07 fw1 su[1]: CEF is a format",
            "CEF:0|a|b",
            "XCEF:0|a|b|c|d|e|5|",
        ] {
            check(line, None);
        }
    }
}

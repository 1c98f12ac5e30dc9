//! Apache's error log, 2.4 (`[time] [module:level] [pid 1:tid 2] [client a:1] text`) and 2.2
//! (`[time] [level] [client a] text`).

use std::net::Ipv6Addr;

use super::access::write_client;
use super::stamp::apache_error;
use super::token::{enclosed, level, split};
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (stamp, rest) = apache_error(line.strip_prefix('[')?)?;
    let (severity, mut rest) = enclosed(rest.strip_prefix("] ")?, '[', b']')?;
    let (module, severity) = severity.split_once(':').unwrap_or(("", severity));
    record.level = Some(level(severity)?);
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    let (mut process, mut client) = ("", "");
    while let Some((inside, after)) = enclosed(rest.trim_start(), '[', b']') {
        if let Some(value) = inside.strip_prefix("pid ") {
            process = value;
        } else if let Some(value) = inside.strip_prefix("client ") {
            // An IPv6 address stands in brackets of its own only in very old versions.
            client = value;
        } else if !inside.starts_with("remote ") {
            break;
        }
        rest = after;
    }
    let message = rest.trim_start();
    let mut text = message;
    if client.is_empty()
        && let Some((inside, behind)) = client_behind_error(message)
    {
        (client, text) = (inside, behind);
    } else if message.starts_with('(') {
        text = message.split_once(": ").map_or(message, |(_, text)| text);
    }
    record.fields.object("process", |o| {
        o.text("name", "apache");
        let (pid, thread) = process.split_once(":tid ").unwrap_or((process, ""));
        if let Ok(pid) = pid.parse() {
            o.number("pid", pid);
        }
        if let Ok(thread) = thread.parse() {
            o.object("thread", |o| o.number("id", thread));
        }
    });
    record.fields.object("apache", |o| o.text("module", module));
    if !client.is_empty() {
        // Only 2.4 says ports, and then always: `2001:db8::1:5678` has one there, and is an address in 2.2.
        let (address, port) = match client.rsplit_once(':') {
            Some((address, port))
                if client.parse::<Ipv6Addr>().is_err()
                    || (!module.is_empty() && address.parse::<Ipv6Addr>().is_ok()) =>
            {
                (address, port)
            }
            _ => (client, ""),
        };
        write_client(record, address, port);
    }
    // `AH00126: text`
    let code = split(text, b':').map(|(code, _)| code).filter(|code| {
        code.strip_prefix("AH").is_some_and(|digits| {
            digits.len() == 5 && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    });
    record.fields.object("error", |o| {
        o.text("code", code.unwrap_or(""));
        o.text("message", message);
    });
    Some(())
}

/// The client and what is behind it in `(13)Permission denied: [client 1.2.3.4:5] text`, where the system said what went wrong,
/// and in `mod_a.c(42): [client 1.2.3.4:5] text`, as debugging lines say where they are written.
fn client_behind_error(message: &str) -> Option<(&str, &str)> {
    let (before, behind) = message.split_once(": [client ")?;
    let first = before.split(' ').next()?.trim_end_matches(':');
    if !before.starts_with('(') && !first.ends_with(')') {
        return None;
    }
    let (client, text) = split(behind, b']')?;
    Some((client, text.trim_start()))
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn both_versions() {
        let check = |line, expected| testing::check(ParserName::ApacheError, line, expected);
        check(
            "[Fri Sep 09 10:42:29.902022 2011] [core:error] [pid 35708:tid 4328636416] [client 10.15.99.187:61234] AH00126: File missing",
            Some(
                r#"2011-09-09T10:42:29.902Z error {"process":{"name":"apache","pid":35708,"thread":{"id":4328636416}},"apache":{"module":"core"},"source":{"address":"10.15.99.187","ip":"10.15.99.187","port":61234},"error":{"code":"AH00126","message":"AH00126: File missing"}}"#,
            ),
        );
        check(
            "[Wed Oct 11 14:32:52 2000] [warn] [client 2001:db8::1] denied",
            Some(
                r#"2000-10-11T14:32:52.000Z warning {"process":{"name":"apache"},"source":{"address":"2001:db8::1","ip":"2001:db8::1"},"error":{"message":"denied"}}"#,
            ),
        );
        check("[Wed Oct 11 14:32:52 2000] denied", None);
    }

    #[test]
    fn what_stands_before_the_client_hides_neither_it_nor_the_code() {
        for (rest, source, code) in [
            (
                "(13)Permission denied: [client 10.0.0.7:61] AH00035: denied",
                r#""source":{"address":"10.0.0.7","ip":"10.0.0.7","port":61},"#,
                r#""code":"AH00035","#,
            ),
            (
                "mod_a.c(42): (2)No such file: [client 10.0.0.7:61] x",
                r#""source":{"address":"10.0.0.7","ip":"10.0.0.7","port":61},"#,
                "",
            ),
            (
                "(111)Connection refused: AH00957: a",
                "",
                r#""code":"AH00957","#,
            ),
            ("said: [client 10.0.0.7:61] x", "", ""),
        ] {
            let line = format!("[Wed Oct 11 14:32:52 2000] [core:trace3] [pid 1] {rest}");
            let expected = format!(
                r#"2000-10-11T14:32:52.000Z trace {{"process":{{"name":"apache","pid":1}},"apache":{{"module":"core"}},{source}"error":{{{code}"message":"{rest}"}}}}"#
            );
            testing::check(ParserName::ApacheError, &line, Some(&expected));
        }
        testing::check(
            ParserName::ApacheError,
            "[Wed Oct 11 14:32:52 2000] [core:warn] [pid 1] [client 2001:db8::1:5678] x",
            Some(
                r#"2000-10-11T14:32:52.000Z warning {"process":{"name":"apache","pid":1},"apache":{"module":"core"},"source":{"address":"2001:db8::1","ip":"2001:db8::1","port":5678},"error":{"message":"x"}}"#,
            ),
        );
    }
}

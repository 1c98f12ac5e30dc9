//! Apache's error log, 2.4 (`[time] [module:level] [pid 1:tid 2] [client a:1] text`) and 2.2
//! (`[time] [level] [client a] text`).

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
        let (address, port) = match client.rsplit_once(':') {
            Some((address, port)) if client.parse::<std::net::Ipv6Addr>().is_err() => {
                (address, port)
            }
            _ => (client, ""),
        };
        write_client(record, address, port);
    }
    // `AH00126: text`
    let code = split(message, b':').map(|(code, _)| code).filter(|code| {
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
}

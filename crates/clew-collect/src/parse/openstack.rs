//! Lines of OpenStack's services, as oslo.log writes them: `2026-01-02 03:04:05.678 2931 INFO nova.compute.manager [req-1 USER PROJECT -]
//! text`; the name of a file may stand in front of them. Of a request to their APIs, `10.0.0.1 "GET /v2 HTTP/1.1" status: 200 len: 1893
//! time: 0.24`, more is kept.

use super::fields::{Fields, SOURCE, are_digits, nanoseconds};
use super::stamp::{Stamp, iso};
use super::token::{enclosed, level, present, quoted, word};
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (stamp, rest) = iso(line).or_else(|| behind_a_file(line))?;
    let (process, rest) = word(rest.strip_prefix(' ')?)?;
    let (severity, rest) = word(rest)?;
    let (logger, rest) = word(rest)?;
    let is_capital = severity.bytes().all(|byte| byte.is_ascii_uppercase());
    let level = level(severity).filter(|_| is_capital && are_digits(process))?;
    let (context, text) = enclosed(rest, '[', b']')?;
    let mut fields = Fields::default();
    fields.number("process.pid", process.parse().ok()?);
    fields.text("log.logger", logger);
    who(context, &mut fields)?;
    // Other texts say nothing of a request.
    let _ = requested(text.trim_start(), &mut fields);
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    record.level = Some(level);
    fields.write(record);
    Some(())
}

/// `nova-api.log.1.2017-05-16_13:53:08 2017-05-16 00:00:00.008`, as where logs of several services were put together.
fn behind_a_file(line: &str) -> Option<(Stamp, &str)> {
    let (name, rest) = word(line)?;
    name.contains(".log").then(|| iso(rest)).flatten()
}

/// `-`, `req-1 USER PROJECT - -`, or since some releases `None req-1 user project`: for whom something was done.
fn who<'a>(context: &'a str, fields: &mut Fields<'a>) -> Option<()> {
    if context == "-" || context.is_empty() {
        return Some(());
    }
    let context = context.strip_prefix("None ").unwrap_or(context);
    let mut words = context.split(' ');
    let request = words.next()?;
    (request == "-" || request.starts_with("req-")).then_some(())?;
    for (name, value) in [
        ("openstack.request_id", Some(request)),
        ("openstack.user", words.next()),
        ("openstack.project", words.next()),
    ] {
        if let Some(value) = value.and_then(present) {
            fields.text(name, value);
        }
    }
    Some(())
}

/// What was asked for, and how it was answered; nothing of other texts.
fn requested<'a>(text: &'a str, fields: &mut Fields<'a>) -> Option<()> {
    let (address, rest) = word(text)?;
    let (request, rest) = quoted(rest)?;
    let (status, rest) = word(rest.strip_prefix(" status: ")?)?;
    let (bytes, rest) = word(rest.strip_prefix("len: ")?)?;
    let (seconds, _) = word(rest.strip_prefix("time: ")?)?;
    let (status, bytes) = (status.parse().ok()?, bytes.parse().ok()?);
    let nanoseconds = nanoseconds(seconds)?;
    fields.address(&SOURCE, address);
    fields.request(request);
    fields.status(status);
    fields.number("http.response.body.bytes", bytes);
    fields.number("event.duration", nanoseconds);
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::parse::ParserName;
    use crate::parse::testing::{check, parsed};

    #[track_caller]
    fn told(line: &str, head: &str, expected: &Value) {
        let found = parsed(ParserName::Openstack, line).expect(line);
        let (found_head, object) = found.split_once(" {").unwrap();
        assert_eq!(found_head, head, "{line}");
        let object: Value = serde_json::from_str(&format!("{{{object}")).unwrap();
        assert_eq!(&object, expected, "{line}");
        for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
            parsed(ParserName::Openstack, &line[..end]);
        }
    }

    #[test]
    fn lines_say_for_whom_something_was_done() {
        let of = |user: &str, project: &str| json!({"request_id": "req-38", "user": user, "project": project});
        for (context, openstack) in [
            ("-", Value::Null),
            ("- - - - -", Value::Null),
            ("req-38 113d 54fa - - -", of("113d", "54fa")),
            ("None req-38 jo shop", of("jo", "shop")),
        ] {
            let mut expected =
                json!({"log": {"logger": "nova.compute.manager"}, "process": {"pid": 2931}});
            if !openstack.is_null() {
                expected["openstack"] = openstack;
            }
            for file in ["", "nova-compute.log.1.2026-05-16_13:55:31 "] {
                let line = format!(
                    "{file}2026-05-16 00:00:00.008 2931 WARNING nova.compute.manager [{context}] text"
                );
                told(&line, "2026-05-16T00:00:00.008Z warning", &expected);
            }
        }
    }

    #[test]
    fn requests_to_apis_are_taken_apart() {
        told(
            r#"2026-05-16 00:00:00.008 25746 INFO nova.osapi_compute.wsgi.server [req-38 u p - - -] 10.11.10.1 "GET /v2/5/servers/detail?a=b HTTP/1.1" status: 404 len: 1893 time: 0.2477829"#,
            "2026-05-16T00:00:00.008Z info",
            &json!({
                "event": {"duration": 247_782_900, "outcome": "failure"},
                "log": {"logger": "nova.osapi_compute.wsgi.server"},
                "process": {"pid": 25_746},
                "openstack": {"request_id": "req-38", "user": "u", "project": "p"},
                "source": {"address": "10.11.10.1", "ip": "10.11.10.1"},
                "http": {
                    "version": "1.1", "request": {"method": "GET"},
                    "response": {"status_code": 404, "body": {"bytes": 1893}},
                },
                "url": {"original": "/v2/5/servers/detail?a=b", "path": "/v2/5/servers/detail", "query": "a=b"},
            }),
        );
    }

    #[test]
    fn lines_of_others_are_refused() {
        for line in [
            "2026-05-16 00:00:00.008 2931 WARNING nova.compute.manager text",
            "2026-05-16 00:00:00.008 2931 WARNING nova.compute.manager [main] text",
            "2026-05-16 00:00:00.008 x INFO a.b [-] text",
            "2026-05-16 00:00:00.008 12 info a.b [-] text",
            "nova 2026-05-16 00:00:00.008 12 INFO a.b [-] text",
        ] {
            check(ParserName::Openstack, line, None);
        }
    }
}

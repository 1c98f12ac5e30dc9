//! What Postfix says of mails and of connections, behind a header of syslog. What other programs say beside it is an event of syslog.

use super::fields::{Fields, SOURCE, is_decimal};
use super::syslog::{self, Message};
use super::token::{enclosed, split};
use super::{Record, Times};

/// A queue's short ids have six digits at least, its long ones up to twenty letters.
const ID_BYTES_MIN: usize = 6;
const ID_BYTES_MAX: usize = 24;

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let Message { program, content } = syslog::header(line, times, record)?;
    // Several instances have names of their own, `postfix-out`.
    let Some((name, service)) = program.split_once('/') else {
        return Some(());
    };
    if !name.starts_with("postfix") {
        return Some(());
    }
    let mut fields = Fields::default();
    fields.text("postfix.service", service);
    said(content, &mut fields);
    fields.write(record);
    Some(())
}

/// Whether a line's record is one of Postfix' own.
pub(super) fn is_its(record: &Record) -> bool {
    memchr::memmem::find(record.fields.bytes(), b"\"postfix\":{\"").is_some()
}

/// What a service says.
fn said<'a>(content: &'a str, fields: &mut Fields<'a>) {
    for (begin, action) in [
        ("connect from ", "connect"),
        ("disconnect from ", "disconnect"),
        ("lost connection after ", "lost-connection"),
    ] {
        if let Some(rest) = content.strip_prefix(begin) {
            fields.text("event.action", action);
            let from = rest.split_once(" from ").map_or(rest, |(_, from)| from);
            peer(from, fields);
            return;
        }
    }
    let Some((id, rest)) = content.split_once(": ") else {
        return;
    };
    let is_id = (ID_BYTES_MIN..=ID_BYTES_MAX).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        // Words that stand there as well, `warning: `, have none.
        && id.bytes().any(|byte| byte.is_ascii_digit());
    if id == "NOQUEUE" {
        rejected(rest, fields);
    } else if is_id {
        fields.text("email.local_id", id);
        match rest {
            "removed" => fields.text("event.action", "removed"),
            _ if rest.starts_with("reject: ") => rejected(rest, fields),
            _ => pairs(rest, fields),
        }
    }
}

/// `reject: RCPT from host[10.0.0.7]: 554 5.7.1 text; from=<a> to=<b> proto=ESMTP helo=<c>`.
fn rejected<'a>(text: &'a str, fields: &mut Fields<'a>) {
    let Some(rest) = text.strip_prefix("reject: ") else {
        return;
    };
    fields.text("event.action", "reject");
    fields.text("event.outcome", "failure");
    if let Some((_, from)) = rest.split_once(" from ") {
        let (from, said) = from.split_once(": ").unwrap_or((from, ""));
        peer(from, fields);
        let (reason, rest) = said.split_once("; from=").unwrap_or((said, ""));
        fields.text("event.reason", reason);
        let words = rest.split(' ');
        for (number, word) in words.enumerate() {
            let (key, value) = match number {
                0 => ("from", word),
                _ => word.split_once('=').unwrap_or(("", "")),
            };
            pair(key, value, fields);
        }
    }
}

/// `to=<jo@example.org>, relay=mx.example.org[10.0.0.7]:25, delay=1.2, status=sent (250 ok)`.
fn pairs<'a>(text: &'a str, fields: &mut Fields<'a>) {
    let mut rest = text;
    // A text that was sent, such as a subject that is warned of, has no keys of Postfix' own.
    let is_key = |key: &str| {
        key.bytes()
            .all(|byte| byte.is_ascii_lowercase() || b"_-".contains(&byte))
    };
    while let Some((key, behind)) = split(rest, b'=').filter(|(key, _)| is_key(key)) {
        if let ("status", said) = (key, behind) {
            let (status, reason) = said.split_once(' ').unwrap_or((said, ""));
            fields.text("postfix.status", status);
            let reason = reason.strip_prefix('(').unwrap_or(reason);
            fields.text("event.reason", reason.strip_suffix(')').unwrap_or(reason));
            fields.text("event.action", "deliver");
            let outcome = if status == "sent" {
                "success"
            } else {
                "failure"
            };
            fields.text("event.outcome", outcome);
            return;
        }
        let (value, behind) = behind.split_once(", ").unwrap_or((behind, ""));
        pair(key, value, fields);
        rest = behind;
    }
}

fn pair<'a>(key: &str, value: &'a str, fields: &mut Fields<'a>) {
    let address = || enclosed(value, '<', b'>').map_or(value, |(inside, _)| inside);
    let (first, _) = value.split_once(' ').unwrap_or((value, ""));
    match key {
        "from" => fields.text("email.sender.address", address()),
        "to" => fields.text("email.to.address", address()),
        "orig_to" => fields.text("postfix.orig_to", address()),
        "message-id" => fields.text("email.message_id", address()),
        "client" => peer(value, fields),
        "relay" if value != "none" => fields.text("postfix.relay", value),
        "dsn" => fields.text("postfix.dsn", value),
        "delays" => fields.text("postfix.delays", value),
        "delay" if is_decimal(value) => fields.fraction("postfix.delay", value),
        "proto" => fields.text("postfix.protocol", value),
        "helo" => fields.text("postfix.helo", address()),
        "sasl_method" => fields.text("postfix.sasl_method", value),
        "sasl_username" => fields.text("user.name", value),
        "size" | "nrcpt" => {
            let name = match key {
                "size" => "postfix.size",
                _ => "postfix.recipients",
            };
            if let Ok(number) = first.parse() {
                fields.number(name, number);
            }
        }
        _ => {}
    }
}

/// `host[10.0.0.7]`, which a port and more may follow.
fn peer<'a>(text: &'a str, fields: &mut Fields<'a>) {
    let Some((host, rest)) = text.split_once('[') else {
        return;
    };
    let Some((address, rest)) = rest.split_once(']') else {
        return;
    };
    fields.address(&SOURCE, address);
    if host != "unknown" {
        fields.text("source.domain", host);
    }
    let port = rest.strip_prefix(':').unwrap_or("");
    let (port, _) = port.split_once(' ').unwrap_or((port, ""));
    if let Ok(port) = port.parse::<u16>() {
        fields.number("source.port", u64::from(port));
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    fn check(service: &str, content: &str, members: &str) {
        let line = format!("Jun 14 09:08:07 mx1 postfix/{service}[12]: {content}");
        let (event, rest) = members.split_once('|').unwrap_or(("", members));
        let process = format!(r#""process":{{"name":"postfix/{service}","pid":12}}"#);
        let expected = format!(
            r#"2026-06-14T09:08:07.000Z - {{{event}"log":{{"syslog":{{"hostname":"mx1"}}}},{process},{rest}}}"#
        );
        testing::check(ParserName::Postfix, &line, Some(&expected));
    }

    #[test]
    fn mails_from_the_door_to_the_next_server() {
        check(
            "smtpd",
            "connect from mail.example.org[10.0.0.7]",
            r#""event":{"action":"connect"},|"postfix":{"service":"smtpd"},"source":{"address":"10.0.0.7","domain":"mail.example.org","ip":"10.0.0.7"}"#,
        );
        check(
            "smtpd",
            "4AB12C3D5E: client=unknown[10.0.0.7]:4567, sasl_method=PLAIN, sasl_username=jo",
            r#""email":{"local_id":"4AB12C3D5E"},"postfix":{"sasl_method":"PLAIN","service":"smtpd"},"source":{"address":"10.0.0.7","ip":"10.0.0.7","port":4567},"user":{"name":"jo"}"#,
        );
        check(
            "cleanup",
            "4AB12C3D5E: message-id=<1@example.org>",
            r#""email":{"local_id":"4AB12C3D5E","message_id":"1@example.org"},"postfix":{"service":"cleanup"}"#,
        );
        check(
            "qmgr",
            "4AB12C3D5E: from=<a@example.org>, size=1234, nrcpt=2 (queue active)",
            r#""email":{"local_id":"4AB12C3D5E","sender":{"address":"a@example.org"}},"postfix":{"recipients":2,"service":"qmgr","size":1234}"#,
        );
        check(
            "smtp",
            "4AB12C3D5E: to=<b@example.org>, relay=mx.example.org[10.0.0.8]:25, delay=1.2, delays=0.1/0/0.5/0.6, dsn=2.0.0, status=sent (250 2.0.0 Ok: queued, as x=1)",
            r#""event":{"action":"deliver","outcome":"success","reason":"250 2.0.0 Ok: queued, as x=1"},|"email":{"local_id":"4AB12C3D5E","to":{"address":"b@example.org"}},"postfix":{"delay":1.2,"delays":"0.1/0/0.5/0.6","dsn":"2.0.0","relay":"mx.example.org[10.0.0.8]:25","service":"smtp","status":"sent"}"#,
        );
        check(
            "qmgr",
            "4AB12C3D5E: removed",
            r#""event":{"action":"removed"},|"email":{"local_id":"4AB12C3D5E"},"postfix":{"service":"qmgr"}"#,
        );
        check(
            "smtpd",
            "NOQUEUE: reject: RCPT from x.example.org[10.0.0.9]: 554 5.7.1 <b@c>: Relay access denied; from=<a@b> to=<b@c> proto=ESMTP helo=<x>",
            r#""event":{"action":"reject","outcome":"failure","reason":"554 5.7.1 <b@c>: Relay access denied"},|"email":{"sender":{"address":"a@b"},"to":{"address":"b@c"}},"postfix":{"helo":"x","protocol":"ESMTP","service":"smtpd"},"source":{"address":"10.0.0.9","domain":"x.example.org","ip":"10.0.0.9"}"#,
        );
        check(
            "cleanup",
            "4AB12C3D5E: warning: header Subject: a=b, to=<jo@example.org>, status=sent from x",
            r#""email":{"local_id":"4AB12C3D5E"},"postfix":{"service":"cleanup"}"#,
        );
        check(
            "anvil",
            "statistics: max connection rate 1/60s",
            r#""postfix":{"service":"anvil"}"#,
        );
    }

    #[test]
    fn lines_of_others_are_those_of_syslog() {
        testing::check(
            ParserName::Postfix,
            "Jun 14 09:08:07 mx1 dovecot: imap-login: Login: user=<jo>",
            Some(
                r#"2026-06-14T09:08:07.000Z - {"log":{"syslog":{"hostname":"mx1"}},"process":{"name":"dovecot"}}"#,
            ),
        );
        testing::check(ParserName::Postfix, "hello", None);
    }
}

//! The audit log of Linux: `type=SYSCALL msg=audit(1791635696.789:4321): arch=c000003e pid=12 comm="cat"`. What of it the Elastic
//! Common Schema has a name for has that, as in Filebeat's module; the rest is in `auditd.log` by its own names.

use std::borrow::Cow;

use super::Record;
use super::access::write_client;
use super::token::{present, quoted, split};
use crate::json::Members;

/// No record of the kernel has as many.
const PAIRS_MAX: usize = 256;
/// What the schema has other names for.
const RENAMED: [&str; 17] = [
    "acct", "addr", "auid", "comm", "cwd", "egid", "euid", "exe", "exit", "fsgid", "fsuid", "gid",
    "pid", "ppid", "res", "success", "uid",
];
/// What users may have chosen: written as hexadecimal digits where it has bytes that a line must not have.
const OF_USERS: [&str; 13] = [
    "acct",
    "cmd",
    "comm",
    "cwd",
    "data",
    "dir",
    "exe",
    "grp",
    "name",
    "path",
    "proctitle",
    "vm",
    "watch",
];
/// The record of what a program was called with, `a0`, `a1`, ...
const CALLED: &str = "EXECVE";

pub(crate) fn parse(line: &str, record: &mut Record) -> Option<()> {
    let (node, rest) = match line.strip_prefix("node=") {
        Some(behind) => split(behind, b' ')?,
        None => ("", line),
    };
    let (kind, rest) = split(rest.strip_prefix("type=")?, b' ')?;
    let (stamp, rest) = split(rest.strip_prefix("msg=audit(")?, b')')?;
    let (ms, sequence) = stamp_and_number(stamp)?;
    let found = Pairs::of(kind, rest.strip_prefix(':')?);

    record.timestamp_ms = Some(ms);
    record.event.text("action", &kind.to_ascii_lowercase());
    let outcome = match (found.get("res"), found.get("success")) {
        ("success" | "1", _) | (_, "yes") => "success",
        ("failed" | "0", _) | (_, "no") => "failure",
        _ => "",
    };
    record.event.text("outcome", outcome);
    record.fields.object("process", |o| {
        found.number(o, "pid", "pid");
        o.object("parent", |o| found.number(o, "pid", "ppid"));
        o.text("name", found.get("comm"));
        o.text("executable", found.get("exe"));
        o.text("working_directory", found.get("cwd"));
    });
    record.fields.object("user", |o| {
        o.text("name", found.get("acct"));
        o.text("id", found.get("uid"));
        o.object("audit", |o| o.text("id", found.get("auid")));
        o.object("effective", |o| {
            o.text("id", found.get("euid"));
            o.object("group", |o| o.text("id", found.get("egid")));
        });
        o.object("filesystem", |o| {
            o.text("id", found.get("fsuid"));
            o.object("group", |o| o.text("id", found.get("fsgid")));
        });
        o.object("group", |o| o.text("id", found.get("gid")));
    });
    if let Some(address) = present(found.get("addr")).filter(|address| *address != "?") {
        write_client(record, address, "");
    }
    record.fields.object("auditd", |o| {
        o.object("log", |o| {
            o.text("node", node);
            o.number("sequence", sequence);
            o.text("exit", found.get("exit"));
            for (key, value) in found.found.iter().filter(|(key, _)| !is_elsewhere(key)) {
                o.named_text(key, value);
            }
        });
    });
    Some(())
}

/// Whether a key has another place than `auditd.log`.
fn is_elsewhere(key: &str) -> bool {
    RENAMED.contains(&key) || matches!(key, "node" | "sequence")
}

/// `1791635696.789:4321`.
fn stamp_and_number(text: &str) -> Option<(i64, u64)> {
    let (seconds, behind) = split(text, b'.')?;
    let (ms, sequence) = split(behind, b':')?;
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    // From 2001 to 2286.
    (seconds.len() == 10 && ms.len() == 3).then_some(())?;
    (are_digits(seconds) && are_digits(ms)).then_some(())?;
    let seconds: i64 = seconds.parse().ok()?;
    let ms: i64 = ms.parse().ok()?;
    Some((seconds * 1_000 + ms, sequence.parse().ok()?))
}

/// Keys and values, each key once.
struct Pairs<'a> {
    found: Vec<(&'a str, Cow<'a, str>)>,
    has_arguments: bool,
}

impl<'a> Pairs<'a> {
    /// The pairs of a record of this kind.
    fn of(kind: &str, text: &'a str) -> Self {
        let mut pairs = Pairs {
            found: Vec::new(),
            has_arguments: kind == CALLED,
        };
        pairs.take(text);
        pairs
    }

    /// Takes pairs, and those inside of `msg='...'`. Words that are no pairs are passed over. What auditd makes of numbers stands behind a
    /// separator of groups.
    fn take(&mut self, text: &'a str) {
        let mut rest = text;
        while self.found.len() < PAIRS_MAX {
            rest = rest.trim_start_matches([' ', '\u{1d}', '\'']);
            let end = rest.find([' ', '=', '\u{1d}']).unwrap_or(rest.len());
            let (key, behind) = rest.split_at(end);
            let Some(behind) = behind.strip_prefix('=') else {
                if behind.is_empty() {
                    return;
                }
                rest = behind;
                continue;
            };
            // What is inside are pairs as those around it.
            if key == "msg" && behind.starts_with('\'') {
                rest = behind;
                continue;
            }
            let in_quotes = quoted(behind);
            let (value, behind) =
                in_quotes.unwrap_or_else(|| behind.split_at(value_end(key, behind)));
            rest = behind;
            let is_key = !key.is_empty()
                && key
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
            if is_key && self.get(key).is_empty() {
                let value = value.trim_matches('\'');
                let decoded = Some(value).filter(|_| in_quotes.is_none() && self.is_of_user(key));
                let decoded = decoded.and_then(decoded_digits).map(Cow::Owned);
                self.found
                    .push((key, decoded.unwrap_or(Cow::Borrowed(value))));
            }
        }
    }

    /// Whether a value is what a user may have chosen.
    fn is_of_user(&self, key: &str) -> bool {
        let number = key.strip_prefix('a').unwrap_or_default();
        let is_argument = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        OF_USERS.contains(&key) || self.has_arguments && is_argument
    }

    /// A value, or nothing.
    fn get(&self, key: &str) -> &str {
        let found = self.found.iter().find(|(name, _)| *name == key);
        found.map_or("", |(_, value)| &**value)
    }

    fn number(&self, o: &mut Members, name: &'static str, key: &str) {
        if let Ok(number) = self.get(key).parse() {
            o.number(name, number);
        }
    }
}

/// Where a value ends that is not in quotes. What was done may be told in several words, up to the next pair.
fn value_end(key: &str, text: &str) -> usize {
    let word_end = |text: &str| text.find([' ', '\u{1d}']).unwrap_or(text.len());
    let mut end = word_end(text);
    if key != "op" {
        return end;
    }
    while let Some(behind) = text[end..].strip_prefix(' ') {
        let next = &behind[..word_end(behind)];
        if next.is_empty() || next.contains('=') {
            break;
        }
        end += 1 + next.len();
    }
    end
}

/// What hexadecimal digits say; zeros stand between the arguments of a program.
fn decoded_digits(digits: &str) -> Option<String> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'A'..=b'F');
    (!digits.is_empty() && digits.len().is_multiple_of(2)).then_some(())?;
    digits.bytes().all(is_digit).then_some(())?;
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    for at in (0..digits.len()).step_by(2) {
        bytes.push(u8::from_str_radix(&digits[at..at + 2], 16).ok()?);
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_end_matches('\0').replace('\0', " "))
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    fn check(line: &str, expected: Option<&str>) {
        testing::check(ParserName::Auditd, line, expected);
    }

    #[test]
    fn calls_of_the_kernel() {
        check(
            r#"type=SYSCALL msg=audit(1791635696.789:4321): arch=c000003e syscall=59 success=yes exit=0 ppid=8 pid=12 auid=1000 uid=0 gid=0 euid=0 egid=0 tty=pts0 comm="cat" exe="/usr/bin/cat" key=(null)"#,
            Some(concat!(
                r#"2026-10-10T12:34:56.789Z - {"event":{"action":"syscall","outcome":"success"},"#,
                r#""process":{"pid":12,"parent":{"pid":8},"name":"cat","executable":"/usr/bin/cat"},"#,
                r#""user":{"id":"0","audit":{"id":"1000"},"effective":{"id":"0","group":{"id":"0"}},"group":{"id":"0"}},"#,
                r#""auditd":{"log":{"sequence":4321,"exit":"0","arch":"c000003e","syscall":"59","tty":"pts0","key":"(null)"}}}"#
            )),
        );
    }

    #[test]
    fn what_users_do_is_in_quotes() {
        check(
            "node=web1 type=USER_LOGIN msg=audit(1791635696.789:7): pid=28 uid=0 msg='op=login acct=\"root\" exe=\"/usr/sbin/sshd\" hostname=? addr=10.0.0.7 terminal=ssh res=failed'\u{1d}UID=\"root\"",
            Some(concat!(
                r#"2026-10-10T12:34:56.789Z - {"event":{"action":"user_login","outcome":"failure"},"#,
                r#""process":{"pid":28,"executable":"/usr/sbin/sshd"},"user":{"name":"root","id":"0"},"#,
                r#""source":{"address":"10.0.0.7","ip":"10.0.0.7"},"#,
                r#""auditd":{"log":{"node":"web1","sequence":7,"op":"login","hostname":"?","terminal":"ssh","UID":"root"}}}"#
            )),
        );
        for other in [
            "type=SYSCALL msg=audit(179163569.789:4321): a=b",
            "type=SYSCALL msg=audit(1791635696.789): a=b",
            "type=x msg=y",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn what_users_have_chosen_is_read_and_what_was_done_has_several_words() {
        check(
            "type=PROCTITLE msg=audit(1791635696.789:8): proctitle=737368643A206A6F005B707269765D",
            Some(concat!(
                r#"2026-10-10T12:34:56.789Z - {"event":{"action":"proctitle"},"#,
                r#""auditd":{"log":{"sequence":8,"proctitle":"sshd: jo [priv]"}}}"#
            )),
        );
        check(
            r#"type=EXECVE msg=audit(1791635696.789:9): argc=3 a0="cat" a1=612062 a2="10" data=0A1"#,
            Some(concat!(
                r#"2026-10-10T12:34:56.789Z - {"event":{"action":"execve"},"#,
                r#""auditd":{"log":{"sequence":9,"argc":"3","a0":"cat","a1":"a b","a2":"10","data":"0A1"}}}"#
            )),
        );
        // Numbers of a call are no texts.
        check(
            "type=SYSCALL msg=audit(1791635696.789:9): a0=10 a1=(null) exe=2F612062",
            Some(concat!(
                r#"2026-10-10T12:34:56.789Z - {"event":{"action":"syscall"},"process":{"executable":"/a b"},"#,
                r#""auditd":{"log":{"sequence":9,"a0":"10","a1":"(null)"}}}"#
            )),
        );
        check(
            "type=ADD_GROUP msg=audit(1791635696.789:9): msg='op=adding group to /etc/group id=1004 res=success'",
            Some(concat!(
                r#"2026-10-10T12:34:56.789Z - {"event":{"action":"add_group","outcome":"success"},"#,
                r#""auditd":{"log":{"sequence":9,"op":"adding group to /etc/group","id":"1004"}}}"#
            )),
        );
    }
}

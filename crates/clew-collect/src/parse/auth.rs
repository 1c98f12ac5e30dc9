//! `auth.log`: syslog lines whose messages say who came from where and whether it was allowed.

use std::net::IpAddr;

use super::syslog::{self, Message};
use super::token::split;
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let Message { program, content } = syslog::header(line, times, record)?;
    let content = repeated(content).unwrap_or(content);
    let found = pam(content).or_else(|| match program {
        "sshd" | "sshd-session" | "sshd-auth" => ssh(content),
        "sudo" => sudo(content),
        "su" => su(content),
        _ => None,
    });
    if let Some(found) = found {
        found.write(record);
    }
    Some(())
}

/// What rsyslog says once instead of several times, `message repeated 2 times: [ TEXT]`: failed logins come in rows.
fn repeated(content: &str) -> Option<&str> {
    let (count, inside) = content
        .strip_prefix("message repeated ")?
        .split_once(" times: [")?;
    let is_count = count.bytes().all(|byte| byte.is_ascii_digit());
    let inside = inside.strip_suffix(']').filter(|_| is_count)?;
    Some(inside.trim_start())
}

#[derive(Default)]
struct Found<'a> {
    action: &'static str,
    outcome: &'static str,
    user: &'a str,
    target_user: &'a str,
    address: &'a str,
    port: &'a str,
    method: &'a str,
    command: &'a str,
    folder: &'a str,
}

impl Found<'_> {
    fn write(&self, record: &mut Record) {
        record.event.text("action", self.action);
        record.event.text("outcome", self.outcome);
        record.fields.object("user", |o| {
            o.text("name", self.user);
            o.object("effective", |o| o.text("name", self.target_user));
        });
        record.fields.object("source", |o| {
            o.text("address", self.address);
            if self.address.parse::<IpAddr>().is_ok() {
                o.text("ip", self.address);
            }
            if let Ok(port) = self.port.parse() {
                o.number("port", port);
            }
        });
        record.fields.object("auth", |o| {
            o.text("method", self.method);
            o.text("command", self.command);
            o.text("working_directory", self.folder);
        });
    }
}

fn ssh(content: &str) -> Option<Found<'_>> {
    let login = |rest, outcome| {
        // `METHOD for [invalid user ]USER from ADDRESS port PORT ssh2[: KEY]`
        let (method, rest) = str::split_once(rest, " for ")?;
        let rest = rest.strip_prefix("invalid user ").unwrap_or(rest);
        Some(Found {
            action: "ssh_login",
            outcome,
            method,
            ..peer(rest)?
        })
    };
    if let Some(rest) = content.strip_prefix("Accepted ") {
        return login(rest, "success");
    }
    if let Some(rest) = content.strip_prefix("Failed ") {
        return login(rest, "failure");
    }
    if let Some(rest) = content.strip_prefix("Invalid user ") {
        return Some(Found {
            action: "ssh_login",
            outcome: "failure",
            ..peer(rest)?
        });
    }
    // `Connection closed by [invalid user|authenticating user USER] ADDRESS port PORT [preauth]`
    let (_, rest) = [
        "Connection closed by ",
        "Connection reset by ",
        "Disconnected from ",
    ]
    .into_iter()
    .find_map(|start| Some((start, content.strip_prefix(start)?)))?;
    let user = ["invalid user ", "authenticating user ", "user "]
        .into_iter()
        .find_map(|start| rest.strip_prefix(start));
    let (user, rest) = match user {
        Some(rest) => split(rest, b' ')?,
        None => ("", rest),
    };
    let (address, port) = address_and_port(rest);
    Some(Found {
        action: "ssh_disconnect",
        user,
        address,
        port,
        ..Found::default()
    })
}

/// `USER from ADDRESS port PORT ...`; the user may be empty or hold spaces.
fn peer(text: &str) -> Option<Found<'_>> {
    let (user, rest) = match text.strip_prefix("from ") {
        Some(rest) => ("", rest),
        None => text.rsplit_once(" from ")?,
    };
    let (address, port) = address_and_port(rest);
    Some(Found {
        user,
        address,
        port,
        ..Found::default()
    })
}

fn address_and_port(text: &str) -> (&str, &str) {
    let (address, rest) = split(text, b' ').unwrap_or((text, ""));
    let port = rest.strip_prefix("port ").unwrap_or("");
    (address, split(port, b' ').map_or(port, |(port, _)| port))
}

/// `USER : [REASON ; ]TTY=... ; PWD=... ; USER=... ; COMMAND=...`
fn sudo(content: &str) -> Option<Found<'_>> {
    let (user, rest) = content.trim_start().split_once(" : ")?;
    let value = |key: &str| {
        rest.split(" ; ")
            .find_map(|part| part.trim().strip_prefix(key))
            .unwrap_or("")
    };
    // The command comes last and may hold the separator itself.
    let command = rest
        .split_once("COMMAND=")
        .map_or("", |(_, command)| command);
    let allowed = rest.starts_with("TTY=") || rest.starts_with("PWD=");
    Some(Found {
        action: "sudo",
        outcome: if allowed { "success" } else { "failure" },
        user,
        target_user: value("USER="),
        folder: value("PWD="),
        command,
        ..Found::default()
    })
}

/// `(to root) ada on pts/0`, `FAILED SU (to root) ada on pts/0`
fn su(content: &str) -> Option<Found<'_>> {
    let (outcome, rest) = match content.strip_prefix("FAILED SU ") {
        Some(rest) => ("failure", rest),
        None => ("success", content),
    };
    let (target_user, rest) = rest.strip_prefix("(to ")?.split_once(") ")?;
    let (user, _) = rest.split_once(" on ")?;
    Some(Found {
        action: "su",
        outcome,
        user,
        target_user,
        ..Found::default()
    })
}

/// `pam_unix(sshd:session): session opened for user root(uid=0) by (uid=0)` and its failures.
fn pam(content: &str) -> Option<Found<'_>> {
    let (_, message) = content.strip_prefix("pam_")?.split_once("): ")?;
    let session = [
        ("session opened for user ", "session_opened", "success"),
        ("session closed for user ", "session_closed", ""),
    ];
    for (start, action, outcome) in session {
        if let Some(rest) = message.strip_prefix(start) {
            let end = rest.find(['(', ' ']).unwrap_or(rest.len());
            return Some(Found {
                action,
                outcome,
                user: &rest[..end],
                ..Found::default()
            });
        }
    }
    let rest = message.strip_prefix("authentication failure;")?;
    let value = |key: &str| {
        rest.split(' ')
            .find_map(|part| part.strip_prefix(key))
            .unwrap_or("")
    };
    Some(Found {
        action: "authentication",
        outcome: "failure",
        user: value("user="),
        address: value("rhost="),
        ..Found::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    /// Checks what a message adds to its syslog header.
    fn check(program: &str, message: &str, expected: &str) {
        let line = format!("Jun 14 09:08:07 web1 {program}[7]: {message}");
        let header = r#""log":{"syslog":{"hostname":"web1"}},"process":{"name":"P","pid":7}"#;
        let header = header.replace('P', program);
        let (event, fields) = expected.split_once('|').unwrap();
        let event = if event.is_empty() {
            String::new()
        } else {
            format!("\"event\":{{{event}}},")
        };
        let fields = if fields.is_empty() {
            String::new()
        } else {
            format!(",{fields}")
        };
        let whole = format!("2026-06-14T09:08:07.000Z - {{{event}{header}{fields}}}");
        testing::check(ParserName::Auth, &line, Some(&whole));
    }

    #[test]
    fn ssh_messages() {
        check(
            "sshd",
            "Accepted publickey for ada from 10.1.2.3 port 5022 ssh2: ED25519 SHA256:x",
            r#""action":"ssh_login","outcome":"success"|"user":{"name":"ada"},"source":{"address":"10.1.2.3","ip":"10.1.2.3","port":5022},"auth":{"method":"publickey"}"#,
        );
        check(
            "sshd",
            "Failed password for invalid user a from b from 2001:db8::1 port 22 ssh2",
            r#""action":"ssh_login","outcome":"failure"|"user":{"name":"a from b"},"source":{"address":"2001:db8::1","ip":"2001:db8::1","port":22},"auth":{"method":"password"}"#,
        );
        check(
            "sshd",
            "message repeated 2 times: [ Failed password for ada from 10.1.2.3 port 22 ssh2]",
            r#""action":"ssh_login","outcome":"failure"|"user":{"name":"ada"},"source":{"address":"10.1.2.3","ip":"10.1.2.3","port":22},"auth":{"method":"password"}"#,
        );
        check(
            "sshd",
            "Invalid user  from 10.1.2.3 port 22",
            r#""action":"ssh_login","outcome":"failure"|"source":{"address":"10.1.2.3","ip":"10.1.2.3","port":22}"#,
        );
        check(
            "sshd-session",
            "Connection closed by authenticating user root 10.1.2.3 port 9 [preauth]",
            r#""action":"ssh_disconnect"|"user":{"name":"root"},"source":{"address":"10.1.2.3","ip":"10.1.2.3","port":9}"#,
        );
        check("sshd", "Server listening on 0.0.0.0 port 22.", "|");
    }

    #[test]
    fn sudo_su_and_pam_messages() {
        check(
            "sudo",
            "     ada : TTY=pts/0 ; PWD=/home/ada ; USER=root ; COMMAND=/bin/sh -c a ; b",
            r#""action":"sudo","outcome":"success"|"user":{"name":"ada","effective":{"name":"root"}},"auth":{"command":"/bin/sh -c a ; b","working_directory":"/home/ada"}"#,
        );
        check(
            "sudo",
            "eve : user NOT in sudoers ; TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/bin/ls",
            r#""action":"sudo","outcome":"failure"|"user":{"name":"eve","effective":{"name":"root"}},"auth":{"command":"/bin/ls","working_directory":"/"}"#,
        );
        check(
            "su",
            "FAILED SU (to root) eve on pts/1",
            r#""action":"su","outcome":"failure"|"user":{"name":"eve","effective":{"name":"root"}}"#,
        );
        check(
            "cron",
            "pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)",
            r#""action":"session_opened","outcome":"success"|"user":{"name":"root"}"#,
        );
        check(
            "sshd",
            "pam_unix(sshd:auth): authentication failure; logname= uid=0 ruser= rhost=10.9.8.7  user=bob",
            r#""action":"authentication","outcome":"failure"|"user":{"name":"bob"},"source":{"address":"10.9.8.7","ip":"10.9.8.7"}"#,
        );
    }
}

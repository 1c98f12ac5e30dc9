//! The error log of MySQL, `2026-01-02T03:04:05.678901Z 12 [Warning] [MY-010068] [Server] text` and as it was before 5.7 and 8.0, and
//! of MariaDB.

use super::compact;
use super::fields::{Fields, are_digits};
use super::stamp::{begins_with_day, iso};
use super::token::{enclosed, word};
use super::{Record, Times};

/// Whether a line begins with a time; others go on with the one before them.
pub(crate) fn begins(line: &[u8]) -> bool {
    let short = line.first_chunk::<7>();
    let is_short = short.is_some_and(|short| {
        let (digits, behind) = short.split_at(6);
        digits.iter().all(u8::is_ascii_digit) && behind == b" "
    });
    is_short || begins_with_day(line)
}

/// What the engine puts in front of its own lines.
const INNODB: &str = "InnoDB: ";

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let line = event.lines().next()?;
    let modern = iso(line);
    let is_modern = modern.is_some();
    let stamped = modern.or_else(|| compact::mysql(line).or_else(|| compact::mariadb(line)));
    let (stamp, rest) = stamped?;
    let rest = rest.strip_prefix(' ')?.trim_start();
    let mut fields = Fields::default();
    let (first, behind) = word(rest)?;
    let (thread, rest) = match are_digits(first) {
        true => (Some(first.parse().ok()?), behind),
        false => (None, rest),
    };
    match enclosed(rest, '[', b']') {
        // Since 5.7 all lines of the server itself name its thread: those of other programs may be alike.
        Some((name, said)) if thread.is_some() || !is_modern => {
            record.level = Some(level_of(name)?);
            message(said.trim_start(), &mut fields);
        }
        _ if first == "mysqld_safe" => fields.text("process.name", first),
        // Before 5.7, with no level, and a thread in hexadecimal digits at most.
        _ if rest.starts_with(INNODB) || behind.starts_with(INNODB) => {
            fields.text("event.provider", "InnoDB");
        }
        _ => return None,
    }
    if let Some(thread) = thread {
        fields.number("mysql.thread_id", thread);
    }
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    fields.write(record);
    Some(())
}

/// The level by the name that the server gives it.
fn level_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "ERROR" | "Error" => "error",
        "Warning" => "warning",
        "Note" => "notice",
        "System" => "info",
        _ => return None,
    })
}

/// `[MY-010116] [Server] text`, as 8.0 has it, and who a text is about.
fn message<'a>(said: &'a str, fields: &mut Fields<'a>) {
    if let Some((code, rest)) =
        enclosed(said, '[', b']').filter(|(code, _)| code.starts_with("MY-"))
    {
        fields.text("event.code", code);
        if let Some((provider, _)) = enclosed(rest.trim_start(), '[', b']') {
            fields.text("event.provider", provider);
        }
    }
    let user = said
        .split_once(" user: '")
        .and_then(|(_, user)| user.split_once('\''));
    if let Some((user, _)) = user {
        fields.text("user.name", user);
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn lines_of_all_versions() {
        let check = |line, expected| testing::check(ParserName::MysqlError, line, expected);
        check(
            "2026-01-02T03:04:05.678901Z 5 [System] [MY-010116] [Server] /usr/sbin/mysqld (mysqld 8.0.36) starting as process 1",
            Some(
                r#"2026-01-02T03:04:05.678Z info {"event":{"code":"MY-010116","provider":"Server"},"mysql":{"thread_id":5}}"#,
            ),
        );
        check(
            "2026-01-02T03:04:05.678901Z 0 [Note] Aborted connection 16 to db: 'shop' user: 'jo' host: 'localhost' (x)",
            Some(
                r#"2026-01-02T03:04:05.678Z notice {"mysql":{"thread_id":0},"user":{"name":"jo"}}"#,
            ),
        );
        check(
            "260102 13:04:05 [ERROR] Can't open the table",
            Some("2026-01-02T13:04:05.000Z error {}"),
        );
        check(
            "260102 13:04:05 mysqld_safe Starting mysqld daemon",
            Some(r#"2026-01-02T13:04:05.000Z - {"process":{"name":"mysqld_safe"}}"#),
        );
        check(
            "2026-01-02  3:04:05 139 [Warning] Could not increase number\n more of it",
            Some(r#"2026-01-02T03:04:05.000Z warning {"mysql":{"thread_id":139}}"#),
        );
        for (line, time) in [
            ("260102 13:04:05  InnoDB: Starting shutdown...", "13:04:05"),
            ("2026-01-02 03:04:05 7f5c10 InnoDB: Warning: x", "03:04:05"),
        ] {
            let expected =
                format!(r#"2026-01-02T{time}.000Z - {{"event":{{"provider":"InnoDB"}}}}"#);
            testing::check(ParserName::MysqlError, line, Some(&expected));
        }
        for other in [
            "2026-01-02 03:04:05 [ERROR] x",
            "2026-01-02 03:04:05 12 [error] x",
            "2026/01/02 03:04:05 [error] 12#34: x",
            "260102 13:04:05 something",
            "hello",
        ] {
            check(other, None);
        }
        assert!(super::begins(b"260102 13:04:05") && super::begins(b"2026-01-02 x"));
        assert!(!super::begins(b"InnoDB: more") && !super::begins(b"260102"));
    }
}

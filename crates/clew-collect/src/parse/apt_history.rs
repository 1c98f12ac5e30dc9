//! apt's `history.log`: stanzas of `Key: value` lines, one event for each run of apt.

use super::stamp::iso;
use super::{Record, Times};

/// The stanza's keys that list packages, and the names of their fields.
const LISTS: [(&str, &str, &str); 6] = [
    ("Install", "install", "installed"),
    ("Reinstall", "reinstall", "reinstalled"),
    ("Upgrade", "upgrade", "upgraded"),
    ("Downgrade", "downgrade", "downgraded"),
    ("Remove", "remove", "removed"),
    ("Purge", "purge", "purged"),
];

pub(crate) fn parse(stanza: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let value = |key: &str| {
        stanza
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
            .map(str::trim)
    };
    let start = iso(stanza.strip_prefix("Start-Date: ")?.trim_start())?
        .0
        .epoch_ms(times);
    record.timestamp_ms = Some(start);
    let lists: Vec<(&str, &str, &str)> = LISTS
        .iter()
        .filter_map(|(key, action, field)| Some((*action, *field, value(key)?)))
        .collect();
    if !lists.is_empty() {
        record
            .event
            .texts("action", lists.iter().map(|(action, ..)| *action));
    }
    if let Some(error) = value("Error") {
        record.event.text("outcome", "failure");
        record.level = Some("error");
        record.fields.object("error", |o| o.text("message", error));
    }
    let end = value("End-Date").and_then(|text| Some(iso(text)?.0.epoch_ms(times)));
    if let Some(duration_ms) = end.and_then(|end| u64::try_from(end - start).ok()) {
        if record.level.is_none() {
            record.event.text("outcome", "success");
        }
        // ECS counts event.duration in nanoseconds.
        record
            .event
            .number("duration", duration_ms.saturating_mul(1_000_000));
    }
    if let Some(command) = value("Commandline") {
        record
            .fields
            .object("process", |o| o.text("command_line", command));
    }
    if let Some(requester) = value("Requested-By") {
        let (name, id) = requester.split_once(" (").unwrap_or((requester, ""));
        record.fields.object("user", |o| {
            o.text("name", name);
            o.text("id", id.trim_end_matches(')'));
        });
    }
    if !lists.is_empty() {
        let all = lists.iter().flat_map(|(_, _, list)| packages(list));
        record.fields.object("package", |o| {
            o.texts("name", all.map(|package| package.name))
        });
        record.fields.object("apt", |o| {
            for (_, field, list) in &lists {
                o.objects(field, packages(list), |o, package| {
                    o.text("name", package.name);
                    o.text("architecture", package.architecture);
                    o.text("version", package.version);
                    o.text("previous_version", package.previous);
                    if package.automatic {
                        o.flag("automatic");
                    }
                });
            }
        });
    }
    Some(())
}

struct Package<'a> {
    name: &'a str,
    architecture: &'a str,
    version: &'a str,
    previous: &'a str,
    automatic: bool,
}

/// `name:arch (version[, automatic]), name:arch (old, new), ...`
fn packages(list: &str) -> impl Iterator<Item = Package<'_>> {
    list.split("), ").filter_map(|item| {
        let (package, inside) = item.split_once(" (")?;
        let (name, architecture) = package.trim().rsplit_once(':').unwrap_or((package, ""));
        let (first, second) = inside
            .trim_end_matches(')')
            .split_once(", ")
            .unwrap_or((inside, ""));
        let first = first.trim_end_matches(')');
        let automatic = second == "automatic";
        let (version, previous) = if automatic || second.is_empty() {
            (first, "")
        } else {
            (second, first)
        };
        Some(Package {
            name,
            architecture,
            version,
            previous,
            automatic,
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn a_stanza_becomes_one_event_with_all_its_packages() {
        testing::check(
            ParserName::AptHistory,
            "Start-Date: 2025-06-24  14:36:25\nCommandline: apt-get upgrade\n\
             Requested-By: ada (1000)\nInstall: a:amd64 (1.0), b:all (2.0-3, automatic)\n\
             Upgrade: c:i386 (1:3, 1:4)\nEnd-Date: 2025-06-24  14:36:27",
            Some(concat!(
                r#"2025-06-24T14:36:25.000Z - {"event":{"action":["install","upgrade"],"#,
                r#""outcome":"success","duration":2000000000},"#,
                r#""process":{"command_line":"apt-get upgrade"},"user":{"name":"ada","id":"1000"},"#,
                r#""package":{"name":["a","b","c"]},"apt":{"installed":[{"name":"a","#,
                r#""architecture":"amd64","version":"1.0"},{"name":"b","architecture":"all","#,
                r#""version":"2.0-3","automatic":true}],"upgraded":[{"name":"c","#,
                r#""architecture":"i386","version":"1:4","previous_version":"1:3"}]}}"#
            )),
        );
    }

    #[test]
    fn failures_and_broken_stanzas() {
        let check = |stanza, expected| testing::check(ParserName::AptHistory, stanza, expected);
        check(
            "Start-Date: 2025-06-24  14:36:25\nError: Sub-process returned (1)\nEnd-Date: 2025-06-24  14:36:25",
            Some(
                r#"2025-06-24T14:36:25.000Z error {"event":{"outcome":"failure","duration":0},"error":{"message":"Sub-process returned (1)"}}"#,
            ),
        );
        check("Install: a:amd64 (1.0)", None);
        check("Start-Date: yesterday", None);
    }
}

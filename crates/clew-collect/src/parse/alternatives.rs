//! `/var/log/alternatives.log`: which program stands behind a generic name, and since when.

use super::stamp::iso;
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (stamp, rest) = iso(line.strip_prefix("update-alternatives ")?)?;
    let message = rest.strip_prefix(": ")?;
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    record.fields.object("process", |o| {
        o.text("name", "update-alternatives");
        if let Some(arguments) = message.strip_prefix("run with ") {
            o.text("command_line", arguments);
        }
    });
    if message.starts_with("run with ") {
        record.event.text("action", "run");
    } else if let Some((group, target)) = message
        .strip_prefix("link group ")
        .and_then(|rest| rest.split_once(" updated to point to "))
    {
        record.event.text("action", "link-updated");
        record.fields.object("alternatives", |o| {
            o.text("group", group);
            o.text("target", target);
        });
    } else if let Some(group) = message
        .strip_prefix("link group ")
        .and_then(|rest| rest.strip_suffix(" fully removed"))
    {
        record.event.text("action", "group-removed");
        record
            .fields
            .object("alternatives", |o| o.text("group", group));
    } else {
        let mode = ["auto", "manual"].into_iter().find_map(|mode| {
            let group = message.strip_prefix("status of link group ")?;
            let (group, after) = group.split_once(" set to ")?;
            (after == mode).then_some((group, mode))
        });
        if let Some((group, mode)) = mode {
            record.event.text("action", "mode-changed");
            record.fields.object("alternatives", |o| {
                o.text("group", group);
                o.text("mode", mode);
            });
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn every_kind_of_line() {
        let check = |line, expected| testing::check(ParserName::Alternatives, line, expected);
        check(
            "update-alternatives 2025-06-24 14:36:53: run with --quiet --install /usr/bin/pager",
            Some(
                r#"2025-06-24T14:36:53.000Z - {"event":{"action":"run"},"process":{"name":"update-alternatives","command_line":"--quiet --install /usr/bin/pager"}}"#,
            ),
        );
        check(
            "update-alternatives 2025-06-24 14:36:53: link group pager updated to point to /usr/bin/less",
            Some(
                r#"2025-06-24T14:36:53.000Z - {"event":{"action":"link-updated"},"process":{"name":"update-alternatives"},"alternatives":{"group":"pager","target":"/usr/bin/less"}}"#,
            ),
        );
        check(
            "update-alternatives 2025-06-24 14:36:53: link group vi fully removed",
            Some(
                r#"2025-06-24T14:36:53.000Z - {"event":{"action":"group-removed"},"process":{"name":"update-alternatives"},"alternatives":{"group":"vi"}}"#,
            ),
        );
        check(
            "update-alternatives 2025-06-24 14:36:53: something new",
            Some(r#"2025-06-24T14:36:53.000Z - {"process":{"name":"update-alternatives"}}"#),
        );
        check("update-alternatives: nothing", None);
    }
}

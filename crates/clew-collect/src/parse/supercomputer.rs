//! Logs of supercomputers as their public collections have them: Blue Gene/L's and Thunderbird's, whose lines begin with what they
//! were found to alert to, or a dash, the second, and its day; and those of a cluster of high performance computing.

use super::compact::{labelled, seconds};
use super::fields::{Fields, are_digits};
use super::stamp::{expect, fraction};
use super::token::{level, present, split, word};
use super::{Record, Times};

/// `- 1117838570 2005.06.03 R02-M1-N0 2005-06-03-15.42.50.675872 R02-M1-N0 RAS KERNEL INFO text`.
pub(crate) fn parse_bgl(line: &str, _: &mut Times, record: &mut Record) -> Option<()> {
    let (label, _) = word(line)?;
    let (ms, rest) = labelled(line)?;
    let (node, rest) = word(rest)?;
    let (written, rest) = word(rest)?;
    let (_, rest) = word(rest)?;
    let (kind, rest) = word(rest)?;
    let (component, rest) = word(rest)?;
    let (severity, _) = word(rest)?;
    for (at, byte) in [(4, b'-'), (10, b'-'), (13, b'.'), (19, b'.')] {
        expect(written.as_bytes(), at, byte)?;
    }
    let level = match severity {
        "FAILURE" => "error",
        severity => level(severity)?,
    };
    let (millisecond, _) = fraction(written.as_bytes(), 19);
    let mut fields = Fields::default();
    fields.text("bgl.label", present(label).unwrap_or_default());
    fields.text("bgl.node", node);
    fields.text("bgl.type", kind);
    fields.text("log.logger", component);
    record.timestamp_ms = Some(ms + i64::from(millisecond));
    record.level = Some(level);
    fields.write(record);
    Some(())
}

/// `- 1131566461 2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 crond(pam_unix)[2915]: text`: messages of syslog.
pub(crate) fn parse_thunderbird(line: &str, _: &mut Times, record: &mut Record) -> Option<()> {
    /// No program's name is longer.
    const PROGRAM_BYTES_MAX: usize = 128;
    let (label, _) = word(line)?;
    let (ms, rest) = labelled(line)?;
    let (node, rest) = word(rest)?;
    let (month, rest) = word(rest)?;
    let (day, rest) = word(rest)?;
    let (clock, rest) = word(rest)?;
    let (location, rest) = word(rest)?;
    let is_stamp = month.len() == 3
        && are_digits(day)
        && matches!(clock.as_bytes(), [_, _, b':', _, _, b':', _, _]);
    is_stamp.then_some(())?;
    let (program, _) = split(rest, b':')?;
    (!program.is_empty() && program.len() <= PROGRAM_BYTES_MAX).then_some(())?;
    let numbered = program
        .strip_suffix(']')
        .and_then(|inside| inside.rsplit_once('['));
    let numbered = numbered.and_then(|(name, pid)| Some((name, pid.parse::<u64>().ok()?)));
    let mut fields = Fields::default();
    fields.text("process.name", numbered.map_or(program, |(name, _)| name));
    if let Some((_, pid)) = numbered {
        fields.number("process.pid", pid);
    }
    fields.text("thunderbird.label", present(label).unwrap_or_default());
    fields.text("thunderbird.location", location);
    fields.text("thunderbird.node", node);
    record.timestamp_ms = Some(ms);
    fields.write(record);
    Some(())
}

/// `134681 node-246 unix.hw state_change.unavailable 1077804742 1 text`.
pub(crate) fn parse_hpc(line: &str, _: &mut Times, record: &mut Record) -> Option<()> {
    let (number, rest) = word(line)?;
    let (node, rest) = word(rest)?;
    let (component, rest) = word(rest)?;
    let (state, rest) = word(rest)?;
    let (second, rest) = word(rest)?;
    let (flag, _) = word(rest)?;
    are_digits(flag).then_some(())?;
    let mut fields = Fields::default();
    fields.number("hpc.id", number.parse().ok()?);
    fields.text("hpc.node", node);
    fields.text("hpc.flag", flag);
    fields.text("event.action", state);
    fields.text("log.logger", component);
    record.timestamp_ms = Some(seconds(second)?);
    fields.write(record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::ParserName;
    use crate::parse::testing::check;

    #[test]
    fn lines_of_blue_gene_have_a_node_and_a_component() {
        for (line, expected) in [
            (
                "- 1117838570 2005.06.03 R02-M1 2005-06-03-15.42.50.675872 R02-M1 RAS KERNEL INFO corrected",
                r#"2005-06-03T22:42:50.675Z info {"log":{"logger":"KERNEL"},"bgl":{"node":"R02-M1","type":"RAS"}}"#,
            ),
            (
                "APPSEV 1117869872 2005.06.04 R04 2005-06-04-00.24.32.432192 R04 RAS APP FATAL ciod: x",
                r#"2005-06-04T07:24:32.432Z fatal {"log":{"logger":"APP"},"bgl":{"label":"APPSEV","node":"R04","type":"RAS"}}"#,
            ),
            (
                "- 1117869872 2005.06.04 R04 2005-06-04-00.24.32.432192 R04 RAS MMCS FAILURE x",
                r#"2005-06-04T07:24:32.432Z error {"log":{"logger":"MMCS"},"bgl":{"node":"R04","type":"RAS"}}"#,
            ),
        ] {
            check(ParserName::Bgl, line, Some(expected));
        }
        for line in [
            "- 1117838570 2005.06.03 R02 2005-06-03 15:42:50 RAS KERNEL INFO x",
            "- 1117838570 2005.06.03 R02 2005-06-03-15.42.50.675872 R02 RAS KERNEL what",
            "- 2005.06.03 R02",
        ] {
            check(ParserName::Bgl, line, None);
        }
    }

    #[test]
    fn lines_of_thunderbird_have_a_program() {
        check(
            ParserName::Thunderbird,
            "- 1131566461 2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 crond(pam_unix)[2915]: session closed",
            Some(
                r#"2005-11-09T20:01:01.000Z - {"process":{"name":"crond(pam_unix)","pid":2915},"thunderbird":{"location":"dn228/dn228","node":"dn228"}}"#,
            ),
        );
        check(
            ParserName::Thunderbird,
            "EXT_FS 1131566479 2005.11.09 an1 Nov 9 12:01:19 an1/an1 kernel: x: y",
            Some(
                r#"2005-11-09T20:01:19.000Z - {"process":{"name":"kernel"},"thunderbird":{"label":"EXT_FS","location":"an1/an1","node":"an1"}}"#,
            ),
        );
        check(
            ParserName::Thunderbird,
            "- 1131566461 2005.11.09 dn228 Nov 9 noon dn228/dn228 crond: x",
            None,
        );
    }

    #[test]
    fn lines_of_a_cluster_have_a_node_and_a_state() {
        check(
            ParserName::Hpc,
            "134681 node-246 unix.hw state_change.unavailable 1077804742 1 Component State Change",
            Some(
                r#"2004-02-26T14:12:22.000Z - {"event":{"action":"state_change.unavailable"},"log":{"logger":"unix.hw"},"hpc":{"flag":"1","id":134681,"node":"node-246"}}"#,
            ),
        );
        for line in [
            "x node-246 unix.hw state 1077804742 1 text",
            "134681 node-246 unix.hw state 107780474 1 text",
            "134681 node-246 unix.hw state 1077804742 on text",
        ] {
            check(ParserName::Hpc, line, None);
        }
    }
}

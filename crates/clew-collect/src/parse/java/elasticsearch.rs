//! The logs of servers of Elasticsearch and OpenSearch as text:
//! `[2026-01-02T03:04:05,678][INFO ][o.e.n.Node               ] [node-1] [index/ID] text`.

use super::super::fields::{Fields, is_decimal};
use super::super::stamp::iso_ms;
use super::super::token::{enclosed, level};
use super::super::{Record, Times};
use super::{Trace, write};

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (ms, rest) = iso_ms(event.strip_prefix('[')?, times)?;
    let (severity, rest) = enclosed(rest.strip_prefix(']')?, '[', b']')?;
    let severity = level(severity.trim_end())?;
    let (component, rest) = enclosed(rest, '[', b']')?;
    let mut fields = Fields::default();
    let component = component.trim_end();
    fields.text("elasticsearch.component", component);
    fields.text("log.logger", component);
    let mut text = rest.trim_start_matches(' ');
    if let Some((node, behind)) = enclosed(text, '[', b']') {
        fields.text("elasticsearch.node.name", node);
        text = behind.trim_start_matches(' ');
    }
    if !collection(text, &mut fields)
        && let Some((index, _)) = enclosed(text, '[', b']')
    {
        let (name, id) = index.split_once('/').unwrap_or((index, ""));
        let is_letter =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte);
        if !name.is_empty() && name.bytes().all(is_letter) {
            fields.text("elasticsearch.index.name", name);
            fields.text("elasticsearch.index.id", id);
        }
    }
    write((Some(ms), Some(severity)), Trace::of(event), fields, record);
    Some(())
}

/// `[gc][123] overhead, spent [1.2s] collecting in the last [1.5s]`; whether it is about the collection of garbage.
fn collection<'a>(text: &'a str, fields: &mut Fields<'a>) -> bool {
    let Some(behind) = text.strip_prefix("[gc]") else {
        return false;
    };
    let read = || {
        let (number, rest) = enclosed(behind, '[', b']')?;
        let rest = rest.strip_prefix(" overhead, spent ")?;
        let (took, rest) = enclosed(rest, '[', b']')?;
        let rest = rest.strip_prefix(" collecting in the last ")?;
        let (watched, _) = enclosed(rest, '[', b']')?;
        Some((
            number.parse::<u64>().ok()?,
            measured(took)?,
            measured(watched)?,
        ))
    };
    if let Some((number, took, watched)) = read() {
        fields.number("elasticsearch.server.gc.overhead_seq", number);
        fields.fraction("elasticsearch.server.gc.collection_duration.time", took.0);
        fields.text("elasticsearch.server.gc.collection_duration.unit", took.1);
        fields.fraction(
            "elasticsearch.server.gc.observation_duration.time",
            watched.0,
        );
        fields.text(
            "elasticsearch.server.gc.observation_duration.unit",
            watched.1,
        );
    }
    true
}

/// A number and its unit: `1.2s`.
fn measured(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    is_decimal(number).then_some((number, unit))
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn lines_of_servers() {
        let check = |line, expected| testing::check(ParserName::Elasticsearch, line, expected);
        check(
            "[2026-01-02T03:04:05,678][INFO ][o.e.c.m.MetadataCreateIndexService] [node-1] [logs-1] creating index, cause [api]",
            Some(
                r#"2026-01-02T03:04:05.678Z info {"log":{"logger":"o.e.c.m.MetadataCreateIndexService"},"elasticsearch":{"component":"o.e.c.m.MetadataCreateIndexService","index":{"name":"logs-1"},"node":{"name":"node-1"}}}"#,
            ),
        );
        check(
            "[2026-01-02T03:04:05,678][WARN ][o.e.m.j.JvmGcMonitorService] [node-1] [gc][379] overhead, spent [1.2s] collecting in the last [1.5s]",
            Some(
                r#"2026-01-02T03:04:05.678Z warning {"log":{"logger":"o.e.m.j.JvmGcMonitorService"},"elasticsearch":{"component":"o.e.m.j.JvmGcMonitorService","node":{"name":"node-1"},"server":{"gc":{"collection_duration":{"time":1.2,"unit":"s"},"observation_duration":{"time":1.5,"unit":"s"},"overhead_seq":379}}}}"#,
            ),
        );
        check(
            "[2026-01-02T03:04:05,678][ERROR][o.o.b.Bootstrap          ] [n] it broke\njava.lang.Error: no room\n\tat a.B.c(B.java:1)",
            Some(
                r#"2026-01-02T03:04:05.678Z error {"log":{"logger":"o.o.b.Bootstrap"},"elasticsearch":{"component":"o.o.b.Bootstrap","node":{"name":"n"}},"error":{"message":"no room","stack_trace":"java.lang.Error: no room\n\tat a.B.c(B.java:1)","type":"java.lang.Error"}}"#,
            ),
        );
        for other in [
            "[2026-01-02 03:04:05,678] INFO x (kafka.A)",
            "[2026-01-02T03:04:05Z INFO  x::y] z",
            "[2026-01-02 03:04:05.678][12][info][main] [a.cc:404] x",
        ] {
            check(other, None);
        }
    }
}

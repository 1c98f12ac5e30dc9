//! The log of Logstash as text: `[2026-01-02T03:04:05,678][INFO ][logstash.agent           ][main] text`.

use super::super::fields::Fields;
use super::super::stamp::iso_ms;
use super::super::token::{enclosed, level};
use super::super::{Record, Times};
use super::{Trace, write};

/// How the servers whose lines look so begin the names of their loggers.
const OF_OTHERS: [&str; 4] = ["o.e.", "o.o.", "org.elasticsearch.", "org.opensearch."];

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (ms, rest) = iso_ms(event.strip_prefix('[')?, times)?;
    let (severity, rest) = enclosed(rest.strip_prefix(']')?, '[', b']')?;
    let severity = level(severity.trim_end())?;
    let (module, rest) = enclosed(rest, '[', b']')?;
    let module = module.trim_end();
    // Behind a blank those have the name of their node.
    let is_of_others =
        rest.starts_with(" [") || OF_OTHERS.iter().any(|begin| module.starts_with(begin));
    (!is_of_others || module.contains("logstash")).then_some(())?;
    let mut fields = Fields::default();
    fields.text("log.logger", module);
    fields.text("logstash.log.module", module);
    if let Some((pipeline, _)) = enclosed(rest, '[', b']') {
        fields.text("logstash.log.pipeline_id", pipeline);
    }
    write((Some(ms), Some(severity)), Trace::of(event), fields, record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn lines_of_logstash_are_none_of_elasticsearch() {
        let check = |line, expected| testing::check(ParserName::Logstash, line, expected);
        check(
            "[2026-01-02T03:04:05,678][ERROR][logstash.outputs.elasticsearch][.monitoring] it broke",
            Some(
                r#"2026-01-02T03:04:05.678Z error {"log":{"logger":"logstash.outputs.elasticsearch"},"logstash":{"log":{"module":"logstash.outputs.elasticsearch","pipeline_id":".monitoring"}}}"#,
            ),
        );
        check(
            "[2026-01-02T03:04:05,678][INFO ][org.apache.kafka.A       ] [x] y",
            None,
        );
        check(
            "[2026-01-02T03:04:05,678][INFO ][org.apache.kafka.A       ][main] y",
            Some(
                r#"2026-01-02T03:04:05.678Z info {"log":{"logger":"org.apache.kafka.A"},"logstash":{"log":{"module":"org.apache.kafka.A","pipeline_id":"main"}}}"#,
            ),
        );
        check(
            "[2026-01-02T03:04:05,678][WARN ][o.e.d.c.ParseField       ] x",
            None,
        );
        check(
            "[2026-01-02T03:04:05,678][INFO ][o.e.n.Node] [node-1] x",
            None,
        );
    }
}

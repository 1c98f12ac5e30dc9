//! The logs of Kafka's servers: `[2026-01-02 03:04:05,678] INFO [Component id=1] text (kafka.server.KafkaServer)`.

use super::super::fields::Fields;
use super::super::stamp::iso_ms;
use super::super::token::{enclosed, word};
use super::super::{Record, Times};
use super::{Trace, is_class, level_of};

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (line, _) = event.split_once('\n').unwrap_or((event, ""));
    let (ms, rest) = iso_ms(line.strip_prefix('[')?, times)?;
    let (severity, text) = word(rest.strip_prefix("] ")?)?;
    let severity = level_of(severity)?;
    let (said, class) = text.trim_end().strip_suffix(')')?.rsplit_once(" (")?;
    is_class(class).then_some(())?;
    let mut fields = Fields::default();
    fields.text("kafka.log.class", class);
    fields.text("log.logger", class);
    let component = enclosed(said, '[', b']').map_or("unknown", |(component, _)| component);
    fields.text("kafka.log.component", component);
    if let Some(trace) = Trace::of(event) {
        fields.text("kafka.log.trace.class", trace.class);
        fields.text("kafka.log.trace.message", trace.message);
        trace.write(&mut fields);
    }
    record.timestamp_ms = Some(ms);
    record.level = Some(severity);
    fields.write(record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn lines_of_servers() {
        let check = |line, expected| testing::check(ParserName::Kafka, line, expected);
        check(
            "[2026-01-02 03:04:05,678] INFO [Log partition=a-0, dir=/x] Rolled new log (kafka.log.Log)",
            Some(
                r#"2026-01-02T03:04:05.678Z info {"log":{"logger":"kafka.log.Log"},"kafka":{"log":{"class":"kafka.log.Log","component":"Log partition=a-0, dir=/x"}}}"#,
            ),
        );
        check(
            "[2026-01-02 03:04:05,678] ERROR it broke (kafka.Kafka$)\njava.net.BindException: in use\n\tat x",
            Some(
                r#"2026-01-02T03:04:05.678Z error {"log":{"logger":"kafka.Kafka$"},"error":{"message":"in use","stack_trace":"java.net.BindException: in use\n\tat x","type":"java.net.BindException"},"kafka":{"log":{"class":"kafka.Kafka$","component":"unknown","trace":{"class":"java.net.BindException","message":"in use"}}}}"#,
            ),
        );
        for other in [
            "[2026-01-02 03:04:05,678] INFO text",
            "[2026-01-02 03:04:05,678] info text (a.B)",
            "[2026-01-02T03:04:05,678][INFO ][a] [b] text (a.B)",
        ] {
            check(other, None);
        }
    }
}

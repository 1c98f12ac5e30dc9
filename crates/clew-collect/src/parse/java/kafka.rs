//! The logs of Kafka's servers: `[2026-01-02 03:04:05,678] INFO [Component id=1] text (kafka.server.KafkaServer)`, and
//! `[2026-01-02 03:04:05,678] [INFO ] [thread] [kafka.server.KafkaServer] - [Component id=1] text`.

use super::super::fields::Fields;
use super::super::stamp::iso_ms;
use super::super::token::{enclosed, word};
use super::super::{Record, Times};
use super::{Trace, is_class, level_of, write};

/// What a line has behind its time.
struct Head<'a> {
    severity: &'a str,
    /// Nothing where the layout has none.
    thread: &'a str,
    class: &'a str,
    said: &'a str,
}

impl<'a> Head<'a> {
    fn of(text: &'a str) -> Option<Self> {
        /// Other programs in Java have the second layout, too.
        const OWN: [&str; 4] = [
            "kafka.",
            "org.apache.kafka.",
            "org.apache.zookeeper.",
            "state.change.",
        ];
        let Some((severity, rest)) = enclosed(text, '[', b']') else {
            let (severity, text) = word(text)?;
            let (said, class) = text.trim_end().strip_suffix(')')?.rsplit_once(" (")?;
            return Some(Head {
                severity,
                thread: "",
                class,
                said,
            });
        };
        let (thread, rest) = enclosed(rest.strip_prefix(' ')?, '[', b']')?;
        let (class, rest) = enclosed(rest.strip_prefix(' ')?, '[', b']')?;
        let is_own = OWN.iter().any(|package| class.starts_with(package));
        is_own.then_some(Head {
            severity: severity.trim_end(),
            thread,
            class,
            said: rest.strip_prefix(" - ")?,
        })
    }
}

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (line, _) = event.split_once('\n').unwrap_or((event, ""));
    let (ms, rest) = iso_ms(line.strip_prefix('[')?, times)?;
    let Head {
        severity,
        thread,
        class,
        said,
    } = Head::of(rest.strip_prefix("] ")?)?;
    let severity = level_of(severity)?;
    is_class(class).then_some(())?;
    let mut fields = Fields::default();
    fields.text("kafka.log.class", class);
    fields.text("kafka.log.thread", thread);
    fields.text("log.logger", class);
    let component = enclosed(said, '[', b']').map_or("unknown", |(component, _)| component);
    fields.text("kafka.log.component", component);
    let trace = Trace::of(event);
    if let Some(trace) = &trace {
        fields.text("kafka.log.trace.class", trace.class);
        fields.text("kafka.log.trace.message", trace.message);
    }
    write((Some(ms), Some(severity)), trace, fields, record);
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
        check(
            "[2026-01-02 03:04:05,678] [WARN ] [handler-7] [state.change.logger] - [Broker id=1] Ignoring a request",
            Some(
                r#"2026-01-02T03:04:05.678Z warning {"log":{"logger":"state.change.logger"},"kafka":{"log":{"class":"state.change.logger","component":"Broker id=1","thread":"handler-7"}}}"#,
            ),
        );
        for other in [
            "[2026-01-02 03:04:05,678] [INFO ] [main] [a.b.C] - text",
            "[2026-01-02 03:04:05,678] INFO text",
            "[2026-01-02 03:04:05,678] info text (a.B)",
            "[2026-01-02T03:04:05,678][INFO ][a] [b] text (a.B)",
        ] {
            check(other, None);
        }
    }
}

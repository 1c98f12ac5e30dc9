//! `RabbitMQ`'s log since 3.7: `2026-01-02 03:04:05.678901+00:00 [info] <0.222.0> text`.

use super::fields::{Fields, are_digits};
use super::stamp::iso;
use super::token::{enclosed, level, word};
use super::{Record, Times};

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (stamp, rest) = iso(event.lines().next()?)?;
    let (severity, rest) = enclosed(rest.strip_prefix(' ')?, '[', b']')?;
    let (process, _) = word(rest.strip_prefix(' ')?)?;
    let process = process.trim_end();
    let numbers = process.strip_prefix('<')?.strip_suffix('>')?;
    let are_three = numbers.split('.').count() == 3 && numbers.split('.').all(are_digits);
    are_three.then_some(())?;
    record.level = Some(level(severity)?);
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    let mut fields = Fields::default();
    fields.text("rabbitmq.log.pid", process);
    fields.write(record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn lines_of_both_kinds_of_times() {
        let check = |line, expected| testing::check(ParserName::Rabbitmq, line, expected);
        check(
            "2026-01-02 03:04:05.678 [info] <0.33.0> Application lager started",
            Some(r#"2026-01-02T03:04:05.678Z info {"rabbitmq":{"log":{"pid":"<0.33.0>"}}}"#),
        );
        check(
            "2026-01-02 04:04:05.678901+01:00 [error] <0.222.0> closing AMQP connection:\nmissed heartbeats",
            Some(r#"2026-01-02T03:04:05.678Z error {"rabbitmq":{"log":{"pid":"<0.222.0>"}}}"#),
        );
        check(
            "2026-01-02 03:04:05.678 [info] <0.9.0>\n Starting RabbitMQ",
            Some(r#"2026-01-02T03:04:05.678Z info {"rabbitmq":{"log":{"pid":"<0.9.0>"}}}"#),
        );
        for other in [
            "2026-01-02 03:04:05.678 [info] text",
            "2026-01-02 03:04:05.678 [info] <b> text",
            "2026-01-02 03:04:05.678 [loud] <0.1.2> text",
        ] {
            check(other, None);
        }
    }
}

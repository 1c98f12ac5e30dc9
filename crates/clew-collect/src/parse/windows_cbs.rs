//! The logs of what sets Windows up and services it, `CBS.log`, `dism.log` and others of their kind: `2026-01-02 03:04:05, Info
//! CBS    text`.

use super::fields::Fields;
use super::stamp::iso;
use super::token::{level, word};
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (stamp, rest) = iso(line)?;
    let (severity, rest) = word(rest.strip_prefix(", ")?)?;
    let (component, _) = word(rest)?;
    let (first, others) = severity.split_at_checked(1)?;
    let is_name = first.bytes().all(|byte| byte.is_ascii_uppercase())
        && others.bytes().all(|byte| byte.is_ascii_lowercase());
    let level = level(severity).filter(|_| is_name)?;
    let is_component = component.len() > 1
        && component
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    is_component.then_some(())?;
    let mut fields = Fields::default();
    fields.text("log.logger", component);
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    record.level = Some(level);
    fields.write(record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::ParserName;
    use crate::parse::testing::check;

    #[test]
    fn lines_have_a_component() {
        check(
            ParserName::WindowsCbs,
            "2016-09-28 04:30:30, Info                  CBS    Loaded Servicing Stack v6.1",
            Some(r#"2016-09-28T04:30:30.000Z info {"log":{"logger":"CBS"}}"#),
        );
        check(
            ParserName::WindowsCbs,
            "2016-09-28 04:30:31, Error      DISM   DISM Package Manager: PID=12",
            Some(r#"2016-09-28T04:30:31.000Z error {"log":{"logger":"DISM"}}"#),
        );
        for line in [
            "2016-09-28 04:30:30, INFO root text",
            "2016-09-28 04:30:30, Info root text",
            "2016-09-28 04:30:30,123 Info CBS text",
            "2016-09-28 04:30:30, Info",
        ] {
            check(ParserName::WindowsCbs, line, None);
        }
    }
}

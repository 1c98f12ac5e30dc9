//! What HealthApp tells on a telephone: `20171223-22:15:29:606|Step_LSC|30002312|text`.

use super::compact::telephone;
use super::fields::Fields;
use super::token::split;
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    /// No component's name is longer.
    const COMPONENT_BYTES_MAX: usize = 128;
    let (stamp, rest) = telephone(line)?;
    let (component, rest) = split(rest, b'|')?;
    let (process, _) = split(rest, b'|')?;
    (!component.is_empty() && component.len() <= COMPONENT_BYTES_MAX).then_some(())?;
    let mut fields = Fields::default();
    fields.text("log.logger", component);
    fields.number("process.pid", process.parse().ok()?);
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    fields.write(record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::ParserName;
    use crate::parse::testing::check;

    #[test]
    fn lines_have_a_component_and_a_process() {
        check(
            ParserName::HealthApp,
            "20171224-0:5:1:78|Step_LSC|30002312|onStandStepChanged 3579",
            Some(
                r#"2017-12-24T00:05:01.078Z - {"log":{"logger":"Step_LSC"},"process":{"pid":30002312}}"#,
            ),
        );
        for line in [
            "20171224-0:5:1:78|Step_LSC|x|y",
            "20171224-0:5:1:78|Step_LSC",
            "20171224-0:5:1|Step_LSC|1|y",
        ] {
            check(ParserName::HealthApp, line, None);
        }
    }
}

//! Lines of Android's logcat: `01-02 03:04:05.678  1702  2395 D WindowManager: text`.

use super::compact::android;
use super::fields::Fields;
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    /// No tag is longer.
    const TAG_BYTES_MAX: usize = 128;
    let found = android(line, times)?;
    let mut numbers = line.split_ascii_whitespace().skip(2);
    let (process, thread) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    let (tag, _) = found.rest.split_once(':')?;
    let tag = tag.trim_end();
    (!tag.is_empty() && tag.len() <= TAG_BYTES_MAX).then_some(())?;
    let mut fields = Fields::default();
    fields.number("process.pid", process);
    fields.number("process.thread.id", thread);
    fields.text("log.logger", tag);
    record.timestamp_ms = found.ms;
    record.level = found.level;
    fields.write(record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::ParserName;
    use crate::parse::testing::check;

    #[test]
    fn lines_have_a_process_a_thread_and_a_tag() {
        for line in [
            "03-17 16:13:38.811  1702  2395 W WindowManager: lock=2: text",
            "03-17 16:13:38.811  1702  2395 W WindowManager  : text",
        ] {
            check(
                ParserName::Logcat,
                line,
                Some(
                    r#"2026-03-17T16:13:38.811Z warning {"log":{"logger":"WindowManager"},"process":{"pid":1702,"thread":{"id":2395}}}"#,
                ),
            );
        }
        for line in [
            "03-17 16:13:38.811  1702  2395 WindowManager: text",
            "03-17 16:13:38.811  1702  2395 W : text",
            "03-17 16:13:38  1702  2395 W Window: text",
        ] {
            check(ParserName::Logcat, line, None);
        }
    }
}

//! Lines of glog and of klog, Kubernetes' own: `E0102 03:04:05.678901   17 main.cc:42] text`, in glog mostly with the year.

use super::stamp::glog;
use super::token::word;
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let level = match line.as_bytes().first()? {
        b'I' => "info",
        b'W' => "warning",
        b'E' => "error",
        b'F' => "fatal",
        _ => return None,
    };
    let (stamp, rest) = glog(line.get(1..)?, times)?;
    let (thread, rest) = word(rest.strip_prefix(' ')?.trim_start())?;
    let thread: u64 = thread.parse().ok()?;
    let (place, _) = rest.split_once(']')?;
    let (file, number) = place.rsplit_once(':')?;
    let number: u64 = number.parse().ok()?;
    record.level = Some(level);
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    record.log.object("origin", |origin| {
        origin.object("file", |o| {
            o.text("name", file);
            o.number("line", number);
        });
    });
    record.fields.object("process", |process| {
        process.object("thread", |o| o.number("id", thread));
    });
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::ParserName;
    use super::super::testing::check;

    #[test]
    fn lines_of_glog_and_klog() {
        check(
            ParserName::Glog,
            "E0102 03:04:05.678901   17 main.cc:42] it broke: [x]",
            Some(concat!(
                "2026-01-02T03:04:05.678Z error ",
                r#"{"log":{"origin":{"file":{"name":"main.cc","line":42}}},"process":{"thread":{"id":17}}}"#
            )),
        );
        check(
            ParserName::Glog,
            r#"I1231 23:59:59.000001       1 pkg/a.go:7] "Started" pod="shop""#,
            Some(concat!(
                "2025-12-31T23:59:59.000Z info ",
                r#"{"log":{"origin":{"file":{"name":"pkg/a.go","line":7}}},"process":{"thread":{"id":1}}}"#
            )),
        );
        check(
            ParserName::Glog,
            "W20240229 03:04:05.678901 17 main.cc:42] text",
            Some(concat!(
                "2024-02-29T03:04:05.678Z warning ",
                r#"{"log":{"origin":{"file":{"name":"main.cc","line":42}}},"process":{"thread":{"id":17}}}"#
            )),
        );
        for other in [
            "W20260229 03:04:05.678901 17 main.cc:42] text",
            "X0102 03:04:05.678901 17 main.cc:42] text",
            "I0230 03:04:05.678901 17 main.cc:42] text",
            "I0102 03:04:05.678901 17 main.cc] text",
            "Info: all is well",
        ] {
            check(ParserName::Glog, other, None);
        }
    }
}

//! The log of `ZooKeeper`: `2026-01-02 03:04:05,678 [myid:1] - INFO  [main:QuorumPeerMain@137] - text`.

use super::super::fields::Fields;
use super::super::stamp::iso_ms;
use super::super::token::word;
use super::super::{Record, Times};
use super::{Trace, is_class, level_of, write};

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (ms, rest) = iso_ms(event, times)?;
    let rest = rest.strip_prefix(' ')?;
    let (server, rest) = match rest.strip_prefix("[myid:") {
        Some(behind) => {
            let (server, behind) = behind.split_once("] ")?;
            (server, behind)
        }
        None => ("", rest),
    };
    let (severity, rest) = word(rest.strip_prefix("- ")?)?;
    let severity = level_of(severity)?;
    // What a thread is called may have brackets in it.
    let (place, _) = rest.strip_prefix('[')?.split_once("] - ")?;
    let (place, number) = place.rsplit_once('@')?;
    let (thread, class) = place.rsplit_once(':')?;
    is_class(class).then_some(())?;
    let mut fields = Fields::default();
    fields.number("log.origin.file.line", number.parse().ok()?);
    fields.text("log.logger", class);
    fields.text("process.thread.name", thread);
    fields.text("zookeeper.myid", server);
    write((Some(ms), Some(severity)), Trace::of(event), fields, record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn lines_of_servers() {
        let check = |line, expected| testing::check(ParserName::Zookeeper, line, expected);
        check(
            "2026-01-02 03:04:05,678 [myid:1] - INFO  [main:o.a.z.s.q.QuorumPeerMain@137] - Starting",
            Some(
                r#"2026-01-02T03:04:05.678Z info {"log":{"logger":"o.a.z.s.q.QuorumPeerMain","origin":{"file":{"line":137}}},"process":{"thread":{"name":"main"}},"zookeeper":{"myid":"1"}}"#,
            ),
        );
        check(
            "2026-01-02 03:04:05,678 - WARN  [QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181:FastLeaderElection@774] - Notification",
            Some(
                r#"2026-01-02T03:04:05.678Z warning {"log":{"logger":"FastLeaderElection","origin":{"file":{"line":774}}},"process":{"thread":{"name":"QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181"}}}"#,
            ),
        );
        for other in [
            "2026-01-02 03:04:05,678 - INFO - text",
            "2026-01-02 03:04:05,678 INFO [main] a.B: text",
        ] {
            check(other, None);
        }
    }
}

//! Documents whose writing took long are told, by the limits of their indexes.

use clew_engine::{SlowLog, SlowWrite, Took, WriteOutcome, Written, tell_slow};
use clew_profile::SpentTold;

use crate::state::call::Call;

/// Tells the slow ones among writes that are done.
pub(super) fn tell(call: &Call, outcome: &WriteOutcome) {
    for written in outcome.results.iter().flatten() {
        if let Some(slow) = &written.slow {
            tell_one(call, written, slow);
        }
    }
}

fn tell_one(call: &Call, written: &Written, slow: &SlowWrite) {
    let (index, parts) = (&written.index, SpentTold::so_far());
    let took = Took(slow.took);
    let opaque_id = call.opaque_id.as_deref().unwrap_or_default();
    tell_slow!(
        slow.level, "slowlog.indexing", parts,
        {
            took = %took, took_millis = took.millis(), id = written.id,
            routing = slow.routing.as_deref().unwrap_or_default(),
            source = shown(&slow.source, &index.settings().slow), opaque_id, index = index.name(), shard = written.shard
        },
        "[{}/{}]", index.name(), index.uuid()
    );
}

/// The beginning of a document's JSON, as many characters as are asked for; without the white space between its members
/// where that is asked for. No more of it is read than is shown.
fn shown(source: &[u8], slow: &SlowLog) -> String {
    let mut text = Vec::new();
    let (mut chars, mut in_string, mut escaped) = (0, false, false);
    for byte in source {
        let is_between = !in_string && byte.is_ascii_whitespace();
        if is_between && slow.source_on_one_line {
            continue;
        }
        // Bytes that go on with a character count with its first.
        if byte & 0xC0 != 0x80 {
            if chars == slow.source_chars {
                break;
            }
            chars += 1;
        }
        text.push(*byte);
        in_string ^= *byte == b'"' && !escaped;
        escaped = in_string && *byte == b'\\' && !escaped;
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_of_a_source_is_shown_as_is_asked_for() {
        let source = "{ \"a\\\" b\" : \"ü x\",\n \"n\": 1 }";
        let shown = |chars, on_one_line| {
            let slow = SlowLog {
                source_chars: chars,
                source_on_one_line: on_one_line,
                ..SlowLog::default()
            };
            shown(source.as_bytes(), &slow)
        };
        assert_eq!(shown(1000, true), "{\"a\\\" b\":\"ü x\",\"n\":1}");
        assert_eq!(shown(1000, false), source);
        assert_eq!(shown(11, true), "{\"a\\\" b\":\"ü");
        assert_eq!(shown(0, true), "");
    }
}

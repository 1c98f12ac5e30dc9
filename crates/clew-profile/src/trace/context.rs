//! The headers `traceparent` and `tracestate`, as W3C's Trace Context writes them, and ids.

use std::cell::RefCell;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use clew_platform::SplitMix;

/// Longest `tracestate` that is passed on, in bytes, as the recommendation asks for at least.
const STATE_BYTES_MAX: usize = 512;
/// Version, trace, span and flags, with dashes between.
const PARENT_BYTES: usize = 55;

/// The id of a trace, not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(pub(super) u128);

/// The id of a span, not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId(pub(super) u64);

impl TraceId {
    pub(super) fn random() -> Self {
        TraceId((u128::from(random()) << 64) | u128::from(random()))
    }

    /// Its upper and its lower half.
    #[allow(clippy::cast_possible_truncation, reason = "it is a half")]
    pub(crate) fn halves(self) -> [u64; 2] {
        [(self.0 >> 64) as u64, self.0 as u64]
    }

    /// The id of these halves; none where both are zero.
    pub(crate) fn from_halves(high: u64, low: u64) -> Option<Self> {
        let id = (u128::from(high) << 64) | u128::from(low);
        (id > 0).then_some(TraceId(id))
    }
}

impl SpanId {
    pub(super) fn random() -> Self {
        SpanId(random())
    }

    /// The number that it is.
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// The id that is this number; none for zero.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        (number > 0).then_some(SpanId(number))
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// What a client says of the trace that its request is a part of.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceParent {
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
    pub(super) is_sampled: bool,
    pub(super) state: Arc<str>,
}

impl TraceParent {
    /// Looks the headers up by their names, and reads them.
    pub fn of<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        Self::read(header("traceparent")?, header("tracestate"))
    }

    /// Reads the headers; nothing where the first is not as it must be.
    pub fn read(parent: &str, state: Option<&str>) -> Option<Self> {
        let text = parent.trim();
        let is_known = text.len() == PARENT_BYTES;
        // A later version may have more behind a dash.
        let is_later = !text.starts_with("00") && text.as_bytes().get(PARENT_BYTES) == Some(&b'-');
        if !is_known && !is_later {
            return None;
        }
        let mut parts = text.get(..PARENT_BYTES)?.split('-');
        let mut next = |digits: usize| {
            let part = parts.next()?;
            let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            let is_whole = part.len() == digits && part.as_bytes().iter().all(is_hex);
            u128::from_str_radix(part, 16).ok().filter(|_| is_whole)
        };
        let (version, trace, span, flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
        if version == 0xff || trace == 0 || span == 0 {
            return None;
        }
        Some(TraceParent {
            trace: TraceId(trace),
            span: SpanId(u64::try_from(span).ok()?),
            is_sampled: flags & 1 == 1,
            state: state
                .filter(|state| state.len() <= STATE_BYTES_MAX)
                .unwrap_or_default()
                .into(),
        })
    }
}

/// A number that is not zero, of this thread's own sequence, from a seed of the system's.
fn random() -> u64 {
    thread_local! {
        static SEQUENCE: RefCell<SplitMix> =
            RefCell::new(SplitMix::new(RandomState::new().hash_one(0)));
    }
    SEQUENCE.with_borrow_mut(SplitMix::draw).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn headers_that_are_not_as_they_must_be_count_for_nothing() {
        for (parent, is_read) in [
            (format!("00-{TRACE}-{SPAN}-01"), true),
            (format!("00-{TRACE}-{SPAN}-00"), true),
            (format!("cc-{TRACE}-{SPAN}-01-what-comes"), true),
            (format!("cc-{TRACE}-{SPAN}-01.what-comes"), false),
            (format!("00-{TRACE}-{SPAN}-01-more"), false),
            (format!("ff-{TRACE}-{SPAN}-01"), false),
            (format!("00-{}-{SPAN}-01", TRACE.to_uppercase()), false),
            (format!("00-{}-{SPAN}-01", "0".repeat(32)), false),
            (format!("00-{TRACE}-{}-01", "0".repeat(16)), false),
            (format!("00-{TRACE}-{SPAN}-0"), false),
            (format!("00-{TRACE}-{SPAN}x-1"), false),
            (format!("00-{TRACE}-+0f067aa0ba902b7-01"), false),
            ("é".repeat(28), false),
            (String::new(), false),
        ] {
            assert_eq!(
                TraceParent::read(&parent, None).is_some(),
                is_read,
                "{parent}"
            );
        }
        let long = "a".repeat(STATE_BYTES_MAX + 1);
        let read = TraceParent::read(&format!("00-{TRACE}-{SPAN}-01"), Some(&long)).unwrap();
        assert_eq!(&*read.state, "");
        assert_eq!(
            (read.trace.to_string(), read.span.to_string()),
            (TRACE.into(), SPAN.into())
        );
    }

    #[test]
    fn ids_do_not_repeat() {
        let ids: std::collections::HashSet<_> = (0..1000).map(|_| SpanId::random()).collect();
        assert_eq!(ids.len(), 1000);
    }
}

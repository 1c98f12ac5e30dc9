//! Scripts that say which intervals count, by where they begin and end and by their gaps.

use clew_platform::CancellationToken;
use clew_query::{Script, ScriptDocument, ScriptError, ScriptValue};

use super::algebra::Interval;

/// Leaves those intervals that a script holds of.
pub(super) fn keep(script: &Script, list: &mut Vec<Interval>) {
    let mut failure = None;
    list.retain(|interval| {
        let mut seen = OneInterval { script, interval };
        script.holds(&mut seen).unwrap_or_else(|error| {
            failure.get_or_insert(error);
            false
        })
    });
    if let Some(failure) = failure {
        // Who looks for intervals cannot fail: who began the search is told by its token, which stops it.
        CancellationToken::current().fail(failure);
    }
}

/// An interval as a script sees it, which asks for nothing else.
struct OneInterval<'i> {
    script: &'i Script,
    interval: &'i Interval,
}

impl<'a> ScriptDocument<'a> for OneInterval<'_> {
    fn is_mapped(&self, _field: usize) -> bool {
        true
    }

    fn values(&mut self, field: usize) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        let name = self.script.fields().get(field).map(String::as_str);
        Ok(vec![ScriptValue::Whole(match name {
            Some("start") => self.interval.start.into(),
            Some("end") => self.interval.end.into(),
            _ => self.interval.gaps,
        })])
    }
}

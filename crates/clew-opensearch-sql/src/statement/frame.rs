//! Frames of windows: which rows of its part a window function looks at for a row.

use std::ops::Range;

use crate::error::SqlError;
use crate::statement::words::Parser;

/// Rows that all frames of one part have together: each is looked at anew.
const LOOKS_MAX: usize = 10_000_000;

/// The rows from one to another, each counted from the row that is looked at: those before it are negative, and an end of
/// the part is farther away than any row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    from: i64,
    to: i64,
}

impl Frame {
    /// `ROWS start` or `ROWS BETWEEN start AND end`, if one comes next. Of the frames by values there is the one that
    /// windows have unasked, which is none here.
    ///
    /// # Errors
    /// Another frame by values, and one that ends before it begins.
    pub(crate) fn read(parser: &mut Parser<'_>) -> Result<Option<Self>, SqlError> {
        let is_range = parser.keyword("range");
        if !is_range && !parser.keyword("rows") {
            return Ok(None);
        }
        let is_between = parser.keyword("between");
        let from = edge(parser)?;
        let to = if is_between {
            parser.expect_keyword("and")?;
            edge(parser)?
        } else {
            0
        };
        let frame = Frame { from, to };
        if from > to {
            return Err(SqlError::semantic(
                "the frame of a window ends before it begins",
            ));
        }
        match (is_range, frame.is_so_far()) {
            (false, _) => Ok(Some(frame)),
            (true, true) => Ok(None),
            (true, false) => Err(SqlError::unsupported("a frame of a window by values")),
        }
    }

    /// Whether it has all rows up to the one that is looked at.
    pub(crate) fn is_so_far(self) -> bool {
        (self.from, self.to) == (-i64::MAX, 0)
    }

    /// Refuses frames of so many rows of a part that to look at all of them would take long.
    pub(crate) fn check(self, rows: usize) -> Result<(), SqlError> {
        let length = self.to.saturating_sub(self.from).saturating_add(1);
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(rows);
        if rows.saturating_mul(length) > LOOKS_MAX {
            return Err(SqlError::semantic(format!(
                "the frames of a window have more than {LOOKS_MAX} rows together"
            )));
        }
        Ok(())
    }

    /// The places of its rows for the row at a place, of so many.
    pub(crate) fn around(self, at: usize, rows: usize) -> Range<usize> {
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        let place = |place: i64| usize::try_from(place).unwrap_or(0).min(rows);
        let from = place(at.saturating_add(self.from));
        let to = place(at.saturating_add(self.to).saturating_add(1));
        from..to.max(from)
    }
}

/// `UNBOUNDED PRECEDING`, `2 PRECEDING`, `CURRENT ROW`, `2 FOLLOWING` or `UNBOUNDED FOLLOWING`.
fn edge(parser: &mut Parser<'_>) -> Result<i64, SqlError> {
    if parser.keywords(&["current", "row"]) {
        return Ok(0);
    }
    let count = if parser.keyword("unbounded") {
        i64::MAX
    } else {
        i64::try_from(parser.count()?).unwrap_or(i64::MAX)
    };
    if parser.keyword("preceding") {
        return Ok(-count);
    }
    parser.expect_keyword("following")?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> Result<Option<Frame>, SqlError> {
        Frame::read(&mut Parser::new(text, Vec::new())?)
    }

    #[test]
    fn frames_are_counted_from_the_row_and_end_with_its_part() {
        for (text, places) in [
            ("ROWS 1 PRECEDING", [0..1, 0..2, 2..4]),
            ("ROWS UNBOUNDED PRECEDING", [0..1, 0..2, 0..4]),
            (
                "rows between current row and 1 following",
                [0..2, 1..3, 3..4],
            ),
            (
                "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
                [0..4, 0..4, 0..4],
            ),
            (
                "ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
                [2..4, 3..4, 4..4],
            ),
            (
                "ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING",
                [0..0, 0..0, 0..2],
            ),
        ] {
            let frame = frame(text).expect(text).expect(text);
            assert_eq!([0, 1, 3].map(|at| frame.around(at, 4)), places, "{text}");
        }
        let unasked = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW";
        assert_eq!(frame(unasked), Ok(None));
        assert_eq!(frame(")"), Ok(None));
        for text in [
            "RANGE 1 PRECEDING",
            "ROWS 1 FOLLOWING",
            "ROWS BETWEEN 1 PRECEDING",
            "ROWS BETWEEN CURRENT ROW AND 1 PRECEDING",
            "ROWS -1 PRECEDING",
        ] {
            assert!(frame(text).is_err(), "{text}");
        }
    }

    #[test]
    fn frames_that_are_long_altogether_are_refused() {
        let whole = "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING";
        let whole = frame(whole).expect(whole).expect(whole);
        assert_eq!(whole.check(1_000), Ok(()));
        assert!(whole.check(100_000).is_err());
        let short = frame("ROWS 9 PRECEDING").expect("a frame");
        assert_eq!(short.expect("a frame").check(100_000), Ok(()));
    }
}

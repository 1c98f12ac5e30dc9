//! Tables of text: the first column starts on the left, the others end on the right.

use std::fmt::Write;

/// How wide each column is, in characters.
#[derive(Debug)]
pub(crate) struct Columns(Vec<usize>);

impl Columns {
    /// Columns of these widths; what is wider pushes the rest of its line to the right.
    pub(crate) fn new(widths: Vec<usize>) -> Self {
        Columns(widths)
    }

    /// Columns that these lines fit into.
    pub(crate) fn fitting(lines: &[Vec<String>]) -> Self {
        let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
        let widths = (0..columns).map(|column| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or_default()
        });
        Columns(widths.collect())
    }

    /// One line, without a line break.
    pub(crate) fn line<T: AsRef<str>>(&self, cells: &[T]) -> String {
        let mut line = String::new();
        for (at, (cell, width)) in cells.iter().zip(&self.0).enumerate() {
            let (cell, width) = (cell.as_ref(), *width);
            // Writing into a string cannot fail.
            let _ = match at {
                0 => write!(line, "{cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// A figure for people: whole from a thousand on, with commas; else four digits that count.
pub(crate) fn figure(value: f64) -> String {
    let size = value.abs();
    if !size.is_finite() {
        return "?".to_owned();
    }
    if size >= 999.5 {
        let digits = format!("{size:.0}");
        let mut text = String::from(if value < 0.0 { "-" } else { "" });
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        return text;
    }
    let decimals = match size {
        0.0 => 0,
        100.0.. => 1,
        10.0.. => 2,
        1.0.. => 3,
        0.1.. => 4,
        0.01.. => 5,
        _ => 6,
    };
    format!("{value:.decimals$}")
}

/// A count for people: whole, with commas.
pub(crate) fn count(value: u64) -> String {
    match value {
        0..1000 => value.to_string(),
        _ => figure(value as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole() {
        assert_eq!(
            [0, 600, 999, 20_000].map(count),
            ["0", "600", "999", "20,000"]
        );
    }

    #[test]
    fn figures_have_four_digits_or_are_whole() {
        let cases = [
            (0.0, "0"),
            (0.98765, "0.9877"),
            (1.5, "1.500"),
            (12.3456, "12.35"),
            (999.4, "999.4"),
            (999.9, "1,000"),
            (-1234.6, "-1,235"),
            (1_234_567.0, "1,234,567"),
            (f64::NAN, "?"),
        ];
        for (value, text) in cases {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let lines = [vec!["a", "µs"], vec!["bcd", "1,000"], vec!["e"]]
            .map(|line| line.into_iter().map(str::to_owned).collect::<Vec<_>>());
        let columns = Columns::fitting(&lines);
        let shown: Vec<String> = lines.iter().map(|line| columns.line(line)).collect();
        assert_eq!(shown, ["a       µs", "bcd  1,000", "e"]);
    }
}

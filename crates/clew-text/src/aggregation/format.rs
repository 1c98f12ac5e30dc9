//! How values are printed beside their number: dates and booleans have a text of their own.

use jiff::tz::TimeZone;

use crate::document::DateFormat;

/// How values are printed beside their number.
#[derive(Clone, Debug, Default)]
pub enum ValueFormat {
    /// As the number they are; no text.
    #[default]
    Raw,
    /// `true` and `false`.
    Boolean,
    /// Dates, as clocks of a zone show them.
    Date {
        /// The format.
        format: DateFormat,
        /// Whose clocks.
        zone: TimeZone,
    },
}

impl ValueFormat {
    /// A whole number's text, if it has one.
    pub fn text_of_integer(&self, value: i64) -> Option<String> {
        match self {
            ValueFormat::Raw => None,
            ValueFormat::Boolean => Some((value != 0).to_string()),
            ValueFormat::Date { format, zone } => Some(format.format_millis_in(value, zone)),
        }
    }

    /// A number's text, if it has one; dates drop what is below a millisecond.
    pub fn text_of_number(&self, value: f64) -> Option<String> {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the fraction of a millisecond is dropped, and the cast saturates"
        )]
        let whole = value as i64;
        match self {
            ValueFormat::Boolean => Some((value != 0.0).to_string()),
            ValueFormat::Raw | ValueFormat::Date { .. } => self.text_of_integer(whole),
        }
    }
}

//! How values are printed beside their number: dates and booleans have a text of their own.

use clew_query::AggError;
use clew_schema::{DateFormat, fraction_text};
use jiff::tz::TimeZone;

use crate::value::decimal::DecimalFormat;
use crate::value::key::Key;

/// How values are printed beside their number.
#[derive(Clone, Debug, Default)]
pub enum ValueFormat {
    /// As the number they are; no text.
    #[default]
    Raw,
    /// Numbers of a field of whole numbers without a sign, whose figures have a text with all their digits.
    Unsigned,
    /// `true` and `false`.
    Boolean,
    /// Numbers, by a pattern such as `#,##0.00`.
    Decimal(DecimalFormat),
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
            ValueFormat::Raw | ValueFormat::Unsigned => None,
            ValueFormat::Boolean => Some((value != 0).to_string()),
            ValueFormat::Date { format, zone } => Some(format.format_millis_in(value, zone)),
            ValueFormat::Decimal(format) => Some(format.format_whole(value)),
        }
    }

    /// The format of plain numbers that a request names.
    pub(crate) fn of_numbers(pattern: Option<&str>) -> Result<Self, AggError> {
        match pattern {
            None => Ok(ValueFormat::Raw),
            Some(pattern) => DecimalFormat::parse(pattern)
                .map(ValueFormat::Decimal)
                .map_err(AggError::invalid),
        }
    }

    /// A key's text beside its value, if it has one.
    pub fn text_of_key(&self, key: &Key) -> Option<String> {
        match key {
            Key::I64(value) | Key::Date(value) => self.text_of_integer(*value),
            Key::Bool(value) => self.text_of_integer(i64::from(*value)),
            Key::F64(value) => self.text_of_number(*value),
            // Patterns say nothing of numbers without a sign.
            Key::U64(value) => matches!(self, ValueFormat::Decimal(_)).then(|| value.to_string()),
            Key::Str(_) | Key::Ip(_) | Key::Null | Key::Tuple(_) => None,
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
            ValueFormat::Decimal(format) => Some(format.format(value)),
            ValueFormat::Unsigned => Some(fraction_text(value)),
            ValueFormat::Boolean => Some((value != 0.0).to_string()),
            ValueFormat::Raw | ValueFormat::Date { .. } => self.text_of_integer(whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_without_a_sign_keep_all_their_digits_under_a_pattern() {
        let format = ValueFormat::of_numbers(Some("0.0")).unwrap();
        for (key, text) in [
            (Key::U64(u64::MAX), "18446744073709551615"),
            (Key::I64(7), "7.0"),
        ] {
            assert_eq!(format.text_of_key(&key).as_deref(), Some(text));
        }
        assert_eq!(ValueFormat::Unsigned.text_of_key(&Key::U64(7)), None);
    }
}

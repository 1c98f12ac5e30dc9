//! Time zones as requests for aggregations write them.

use clew_query::AggError;
use jiff::tz::TimeZone;

/// The zone of a request, UTC unless it names one.
pub(crate) fn parse_zone(text: Option<&str>) -> Result<TimeZone, AggError> {
    clew_schema::parse_zone(text).map_err(|error| AggError::invalid(error.to_string()))
}

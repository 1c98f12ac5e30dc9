//! `date_index_name`: sends a document to the index of its day, month or year.

use clew_schema::DateFormat;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::dates::{Readings, format, year_of};
use crate::document::Document;
use crate::error::{DefinitionError, Failure};
use crate::java::java_text;
use crate::members::{names, optional, template, text};
use crate::template::Template;
use crate::text::Months;

/// How dates are read, and how they stand in names, unless a step says otherwise.
const READ_DEFAULT: &str = "yyyy-MM-dd'T'HH:mm:ss.SSSXX";
const NAME_DEFAULT: &str = "yyyy-MM-dd";
const ZONE_DEFAULT: &str = "UTC";

/// The step. The name that it gives has the date in it as date math, which the write works out.
#[derive(Debug)]
pub(crate) struct IndexName {
    field: String,
    readings: Readings,
    zone: String,
    prefix: Template,
    rounding: Template,
    name_format: Template,
}

impl IndexName {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let months = optional(config, "locale")?.and_then(|locale| Months::of(&locale));
        let zone = optional(config, "timezone")?.unwrap_or_else(|| ZONE_DEFAULT.to_string());
        let formats =
            names(config, "date_formats")?.unwrap_or_else(|| vec![READ_DEFAULT.to_string()]);
        let name_format =
            optional(config, "index_name_format")?.unwrap_or_else(|| NAME_DEFAULT.to_string());
        Ok(IndexName {
            field: text(config, "field")?,
            readings: Readings::parse(&formats, Some(&zone), months)?,
            zone,
            prefix: template(&optional(config, "index_name_prefix")?.unwrap_or_default())?,
            rounding: template(&text(config, "date_rounding")?)?,
            name_format: template(&name_format)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let written = java_text(&document.require(&self.field)?);
        let millis = self.readings.read(&written, year_of(document))?;
        let name_format = document.fill(&self.name_format)?;
        let date = self
            .dated(&name_format)?
            .format_millis_in(millis, &TimeZone::UTC);
        let name = format!(
            "<{}{{{date}||/{}{{{name_format}|{}}}}}>",
            document.fill(&self.prefix)?,
            document.fill(&self.rounding)?,
            self.zone
        );
        document.set("_index", name.into())
    }

    fn dated(&self, name_format: &str) -> Result<DateFormat, Failure> {
        format(name_format).map_err(|error| Failure::unfit(error.reason))
    }
}

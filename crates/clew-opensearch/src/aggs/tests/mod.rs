//! Aggregations from the JSON of a request to that of its answer.

mod read;
mod shown;

use std::collections::BTreeMap;
use std::num::NonZeroI64;

use clew_aggregation::{
    AggResult, Bucket, BucketExtra, ExtendedStats, HistogramResult, Key, Metric, NamedResult,
    RangeBucket, RangeEnd, Stats, TermsKind, TermsResult, TopHitsResult, ValueFormat,
};
use clew_query::aggregation::{
    AggSpec, CalendarUnit, DateInterval, Direction, EndKind, IncludeExclude, NamedAgg, OrderKey,
    Scalar,
};
use clew_schema::DateFormat;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::*;
use crate::http::error::ApiError;

fn parse_one(body: Value) -> AggSpec {
    let mut aggs = parse_aggs(&json!({"a": body})).unwrap().aggs;
    aggs.remove(0).spec
}

//! `range`, `date_range`, `ip_range` and `geo_distance`: a bucket per given range.

use std::net::IpAddr;

use clew_aggregation::{RangeBucket, RangeEnd, ValueFormat};
use clew_query::aggregation::{
    AggSpec, DistanceOrigin, EndKind, RangeItem, RangeSpec, Scalar, Source,
};
use clew_schema::geo::{DistanceUnit, GeoPoint};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::render::{Rendering, TypeName, add_all};
use crate::aggs::shown::{insert_keyed, loose_text, while_wanted};
use crate::aggs::table::{ADDRESSES, NUMBERS, PLACES, Row};
use crate::http::error::ApiError;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("range", NUMBERS, |body| read(body, EndKind::Numbers)),
    Row::new("date_range", NUMBERS, |body| read(body, EndKind::Dates)),
    Row::new("ip_range", ADDRESSES, |body| read(body, EndKind::Addresses)),
    Row::new("geo_distance", PLACES, |body| {
        read(body, EndKind::Distances)
    }),
];

fn read(body: &mut Body<'_>, kind: EndKind) -> Result<AggSpec, AggDslError> {
    if kind == EndKind::Addresses {
        body.lack(&["format"])?;
    }
    let source: Source = body.source()?;
    let ranges = match body.take("ranges") {
        Some(Value::Array(list)) => list
            .iter()
            .map(|value| range_item(body, kind, value))
            .collect::<Result<Vec<_>, _>>()?,
        Some(alone) => vec![range_item(body, kind, alone)?],
        None => Vec::new(),
    };
    // Where there are none, those who search refuse it.
    Ok(AggSpec::Range(RangeSpec {
        source,
        ranges,
        keyed: body.flag("keyed")?,
        kind,
        time_zone: match kind {
            EndKind::Dates => body.time_zone()?,
            _ => None,
        },
        origin: match kind {
            EndKind::Distances => Some(origin(body)?),
            _ => None,
        },
    }))
}

fn range_item(body: &Body<'_>, kind: EndKind, value: &Value) -> Result<RangeItem, AggDslError> {
    body.part(("ranges", "range"), value, |item| {
        let range = RangeItem {
            key: item.text("key")?,
            from: item.scalar("from")?,
            to: item.scalar("to")?,
            mask: match kind {
                EndKind::Addresses => item.text("mask")?,
                EndKind::Numbers | EndKind::Dates | EndKind::Distances => None,
            },
        };
        if kind == EndKind::Addresses {
            check_addresses(&range)?;
        }
        Ok(range)
    })
}

/// Looks whether the ends of a range are addresses, and its mask one with the length of a prefix.
fn check_addresses(range: &RangeItem) -> Result<(), AggDslError> {
    for end in [&range.from, &range.to] {
        if let Some(Scalar::Text(text)) = end
            && text.parse::<IpAddr>().is_err()
        {
            let reason = format!("'{text}' is not an IP string literal.");
            return Err(AggDslError::illegal(reason));
        }
    }
    match &range.mask {
        Some(mask) => check_network(mask).map_err(AggDslError::illegal),
        None => Ok(()),
    }
}

/// Looks whether a text is an address and the length of a prefix of it.
fn check_network(mask: &str) -> Result<(), String> {
    let none = || format!("Expected [ip/prefix] but was [{mask}]");
    let (address, length) = mask.split_once('/').ok_or_else(none)?;
    let bits = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return Err(none()),
    };
    let length: i64 = length.parse().map_err(|_| none())?;
    match (0..=bits).contains(&length) {
        true => Ok(()),
        false => Err(format!(
            "Illegal prefix length [{length}] in [{mask}]. Must be 0-32 for IPv4 ranges, 0-128 for \
             IPv6 ranges"
        )),
    }
}

/// Where distances are measured from, and how long one of their units is in metres. Planes and arcs
/// are measured alike: along great circles.
fn origin(body: &mut Body<'_>) -> Result<DistanceOrigin, AggDslError> {
    let way = body.only_text("distance_type")?;
    if let Some(other) = way.filter(|way| !["arc", "plane"].contains(&way.to_lowercase().as_str()))
    {
        let reason = format!("No geo distance for [{other}]");
        return Err(body.in_field("distance_type", AggDslError::illegal(reason)));
    }
    let unit = match body.text("unit")? {
        None => DistanceUnit::metres(),
        Some(name) => DistanceUnit::parse(&name)
            .map_err(|reason| body.in_field("unit", AggDslError::illegal(reason)))?,
    };
    let given = ["origin", "center", "point", "por"];
    let value = given.into_iter().find_map(|name| body.take(name));
    let Some(value) = value else {
        return Err(AggDslError::illegal(format!(
            "Aggregation [{}] must define an [origin].",
            body.name
        )));
    };
    let point = GeoPoint::from_json(value).and_then(GeoPoint::checked);
    Ok(DistanceOrigin {
        place: point.map_err(AggDslError::parsing)?,
        unit_metres: unit.to_metres(1.0),
    })
}

/// Writes its result, and says the type.
pub(crate) fn write(
    body: &mut Map<String, Value>,
    (ranges, format): (&[RangeBucket], &ValueFormat),
    (keyed, kind): (bool, EndKind),
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    let one = |range: &RangeBucket| {
        let name = range.name.to_string();
        let mut object = Map::new();
        if !keyed {
            object.insert("key".to_string(), json!(name));
        }
        for (end, value) in [("from", &range.from), ("to", &range.to)] {
            match value {
                None => {}
                Some(RangeEnd::Address(address)) => {
                    object.insert(end.to_string(), json!(address));
                }
                Some(RangeEnd::Number(number)) => {
                    object.insert(end.to_string(), json!(number));
                    if let Some(text) = loose_text(format, *number) {
                        object.insert(format!("{end}_as_string"), text);
                    }
                }
            }
        }
        object.insert("doc_count".to_string(), json!(range.doc_count));
        add_all(&mut object, &range.subs, how)?;
        Ok((name, Value::Object(object)))
    };
    let buckets = while_wanted(ranges).map(one);
    insert_keyed(body, buckets, keyed)?;
    Ok(match kind {
        EndKind::Numbers => "range",
        EndKind::Dates => "date_range",
        EndKind::Addresses => "ip_range",
        EndKind::Distances => "geo_distance",
    })
}

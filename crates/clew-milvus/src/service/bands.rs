//! Searches for signatures by bands: hits are rows that have one band of their hashes in common with what is looked for, as
//! the buckets of a locality-sensitive index give them. Those that have most hashes in common come first; what is told of
//! each is 1, as in Milvus.
//!
//! There are no buckets: rows are measured, and those near enough to have a band in common are looked at band by band. So
//! nothing is missed that a filter leaves.

use std::collections::BTreeMap;

use clew_engine::{
    DistanceRange, FieldValues, NearestRequest, Neighbour, Pinned, Probes, WantedField,
};
use serde_json::Value;

use super::Service;
use super::asked::{Asked, is_set};
use super::search::{FOUND_BYTES, Found, nearest_request};
use crate::collection::Bands;
use crate::collections::WINDOW_MAX;
use crate::error::{MilvusError, Result};

/// How many times as many rows are looked at first as are asked for.
const LOOKED_AT: usize = 4;
/// And these at least.
const LOOKED_AT_MIN: usize = 64;

/// The bands of which a hit has one in common with what is looked for; nothing where all hashes are compared, which is what a
/// search of signatures may ask for.
///
/// # Errors
/// For a range of what is told of such hits, which is always 1, for groups of them, and for what is neither yes nor no.
pub(super) fn asked_bands(
    bands: Option<Bands>,
    (params, inner): (&BTreeMap<String, String>, &BTreeMap<String, Value>),
    is_grouped: bool,
) -> Result<Option<Bands>> {
    const NAME: &str = "mh_search_with_jaccard";
    let compares_all = match inner.get(NAME) {
        None => is_set(params, NAME),
        Some(Value::Bool(said)) => *said,
        Some(Value::String(said)) if said.eq_ignore_ascii_case("true") => true,
        Some(Value::String(said)) if said.eq_ignore_ascii_case("false") => false,
        Some(other) => {
            return Err(MilvusError::invalid(format!(
                "Type conflict in json: param '{NAME}' ({other}) should be a boolean"
            )));
        }
    };
    let bands = bands.filter(|_| !compares_all);
    let has_range = || inner.contains_key("radius") || inner.contains_key("range_filter");
    let refused = match bands {
        None => return Ok(None),
        Some(_) if has_range() => {
            "metric type MHJACCARD does not support range search without mh_search_with_jaccard"
        }
        Some(_) if is_grouped => {
            "not support search_group_by operation based on binary vector column"
        }
        bands => return Ok(bands),
    };
    Err(MilvusError::invalid(refused))
}

impl Service {
    /// The rows that have a band in common with each signature, nearest first.
    pub(super) async fn in_bands(
        &self,
        pinned: &Pinned,
        asked: &Asked,
        (bands, signatures): (Bands, &[Vec<f32>]),
    ) -> Result<Vec<Vec<Found>>> {
        let mut all = Vec::with_capacity(signatures.len());
        for signature in signatures {
            let wanted = asked.offset + asked.limit;
            let mut depth = (LOOKED_AT * wanted).clamp(LOOKED_AT_MIN, WINDOW_MAX);
            let found = loop {
                let probe = Probes::Dense(vec![signature.clone()]);
                let request = NearestRequest {
                    limit: depth,
                    offset: 0,
                    // Whoever has a band in common has so many hashes in common at least.
                    range: Some(DistanceRange {
                        below: (1.0 - bands.share).next_up(),
                        from: None,
                    }),
                    ..nearest_request(pinned, asked, probe)?
                };
                let near = self.engine().nearest(request).await?;
                let rows = near.neighbours.into_iter().next().unwrap_or_default();
                let is_all = rows.len() < depth || depth == WINDOW_MAX;
                let alike = self.alike(pinned, asked, (bands, signature), rows).await?;
                if is_all || alike.len() >= wanted {
                    break alike;
                }
                depth = WINDOW_MAX;
            };
            let window = found.into_iter().skip(asked.offset).take(asked.limit);
            let told: Vec<Found> = window.map(told).collect();
            self.hold(told.len() * FOUND_BYTES)?;
            all.push(told);
        }
        Ok(all)
    }

    /// Those of some rows that have a band in common with a signature.
    async fn alike(
        &self,
        pinned: &Pinned,
        asked: &Asked,
        (bands, signature): (Bands, &[f32]),
        rows: Vec<Neighbour>,
    ) -> Result<Vec<Neighbour>> {
        let places: Vec<_> = rows.iter().map(|row| row.place).collect();
        let wanted = [WantedField::Typed(asked.field.name.clone())];
        let read = self.engine().columns(pinned, &places, &wanted).await?;
        let Some(FieldValues::Vectors(vectors)) = read.fields.into_iter().next() else {
            return Err(MilvusError::Internal("a column was not read".into()));
        };
        let rows = rows.into_iter().zip(vectors);
        let alike = rows.filter(|(_, vector)| {
            let vector = vector.as_deref();
            vector.is_some_and(|vector| bands.are_common(signature, vector))
        });
        Ok(alike.map(|(row, _)| row).collect())
    }
}

impl Bands {
    /// Whether two signatures have one of them in common. There is a number for each byte.
    fn are_common(self, one: &[f32], other: &[f32]) -> bool {
        let pairs = one
            .chunks_exact(self.bytes)
            .zip(other.chunks_exact(self.bytes));
        pairs.take(self.count).any(|(one, other)| one == other)
    }
}

fn told(row: Neighbour) -> Found {
    Found {
        id: row.id,
        place: row.place,
        score: 1.0,
        group: None,
        element: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn signatures_are_alike_by_one_band_as_a_whole() {
        let bands = Bands {
            count: 2,
            bytes: 2,
            share: 0.4,
        };
        for (other, are_alike) in [
            ([1.0, 2.0, 3.0, 4.0, 5.0], true),
            ([1.0, 2.0, 0.0, 0.0, 0.0], true),
            ([0.0, 0.0, 3.0, 4.0, 0.0], true),
            ([0.0, 2.0, 3.0, 0.0, 5.0], false),
        ] {
            let one = [1.0, 2.0, 3.0, 4.0, 5.0];
            assert_eq!(bands.are_common(&one, &other), are_alike, "{other:?}");
        }
    }

    #[test]
    fn bands_count_unless_all_hashes_are_compared() {
        let bands = Some(Bands {
            count: 1,
            bytes: 4,
            share: 1.0,
        });
        let asked = |inner: Value, is_grouped: bool| {
            let inner: BTreeMap<String, Value> = serde_json::from_value(inner).unwrap();
            asked_bands(bands, (&BTreeMap::new(), &inner), is_grouped)
        };
        assert_eq!(asked(json!({}), false), Ok(bands));
        for said in [json!(true), json!("True")] {
            let all = json!({"mh_search_with_jaccard": said, "radius": 0.5});
            assert_eq!(asked(all, true), Ok(None));
        }
        for (inner, is_grouped, said) in [
            (
                json!({"radius": 0.5}),
                false,
                "does not support range search",
            ),
            (json!({}), true, "not support search_group_by operation"),
            (
                json!({"mh_search_with_jaccard": 1}),
                false,
                "should be a boolean",
            ),
        ] {
            let refused = asked(inner, is_grouped).unwrap_err();
            assert_eq!(refused.code(), 1100, "{said}");
            assert!(refused.to_string().contains(said), "{refused}");
        }
    }
}

//! Sparse vectors as messages have them: pairs of a dimension and a weight, little-endian, by ascending dimension.

use bytes::Bytes;
use clew_vector::{ROW_NONZEROS_MAX, SparseEntry, WEIGHT_MAX};
use serde_json::{Map, Value};

use super::answer::validity;
use super::json::WrongRows;
use crate::collection::Field;
use crate::error::{MilvusError, Result};
use crate::proto::{self, FieldData, field_data, vector_field};

const ENTRY_BYTES: usize = 8;
/// Clients count dimensions, so that there is one less than numbers of 32 bits.
const DIMENSION_MAX: u32 = u32::MAX - 1;

/// Reads a vector.
///
/// # Errors
/// When it is none, or too long, with the first value that is wrong.
pub(crate) fn sparse_row(bytes: &[u8]) -> Result<Vec<SparseEntry>> {
    let (pairs, rest) = bytes.as_chunks::<ENTRY_BYTES>();
    if !rest.is_empty() {
        return Err(MilvusError::invalid(format!(
            "invalid data length in sparse float vector: {}",
            bytes.len()
        )));
    }
    if pairs.len() > ROW_NONZEROS_MAX {
        return Err(MilvusError::invalid(format!(
            "a sparse float vector has {} values, more than {ROW_NONZEROS_MAX}",
            pairs.len()
        )));
    }
    let mut entries: Vec<SparseEntry> = Vec::with_capacity(pairs.len());
    for &[a, b, c, d, e, f, g, h] in pairs {
        let entry = SparseEntry {
            dimension: u32::from_le_bytes([a, b, c, d]),
            weight: f32::from_le_bytes([e, f, g, h]),
        };
        check(entries.last(), entry)?;
        entries.push(entry);
    }
    Ok(entries)
}

/// A vector of JSON as messages have it: `{"17": 0.5}` or `{"indices": [17], "values": [0.5]}`.
#[allow(
    clippy::cast_possible_truncation,
    reason = "single precision is what vectors have"
)]
pub(super) fn sparse_bytes(members: &Map<String, Value>) -> std::result::Result<Bytes, WrongRows> {
    let wrong = || WrongRows("a sparse vector has dimensions and weights".to_string());
    let mut entries: Vec<(u32, f32)> = Vec::with_capacity(members.len());
    match (members.get("indices"), members.get("values")) {
        (Some(Value::Array(indices)), Some(Value::Array(values)))
            if indices.len() == values.len() =>
        {
            for (index, value) in indices.iter().zip(values) {
                let index = index
                    .as_u64()
                    .and_then(|index| u32::try_from(index).ok())
                    .ok_or_else(wrong)?;
                entries.push((index, value.as_f64().ok_or_else(wrong)? as f32));
            }
        }
        _ => {
            for (index, value) in members {
                let index = index.parse().map_err(|_| wrong())?;
                entries.push((index, value.as_f64().ok_or_else(wrong)? as f32));
            }
        }
    }
    entries.sort_unstable_by_key(|(index, _)| *index);
    let bytes = entries.iter().flat_map(|(index, weight)| {
        let mut pair = index.to_le_bytes().to_vec();
        pair.extend_from_slice(&weight.to_le_bytes());
        pair
    });
    Ok(bytes.collect())
}

fn check(before: Option<&SparseEntry>, entry: SparseEntry) -> Result<()> {
    let SparseEntry { dimension, weight } = entry;
    let refuse = |why: String| Err(MilvusError::invalid(why));
    if dimension > DIMENSION_MAX {
        return refuse(format!(
            "invalid index in sparse float vector: {dimension} must be less than 2^32-1"
        ));
    }
    if let Some(before) = before
        && before.dimension >= dimension
    {
        return refuse(format!(
            "unsorted or same indices in sparse float vector: {dimension} comes after {}",
            before.dimension
        ));
    }
    if !weight.is_finite() {
        return refuse(format!(
            "value '{weight}' at index {dimension} of a sparse float vector is not a number or infinity"
        ));
    }
    if weight < 0.0 {
        return refuse(format!(
            "negative value in sparse float vector: {weight} at index {dimension}"
        ));
    }
    if weight > WEIGHT_MAX {
        return refuse(format!(
            "value {weight:e} at index {dimension} of a sparse float vector is more than {WEIGHT_MAX:e}"
        ));
    }
    Ok(())
}

fn row_bytes(entries: &[SparseEntry]) -> Bytes {
    let mut bytes = Vec::with_capacity(ENTRY_BYTES * entries.len());
    for entry in entries {
        bytes.extend_from_slice(&entry.dimension.to_le_bytes());
        bytes.extend_from_slice(&entry.weight.to_le_bytes());
    }
    bytes.into()
}

/// The column of some rows' vectors, without those of rows that have none.
pub(super) fn sparse_column(field: &Field, rows: &[Option<Vec<SparseEntry>>]) -> FieldData {
    let present = || rows.iter().flatten();
    let ends = present().filter_map(|entries| Some(i64::from(entries.last()?.dimension) + 1));
    let dim = ends.max().unwrap_or_default();
    let contents = present().map(|entries| row_bytes(entries)).collect();
    FieldData {
        r#type: field.data_type.number(),
        field_name: field.name.clone(),
        field_id: field.id,
        valid_data: validity(field, rows.iter().map(Option::is_some)),
        field: Some(field_data::Field::Vectors(proto::VectorField {
            dim,
            data: Some(vector_field::Data::SparseFloatVector(
                proto::SparseFloatArray { contents, dim },
            )),
        })),
        ..FieldData::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(pairs: &[(u32, f32)]) -> Vec<u8> {
        let pair = |(dimension, weight): &(u32, f32)| {
            [dimension.to_le_bytes(), weight.to_le_bytes()].concat()
        };
        pairs.iter().flat_map(pair).collect()
    }

    #[test]
    fn a_row_is_read_and_told_to_the_bit() {
        for pairs in [
            &[][..],
            &[(0, 0.0), (7, 1e-45), (DIMENSION_MAX, WEIGHT_MAX)],
        ] {
            let written = bytes(pairs);
            let read = sparse_row(&written).unwrap();
            assert_eq!(read.len(), pairs.len());
            assert_eq!(row_bytes(&read), written);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (pairs, value) in [
            (&[(3, 1.0), (3, 2.0)][..], "3 comes after 3"),
            (&[(3, 1.0), (2, 2.0)], "2 comes after 3"),
            (&[(3, -1.5)], "-1.5"),
            (&[(3, f32::NAN)], "NaN"),
            (&[(3, f32::INFINITY)], "inf"),
            (&[(3, f32::NEG_INFINITY)], "-inf"),
            (&[(3, 2e15)], "2e15"),
            (&[(u32::MAX, 1.0)], "4294967295"),
        ] {
            let refused = sparse_row(&bytes(pairs)).unwrap_err();
            assert_eq!(refused.code(), 1100, "{pairs:?}");
            assert!(refused.to_string().contains(value), "{refused}");
        }
        let refused = sparse_row(&[0; 12]).unwrap_err();
        assert!(refused.to_string().contains(": 12"), "{refused}");
    }
}

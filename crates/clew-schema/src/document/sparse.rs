//! Sparse vectors in a document: objects of weights, named by their dimensions.

use clew_vector::{ROW_NONZEROS_MAX, SparseEntry, validate_sparse};

use super::decimal::whole_f32;
use super::error::ValueProblem;
use super::json::{JsonError, JsonKind, JsonReader};

/// Reads the sparse vector that the reader stands before; it comes back by ascending dimension. The inner error is a
/// reason for refusing the value, the outer one says that the text is no JSON.
pub(super) fn read(
    reader: &mut JsonReader<'_>,
) -> Result<Result<Vec<SparseEntry>, ValueProblem>, JsonError> {
    if reader.kind()? != JsonKind::Object {
        reader.skip_value()?;
        return Ok(Err("a sparse vector is an object of weights".into()));
    }
    reader.open();
    let mut entries: Vec<SparseEntry> = Vec::new();
    let mut is_first = true;
    while let Some(member) = reader.member(is_first)? {
        is_first = false;
        let Some(dimension) = dimension_of(&member.name) else {
            let name = &member.name;
            return Ok(Err(format!(
                "a dimension is a whole number from 0 to {}, not [{name}]",
                u32::MAX
            )
            .into()));
        };
        let text;
        let digits = match reader.kind()? {
            JsonKind::Number => reader.number()?,
            JsonKind::Text => {
                text = reader.string()?;
                text.trim()
            }
            JsonKind::Null => {
                reader.null()?;
                continue;
            }
            JsonKind::Object | JsonKind::Array | JsonKind::Bool => {
                return Ok(Err(
                    format!("the weight of [{dimension}] is no number").into()
                ));
            }
        };
        let Ok(weight) = whole_f32(digits) else {
            return Ok(Err(ValueProblem::not_a_number(digits)));
        };
        if entries.len() == ROW_NONZEROS_MAX {
            return Ok(Err(format!("more than {ROW_NONZEROS_MAX} weights").into()));
        }
        entries.push(SparseEntry { dimension, weight });
    }
    entries.sort_unstable_by_key(|entry| entry.dimension);
    Ok(Ok(entries))
}

/// A dimension as it is written: digits alone, so that no two names mean the same.
fn dimension_of(name: &str) -> Option<u32> {
    let is_plain = name == "0" || !name.starts_with(['0', '+']);
    name.parse().ok().filter(|_| is_plain)
}

/// Refuses what no column holds.
pub(super) fn check(vector: &[SparseEntry]) -> Result<(), String> {
    validate_sparse(vector).map_err(|error| error.to_string())
}

/// Writes a sparse vector as documents have it, in the shortest digits that mean the same.
pub(super) fn write(out: &mut Vec<u8>, vector: &[SparseEntry]) {
    out.push(b'{');
    for (at, entry) in vector.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.push(b'"');
        out.extend_from_slice(entry.dimension.to_string().as_bytes());
        out.extend_from_slice(b"\":");
        serde_json::to_writer(&mut *out, &entry.weight).expect("a vector takes every byte");
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_text(text: &str) -> Result<Vec<SparseEntry>, ()> {
        let mut reader = JsonReader::new(text.as_bytes()).unwrap();
        match read(&mut reader) {
            Ok(Ok(entries)) => check(&entries).map(|()| entries).map_err(|_| ()),
            _ => Err(()),
        }
    }

    #[test]
    fn weights_come_by_ascending_dimension() {
        let entry = |dimension, weight| SparseEntry { dimension, weight };
        let read = read_text(r#"{"20": 0.5, "3": "1e-3", "4294967295": 2, "7": null, "0": 0}"#);
        let want = vec![
            entry(0, 0.0),
            entry(3, 0.001),
            entry(20, 0.5),
            entry(u32::MAX, 2.0),
        ];
        assert_eq!(read, Ok(want));
        assert_eq!(read_text("{}"), Ok(vec![]));
    }

    #[test]
    fn what_is_no_object_of_weights_is_refused() {
        for wrong in [
            "[1]",
            "3",
            "\"a\"",
            r#"{"a": 1}"#,
            r#"{"-1": 1}"#,
            r#"{"01": 1}"#,
            r#"{"+1": 1}"#,
            r#"{"4294967296": 1}"#,
            r#"{"1": -0.5}"#,
            r#"{"1": 1e16}"#,
            r#"{"1": true}"#,
            r#"{"1": [1]}"#,
            r#"{"1": "x"}"#,
            r#"{"1": "1x"}"#,
            r#"{"1": 1, "1": 2}"#,
        ] {
            assert_eq!(read_text(wrong), Err(()), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_to_the_bit(
            weights in prop::collection::btree_map(any::<u32>(), 0.0..=1e15_f32, 0..30),
        ) {
            let entries: Vec<SparseEntry> =
                weights.into_iter().map(|(dimension, weight)| SparseEntry { dimension, weight }).collect();
            let mut text = Vec::new();
            write(&mut text, &entries);
            let read = read_text(std::str::from_utf8(&text).unwrap()).unwrap();
            prop_assert_eq!(bits(&read), bits(&entries));
        }
    }

    fn bits(entries: &[SparseEntry]) -> Vec<(u32, u32)> {
        entries
            .iter()
            .map(|entry| (entry.dimension, entry.weight.to_bits()))
            .collect()
    }
}

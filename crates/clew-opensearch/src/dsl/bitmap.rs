//! Numbers of a `terms` query as a compressed set, written in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use roaring::RoaringBitmap;
use serde_json::Value;

use super::DslError;

/// Numbers of one set: as many as a `terms` query takes.
const NUMBERS_MAX: u64 = 65_536;

/// The numbers in the sets.
pub(super) fn numbers(values: &[Value]) -> Result<Vec<Value>, DslError> {
    let mut numbers = Vec::new();
    for value in values {
        let malformed = || DslError::illegal("Failed to deserialize the bitmap.");
        let bytes = STANDARD
            .decode(value.as_str().ok_or_else(malformed)?)
            .map_err(|_| malformed())?;
        let bitmap = RoaringBitmap::deserialize_from(bytes.as_slice()).map_err(|_| malformed())?;
        if bitmap.len() > NUMBERS_MAX {
            return Err(DslError::illegal(format!(
                "a bitmap may have at most [{NUMBERS_MAX}] numbers"
            )));
        }
        numbers.extend(bitmap.iter().map(Value::from));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sets_become_their_numbers() {
        let set = json!("OjAAAAEAAAAAAAEAEAAAAG8A3gA=");
        assert_eq!(numbers(&[set]).unwrap(), [json!(111), json!(222)]);
        for wrong in [json!("no base64!"), json!("AAAA"), json!(1)] {
            assert!(numbers(std::slice::from_ref(&wrong)).is_err(), "{wrong}");
        }
    }
}

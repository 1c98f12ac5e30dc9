//! Indexes that are called as the factory of Faiss calls them (`IVF64,PQ8x4`): which of Clew's structures answers for each.
//!
//! How vectors are turned before, and told from each other behind, is passed over: distances are measured exactly here.

use std::collections::BTreeMap;

use clew_vector::ListCodes;

use super::vector_index::Structure;
use crate::collection::{DataType, Field};
use crate::error::{MilvusError, Result};

/// The type of such indexes.
pub(super) const FAISS: &str = "FAISS";
/// What says how one is called.
const NAME: &str = "faiss_index_name";

/// What vectors are turned by stands before the structure.
const TURNS: [&str; 6] = ["OPQ", "PCA", "RR", "ITQ", "L2norm", "Pad"];
/// Structures that are nothing but codes: all of them are looked at.
const CODES: [&str; 4] = ["PQ", "SQ", "LSH", "RaBitQ"];

/// The structure that an index is called by, and the parameters with what its name says of them.
///
/// # Errors
/// Where there is no name, or none of an index that the field can have.
pub(super) fn structure_of(
    field: &Field,
    params: &BTreeMap<String, String>,
) -> Result<(Structure, BTreeMap<String, String>)> {
    let missing = || MilvusError::Missing(format!("{FAISS} index must specify {NAME}"));
    let called = params.get(NAME).ok_or_else(missing)?;
    let parts = called.split(',').map(str::trim);
    let mut parts = parts.filter(|part| !TURNS.iter().any(|turn| part.starts_with(turn)));
    let base = parts.next().unwrap_or_default();
    let of_bits = base.strip_prefix('B');
    let refused = || MilvusError::invalid(format!("invalid {NAME}: {called}"));
    if of_bits.is_some() != (field.data_type == DataType::BinaryVector) {
        return Err(refused());
    }
    let base = of_bits.unwrap_or(base);
    let mut own = params.clone();
    let mut say = |name: &str, rest: &str| -> Result<()> {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if digits.is_empty() {
            return Err(refused());
        }
        own.insert(name.to_string(), digits);
        Ok(())
    };
    let structure = if base == "Flat" {
        Structure::Flat
    } else if let Some(rest) = base.strip_prefix("HNSW") {
        say("M", rest)?;
        Structure::Graph
    } else if let Some(rest) = base.strip_prefix("IVF") {
        say("nlist", rest)?;
        match (of_bits.is_some(), parts.any(|part| part.starts_with("PQ"))) {
            // As `BIN_IVF_FLAT` is.
            (true, _) => Structure::Graph,
            (false, true) => Structure::Lists(ListCodes::Product),
            (false, false) => Structure::Lists(ListCodes::Chosen),
        }
    } else if of_bits.is_none() && CODES.iter().any(|codes| base.starts_with(codes)) {
        Structure::Flat
    } else {
        return Err(refused());
    };
    Ok((structure, own))
}

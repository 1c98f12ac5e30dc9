//! What the parameters of an index may be, checked when it is asked for. Most of them mean nothing to the structures of
//! Clew; but who mistypes one is told so here as by Milvus, and not by what is found.

mod texts;

use std::collections::BTreeMap;

use clew_query::Bm25;
use clew_schema::similarity::{B, K1};

use super::factory::FAISS;
use super::vector_index::check_scalar_type;
use crate::collection::{DataType, Field};
use crate::error::{MilvusError, Result};

use texts::{check_grams, check_json_of_grams, check_suffixes};

/// Greatest number of a parameter that has no other bound.
const NUMBER_MAX: u64 = 2_147_483_647;
/// Most links of a vector.
pub(super) const LINKS: (u64, u64) = (2, 2_048);
/// Candidates for links.
pub(super) const CANDIDATES: (u64, u64) = (1, NUMBER_MAX);
/// The bands that signatures are cut into.
pub(super) const BANDS: &str = "mh_lsh_band";
/// How many there may be; of more than there are hashes each is a band.
pub(super) const BANDS_BOUNDS: (u64, u64) = (1, NUMBER_MAX);
/// Inverted lists.
pub(super) const LISTS: (u64, u64) = (1, 65_536);

/// Types that JSON is read as, for an index of what a path leads to.
const CAST_TYPES: [&str; 7] = [
    "BOOL",
    "DOUBLE",
    "VARCHAR",
    "ARRAY_BOOL",
    "ARRAY_DOUBLE",
    "ARRAY_VARCHAR",
    "JSON",
];

type Params = BTreeMap<String, String>;

/// How Milvus walks an inverted index of sparse vectors; here the answers are the same whichever is named.
const WAYS: [&str; 8] = [
    "TAAT_NAIVE",
    "DAAT_WAND",
    "DAAT_MAXSCORE",
    "DAAT_BLOCKMAX_WAND",
    "DAAT_BLOCKMAX_MAXSCORE",
    "BLOCK_MAX_MAXSCORE",
    "BLOCK_MAX_WAND",
    "SINDI",
];

/// How Milvus packs the lists of such an index, how wide the ranges of rows are that it walks at once, and how it holds weights and
/// counts of words. Nothing here follows from that.
const CODECS: [&str; 2] = ["block_streamvbyte", "block_maskedvbyte"];
const WINDOWS: (u64, u64) = (1_024, 65_535);
const WEIGHTS: [&str; 3] = ["fp16", "bf16", "fp32"];
const COUNTS: [&str; 3] = ["u8", "u16", "u32"];

/// Index types that take vectors of floats alone; so do those whose names begin with `GPU_` and `SVS_`.
const OF_FLOATS: [&str; 9] = [
    "FLAT",
    "IVF_FLAT",
    "IVF_FLAT_CC",
    "IVF_SQ8",
    "IVF_PQ",
    "IVF_RABITQ",
    "SCANN",
    "DISKANN",
    "AISAQ",
];

/// Metrics of binary vectors that Milvus has for `BIN_FLAT` alone, and we have not.
pub(super) const OF_STRUCTURES: [&str; 2] = ["SUBSTRUCTURE", "SUPERSTRUCTURE"];

/// What may be said of an index that the server chooses: what is near, how it is held in memory, and that it is what it is
/// called, which Clew alone knows.
const OF_AUTOMATIC: [&str; 5] = [
    "index_type",
    "metric_type",
    "mmap.enabled",
    "warmup",
    "exact_structure",
];

/// Whether an index type is one for vectors of a type; what is said here holds of indexes that are made from now on.
fn is_for(index_type: &str, data_type: DataType) -> bool {
    match index_type {
        "BIN_FLAT" | "BIN_IVF_FLAT" | "MINHASH_LSH" => data_type == DataType::BinaryVector,
        "HNSW_SQ" | "HNSW_PQ" | "HNSW_PRQ" => !matches!(
            data_type,
            DataType::BinaryVector | DataType::SparseFloatVector
        ),
        FAISS => matches!(data_type, DataType::FloatVector | DataType::BinaryVector),
        other
            if OF_FLOATS.contains(&other)
                || other.starts_with("GPU_")
                || other.starts_with("SVS_") =>
        {
            matches!(
                data_type,
                DataType::FloatVector | DataType::Float16Vector | DataType::BFloat16Vector
            )
        }
        // What there is no such type of, and what is of sparse vectors, is told where the index is read.
        _ => true,
    }
}

/// Refuses index types that a vector field cannot have, and parameters that a vector index of Milvus does not take.
///
/// # Errors
/// For those, for numbers out of bounds, and for words there are none of.
pub(crate) fn check_vector(field: &Field, params: &Params) -> Result<()> {
    let index_type = params.get("index_type").map_or("", String::as_str);
    if !is_for(index_type, field.data_type) {
        return Err(refused(format!(
            "data type {} can't build with this index {index_type}",
            field.data_type.name()
        )));
    }
    if field.data_type == DataType::BinaryVector {
        check_of_structures(index_type, params)?;
    }
    if matches!(index_type, "" | "AUTOINDEX")
        && params
            .keys()
            .any(|key| !OF_AUTOMATIC.contains(&key.as_str()))
    {
        return Err(refused("only metric type can be passed when use AutoIndex"));
    }
    let is_graph = index_type.starts_with("HNSW");
    let has_lists = index_type.contains("IVF") || index_type == "SCANN";
    let has_codes = index_type.ends_with("_PQ") || index_type == "HNSW_PRQ";
    if is_graph {
        number::<u64>(params, "M", LINKS)?;
        number::<u64>(params, "efConstruction", CANDIDATES)?;
    }
    if has_lists {
        number::<u64>(params, "nlist", LISTS)?;
    }
    if has_codes {
        number::<u64>(params, "nbits", (1, 24))?;
        if let Some(parts) = number::<usize>(params, "m", (1, 65_536))?
            && !field.dimension()?.is_multiple_of(parts)
        {
            let vector = match index_type {
                "HNSW_PQ" => "the vector",
                _ => "a vector",
            };
            return Err(refused(format!(
                "The dimension of {vector} (dim) should be a multiple of the number of subquantizers (m). Dimension:{}, m:{parts}",
                field.dimension()?
            )));
        }
    }
    if index_type == "SCANN" {
        check_parts(field, params)?;
    }
    if index_type == "HNSW_PRQ" {
        number::<u64>(params, "nrq", (1, 16))?;
    }
    if index_type == "HNSW_SQ"
        && let Some(given) = params.get("sq_type")
        && !["SQ4U", "SQ6", "SQ8", "BF16", "FP16"].contains(&given.to_ascii_uppercase().as_str())
    {
        return Err(refused("invalid scalar quantizer type"));
    }
    if has_codes || index_type == "HNSW_SQ" || index_type == "IVF_RABITQ" {
        check_refinement(index_type, params)?;
    }
    if field.is_of_words() {
        word_weights(params)?;
    }
    if index_type == "MINHASH_LSH" {
        check_min_hash(params)?;
    }
    match index_type.starts_with("SPARSE") {
        true => check_sparse(field, params),
        false => Ok(()),
    }
}

/// Refuses vectors that are not cut into equal parts, of two numbers where nothing else is said.
fn check_parts(field: &Field, params: &Params) -> Result<()> {
    let size = number::<usize>(params, "sub_dim", (1, 65_536))?.unwrap_or(2);
    let dimension = field.dimension()?;
    match dimension.is_multiple_of(size) {
        true => Ok(()),
        false => Err(refused(format!(
            "The dimension of a vector (dim) should be a multiple of sub_dim. Dimension:{dimension}, sub_dim:{size}"
        ))),
    }
}

/// Refuses parameters of an index of sparse vectors that it does not take; they mean nothing here.
fn check_sparse(field: &Field, params: &Params) -> Result<()> {
    number::<u64>(params, "sindi_window_size", WINDOWS)?;
    number::<u64>(params, "block_max_block_size", (1, NUMBER_MAX))?;
    let held = match field.is_of_words() {
        true => COUNTS,
        false => WEIGHTS,
    };
    for (name, called, known) in [
        (
            "inverted_index_algo",
            "sparse inverted index algo",
            &WAYS[..],
        ),
        ("inverted_index_codec", "inverted_index_codec", &CODECS[..]),
        ("quant_type", "quant_type", &held[..]),
    ] {
        if let Some(given) = params.get(name)
            && !known.contains(&given.as_str())
        {
            return Err(refused(format!(
                "{called} {given} not found or not supported, supported: [{}]",
                known.join(" ")
            )));
        }
    }
    Ok(())
}

/// Refuses metrics of structures where an index in Milvus has none of them either.
fn check_of_structures(index_type: &str, params: &Params) -> Result<()> {
    let metric = params.get("metric_type").map_or("", String::as_str);
    match index_type {
        "" | "AUTOINDEX" | "BIN_IVF_FLAT" if OF_STRUCTURES.contains(&metric) => {
            Err(refused(format!(
                "metric type {metric} not found or not supported, supported: [HAMMING JACCARD]"
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses parameters of an index of signatures that it does not take. But for the width of hashes and the bands they mean
/// nothing here.
fn check_min_hash(params: &Params) -> Result<()> {
    if let Some(given) = params.get("metric_type").filter(|given| !given.is_empty())
        && !given.eq_ignore_ascii_case("MHJACCARD")
    {
        return Err(refused(format!(
            "metric type {given} not found or not supported, supported: [MHJACCARD]"
        )));
    }
    number::<u64>(params, BANDS, BANDS_BOUNDS)?;
    number::<u64>(params, "mh_lsh_aligned_block_size", (4_096, NUMBER_MAX))?;
    decimal(params, "mh_lsh_bloom_false_positive_prob", (0.0, 1.0))?;
    // How codes are held (`mh_lsh_code_in_mem`) is no matter of building, and Milvus does not read it here.
    for name in ["with_raw_data", "mh_lsh_shared_bloom_filter"] {
        if let Some(given) = params.get(name)
            && !["true", "false"].contains(&given.to_ascii_lowercase().as_str())
        {
            return Err(refused(format!(
                "Type conflict in json: param '{name}' (\"{given}\") should be a boolean"
            )));
        }
    }
    Ok(())
}

fn check_refinement(index_type: &str, params: &Params) -> Result<()> {
    if let Some(given) = params.get("refine")
        && !["true", "false"].contains(&given.to_ascii_lowercase().as_str())
    {
        return Err(refused(format!(
            "Type conflict in json: param 'refine' (\"{given}\") should be a boolean"
        )));
    }
    let mut known = vec!["sq6", "sq8", "fp16", "bf16", "fp32", "flat"];
    if matches!(index_type, "HNSW_SQ" | "HNSW_PQ") {
        known.insert(0, "sq4u");
    }
    match params.get("refine_type") {
        Some(given) if !known.contains(&given.to_ascii_lowercase().as_str()) => {
            Err(refused(format!(
                "invalid refine type : {given}, optional types are [{}]",
                known.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses index types that a scalar field cannot have, and parameters that they do not take.
///
/// # Errors
/// For those.
pub(crate) fn check_scalar(field: &Field, params: &Params) -> Result<()> {
    let index_type = params.get("index_type").map_or("", String::as_str);
    check_scalar_type(field, index_type)?;
    let data_type = field.data_type;
    let is_text = data_type == DataType::VarChar;
    let is_number = data_type.is_number();
    let is_json = data_type == DataType::Json;
    let said = match index_type {
        "TRIE" | "Trie" if !is_text => "TRIE are only supported on varchar field".to_string(),
        "INVERTED" if matches!(data_type, DataType::Timestamptz | DataType::Geometry) => {
            format!("INVERTED are not supported on {} field", data_type.name())
        }
        "RTREE" if data_type != DataType::Geometry => {
            "RTREE index can only be built on geometry field".to_string()
        }
        "STL_SORT" if !is_text && !is_number && !is_json && data_type != DataType::Timestamptz => {
            format!(
                "STL_SORT are only supported on numeric, varchar, timestamptz field, got {}",
                data_type.name()
            )
        }
        "BITMAP" if field.is_primary => {
            "create bitmap index on primary key not supported".to_string()
        }
        "BITMAP"
            if matches!(
                data_type,
                DataType::Float | DataType::Double | DataType::Timestamptz | DataType::Geometry
            ) =>
        {
            "bitmap index are only supported on bool, int, string and array field".to_string()
        }
        "BITMAP" if matches!(field.element_type, Some(DataType::Float | DataType::Double)) => {
            "bitmap index are only supported on bool, int, string for array field".to_string()
        }
        "NGRAM" if !is_text && !is_json => {
            "ngram index can only be created on VARCHAR or JSON field".to_string()
        }
        "FMINDEX" if !is_text => "FM-index can only be created on VARCHAR field".to_string(),
        "FMINDEX" => return check_suffixes(params),
        "NGRAM" if !is_json => return check_grams(params),
        "NGRAM" => return check_json_of_grams(params).and_then(|()| check_grams(params)),
        _ if is_json => return check_json(params),
        _ => return Ok(()),
    };
    Err(MilvusError::Invalid(format!(
        "{said}: invalid parameter[expected=valid index params][actual=invalid index params]"
    )))
}

/// Refuses an index of JSON that does not say what a path leads to: it is read as a type, and not every index has all of
/// them.
///
/// # Errors
/// For none, one that there is none of, and a function that does not make it.
fn check_json(params: &Params) -> Result<()> {
    let Some(cast) = params.get("json_cast_type") else {
        return Err(MilvusError::Missing(
            "json index must specify cast type: missing parameter[missing_param=json_cast_type]"
                .into(),
        ));
    };
    let cast = cast.trim().to_ascii_uppercase();
    let (types, kind): (&[&str], &str) = match params.get("index_type").map(String::as_str) {
        Some("BITMAP") => (&["BOOL", "VARCHAR"], " for BITMAP index"),
        Some("STL_SORT") => (&["DOUBLE", "VARCHAR"], " for STL_SORT index"),
        _ => (&CAST_TYPES, ""),
    };
    if !types.contains(&cast.as_str()) {
        return Err(refused(format!(
            "json_cast_type {cast} is not supported{kind}"
        )));
    }
    check_cast_function(&cast, params)
}

/// Refuses functions that make another type of what a path into JSON leads to: there is one, and it makes numbers.
fn check_cast_function(cast: &str, params: &Params) -> Result<()> {
    let Some(given) = params.get("json_cast_function") else {
        return Ok(());
    };
    match given.trim().to_ascii_uppercase().as_str() {
        "STRING_TO_DOUBLE" if cast == "DOUBLE" => Ok(()),
        known @ "STRING_TO_DOUBLE" => Err(refused(format!(
            "json_cast_function {known} is not supported for json_cast_type {cast}"
        ))),
        other => Err(refused(format!(
            "json_cast_function {other} is not supported"
        ))),
    }
}

/// A parameter that is a whole number within bounds, where it was given.
///
/// # Errors
/// When it is not.
pub(super) fn number<N: TryFrom<u64>>(
    params: &Params,
    name: &str,
    (min, max): (u64, u64),
) -> Result<Option<N>> {
    let Some(given) = params.get(name) else {
        return Ok(None);
    };
    let Ok(whole) = given.parse::<i64>() else {
        let wrong = match given.parse::<f64>() {
            Ok(_) => "wrong data type in json",
            Err(_) => "invalid integer value",
        };
        return Err(refused(format!("{wrong}, key: '{name}', value: '{given}'")));
    };
    let number = u64::try_from(whole).ok();
    let within = number.filter(|number| (min..=max).contains(number));
    let fits = within.and_then(|number| N::try_from(number).ok());
    fits.map(Some).ok_or_else(|| {
        refused(format!(
            "Out of range in json: param '{name}' ({given}) should be in range [{min}, {max}]"
        ))
    })
}

/// What an index of words says of BM25's parameters; what it leaves out is as usual.
///
/// # Errors
/// For what is no number, or out of bounds.
pub(super) fn word_weights(params: &Params) -> Result<Bm25> {
    let k1 = decimal(params, "bm25_k1", (0.0, 3.0))?;
    let b = decimal(params, "bm25_b", (0.0, 1.0))?;
    Ok(Bm25 {
        k1: k1.unwrap_or(K1),
        b: b.unwrap_or(B),
    })
}

/// A parameter that is a number within bounds, where it was given.
///
/// # Errors
/// When it is not.
fn decimal(params: &Params, name: &str, (min, max): (f32, f32)) -> Result<Option<f32>> {
    let Some(given) = params.get(name) else {
        return Ok(None);
    };
    let number: f32 = given.parse().map_err(|_| {
        refused(format!(
            "wrong data type in json, key: '{name}', value: '{given}'"
        ))
    })?;
    match (min..=max).contains(&number) {
        true => Ok(Some(number)),
        false => Err(refused(format!(
            "Out of range in json: param '{name}' ({given}) should be in range [{min}, {max}]"
        ))),
    }
}

fn refused(said: impl std::fmt::Display) -> MilvusError {
    MilvusError::Invalid(format!("{said}: invalid parameter"))
}

#[cfg(test)]
mod tests;

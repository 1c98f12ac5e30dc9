//! Indexes of vectors: which of Clew's structures answers for each that Milvus names.

use std::collections::BTreeMap;

use clew_query::Bm25;
use clew_vector::{
    ColumnOptions, EF_CONSTRUCTION_MAX, IvfOptions, ListCodes, M_MAX, Method, Space,
};

use super::factory::{FAISS, structure_of};
use super::index_params::{
    BANDS, BANDS_BOUNDS, CANDIDATES, LINKS, LISTS, OF_STRUCTURES, number, word_weights,
};
use crate::collection::{DataType, Field, KeptIndex, plain_column};
use crate::error::{MilvusError, Result};

/// How vectors are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    L2,
    InnerProduct,
    Cosine,
    Hamming,
    Jaccard,
    /// By the share of hashes that signatures have in common.
    MinHash,
    /// By the words of the text that a function reads.
    Bm25,
    /// Of lists of vectors: the sum over those searched for of the best among a row's.
    MaxSimL2,
    MaxSimInnerProduct,
    MaxSimCosine,
}

/// Every metric by its names, its own first.
const METRICS: [(Metric, &str); 11] = [
    (Metric::L2, "L2"),
    (Metric::InnerProduct, "IP"),
    (Metric::Cosine, "COSINE"),
    (Metric::Hamming, "HAMMING"),
    (Metric::Jaccard, "JACCARD"),
    (Metric::MinHash, "MHJACCARD"),
    (Metric::Bm25, "BM25"),
    (Metric::MaxSimL2, "MAX_SIM_L2"),
    (Metric::MaxSimInnerProduct, "MAX_SIM_IP"),
    (Metric::MaxSimCosine, "MAX_SIM_COSINE"),
    (Metric::MaxSimCosine, "MAX_SIM"),
];

impl Metric {
    pub(crate) fn named(name: &str) -> Option<Metric> {
        let mut metrics = METRICS.iter();
        metrics
            .find(|row| row.1.eq_ignore_ascii_case(name))
            .map(|row| row.0)
    }

    pub(crate) fn name(self) -> &'static str {
        let mut metrics = METRICS.iter();
        let found = metrics.find(|row| row.0 == self);
        found.map_or("", |row| row.1)
    }

    /// Whether a greater number is a better one.
    pub(crate) fn is_similarity(self) -> bool {
        !matches!(
            self,
            Metric::L2 | Metric::Hamming | Metric::Jaccard | Metric::MaxSimL2
        )
    }

    /// Whether it compares lists of vectors.
    pub(crate) fn is_max_sim(self) -> bool {
        matches!(
            self,
            Metric::MaxSimL2 | Metric::MaxSimInnerProduct | Metric::MaxSimCosine
        )
    }

    /// What Milvus says of a distance in a column's space.
    pub(crate) fn score(self, distance: f32) -> f32 {
        match self {
            Metric::L2 | Metric::Hamming | Metric::Jaccard | Metric::Bm25 | Metric::MaxSimL2 => {
                distance
            }
            // Not -0, which clients would show.
            Metric::InnerProduct | Metric::MaxSimInnerProduct | Metric::MaxSimCosine => {
                0.0 - distance
            }
            Metric::Cosine | Metric::MinHash => 1.0 - distance,
        }
    }

    /// The distance of which Milvus says this.
    pub(crate) fn distance(self, score: f32) -> f32 {
        self.score(score)
    }

    fn space(self) -> Option<Space> {
        Some(match self {
            Metric::L2 | Metric::MaxSimL2 => Space::L2,
            Metric::InnerProduct | Metric::MaxSimInnerProduct => Space::InnerProduct,
            Metric::Cosine | Metric::MaxSimCosine => Space::Cosine,
            Metric::Hamming => Space::Hamming,
            Metric::Jaccard => Space::Jaccard,
            // How wide hashes are is said beside it.
            Metric::MinHash | Metric::Bm25 => return None,
        })
    }
}

/// What Clew has for an index type of Milvus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// Every vector is measured.
    Flat,
    Graph,
    Lists(ListCodes),
    /// The inverted index of sparse vectors, or of words.
    Sparse,
}

/// The index types of Milvus that vectors may have.
const TYPES: [(&str, Structure); 27] = [
    ("FLAT", Structure::Flat),
    ("BIN_FLAT", Structure::Flat),
    ("GPU_BRUTE_FORCE", Structure::Flat),
    ("AUTOINDEX", Structure::Graph),
    ("HNSW", Structure::Graph),
    ("HNSW_SQ", Structure::Graph),
    ("HNSW_PQ", Structure::Graph),
    ("HNSW_PRQ", Structure::Graph),
    ("DISKANN", Structure::Graph),
    ("AISAQ", Structure::Graph),
    ("SVS_VAMANA", Structure::Graph),
    ("SVS_VAMANA_LVQ", Structure::Graph),
    ("SVS_VAMANA_LEANVEC", Structure::Graph),
    ("GPU_CAGRA", Structure::Graph),
    // Unless its name says otherwise.
    (FAISS, Structure::Graph),
    ("IVF_FLAT", Structure::Lists(ListCodes::Chosen)),
    ("IVF_FLAT_CC", Structure::Lists(ListCodes::Chosen)),
    ("IVF_SQ8", Structure::Lists(ListCodes::Chosen)),
    ("IVF_PQ", Structure::Lists(ListCodes::Product)),
    ("IVF_RABITQ", Structure::Lists(ListCodes::Chosen)),
    ("SCANN", Structure::Lists(ListCodes::Product)),
    ("GPU_IVF_FLAT", Structure::Lists(ListCodes::Chosen)),
    ("GPU_IVF_PQ", Structure::Lists(ListCodes::Product)),
    ("BIN_IVF_FLAT", Structure::Graph),
    ("MINHASH_LSH", Structure::Flat),
    ("SPARSE_INVERTED_INDEX", Structure::Sparse),
    ("SPARSE_WAND", Structure::Sparse),
];

/// Index types of scalars; the columns and postings that every field has answer for all.
const SCALAR_TYPES: [&str; 11] = [
    "",
    "INVERTED",
    "STL_SORT",
    "BITMAP",
    "HYBRID",
    "TRIE",
    "Trie",
    "AUTOINDEX",
    "NGRAM",
    "FMINDEX",
    "RTREE",
];

/// An index of a vector field, understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VectorIndex {
    pub(crate) metric: Metric,
    /// Whether searches measure every vector.
    pub(crate) is_flat: bool,
    /// Whether a search may keep fewer candidates than it has hits, as Milvus takes it of graphs of parts of vectors.
    pub(crate) keeps_few: bool,
    /// The column that dense vectors lie in.
    pub(crate) column: Option<ColumnOptions>,
    /// How words are weighed, where it is one of words.
    pub(crate) words: Option<Bm25>,
    /// What is searched for first, where it is one of signatures.
    pub(crate) bands: Option<Bands>,
}

/// Signatures in bands of so many hashes: two that have a band in common are likely to be of similar texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bands {
    /// How many there are.
    pub(crate) count: usize,
    /// Bytes of each.
    pub(crate) bytes: usize,
    /// The share of all hashes that are in one.
    pub(crate) share: f32,
}

impl Bands {
    /// As Milvus cuts signatures: hashes that are left over are in no band.
    fn read(column: &ColumnOptions, params: &BTreeMap<String, String>) -> Result<Option<Bands>> {
        let Some(bits) = column.space.slot_bits() else {
            return Ok(None);
        };
        let hashes = (column.dimension / bits).max(1);
        let given = number::<usize>(params, BANDS, BANDS_BOUNDS)?;
        let count = given.unwrap_or(1).min(hashes);
        let of_one = hashes / count;
        Ok(Some(Bands {
            count,
            bytes: of_one * bits / 8,
            share: of_one as f32 / hashes as f32,
        }))
    }
}

impl VectorIndex {
    /// Reads the parameters of an index and checks them.
    ///
    /// # Errors
    /// Types and metrics that the field cannot have, and numbers out of bounds.
    pub(crate) fn read(field: &Field, params: &BTreeMap<String, String>) -> Result<VectorIndex> {
        let param = |name: &str| params.get(name).map(String::as_str);
        let data_type = field.data_type;
        let index_type = param("index_type").unwrap_or("AUTOINDEX");
        let known = TYPES.iter().find(|row| row.0 == index_type);
        let Some(&(_, structure)) = known else {
            return Err(unfit_type(field, index_type, param("metric_type")));
        };
        let is_sparse = data_type == DataType::SparseFloatVector;
        let fits = match structure {
            Structure::Sparse => is_sparse,
            _ if index_type == "AUTOINDEX" => true,
            Structure::Flat if index_type == "BIN_FLAT" => data_type == DataType::BinaryVector,
            _ => !is_sparse,
        };
        if !fits {
            return Err(MilvusError::invalid(format!(
                "data type {} can't build with this index {index_type}: invalid parameter",
                data_type.name()
            )));
        }
        let metric = metric_of(field, param("metric_type"))?;
        let named;
        let (structure, params) = match index_type {
            FAISS => {
                let (structure, own) = structure_of(field, params)?;
                named = own;
                (structure, &named)
            }
            _ => (structure, params),
        };
        if is_sparse {
            check_share(params, "drop_ratio_build")?;
            let of_words = metric == Metric::Bm25;
            return Ok(VectorIndex {
                metric,
                is_flat: false,
                keeps_few: false,
                column: None,
                // Whoever makes one is refused weights that are none. There may be such from before they counted: they do not
                // count now either.
                words: of_words.then(|| word_weights(params).ok()).flatten(),
                bands: None,
            });
        }
        let column = column(field, (metric, structure), params)?;
        Ok(VectorIndex {
            metric,
            is_flat: structure == Structure::Flat || metric == Metric::MinHash,
            keeps_few: matches!(index_type, "HNSW_PQ" | "HNSW_PRQ"),
            bands: Bands::read(&column, params)?,
            column: Some(column),
            words: None,
        })
    }

    /// What was kept of an index, which was checked when it came.
    pub(crate) fn of(field: &Field, index: &KeptIndex) -> Result<VectorIndex> {
        VectorIndex::read(field, &flattened(&index.params)?)
    }
}

/// Some clients send parameters as JSON under the key `params`; they are parameters like the others.
pub(crate) fn flattened(params: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>> {
    let mut params = params.clone();
    let Some(nested) = params.remove("params") else {
        return Ok(params);
    };
    let nested: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&nested)
        .map_err(|error| MilvusError::invalid(format!("params is no JSON object: {error}")))?;
    for (key, value) in nested {
        let text = match value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        params.entry(key).or_insert(text);
    }
    Ok(params)
}

/// Refuses index types that no scalar field can have.
pub(super) fn check_scalar_type(field: &Field, index_type: &str) -> Result<()> {
    if SCALAR_TYPES.contains(&index_type) {
        return Ok(());
    }
    let is_of_vectors = TYPES.iter().any(|row| row.0 == index_type);
    Err(if is_of_vectors {
        MilvusError::invalid(format!(
            "data type {} can't build with this index {index_type}: invalid parameter",
            field.data_type.name()
        ))
    } else {
        unknown_type(index_type)
    })
}

fn unknown_type(index_type: &str) -> MilvusError {
    MilvusError::expected("valid index", format!("invalid index type: {index_type}"))
}

/// Why a vector field cannot have an index of a type that none of vectors has.
fn unfit_type(field: &Field, index_type: &str, metric: Option<&str>) -> MilvusError {
    if index_type.is_empty() || !SCALAR_TYPES.contains(&index_type) {
        return unknown_type(index_type);
    }
    let said = match metric.map(|name| metric_of(field, Some(name))) {
        None => "metric type not set for vector index".to_string(),
        Some(Err(refused)) => return refused,
        Some(Ok(_)) => format!(
            "data type {} can't build with this index {index_type}",
            field.data_type.name()
        ),
    };
    MilvusError::invalid(format!(
        "{said}: invalid parameter[expected=valid index params][actual=invalid index params]"
    ))
}

/// The metric of a field's index: the one that is given, or the usual one.
///
/// # Errors
/// For a metric that such a field cannot have.
pub(crate) fn metric_of(field: &Field, given: Option<&str>) -> Result<Metric> {
    let data_type = field.data_type;
    let usual = match data_type {
        DataType::BinaryVector if field.is_function_output => Metric::MinHash,
        DataType::BinaryVector => Metric::Hamming,
        DataType::SparseFloatVector if field.is_of_words() => Metric::Bm25,
        DataType::SparseFloatVector => Metric::InnerProduct,
        _ if field.is_part() => Metric::MaxSimCosine,
        _ => Metric::Cosine,
    };
    let metric = match given {
        None | Some("") => usual,
        Some(name @ ("MAX_SIM_HAMMING" | "MAX_SIM_JACCARD")) if field.is_part() => {
            return Err(MilvusError::Unsupported(format!("metric {name}")));
        }
        Some(name) if data_type == DataType::BinaryVector && OF_STRUCTURES.contains(&name) => {
            return Err(MilvusError::Unsupported(format!("metric {name}")));
        }
        Some(name) if field.is_of_words() && !name.eq_ignore_ascii_case(Metric::Bm25.name()) => {
            return Err(MilvusError::invalid(format!(
                "index metric type of BM25 function output field must be BM25, got {name}"
            )));
        }
        Some(name) => Metric::named(name).ok_or_else(|| unfit_metric(data_type, name))?,
    };
    let allowed: &[Metric] = match data_type {
        DataType::BinaryVector => &[Metric::Hamming, Metric::Jaccard, Metric::MinHash],
        DataType::SparseFloatVector if field.is_of_words() => &[Metric::Bm25],
        DataType::SparseFloatVector => &[Metric::InnerProduct],
        _ if field.is_part() => &[
            Metric::L2,
            Metric::InnerProduct,
            Metric::Cosine,
            Metric::MaxSimL2,
            Metric::MaxSimInnerProduct,
            Metric::MaxSimCosine,
        ],
        _ => &[Metric::L2, Metric::InnerProduct, Metric::Cosine],
    };
    if allowed.contains(&metric) {
        return Ok(metric);
    }
    Err(unfit_metric(data_type, metric.name()))
}

fn unfit_metric(data_type: DataType, name: &str) -> MilvusError {
    let said = match data_type {
        DataType::BinaryVector => {
            format!("binary vector index does not support metric type: {name}")
        }
        DataType::SparseFloatVector => {
            "only IP&BM25 is the supported metric type for sparse index".to_string()
        }
        DataType::Int8Vector => format!("int vector index does not support metric type: {name}"),
        _ => format!("float vector index does not support metric type: {name}"),
    };
    MilvusError::invalid(format!(
        "{said}: invalid parameter[expected=valid index params][actual=invalid index params]"
    ))
}

fn column(
    field: &Field,
    (metric, structure): (Metric, Structure),
    params: &BTreeMap<String, String>,
) -> Result<ColumnOptions> {
    let mut column = plain_column(field)?;
    let space = match metric {
        Metric::MinHash => Some(space_of_hashes(field, params)?),
        other => other.space(),
    };
    if let Some(space) = space {
        column.space = space;
    }
    if structure == Structure::Graph {
        // What Milvus takes beyond what a graph of ours can have is the most that it can have.
        if let Some(m) = number::<u16>(params, "M", LINKS)? {
            column.hnsw.m = m.min(M_MAX);
        }
        if let Some(ef) = number::<u64>(params, "efConstruction", CANDIDATES)? {
            let ef = u16::try_from(ef).unwrap_or(u16::MAX);
            column.hnsw.ef_construction = ef.clamp(2, EF_CONSTRUCTION_MAX);
        }
    }
    column.exact_structure = match params.get("exact_structure").map(String::as_str) {
        None | Some("false") => false,
        Some("true") => true,
        Some(given) => {
            return Err(MilvusError::invalid(format!(
                "param 'exact_structure' ({given}) should be true or false"
            )));
        }
    };
    if let Structure::Lists(codes) = structure {
        let lists = number::<u32>(params, "nlist", LISTS)?;
        // As Milvus' own default of 128 lists is meant for its segments, none given leaves the number to the vectors.
        let lists = lists.unwrap_or(0);
        column.method = Method::Lists(IvfOptions { lists, codes });
    }
    column
        .validate()
        .map_err(|error| MilvusError::invalid(error.to_string()))?;
    Ok(column)
}

/// The space of signatures, by the width of a hash: a function's are of 32 bits, others of 8 where nothing is said, as in
/// Milvus.
fn space_of_hashes(field: &Field, params: &BTreeMap<String, String>) -> Result<Space> {
    const NAME: &str = "mh_element_bit_width";
    let usual = if field.is_function_output { 32 } else { 8 };
    match number::<u64>(params, NAME, (8, 256))?.unwrap_or(usual) {
        8 => Ok(Space::MinHash8),
        32 => Ok(Space::MinHash32),
        64 => Ok(Space::MinHash64),
        other => Err(MilvusError::Unsupported(format!("{NAME} {other}"))),
    }
}

/// Refuses a parameter that is no share of less than all. Nothing is dropped from what is kept, so that it changes nothing
/// else.
fn check_share(params: &BTreeMap<String, String>, name: &str) -> Result<()> {
    let Some(given) = params.get(name) else {
        return Ok(());
    };
    let share: Option<f64> = given.parse().ok();
    match share {
        Some(share) if (0.0..1.0).contains(&share) => Ok(()),
        _ => Err(MilvusError::invalid(format!(
            "param '{name}' ({given}) should be in range [0.0, 1.0)"
        ))),
    }
}

#[cfg(test)]
mod tests;

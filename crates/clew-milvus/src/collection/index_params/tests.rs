use super::*;
use crate::collection::vector_index::VectorIndex;
use crate::proto::{FieldSchema, KeyValuePair};

fn field(data_type: DataType) -> Field {
    let pair = |key: &str, value: &str| KeyValuePair {
        key: key.into(),
        value: value.into(),
    };
    Field::read(FieldSchema {
        name: "f".into(),
        data_type: data_type.number(),
        type_params: vec![pair("dim", "8"), pair("max_length", "20")],
        ..FieldSchema::default()
    })
    .unwrap()
}

fn params(given: &str) -> Params {
    let pairs = given
        .split_whitespace()
        .map(|pair| pair.split_once('=').unwrap());
    pairs
        .map(|(key, value)| (key.into(), value.into()))
        .collect()
}

/// What indexes of vectors are refused for, and in which words.
const REFUSED: [(&str, &str); 20] = [
    (
        "index_type=HNSW M=2049",
        "param 'M' (2049) should be in range [2, 2048]",
    ),
    (
        "index_type=HNSW M=-1",
        "param 'M' (-1) should be in range [2, 2048]",
    ),
    (
        "index_type=HNSW M=16.0",
        "wrong data type in json, key: 'M', value: '16.0'",
    ),
    (
        "index_type=HNSW M=True",
        "invalid integer value, key: 'M', value: 'True': invalid parameter",
    ),
    (
        "index_type=HNSW efConstruction=0",
        "should be in range [1, 2147483647]",
    ),
    (
        "index_type=HNSW_PQ m=3",
        "The dimension of the vector (dim) should be a multiple",
    ),
    (
        "index_type=HNSW_PRQ m=3",
        "The dimension of a vector (dim) should be a multiple",
    ),
    (
        "index_type=HNSW_PQ refine_type=INT8",
        "optional types are [sq4u, sq6, sq8, fp16, bf16, fp32, flat]",
    ),
    (
        "index_type=IVF_PQ m=3",
        "The dimension of a vector (dim) should be a multiple",
    ),
    (
        "index_type=IVF_PQ nbits=25",
        "param 'nbits' (25) should be in range [1, 24]",
    ),
    (
        "index_type=HNSW_SQ sq_type=FP32",
        "invalid scalar quantizer type: invalid parameter",
    ),
    (
        "index_type=HNSW_SQ refine=1",
        "should be a boolean: invalid parameter",
    ),
    (
        "index_type=HNSW_SQ refine_type=INT8",
        "optional types are [sq4u, sq6, sq8, fp16, bf16, fp32, flat]",
    ),
    (
        "index_type=IVF_RABITQ refine_type=PQ",
        "invalid refine type : PQ, optional types are [sq6, sq8,",
    ),
    (
        "index_type=SPARSE_WAND inverted_index_algo=NONE",
        "sparse inverted index algo NONE not found or not supported",
    ),
    (
        "index_type=SPARSE_INVERTED_INDEX inverted_index_codec=zip",
        "inverted_index_codec zip not found or not supported, supported: [block_streamvbyte block_maskedvbyte]",
    ),
    (
        "index_type=SCANN sub_dim=3",
        "should be a multiple of sub_dim. Dimension:8, sub_dim:3",
    ),
    (
        "index_type=SPARSE_INVERTED_INDEX quant_type=u16",
        "quant_type u16 not found or not supported",
    ),
    (
        "index_type=SPARSE_INVERTED_INDEX sindi_window_size=65536",
        "param 'sindi_window_size' (65536) should be in range [1024, 65535]",
    ),
    (
        "index_type=SPARSE_INVERTED_INDEX block_max_block_size=0",
        "param 'block_max_block_size' (0) should be in range [1, 2147483647]",
    ),
];

#[test]
fn vector_indexes_take_what_milvus_takes() {
    let vector = field(DataType::FloatVector);
    for taken in [
        "index_type=HNSW M=2048 efConstruction=1",
        "index_type=HNSW efConstruction=10000 nobody=knows",
        "index_type=HNSW_SQ sq_type=fp16 refine=TRUE refine_type=SQ8",
        "index_type=HNSW_PQ m=4 nbits=8",
        "index_type=IVF_RABITQ nlist=65536 refine=false refine_type=flat",
        "index_type=IVF_FLAT M=-1",
        "index_type=SCANN sub_dim=4",
    ] {
        assert_eq!(check_vector(&vector, &params(taken)), Ok(()), "{taken}");
    }
    for (given, said) in REFUSED {
        let refused = check_vector(&vector, &params(given)).unwrap_err();
        assert_eq!(refused.code(), 1100, "{given}");
        assert!(refused.to_string().contains(said), "{given}: {refused}");
    }
}

#[test]
fn graphs_of_packed_vectors_are_none_of_sparse_ones() {
    let sparse = Field::named("f", DataType::SparseFloatVector);
    for index_type in ["HNSW_SQ", "HNSW_PQ", "HNSW_PRQ"] {
        let given = params(&format!("index_type={index_type} m=4"));
        let refused = check_vector(&sparse, &given).unwrap_err();
        let said = format!("data type SparseFloatVector can't build with this index {index_type}");
        assert!(refused.to_string().contains(&said), "{refused}");
    }
}

#[test]
fn metrics_of_structures_are_told_from_those_that_there_are_none_of() {
    let bits = field(DataType::BinaryVector);
    for metric in ["SUBSTRUCTURE", "SUPERSTRUCTURE"] {
        for given in [
            "",
            "index_type=AUTOINDEX ",
            "index_type=BIN_IVF_FLAT nlist=64 ",
        ] {
            let given = params(&format!("{given}metric_type={metric}"));
            let refused = check_vector(&bits, &given).unwrap_err();
            assert_eq!(
                refused.to_string(),
                format!(
                    "metric type {metric} not found or not supported, supported: [HAMMING JACCARD]: invalid parameter"
                )
            );
        }
        let given = params(&format!("index_type=BIN_FLAT metric_type={metric}"));
        assert_eq!(check_vector(&bits, &given), Ok(()));
        let refused = VectorIndex::read(&bits, &given).unwrap_err();
        assert_eq!(refused.code(), 3000, "{refused}");
    }
}

#[test]
fn an_index_of_signatures_takes_what_milvus_takes() {
    let bits = field(DataType::BinaryVector);
    for taken in [
        "metric_type=MHJACCARD",
        "metric_type=mhjaccard mh_lsh_band=128 mh_element_bit_width=32 with_raw_data=True",
        "metric_type=MHJACCARD mh_lsh_code_in_mem=false mh_lsh_bloom_false_positive_prob=0.05",
        "metric_type=MHJACCARD mh_lsh_code_in_mem=1",
    ] {
        let given = params(&format!("index_type=MINHASH_LSH {taken}"));
        assert_eq!(check_vector(&bits, &given), Ok(()), "{taken}");
    }
    for (given, said) in [
        ("metric_type=HAMMING", "metric type HAMMING not found"),
        (
            "mh_lsh_band=0",
            "param 'mh_lsh_band' (0) should be in range [1,",
        ),
        ("mh_lsh_band=x", "invalid integer value, key: 'mh_lsh_band'"),
        ("with_raw_data=1", "should be a boolean"),
        (
            "mh_lsh_bloom_false_positive_prob=2",
            "should be in range [0, 1]",
        ),
    ] {
        let refused = check_vector(&bits, &params(&format!("index_type=MINHASH_LSH {given}")));
        let refused = refused.unwrap_err();
        assert_eq!(refused.code(), 1100, "{given}");
        assert!(refused.to_string().contains(said), "{given}: {refused}");
    }
}

#[test]
fn an_index_that_the_server_chooses_is_told_its_metric_alone() {
    let vector = field(DataType::FloatVector);
    for taken in [
        "metric_type=L2",
        "index_type=AUTOINDEX metric_type=L2 mmap.enabled=true exact_structure=true",
    ] {
        assert_eq!(check_vector(&vector, &params(taken)), Ok(()), "{taken}");
    }
    for given in [
        "metric_type=L2 M=16",
        "index_type=AUTOINDEX metric_type=L2 nlist=1024",
    ] {
        let refused = check_vector(&vector, &params(given)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "only metric type can be passed when use AutoIndex: invalid parameter",
            "{given}"
        );
    }
}

#[test]
fn an_index_type_is_for_some_types_of_vectors() {
    let (float, half) = (DataType::FloatVector, DataType::BFloat16Vector);
    let (bytes, bits) = (DataType::Int8Vector, DataType::BinaryVector);
    for (index_type, taken) in [
        ("AUTOINDEX", vec![float, half, bytes, bits]),
        ("HNSW", vec![float, half, bytes, bits]),
        ("HNSW_SQ", vec![float, half, bytes]),
        ("HNSW_PRQ", vec![float, half, bytes]),
        ("FLAT", vec![float, half]),
        ("IVF_RABITQ", vec![float, half]),
        ("GPU_CAGRA", vec![float, half]),
        ("SVS_VAMANA_LVQ", vec![float, half]),
        ("BIN_IVF_FLAT", vec![bits]),
        ("MINHASH_LSH", vec![bits]),
    ] {
        for data_type in [float, half, bytes, bits] {
            let given = params(&format!("index_type={index_type}"));
            let checked = check_vector(&field(data_type), &given);
            let name = data_type.name();
            match taken.contains(&data_type) {
                true => assert_eq!(checked, Ok(()), "{index_type} of {name}"),
                false => assert_eq!(
                    checked.unwrap_err().to_string(),
                    format!(
                        "data type {name} can't build with this index {index_type}: invalid parameter"
                    )
                ),
            }
        }
    }
}

#[test]
fn what_words_count_is_within_bounds() {
    let output = Field {
        is_function_output: true,
        ..Field::named("f", DataType::SparseFloatVector)
    };
    let of_words = |given: &str| {
        let given = format!("index_type=SPARSE_INVERTED_INDEX metric_type=BM25 {given}");
        check_vector(&output, &params(&given))
    };
    assert_eq!(of_words("bm25_k1=1.5 bm25_b=0"), Ok(()));
    assert_eq!(of_words("quant_type=u16 sindi_window_size=1024"), Ok(()));
    for (given, said) in [
        (
            "bm25_k1=-1",
            "param 'bm25_k1' (-1) should be in range [0, 3]",
        ),
        (
            "bm25_b=1.1",
            "param 'bm25_b' (1.1) should be in range [0, 1]",
        ),
        ("quant_type=fp16", "quant_type fp16 not found"),
        ("bm25_b=NaN", "should be in range [0, 1]"),
        ("bm25_k1=much", "wrong data type in json, key: 'bm25_k1'"),
    ] {
        let refused = of_words(given).unwrap_err();
        assert_eq!(refused.code(), 1100, "{given}");
        assert!(refused.to_string().contains(said), "{given}: {refused}");
    }
}

#[test]
fn scalar_indexes_are_of_the_types_that_milvus_has_them_for() {
    for (data_type, taken) in [
        (DataType::VarChar, "index_type=TRIE"),
        (DataType::VarChar, "index_type=Trie"),
        (DataType::VarChar, "index_type=NGRAM min_gram=2 max_gram=3"),
        (
            DataType::VarChar,
            "index_type=FMINDEX fm_sa_sample_rate=4 fm_block_bytes=128",
        ),
        (DataType::Double, "index_type=STL_SORT"),
        (DataType::Bool, "index_type=BITMAP"),
        (
            DataType::Json,
            "index_type=INVERTED json_cast_type=varchar json_path=f['a']",
        ),
        (
            DataType::Json,
            "index_type=INVERTED json_cast_type=double json_cast_function=string_to_double",
        ),
        (
            DataType::Json,
            "index_type=BITMAP json_cast_type=bool json_path=f['a']",
        ),
    ] {
        assert_eq!(
            check_scalar(&field(data_type), &params(taken)),
            Ok(()),
            "{taken}"
        );
    }
}

/// Types, parameters, and the code that they are refused with.
const REFUSED_SCALARS: &[(DataType, &str, i32)] = &[
    (DataType::Int8, "index_type=TRIE", 1100),
    (DataType::Int8, "index_type=Trie", 1100),
    (DataType::Bool, "index_type=STL_SORT", 1100),
    (DataType::Timestamptz, "index_type=INVERTED", 1100),
    (DataType::Geometry, "index_type=INVERTED", 1100),
    (DataType::Geometry, "index_type=BITMAP", 1100),
    (DataType::Geometry, "index_type=STL_SORT", 1100),
    (DataType::VarChar, "index_type=RTREE", 1100),
    (DataType::Float, "index_type=BITMAP", 1100),
    (
        DataType::Int8,
        "index_type=NGRAM min_gram=2 max_gram=3",
        1100,
    ),
    (DataType::Int8, "index_type=FMINDEX", 1100),
    (
        DataType::Json,
        "index_type=FMINDEX json_cast_type=VARCHAR",
        1100,
    ),
    (
        DataType::VarChar,
        "index_type=FMINDEX fm_sa_sample_rate=3",
        1100,
    ),
    (
        DataType::VarChar,
        "index_type=FMINDEX fm_sa_sample_rate=a",
        1100,
    ),
    (
        DataType::VarChar,
        "index_type=FMINDEX fm_block_bytes=24",
        1100,
    ),
    (
        DataType::VarChar,
        "index_type=FMINDEX fm_block_bytes=256",
        1100,
    ),
    (DataType::VarChar, "index_type=NGRAM", 1101),
    (
        DataType::VarChar,
        "index_type=NGRAM min_gram=3 max_gram=2",
        1100,
    ),
    (DataType::Json, "index_type=INVERTED", 1101),
    (
        DataType::Json,
        "index_type=NGRAM min_gram=2 max_gram=3",
        1101,
    ),
    (
        DataType::Json,
        "index_type=NGRAM json_cast_type=DOUBLE min_gram=2 max_gram=3",
        1100,
    ),
    (
        DataType::Json,
        "index_type=INVERTED json_cast_type=text",
        1100,
    ),
    (
        DataType::Json,
        "index_type=BITMAP json_cast_type=double json_path=f['a']",
        1100,
    ),
    (
        DataType::Json,
        "index_type=STL_SORT json_cast_type=bool json_path=f['a']",
        1100,
    ),
    (
        DataType::Json,
        "index_type=INVERTED json_cast_type=double json_cast_function=text_to_double",
        1100,
    ),
    (
        DataType::Json,
        "index_type=INVERTED json_cast_type=varchar json_cast_function=string_to_double",
        1100,
    ),
];

#[test]
fn scalar_indexes_are_refused_for_types_that_milvus_has_none_for() {
    for &(data_type, given, code) in REFUSED_SCALARS {
        let refused = check_scalar(&field(data_type), &params(given)).unwrap_err();
        assert_eq!(refused.code(), code, "{given}");
    }
}

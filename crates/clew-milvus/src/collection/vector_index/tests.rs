use super::*;

fn field(data_type: DataType) -> Field {
    Field::read(crate::proto::FieldSchema {
        name: "v".into(),
        data_type: data_type.number(),
        type_params: match data_type {
            DataType::SparseFloatVector => Vec::new(),
            _ => vec![crate::proto::KeyValuePair {
                key: "dim".into(),
                value: "8".into(),
            }],
        },
        ..crate::proto::FieldSchema::default()
    })
    .unwrap()
}

fn params(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let own = |(key, value): &(&str, &str)| (key.to_string(), value.to_string());
    pairs.iter().map(own).collect()
}

#[test]
fn an_index_is_a_structure_of_ours() {
    let float = field(DataType::FloatVector);
    let given = params(&[("index_type", "HNSW"), ("metric_type", "L2"), ("M", "8")]);
    let hnsw = VectorIndex::read(&float, &given).unwrap();
    let column = hnsw.column.unwrap();
    assert_eq!((column.space, column.hnsw.m), (Space::L2, 8));
    let given = params(&[("index_type", "IVF_SQ8"), ("nlist", "64")]);
    let lists = VectorIndex::read(&float, &given).unwrap().column.unwrap();
    assert!(matches!(lists.method, Method::Lists(options) if options.lists == 64));
    assert!(
        VectorIndex::read(&float, &params(&[("index_type", "FLAT")]))
            .unwrap()
            .is_flat
    );
    let keeps_few = |index_type| {
        let index = VectorIndex::read(&float, &params(&[("index_type", index_type)]));
        index.unwrap().keeps_few
    };
    let graphs = ["HNSW", "HNSW_SQ", "HNSW_PQ", "HNSW_PRQ"];
    assert_eq!(graphs.map(keeps_few), [false, false, true, true]);
}

#[test]
fn indexes_are_called_as_the_factory_of_faiss_calls_them() {
    let (float, bits) = (field(DataType::FloatVector), field(DataType::BinaryVector));
    let read = |field: &Field, name| {
        let given = params(&[("index_type", "FAISS"), ("faiss_index_name", name)]);
        VectorIndex::read(field, &given)
    };
    for name in ["Flat", "PQ8x4", "OPQ8,PQ4", "PCA4,Flat"] {
        assert!(read(&float, name).unwrap().is_flat, "{name}");
    }
    assert!(read(&bits, "BFlat").unwrap().is_flat);
    let graph = read(&float, "HNSW16,Flat").unwrap().column.unwrap();
    assert_eq!((graph.hnsw.m, graph.method), (16, Method::Graph));
    for (name, codes) in [
        ("IVF64,Flat", ListCodes::Chosen),
        ("OPQ8,IVF64_HNSW32,PQ4x4,RFlat", ListCodes::Product),
    ] {
        let method = read(&float, name).unwrap().column.unwrap().method;
        let lists = IvfOptions { lists: 64, codes };
        assert_eq!(method, Method::Lists(lists), "{name}");
    }
    for name in ["", "BFlat", "Nothing", "IVF", "OPQ8", "HNSW1"] {
        assert_eq!(read(&float, name).unwrap_err().code(), 1100, "{name}");
    }
    let unnamed = VectorIndex::read(&float, &params(&[("index_type", "FAISS")]));
    assert_eq!(unnamed.unwrap_err().code(), 1101);
    assert!(read(&bits, "Flat").is_err());
}

#[test]
fn what_does_not_fit_is_refused() {
    let float = field(DataType::FloatVector);
    for wrong in [
        params(&[("index_type", "NOPE")]),
        params(&[("index_type", "SPARSE_WAND")]),
        params(&[("index_type", "HNSW"), ("metric_type", "HAMMING")]),
        params(&[("index_type", "HNSW"), ("M", "1")]),
        params(&[("index_type", "HNSW"), ("M", "many")]),
    ] {
        let refused = VectorIndex::read(&float, &wrong).unwrap_err();
        assert_eq!(refused.code(), 1100, "{wrong:?}");
    }
    assert!(check_scalar_type(&field(DataType::Int64), "HNSW").is_err());
}

#[test]
fn sparse_vectors_have_one_metric_and_drop_a_share() {
    let sparse = field(DataType::SparseFloatVector);
    let read = |pairs: &[(&str, &str)]| VectorIndex::read(&sparse, &params(pairs));
    let index = [
        ("index_type", "SPARSE_WAND"),
        ("metric_type", "IP"),
        ("drop_ratio_build", "0.2"),
    ];
    assert_eq!(read(&index).unwrap().metric, Metric::InnerProduct);
    for wrong in [
        ("drop_ratio_build", "1"),
        ("drop_ratio_build", "-0.1"),
        ("drop_ratio_build", "much"),
        ("metric_type", "L2"),
    ] {
        assert_eq!(read(&[wrong]).unwrap_err().code(), 1100, "{wrong:?}");
    }
}

#[test]
fn signatures_are_cut_into_bands_of_whole_hashes() {
    let bits = |dim: &str, is_function_output: bool| Field {
        params: params(&[("dim", dim)]),
        is_function_output,
        ..Field::named("b", DataType::BinaryVector)
    };
    for (field, bands, width, space, (count, bytes)) in [
        (bits("512", true), "1", "32", Space::MinHash32, (1, 64)),
        (bits("512", true), "5", "32", Space::MinHash32, (5, 12)),
        (bits("512", false), "8", "8", Space::MinHash8, (8, 8)),
        (bits("512", false), "99", "64", Space::MinHash64, (8, 8)),
    ] {
        let given = [("mh_lsh_band", bands), ("mh_element_bit_width", width)];
        let mut all = params(&[("index_type", "MINHASH_LSH"), ("metric_type", "MHJACCARD")]);
        all.extend(params(&given));
        let index = VectorIndex::read(&field, &all).unwrap();
        assert_eq!(index.column.unwrap().space, space, "{given:?}");
        let bands = index.bands.unwrap();
        assert_eq!((bands.count, bands.bytes), (count, bytes), "{given:?}");
    }
    let usual = params(&[("metric_type", "MHJACCARD")]);
    for (is_filled, space) in [(true, Space::MinHash32), (false, Space::MinHash8)] {
        let index = VectorIndex::read(&bits("512", is_filled), &usual).unwrap();
        assert_eq!(index.column.unwrap().space, space, "{is_filled}");
    }
    let wide = params(&[
        ("metric_type", "MHJACCARD"),
        ("mh_element_bit_width", "128"),
    ]);
    let refused = VectorIndex::read(&bits("512", false), &wide).unwrap_err();
    assert_eq!(refused.code(), 3000);
    let wide = params(&[("metric_type", "MHJACCARD"), ("mh_element_bit_width", "64")]);
    let refused = VectorIndex::read(&bits("96", false), &wide).unwrap_err();
    assert!(
        refused.to_string().contains("must be a multiple of 64"),
        "{refused}"
    );
}

#[test]
fn an_index_of_words_from_before_its_weights_counted_is_still_searched() {
    let output = Field {
        is_function_output: true,
        ..field(DataType::SparseFloatVector)
    };
    let words = |k1: &str| {
        let read = VectorIndex::read(&output, &params(&[("bm25_k1", k1)]));
        read.unwrap().words
    };
    assert!(words("1.5").is_some_and(|words| (words.k1 - 1.5).abs() < 1e-6));
    for kept in ["7", "much"] {
        assert_eq!(words(kept), None);
    }
}

#[test]
fn scores_are_milvus_own() {
    for (metric, distance, score) in [
        (Metric::L2, 4.0, 4.0),
        (Metric::InnerProduct, -3.0, 3.0),
        (Metric::Cosine, 0.25, 0.75),
        (Metric::MinHash, 0.25, 0.75),
    ] {
        assert_eq!(metric.score(distance), score);
        assert_eq!(metric.distance(score), distance);
    }
}

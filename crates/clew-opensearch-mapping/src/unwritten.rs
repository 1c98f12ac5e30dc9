//! What a field has that nobody wrote in OpenSearch's JSON, as of a field that another protocol made: shown in the
//! parameters that would have made it. A field that was written is shown as it was, from what is kept of that.

use clew_analysis::shown_name;
use clew_schema::{
    CompletionMapping, CompressionLevel, ContextKind, FieldKind, FieldSettings, FloatKind,
    MappedField, VectorCompression, VectorMapping, VectorMode,
};
use clew_vector::{CodeBits, ColumnOptions, Element, HnswOptions, ListCodes, Method, Space};
use serde_json::{Map, Value, json};

use crate::completion::{ANALYZER_DEFAULT, LENGTH_DEFAULT};

/// The parameters of a field of which nothing was written.
pub(crate) fn unwritten(field: &MappedField) -> Map<String, Value> {
    let mut shown = Map::new();
    let mut set = |key: &str, value: Value| {
        shown.insert(key.to_string(), value);
    };
    let settings = &field.settings;
    match &field.kind {
        FieldKind::Text { .. } => text(settings, &mut set),
        FieldKind::Vector(mapping) => vector(mapping, settings.compression, &mut set),
        FieldKind::Completion(mapping) => completion(mapping, &mut set),
        FieldKind::RankFeatures | FieldKind::Float(FloatKind::RankFeature) if settings.inverse => {
            set("positive_score_impact", json!(false));
        }
        _ => {}
    }
    if let Some(similarity) = &settings.similarity {
        set("similarity", json!(similarity));
    }
    if let Some(meta) = &settings.meta {
        set("meta", meta.clone());
    }
    shown
}

fn text(settings: &FieldSettings, set: &mut dyn FnMut(&str, Value)) {
    if settings.fielddata {
        set("fielddata", json!(true));
    }
    if settings.term_vectors {
        set("term_vector", json!("yes"));
    }
}

fn completion(mapping: &CompletionMapping, set: &mut dyn FnMut(&str, Value)) {
    if mapping.analyzer != ANALYZER_DEFAULT {
        set("analyzer", json!(shown_name(&mapping.analyzer)));
    }
    if !mapping.keep_separators {
        set("preserve_separators", json!(false));
    }
    if mapping.length_max != LENGTH_DEFAULT {
        set("max_input_length", json!(mapping.length_max));
    }
    let contexts = mapping.contexts.iter().map(|context| {
        let mut shown = match context.kind {
            ContextKind::Category => json!({"name": context.name, "type": "category"}),
            ContextKind::Geo { level } => {
                json!({"name": context.name, "type": "geo", "precision": level})
            }
        };
        if let Some(path) = &context.path {
            shown["path"] = json!(path);
        }
        shown
    });
    let contexts: Vec<Value> = contexts.collect();
    if !contexts.is_empty() {
        set("contexts", json!(contexts));
    }
}

fn vector(
    mapping: &VectorMapping,
    compression: VectorCompression,
    set: &mut dyn FnMut(&str, Value),
) {
    let column = &mapping.column;
    match column.element {
        Element::I8 => set("data_type", json!("byte")),
        Element::Bit => set("data_type", json!("binary")),
        Element::F32 | Element::F16 | Element::Bf16 => {}
    }
    let usual = match column.element {
        Element::Bit => Space::Hamming,
        Element::F32 | Element::F16 | Element::Bf16 | Element::I8 => Space::L2,
    };
    if column.space != usual {
        set("space_type", json!(column.space.name()));
    }
    if let Some(mode) = compression.mode {
        set("mode", json!(mode.name()));
    }
    let level = compression
        .level
        .or_else(|| level_of(column, compression.mode));
    if let Some(level) = level {
        set("compression_level", json!(level.name()));
    }
    let parameters = method_parameters(mapping, level);
    let name = match column.method {
        Method::Graph if parameters.is_empty() && !column.exact_structure => return,
        Method::Graph => "hnsw",
        Method::Lists(_) => "ivf",
    };
    let mut method = json!({"name": name, "parameters": parameters});
    if column.exact_structure {
        method["exact_structure"] = json!(true);
    }
    set("method", method);
}

/// The level that makes codes of this width, where nothing else that was said does.
fn level_of(column: &ColumnOptions, mode: Option<VectorMode>) -> Option<CompressionLevel> {
    match column.code_bits {
        CodeBits::One if mode == Some(VectorMode::OnDisk) => None,
        CodeBits::One => Some(CompressionLevel::X32),
        CodeBits::Two => Some(CompressionLevel::X16),
        CodeBits::Four => None,
        CodeBits::Eight => Some(CompressionLevel::X4),
    }
}

fn method_parameters(
    mapping: &VectorMapping,
    level: Option<CompressionLevel>,
) -> Map<String, Value> {
    let mut parameters = Map::new();
    let mut set = |key: &str, value: Value| {
        parameters.insert(key.to_string(), value);
    };
    let column = &mapping.column;
    let mut encoder = None;
    match column.method {
        Method::Graph => {
            let usual = HnswOptions::default();
            if column.hnsw.m != usual.m {
                set("m", json!(column.hnsw.m));
            }
            if column.hnsw.ef_construction != usual.ef_construction {
                set("ef_construction", json!(column.hnsw.ef_construction));
            }
            if let Some(ef) = mapping.ef_search {
                set("ef_search", json!(ef));
            }
        }
        Method::Lists(lists) => {
            if lists.lists > 0 {
                set("nlist", json!(lists.lists));
            }
            if let Some(probes) = mapping.probes {
                set("nprobes", json!(probes));
            }
            if lists.codes == ListCodes::Product {
                encoder = Some("pq");
            }
        }
    }
    if column.element == Element::F16 && level.is_none() {
        encoder = encoder.or(Some("sq"));
    }
    if let Some(name) = encoder {
        set("encoder", json!({ "name": name }));
    }
    parameters
}

//! Collections that are made of a dimension alone, with a key, a vector and its index.

use serde_json::{Value, json};

use super::body::{Body, Result, pair, wrong};
use crate::collection::{DataType, Field, metric_of};
use crate::error::MilvusError;
use crate::proto::{CollectionSchema, FieldSchema};

/// What the vectors may be.
const VECTORS: [DataType; 5] = [
    DataType::FloatVector,
    DataType::BinaryVector,
    DataType::Float16Vector,
    DataType::BFloat16Vector,
    DataType::SparseFloatVector,
];

/// The schema, and what is asked of the index.
///
/// # Errors
/// In Milvus' words, for types and metrics that there are not, and for a dimension that is missing, or one too many.
pub(super) fn read(body: &Body) -> Result<(CollectionSchema, Value)> {
    let data_type = vector_type(&body.text_or("vectorFieldType", "FloatVector")?)?;
    let name = body.text_or("vectorFieldName", "vector")?;
    let metric = body.text_or("metricType", "")?;
    check_metric(data_type, &metric)?;
    let given = Some(metric.as_str());
    let metric = metric_of(&Field::named(&name, data_type), given)?.name();
    let vector = FieldSchema {
        name: name.clone(),
        data_type: data_type.number(),
        type_params: match dimension(body, data_type)? {
            Some(dimension) => vec![pair("dim", dimension)],
            None => Vec::new(),
        },
        ..FieldSchema::default()
    };
    let schema = CollectionSchema {
        description: body.text_or("description", "")?,
        fields: vec![key(body)?, vector],
        enable_dynamic_field: Body(body.object("params")?)
            .flag("enableDynamicField")?
            .unwrap_or(true),
        ..CollectionSchema::default()
    };
    Ok((schema, json!({"fieldName": name, "metricType": metric})))
}

/// Refuses metrics of what only a function fills: there is none here, and no row would be found by them.
fn check_metric(data_type: DataType, metric: &str) -> Result<()> {
    let said = match (data_type, metric.to_ascii_uppercase().as_str()) {
        (DataType::BinaryVector, "MHJACCARD") => {
            format!("binary vector index does not support metric type: {metric}")
        }
        (DataType::SparseFloatVector, "BM25") => {
            "only BM25 Function output field support BM25 metric type".to_string()
        }
        _ => return Ok(()),
    };
    Err(MilvusError::invalid(said).into())
}

fn vector_type(name: &str) -> Result<DataType> {
    let found = VECTORS.into_iter().find(|one| one.name() == name);
    let refused = || {
        let names = VECTORS.map(DataType::name);
        let said = format!(
            "vectorFieldType can only be [{}], default: FloatVector",
            names.join(", ")
        );
        MilvusError::mismatch(said, names.join(", "), name)
    };
    Ok(found.ok_or_else(refused)?)
}

/// How many numbers a vector has, but for sparse ones, which have as many as they have.
fn dimension(body: &Body, data_type: DataType) -> Result<Option<i64>> {
    // A zero says nothing, in Milvus.
    let given = body.number("dimension")?.filter(|given| *given != 0);
    let refused = match (given, data_type) {
        (Some(given), DataType::SparseFloatVector) => MilvusError::mismatch(
            "dimension should not be specified for SparseFloatVector quick create",
            0,
            given,
        ),
        (None, DataType::SparseFloatVector) | (Some(_), _) => return Ok(given),
        (None, _) => MilvusError::mismatch(
            "dimension is required for quickly create collection(default metric type: COSINE)",
            "collectionName & dimension",
            "collectionName",
        ),
    };
    Err(refused.into())
}

fn key(body: &Body) -> Result<FieldSchema> {
    let data_type = match body.text_or("idType", "Int64")?.as_str() {
        "Int64" | "int64" => DataType::Int64,
        "VarChar" | "Varchar" | "varchar" => DataType::VarChar,
        _ => return Err(wrong("idType", "Int64 or VarChar")),
    };
    let mut key = FieldSchema {
        name: body.text_or("primaryFieldName", "id")?,
        is_primary_key: true,
        auto_id: body.flag("autoID")?.unwrap_or_default(),
        data_type: data_type.number(),
        ..FieldSchema::default()
    };
    if data_type == DataType::VarChar {
        let given = Body(body.object("params")?).written_number("max_length")?;
        key.type_params
            .push(pair("max_length", given.unwrap_or(65_535)));
    }
    Ok(key)
}

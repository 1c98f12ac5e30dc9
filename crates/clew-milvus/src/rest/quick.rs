//! Collections that are made of a dimension alone, with a key, a vector and its index.

use serde_json::{Value, json};

use super::body::{Body, Result, pair, text_of};
use crate::collection::{DataType, Field, metric_of, truth};
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
    if !Body(body.object("schema")?).list("functions").is_empty() {
        let said = "functions are not supported for quickly create collection";
        return Err(MilvusError::mismatch(said, "schema", "functions").into());
    }
    let data_type = vector_type(&usually(body, "vectorFieldType", "FloatVector")?)?;
    let name = usually(body, "vectorFieldName", "vector")?;
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
        enable_dynamic_field: is_dynamic(&Body(body.object("params")?))?,
        ..CollectionSchema::default()
    };
    Ok((schema, json!({"fieldName": name, "metricType": metric})))
}

/// A text, or the usual one where there is none; an empty one is none, as in Milvus.
fn usually(body: &Body, name: &str, usual: &str) -> Result<String> {
    let given = body.text_or(name, "")?;
    Ok(match given.is_empty() {
        true => usual.to_string(),
        false => given,
    })
}

/// Whether rows may have more than the fields, which they may unless it is said that they may not.
fn is_dynamic(params: &Body) -> Result<bool> {
    let Some(given) = params.get("enableDynamicField").map(text_of) else {
        return Ok(true);
    };
    let refused = || {
        MilvusError::Unexpected(format!(
            "parse enableDynamicField fail, err:strconv.ParseBool: parsing {given:?}: invalid syntax"
        ))
    };
    Ok(truth(&given).ok_or_else(refused)?)
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
    let given = usually(body, "idType", "Int64")?;
    let data_type = match given.as_str() {
        "Int64" | "int64" => DataType::Int64,
        "VarChar" | "Varchar" | "varchar" => DataType::VarChar,
        _ => {
            let said = "idType can only be [Int64, VarChar], default: Int64";
            return Err(MilvusError::mismatch(said, "Int64, Varchar", given).into());
        }
    };
    let mut key = FieldSchema {
        name: usually(body, "primaryFieldName", "id")?,
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

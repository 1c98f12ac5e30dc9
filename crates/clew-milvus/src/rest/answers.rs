//! Answers of calls as JSON.

use prost::Message;
use serde_json::{Map, Value, json};

use super::Answer;
use crate::collection::{ARRAY_OF_VECTOR, DataType};
use crate::proto::*;
use crate::rows;

/// What a byte of a column becomes in a tree of JSON and in its text: a number of a vector has four, and takes 44 there.
const JSON_FACTOR: usize = 12;
/// What a cell of a row takes beside that, with the name of its field.
const CELL_BYTES: usize = 128;

/// The state of a collection that there is none of.
pub(super) const NOT_THERE: i32 = 0;
/// The state of one that cannot be searched.
pub(super) const NOT_LOADED: i32 = 1;
/// The state of one that cannot be searched as a whole yet.
pub(super) const LOADING: i32 = 2;
/// The state of a collection that can be searched.
pub(super) const LOADED: i32 = 3;

pub(super) fn load_state(state: i32) -> &'static str {
    match state {
        LOADED => "LoadStateLoaded",
        LOADING => "LoadStateLoading",
        NOT_LOADED => "LoadStateNotLoad",
        _ => "LoadStateNotExist",
    }
}

pub(super) fn statistics(answer: &StatisticsResponse) -> Value {
    let count = answer.stats.iter().find(|pair| pair.key == "row_count");
    let count: i64 = count
        .and_then(|pair| pair.value.parse().ok())
        .unwrap_or_default();
    json!({"rowCount": count})
}

pub(super) fn pairs(pairs: &[KeyValuePair]) -> Value {
    let pair = |pair: &KeyValuePair| json!({"key": pair.key, "value": pair.value});
    pairs.iter().map(pair).collect()
}

fn type_name(number: i32) -> &'static str {
    if number == ARRAY_OF_VECTOR {
        return "ArrayOfVector";
    }
    DataType::of(number).map_or("None", DataType::name)
}

pub(super) fn collection(
    answer: &DescribeCollectionResponse,
    state: &str,
    indexes: &[IndexDescription],
) -> Value {
    let schema = answer.schema.clone().unwrap_or_default();
    let field = |field: &FieldSchema| {
        let mut told = json!({
            "id": field.field_id,
            "name": field.name,
            "type": type_name(field.data_type),
            "primaryKey": field.is_primary_key,
            "partitionKey": field.is_partition_key,
            "clusteringKey": field.is_clustering_key,
            "autoId": field.auto_id,
            "nullable": field.nullable,
            "description": field.description,
        });
        if field.is_function_output {
            told["isFunctionOutput"] = true.into();
        }
        if field.element_type != 0 {
            told["elementType"] = type_name(field.element_type).into();
        }
        if !field.type_params.is_empty() {
            told["params"] = pairs(&field.type_params);
        }
        if let Some(default) = field.default_value.as_ref().and_then(default_value) {
            told["defaultValue"] = default;
        }
        told
    };
    let of_structs = |one: &StructArrayFieldSchema| {
        json!({
            "id": one.field_id,
            "name": one.name,
            "type": "ArrayOfStruct",
            "description": one.description,
            "nullable": one.nullable,
            "params": pairs(&one.type_params),
            "fields": one.fields.iter().map(field).collect::<Vec<_>>(),
        })
    };
    let shown = |index: &IndexDescription| {
        json!({
            "fieldName": index.field_name,
            "indexName": index.index_name,
            "metricType": param(index, "metric_type"),
        })
    };
    const LEVELS: [&str; 5] = ["Strong", "Session", "Bounded", "Eventually", "Customized"];
    let level = usize::try_from(answer.consistency_level)
        .ok()
        .and_then(|level| LEVELS.get(level));
    json!({
        "collectionName": answer.collection_name,
        "collectionID": answer.collection_id,
        "description": schema.description,
        "aliases": answer.aliases,
        "autoId": schema.fields.iter().any(|field| field.is_primary_key && field.auto_id),
        "consistencyLevel": level.copied().unwrap_or("Bounded"),
        "enableDynamicField": schema.enable_dynamic_field,
        "fields": schema.fields.iter().map(field).collect::<Vec<_>>(),
        "structFields": schema.struct_array_fields.iter().map(of_structs).collect::<Vec<_>>(),
        "functions": schema.functions.iter().map(function).collect::<Vec<_>>(),
        "indexes": indexes.iter().map(shown).collect::<Vec<_>>(),
        "load": state,
        "partitionsNum": answer.num_partitions,
        "properties": pairs(&answer.properties),
        "shardsNum": answer.shards_num,
    })
}

/// A default value under the name of its kind, as Milvus tells it.
fn default_value(value: &ValueField) -> Option<Value> {
    use value_field::Data;
    let data = match value.data.as_ref()? {
        Data::BoolData(truth) => json!({"BoolData": truth}),
        Data::IntData(number) => json!({"IntData": number}),
        Data::LongData(number) => json!({"LongData": number}),
        Data::FloatData(number) => json!({"FloatData": rows::single(*number)}),
        Data::DoubleData(number) => json!({"DoubleData": number}),
        Data::StringData(text) => json!({"StringData": text}),
        Data::TimestamptzData(micros) => json!({"TimestamptzData": micros}),
        Data::BytesData(_) => return None,
    };
    Some(json!({"Data": data}))
}

fn function(function: &FunctionSchema) -> Value {
    // A function without parameters has none, rather than a list of none, as Milvus tells it.
    let params = match function.params.is_empty() {
        true => Value::Null,
        false => pairs(&function.params),
    };
    json!({
        "id": function.id,
        "name": function.name,
        "description": function.description,
        // By its number, as Milvus tells it.
        "type": function.r#type,
        "inputFieldNames": function.input_field_names,
        "outputFieldNames": function.output_field_names,
        "params": params,
    })
}

fn param<'i>(index: &'i IndexDescription, key: &str) -> &'i str {
    let found = index.params.iter().find(|pair| pair.key == key);
    found.map_or("", |pair| pair.value.as_str())
}

pub(super) fn index(index: &IndexDescription) -> Value {
    let state = match index.state {
        3 => "Finished",
        2 => "InProgress",
        _ => "Unissued",
    };
    json!({
        "indexName": index.index_name,
        "fieldName": index.field_name,
        "indexType": param(index, "index_type"),
        "metricType": param(index, "metric_type"),
        "indexState": state,
        "totalRows": index.total_rows,
        "indexedRows": index.indexed_rows,
        "pendingRows": index.pending_index_rows,
        "failReason": index.index_state_fail_reason,
        "indexParams": pairs(&index.params),
        "mmap.enabled": param(index, "mmap.enabled"),
        "indexoffsetcache.enabled": param(index, "indexoffsetcache.enabled"),
        "warmup": param(index, "warmup"),
    })
}

pub(super) fn ids(ids: Option<&IDs>) -> Vec<Value> {
    match ids.and_then(|ids| ids.id_field.as_ref()) {
        None => Vec::new(),
        Some(i_ds::IdField::IntId(ids)) => ids.data.iter().map(|id| Value::from(*id)).collect(),
        Some(i_ds::IdField::StrId(ids)) => {
            ids.data.iter().map(|id| Value::from(id.as_str())).collect()
        }
    }
}

/// What so many rows take as JSON, and once more as its text.
pub(super) fn rows_bytes(columns: &[FieldData], rows: usize) -> usize {
    let bytes: usize = columns.iter().map(Message::encoded_len).sum();
    let cells = rows.saturating_mul(columns.len() + 2);
    let bytes = bytes.saturating_mul(JSON_FACTOR);
    bytes.saturating_add(cells.saturating_mul(CELL_BYTES))
}

/// What buckets take as JSON, and once more as its text.
pub(super) fn buckets_bytes(buckets: &[AggBucket]) -> usize {
    let bytes: usize = buckets.iter().map(Message::encoded_len).sum();
    bytes.saturating_mul(JSON_FACTOR)
}

/// The rows of a query's answer: as many as it has keys, or groups.
pub(super) fn row_count(columns: &[FieldData]) -> usize {
    use scalar_field::Data;
    let rows = |column: &FieldData| match &column.field {
        Some(field_data::Field::Scalars(scalars)) => match &scalars.data {
            Some(Data::LongData(values)) => values.data.len(),
            Some(Data::StringData(values)) => values.data.len(),
            _ => 0,
        },
        _ => 0,
    };
    columns.iter().map(rows).max().unwrap_or_default()
}

/// The members of an answer about rows: what it says, and what it cost, which is nothing here.
pub(super) fn costing(data: impl Into<Value>) -> Map<String, Value> {
    let mut whole = Map::new();
    whole.insert("cost".to_string(), 0.into());
    whole.insert("data".to_string(), data.into());
    whole
}

/// Hits as flat rows, those of several vectors one behind the other; `topks` says how many belong to each.
pub(super) fn hits(found: SearchResultData, several: bool) -> Answer {
    let keys = ids(found.ids.as_ref());
    let mut objects = rows::objects(&found.fields_data);
    objects.resize_with(keys.len(), Map::new);
    let scores = found.scores.iter().copied().map(rows::single);
    // Which struct of its row each hit is.
    let elements = found.element_indices.map(|list| list.data);
    let elements = elements.unwrap_or_default().into_iter().map(Some);
    let elements = elements.chain(std::iter::repeat(None));
    let told: Vec<Value> = objects
        .into_iter()
        .zip(keys.into_iter().zip(scores).zip(elements))
        .map(|(fields, ((id, distance), element))| {
            let mut row = Map::new();
            if let Some(element) = element {
                row.insert("offset".to_string(), element.into());
            }
            row.insert("distance".to_string(), distance);
            row.insert(found.primary_field_name.clone(), id);
            row.extend(fields);
            Value::Object(row)
        })
        .collect();
    let mut whole = costing(told);
    if several || found.num_queries >= 1 {
        whole.insert("topks".to_string(), json!(found.topks));
    }
    Answer::Whole(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_vectors_take_more_as_json_than_as_columns() {
        let longs = |count: i64| FieldData {
            field: Some(field_data::Field::Scalars(ScalarField {
                data: Some(scalar_field::Data::LongData(LongArray {
                    data: (0..count).collect(),
                })),
            })),
            ..FieldData::default()
        };
        let columns = [longs(3), FieldData::default()];
        assert_eq!(row_count(&columns), 3);
        assert_eq!(row_count(&[]), 0);
        let more = rows_bytes(&[longs(3_000)], 3_000);
        assert!(more > 3_000 * CELL_BYTES && more > rows_bytes(&columns, 3));
        assert_eq!(rows_bytes(&[], usize::MAX), usize::MAX);
    }
}

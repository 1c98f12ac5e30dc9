//! `/collections/…`

use prost::Message;
use serde_json::{Map, Value, json};

use super::body::{Body, Refusal, Result, pair, pairs_of, text_of, wrong};
use super::{Answer, answers, done, fields, quick, structs};
use crate::collection::{DataType, kind_number};
use crate::error::MilvusError;
use crate::instant::ZONE;
use crate::proto::*;
use crate::service::{Caller, Door};

/// The state of a compaction that is through.
const COMPACTED: i32 = 2;

pub(super) async fn run(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    Ok(Answer::Data(match action {
        "list" => {
            let all = door
                .show_collections(caller, ShowCollectionsRequest::default())
                .await?;
            json!(all.collection_names)
        }
        "has" => {
            let has = door.has_collection(caller, named(&body)?).await?;
            json!({"has": has.value})
        }
        "describe" => return describe(door, caller, named(&body)?).await,
        "get_stats" => {
            let stats = door
                .get_collection_statistics(caller, named(&body)?)
                .await?;
            answers::statistics(&stats)
        }
        "get_load_state" => return load_state(door, caller, &body).await,
        "compact" => {
            let request = ManualCompactionRequest {
                collection_name: body.text("collectionName")?,
                ..ManualCompactionRequest::default()
            };
            let started = door.manual_compaction(caller, request).await?;
            json!({"compactionID": started.compaction_id})
        }
        "get_compaction_state" => {
            let id = body.number("jobID")?.unwrap_or_default();
            let request = GetCompactionStateRequest { compaction_id: id };
            let found = door.get_compaction_state(caller, request).await?;
            json!({
                "jobID": id,
                "compactionID": id,
                "state": if found.state == COMPACTED { "Completed" } else { "Executing" },
                "executingPlanNumber": found.executing_plan_no,
                "timeoutPlanNumber": found.timeout_plan_no,
                "completedPlanNumber": found.completed_plan_no,
            })
        }
        _ => {
            change(door, (action, caller), &body).await?;
            return Ok(done());
        }
    }))
}

fn named(body: &Body) -> Result<CollectionRequest> {
    Ok(CollectionRequest {
        collection_name: body.text("collectionName")?,
        ..CollectionRequest::default()
    })
}

/// What is told only to be done.
async fn change(door: &Door, (action, caller): (&str, Caller), body: &Body) -> Result<()> {
    let collection_name = body.text("collectionName")?;
    match action {
        "create" => create(door, caller, body).await?,
        "drop" => {
            door.drop_collection(caller, named(body)?).await?;
        }
        "rename" => {
            let request = RenameCollectionRequest {
                old_name: collection_name,
                new_name: body.text("newCollectionName")?,
                new_db_name: body.text_or("newDbName", "")?,
                ..RenameCollectionRequest::default()
            };
            door.rename_collection(caller, request).await?;
        }
        "load" | "refresh_load" => {
            let request = LoadCollectionRequest {
                collection_name,
                refresh: action == "refresh_load",
                ..LoadCollectionRequest::default()
            };
            door.load_collection(caller, request).await?;
        }
        "release" => {
            door.release_collection(caller, named(body)?).await?;
        }
        "alter_properties" | "drop_properties" => {
            let request = AlterCollectionRequest {
                collection_name,
                properties: body.pairs("properties")?,
                delete_keys: body.texts("propertyKeys")?,
                ..AlterCollectionRequest::default()
            };
            door.alter_collection(caller, request).await?;
        }
        "flush" => {
            let request = FlushRequest {
                collection_names: vec![collection_name],
                ..FlushRequest::default()
            };
            door.flush(caller, request).await?;
        }
        "truncate" => {
            door.truncate_collection(caller, named(body)?).await?;
        }
        _ => fields::change(door, (action, caller), (collection_name, body)).await?,
    }
    Ok(())
}

async fn describe(door: &Door, caller: Caller, request: CollectionRequest) -> Result<Answer> {
    let name = request.collection_name.clone();
    let described = door
        .describe_collection(
            caller.clone(),
            DescribeCollectionRequest {
                collection_name: name.clone(),
                ..DescribeCollectionRequest::default()
            },
        )
        .await?;
    // What cannot be told beside it is said, and the rest is told.
    let mut said = String::new();
    let request = GetLoadStateRequest {
        collection_name: name.clone(),
        ..GetLoadStateRequest::default()
    };
    let state = match door.get_load_state(caller.clone(), request).await {
        Ok(found) => answers::load_state(found.state),
        Err(refused @ MilvusError::Denied(_)) => {
            said = format!("{refused};");
            ""
        }
        Err(other) => return Err(other.into()),
    };
    // Of all fields: Milvus names the first one of vectors, and does not look at what it names.
    let request = DescribeIndexRequest {
        collection_name: name,
        ..DescribeIndexRequest::default()
    };
    let indexes = match door.describe_index(caller, request).await {
        Ok(found) => found.index_descriptions,
        Err(refused @ (MilvusError::IndexNotFound(_) | MilvusError::Denied(_))) => {
            said = format!("{said}{refused};");
            Vec::new()
        }
        Err(other) => return Err(other.into()),
    };
    let data = answers::collection(&described, state, &indexes);
    Ok(with_message(data, said))
}

/// An answer with a message, which Milvus leaves empty where there is nothing to say.
fn with_message(data: Value, message: String) -> Answer {
    let mut whole = Map::new();
    whole.insert("data".to_string(), data);
    whole.insert("message".to_string(), message.into());
    Answer::Whole(whole)
}

/// Whether a collection is loaded, and where it is how far its partitions are. As in Milvus the state is the whole
/// collection's, also where partitions are named: one of them that is not loaded has no progress.
async fn load_state(door: &Door, caller: Caller, body: &Body) -> Result<Answer> {
    let collection_name = body.text("collectionName")?;
    let partition_names = body.texts("partitionNames")?;
    let request = GetLoadStateRequest {
        collection_name: collection_name.clone(),
        ..GetLoadStateRequest::default()
    };
    let state = door.get_load_state(caller.clone(), request).await?.state;
    match state {
        answers::NOT_THERE => return Err(MilvusError::NoCollection(collection_name).into()),
        answers::NOT_LOADED => {
            let state = answers::load_state(state);
            return Ok(Answer::Data(json!({ "loadState": state })));
        }
        _ => {}
    }
    let request = GetLoadingProgressRequest {
        collection_name,
        partition_names,
        ..GetLoadingProgressRequest::default()
    };
    let (progress, said) = match door.get_loading_progress(caller, request).await {
        Ok(found) => (found.progress, String::new()),
        Err(refused) => (-1, format!("{refused}.")),
    };
    let state = match progress {
        100.. => answers::LOADED,
        _ => answers::LOADING,
    };
    let state = answers::load_state(state);
    let data = json!({"loadState": state, "loadProgress": progress});
    Ok(with_message(data, said))
}

/// The property that says how long rows are found.
const TTL: &str = "collection.ttl.seconds";

/// Parameters of a collection that is made, and the properties that they are.
const PROPERTIES: [(&str, &str); 9] = [
    (ZONE, ZONE),
    ("ttlSeconds", TTL),
    ("ttlField", "ttl_field"),
    ("partitionKeyIsolation", "partitionkey.isolation"),
    ("mmap.enabled", "mmap.enabled"),
    ("warmup.scalarField", "warmup.scalarField"),
    ("warmup.scalarIndex", "warmup.scalarIndex"),
    ("warmup.vectorField", "warmup.vectorField"),
    ("warmup.vectorIndex", "warmup.vectorIndex"),
];

/// Makes a collection: from a schema, or from a dimension alone.
async fn create(door: &Door, caller: Caller, body: &Body) -> Result<()> {
    let name = body.text("collectionName")?;
    let params = Body(body.object("params")?);
    let said = Body(body.object("schema")?);
    let (mut schema, indexes) = match said.list("fields").is_empty() {
        true => {
            let (schema, index) = quick::read(body)?;
            (schema, vec![index])
        }
        false => {
            let schema = full_schema(&said)?;
            let indexes: Vec<Value> = body.list("indexParams").into_iter().cloned().collect();
            check_indexed(&schema, &indexes)?;
            (schema, indexes)
        }
    };
    schema.name.clone_from(&name);
    if schema.description.is_empty() {
        schema.description = body.text_or("description", "")?;
    }
    let level = body.text_or(
        "consistencyLevel",
        &params.text_or("consistencyLevel", "Bounded")?,
    )?;
    let by_key = schema.fields.iter().any(|field| field.is_partition_key);
    let partitions = number_of(&params, "partitionsNum").filter(|number| by_key && *number > 0);
    let request = CreateCollectionRequest {
        collection_name: name,
        schema: schema.encode_to_vec().into(),
        shards_num: i32::try_from(number_of(&params, "shardsNum").unwrap_or(1)).unwrap_or(i32::MAX),
        num_partitions: partitions.unwrap_or_default(),
        consistency_level: level_of(&level)?,
        properties: properties(body, &params)?,
        ..CreateCollectionRequest::default()
    };
    make(door, caller, request, &indexes).await
}

/// Makes a collection and its indexes, and loads it where it has any.
pub(super) async fn make(
    door: &Door,
    caller: Caller,
    request: CreateCollectionRequest,
    indexes: &[Value],
) -> Result<()> {
    let name = request.collection_name.clone();
    door.create_collection(caller.clone(), request).await?;
    if indexes.is_empty() {
        return Ok(());
    }
    for index in indexes {
        super::indexes::create(door, caller.clone(), (&name, index)).await?;
    }
    let request = LoadCollectionRequest {
        collection_name: name,
        ..LoadCollectionRequest::default()
    };
    door.load_collection(caller, request).await?;
    Ok(())
}

/// A whole number among the parameters of a new collection. What is none says nothing, as in Milvus.
fn number_of(params: &Body, name: &str) -> Option<i64> {
    text_of(params.get(name)?).parse().ok()
}

/// The properties of a new collection: those that are said as such, and those that parameters stand for.
///
/// # Errors
/// When it is said more than once how long rows are found.
fn properties(body: &Body, params: &Body) -> Result<Vec<KeyValuePair>> {
    let mut all = body.pairs("properties")?;
    for pair in all.iter_mut().filter(|pair| pair.key == "ttl.seconds") {
        pair.key = TTL.to_string();
    }
    for (said, key) in PROPERTIES {
        if let Some(value) = params.get(said) {
            all.push(pair(key, text_of(value)));
        }
    }
    match all.iter().filter(|pair| pair.key == TTL).count() {
        ..=1 => Ok(all),
        _ => Err(MilvusError::invalid("collection TTL is specified multiple times").into()),
    }
}

/// Refuses indexes of fields that a schema has not, before there is a collection without them.
fn check_indexed(schema: &CollectionSchema, indexes: &[Value]) -> Result<()> {
    let of_structs = schema.struct_array_fields.iter().flat_map(|list| {
        let parts = list.fields.iter();
        parts.map(move |part| format!("{}[{}]", list.name, part.name))
    });
    let names = schema.fields.iter().map(|field| field.name.clone());
    let names: Vec<String> = names.chain(of_structs).collect();
    for index in indexes {
        let index = index.as_object().cloned();
        let index = index.ok_or_else(|| wrong("indexParams", "a list of objects"))?;
        let name = Body(index).text("fieldName")?;
        if !names.contains(&name) {
            let said = format!("`{name}` hasn't defined in schema");
            return Err(Refusal::Missing(said));
        }
    }
    Ok(())
}

/// The number of a level of consistency.
///
/// # Errors
/// For a name that no level has.
pub(super) fn level_of(name: &str) -> Result<i32> {
    const LEVELS: [&str; 5] = ["Strong", "Session", "Bounded", "Eventually", "Customized"];
    let place = LEVELS
        .iter()
        .position(|level| level.eq_ignore_ascii_case(name));
    let level = place.and_then(|place| i32::try_from(place).ok());
    let levels = LEVELS.join(", ");
    let said = format!("consistencyLevel can only be [{levels}], default: Bounded");
    Ok(level.ok_or_else(|| MilvusError::mismatch(said, levels, name))?)
}

/// The members of one of the objects of a schema.
pub(super) fn members(value: &Value) -> Result<Map<String, Value>> {
    let members = value.as_object().cloned();
    members.ok_or_else(|| wrong("schema.fields", "a list of objects"))
}

fn full_schema(schema: &Body) -> Result<CollectionSchema> {
    let mut fields = Vec::new();
    for one in schema.list("fields") {
        fields.push(field(&members(one)?)?);
    }
    let mut struct_array_fields = Vec::new();
    for one in schema.list("structFields") {
        struct_array_fields.push(structs::schema(&Body(members(one)?))?);
    }
    let mut functions = Vec::new();
    for one in schema.list("functions") {
        functions.push(function(&Body(members(one)?))?);
    }
    let auto_id = schema
        .flag("autoId")?
        .or(schema.flag("autoID")?)
        .unwrap_or_default();
    for field in fields.iter_mut().filter(|field| field.is_primary_key) {
        field.auto_id |= auto_id;
    }
    Ok(CollectionSchema {
        description: schema.text_or("description", "")?,
        fields,
        struct_array_fields,
        functions,
        enable_dynamic_field: schema.flag("enableDynamicField")?.unwrap_or_default(),
        ..CollectionSchema::default()
    })
}

/// The number of a type, which is named as Milvus names it; whether there can be a field of it is for the collection to say.
fn type_named(what: &str, name: &str) -> Result<i32> {
    let refused = || MilvusError::Invalid(format!("{what} {name} is invalid(case sensitive)"));
    Ok(DataType::number_of(name).ok_or_else(refused)?)
}

pub(super) fn field(members: &Map<String, Value>) -> Result<FieldSchema> {
    let body = Body(members.clone());
    let data_type = type_named("data type", &body.text("dataType")?)?;
    let element = match body.text_or("elementDataType", "")?.as_str() {
        "" if data_type != DataType::Array.number() => 0,
        name => type_named("element data type", name)?,
    };
    Ok(FieldSchema {
        name: body.text("fieldName")?,
        description: body.text_or("description", "")?,
        data_type,
        element_type: element,
        is_primary_key: body.flag("isPrimary")?.unwrap_or_default(),
        is_partition_key: body.flag("isPartitionKey")?.unwrap_or_default(),
        is_clustering_key: body.flag("isClusteringKey")?.unwrap_or_default(),
        nullable: body.flag("nullable")?.unwrap_or_default(),
        default_value: body
            .get("defaultValue")
            .map(|value| default_of(data_type, value))
            .transpose()?,
        type_params: pairs_of(&body.object("elementTypeParams")?),
        ..FieldSchema::default()
    })
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the field's own check says what does not fit"
)]
fn default_of(data_type: i32, value: &Value) -> Result<ValueField> {
    use value_field::Data;
    let whole = || {
        let float = || value.as_f64().filter(|float| float.fract() == 0.0);
        value.as_i64().or_else(|| float().map(|float| float as i64))
    };
    let kind = DataType::of(data_type);
    let data = match kind {
        Some(DataType::Bool) => value.as_bool().map(Data::BoolData),
        Some(DataType::Int8 | DataType::Int16 | DataType::Int32) => {
            let number = whole().and_then(|number| i32::try_from(number).ok());
            number.map(Data::IntData)
        }
        Some(DataType::Int64) => whole().map(Data::LongData),
        Some(DataType::Float) => value.as_f64().map(|number| Data::FloatData(number as f32)),
        Some(DataType::Double) => value.as_f64().map(Data::DoubleData),
        Some(DataType::VarChar | DataType::Timestamptz | DataType::Geometry) => value
            .as_str()
            .map(|text| Data::StringData(text.to_string())),
        _ => None,
    };
    if data.is_some() {
        return Ok(ValueField { data });
    }
    Err(MilvusError::invalid(format!(
        "convert defaultValue fail, err:cannot use {value} as default value of a field of type {}",
        kind.map_or("None", DataType::name)
    ))
    .into())
}

/// A function of a schema; kinds that there are in Milvus and not here are refused by the call that it is for.
///
/// # Errors
/// When a member is not what it should be, or the function is of a kind that there is none of in Milvus either.
pub(super) fn function(body: &Body) -> Result<FunctionSchema> {
    let given = body.text_or("type", "")?;
    let kind = kind_number(&given)
        .ok_or_else(|| MilvusError::invalid(format!("Unsupported function type: {given}")))?;
    Ok(FunctionSchema {
        name: body.text_or("name", "")?,
        description: body.text_or("description", "")?,
        r#type: kind,
        input_field_names: body.texts("inputFieldNames")?,
        output_field_names: body.texts("outputFieldNames")?,
        params: body.pairs("params")?,
        ..FunctionSchema::default()
    })
}

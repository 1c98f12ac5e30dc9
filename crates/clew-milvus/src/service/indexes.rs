//! Indexes: what clients ask for is kept and said again; vectors get the structure of ours that is meant.

use std::collections::BTreeMap;

use clew_engine::Purpose;
use clew_query::FieldStep;

use super::collections::{both_ways, check_may_be};
use super::{Call, Service};
use crate::collection::{
    Collection, DYNAMIC, DataType, Field, KeptIndex, NameOf, VectorIndex, check_scalar,
    check_vector, check_warmup, flattened, key_values, pairs,
};
use crate::collections::{Changes, Opened};
use crate::error::{MilvusError, Result};
use crate::expr::inside;
use crate::proto::{self, *};

/// States of an index.
const IN_PROGRESS: i32 = 2;
const FINISHED: i32 = 3;

/// A switch that indexes of most types have.
const MMAP: &str = "mmap.enabled";
/// A switch that only indexes of one type have.
const OFFSET_CACHE: &str = "indexoffsetcache.enabled";
/// What of an index may change, so that it is not told apart by it.
const CHANGEABLE: [&str; 3] = [MMAP, OFFSET_CACHE, "warmup"];

impl Service {
    pub(crate) async fn create_index(
        &self,
        call: Call,
        request: CreateIndexRequest,
    ) -> Result<proto::Status> {
        check_may_be(call.database(&request.db_name), &request.collection_name)?;
        let params = pairs(request.extra_params);
        let place = (request.db_name, request.collection_name);
        self.change_collection(call, place, move |service, collection| {
            let name = request.index_name.trim();
            if !name.is_empty() {
                NameOf::Index.check(name)?;
            }
            let mut index = KeptIndex {
                id: service.new_id(),
                name: name.to_string(),
                field: request.field_name,
                params,
            };
            if collection.field(&index.field).is_err() && json_path(&index).is_none() {
                let path = index.field.clone();
                index.params.insert("json_path".to_string(), path);
            }
            if index.name.is_empty() {
                index.name = usual_name(collection, &index);
            }
            let given = flattened(&index.params)?;
            check_switches(&given, &given, "type")?;
            Ok(((), add_index(collection, index)?))
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn alter_index(
        &self,
        call: Call,
        request: AlterIndexRequest,
    ) -> Result<proto::Status> {
        if !request.extra_params.is_empty() && !request.delete_keys.is_empty() {
            return Err(both_ways());
        }
        let given = pairs(request.extra_params);
        let mut keys = given.keys().chain(&request.delete_keys);
        if let Some(key) = keys.find(|key| !CHANGEABLE.contains(&key.as_str())) {
            return Err(MilvusError::invalid(format!(
                "{key} is not a configable index property"
            )));
        }
        check_warmup(&given)?;
        check_may_be(call.database(&request.db_name), &request.collection_name)?;
        let place = (request.db_name, request.collection_name.clone());
        self.change_collection(call, place, move |_, collection| {
            if collection.loaded {
                return Err(MilvusError::CollectionLoaded(
                    request.collection_name,
                    "can't alter index on loaded collection, please release the collection first"
                        .to_string(),
                ));
            }
            let missing = not_found(&request.collection_name, &request.index_name);
            let mut indexes = collection.indexes.iter_mut();
            let index = indexes.find(|index| index.name == request.index_name);
            let index = index.ok_or(missing)?;
            check_switches(&flattened(&index.params)?, &given, "index")?;
            index.params.extend(given);
            for key in &request.delete_keys {
                index.params.remove(key);
            }
            Ok(((), Changes::default()))
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn describe_index(
        &self,
        call: Call,
        request: DescribeIndexRequest,
    ) -> Result<DescribeIndexResponse> {
        let opened = self.open_named(&call, &request, Purpose::Show)?;
        self.described_indexes(&opened, &request.field_name, &request.index_name)
    }

    pub(crate) async fn get_index_statistics(
        &self,
        call: Call,
        request: GetIndexStatisticsRequest,
    ) -> Result<DescribeIndexResponse> {
        let opened = self.open_named(&call, &request, Purpose::Show)?;
        self.described_indexes(&opened, "", &request.index_name)
    }

    pub(crate) async fn get_index_state(
        &self,
        call: Call,
        request: IndexRequest,
    ) -> Result<GetIndexStateResponse> {
        let one = self.one_index(&call, request)?;
        Ok(GetIndexStateResponse {
            state: one.state,
            ..GetIndexStateResponse::default()
        })
    }

    pub(crate) async fn get_index_build_progress(
        &self,
        call: Call,
        request: IndexRequest,
    ) -> Result<GetIndexBuildProgressResponse> {
        let one = self.one_index(&call, request)?;
        Ok(GetIndexBuildProgressResponse {
            indexed_rows: one.indexed_rows,
            total_rows: one.total_rows,
            ..GetIndexBuildProgressResponse::default()
        })
    }

    fn one_index(&self, call: &Call, request: IndexRequest) -> Result<IndexDescription> {
        let opened = self.open_named(call, &request, Purpose::Show)?;
        let all = self.described_indexes(&opened, &request.field_name, &request.index_name)?;
        let mut all = all.index_descriptions.into_iter();
        all.next()
            .ok_or_else(|| not_found(&request.collection_name, &request.index_name))
    }

    /// The indexes of a field, or of a name, or all; at least one.
    fn described_indexes(
        &self,
        opened: &Opened,
        field: &str,
        name: &str,
    ) -> Result<DescribeIndexResponse> {
        let collection = &opened.named.collection;
        let meant = |index: &&KeptIndex| {
            (field.is_empty() || index.field == field || index.name == field)
                && (name.is_empty() || index.name == name)
        };
        let indexes: Vec<&KeptIndex> = collection.indexes.iter().filter(meant).collect();
        if indexes.is_empty() {
            let asked = if name.is_empty() { field } else { name };
            return Err(not_found(&opened.named.name, asked));
        }
        let stats = opened.handle.stats();
        let total = i64::try_from(stats.docs).unwrap_or(i64::MAX);
        let pending = i64::try_from(opened.handle.rows_to_rewrite()).unwrap_or(i64::MAX);
        let described = indexes.into_iter().map(|index| {
            let is_vector = collection
                .field(&index.field)
                .is_ok_and(|field| field.data_type.is_dense_vector());
            let pending = if is_vector { pending } else { 0 };
            IndexDescription {
                index_name: index.name.clone(),
                index_id: index.id,
                params: key_values(&index.params),
                field_name: index.field.clone(),
                indexed_rows: total - pending.min(total),
                total_rows: total,
                state: if pending == 0 { FINISHED } else { IN_PROGRESS },
                pending_index_rows: pending,
                ..IndexDescription::default()
            }
        });
        Ok(DescribeIndexResponse {
            index_descriptions: described.collect(),
            ..DescribeIndexResponse::default()
        })
    }

    pub(crate) async fn drop_index(
        &self,
        call: Call,
        request: IndexRequest,
    ) -> Result<proto::Status> {
        check_may_be(call.database(&request.db_name), &request.collection_name)?;
        let place = (request.db_name, request.collection_name);
        self.change_collection(call, place, move |_, collection| {
            let named = |index: &KeptIndex| match request.index_name.as_str() {
                "" => index.field == request.field_name,
                name => index.name == name,
            };
            let of_vector = collection.indexes.iter().find(|index| {
                let field = collection.field(&index.field);
                named(index) && field.is_ok_and(|field| field.data_type.is_vector())
            });
            if of_vector.is_some() && collection.loaded {
                return Err(MilvusError::invalid(
                    "vector index cannot be dropped on loaded collection: index cannot be dropped, collection is loaded, please release it first",
                ));
            }
            // Milvus says nothing where there is none.
            collection.indexes.retain(|index| !named(index));
            Ok(((), Changes::default()))
        })
        .await?;
        Ok(proto::Status::default())
    }
}

/// The name of an index that is given none: that of the one which is there already, or its field's, and behind it the way into
/// JSON (`j['a'][0]` is `j/a/0`), so that each path has its own.
fn usual_name(collection: &Collection, index: &KeptIndex) -> String {
    let mut there = collection.indexes.iter();
    if let Some(there) = there.find(|there| is_of_the_same(there, index)) {
        return there.name.clone();
    }
    let field = &index.field;
    let is_json = match collection.field(field) {
        Ok(own) => own.data_type == DataType::Json,
        Err(_) => true,
    };
    let path = json_path(index).filter(|_| is_json);
    // What is wrong with a path is told where the index is added.
    let Some(Ok(Some((member, steps)))) = path.map(|path| inside(&path, collection)) else {
        return field.clone();
    };
    let steps = steps.into_iter().map(|step| match step {
        // As in JSON pointers, so that two paths have two names.
        FieldStep::Member(name) => name.replace('~', "~0").replace('/', "~1"),
        FieldStep::Element(number) => number.to_string(),
    });
    // A path that ends at the field has no step, and adds nothing.
    let mut name = vec![member];
    name.extend(steps);
    name.join("/")
}

/// Whether two indexes are of one field. JSON has an index for each of the paths into it.
fn is_of_the_same(one: &KeptIndex, other: &KeptIndex) -> bool {
    one.field == other.field && json_path(one) == json_path(other)
}

/// Whether Milvus holds indexes of a type in memory alone, or on the disk by themselves.
fn is_never_mapped(index_type: &str) -> bool {
    matches!(index_type, "DISKANN" | "AISAQ" | "STL_SORT" | "RTREE")
        || index_type.starts_with("GPU_")
}

/// Refuses switches that are neither on nor off, and those that an index of the type that is `kept` cannot have on; `of` is
/// what Milvus calls the parameters that they are among.
fn check_switches(
    kept: &BTreeMap<String, String>,
    given: &BTreeMap<String, String>,
    of: &str,
) -> Result<()> {
    let index_type = kept.get("index_type").map_or("", String::as_str);
    let mapped = (MMAP, format!("mmap {of}"), !is_never_mapped(index_type));
    let is_bitmap = index_type == "BITMAP";
    let cached = (OFFSET_CACHE, "offset cache index".to_string(), is_bitmap);
    for (key, among, can_be_on) in [mapped, cached] {
        let Some(value) = given.get(key) else {
            continue;
        };
        let why = match value.to_ascii_lowercase().as_str() {
            "false" | "f" | "0" => continue,
            "true" | "t" | "1" if can_be_on => continue,
            "true" | "t" | "1" if key == MMAP => {
                format!("index type {index_type} does not support mmap")
            }
            "true" | "t" | "1" => format!("only bitmap index support {key} now"),
            _ => format!("invalid {key} value: {value}, expected: true, false"),
        };
        return Err(MilvusError::invalid(format!(
            "invalid {among} params: {why}"
        )));
    }
    Ok(())
}

/// Adds an index of one of the fields that are there, and says what changes of the mapping for it.
pub(super) fn add_index(collection: &mut Collection, mut index: KeptIndex) -> Result<Changes> {
    let mut changes = Changes::default();
    match collection.field(&index.field) {
        Ok(field) if field.data_type.is_vector() => {
            let given = flattened(&index.params)?;
            check_vector(field, &given)?;
            let read = VectorIndex::of(field, &index)?;
            check_metric_said(field, &given)?;
            changes.column = read.column.map(|column| (field.path().to_string(), column));
            // As they are told, so that who asks for the same again is told that it is there.
            for (key, usual) in [
                ("metric_type", read.metric.name()),
                ("index_type", "AUTOINDEX"),
            ] {
                if !given.contains_key(key) {
                    index.params.insert(key.to_string(), usual.to_string());
                }
            }
        }
        Ok(field) => {
            let given = flattened(&index.params)?;
            check_scalar(field, &given)?;
            check_path(collection, field, given.get("json_path"))?;
        }
        Err(_) => check_dynamic(collection, &index)?,
    }
    let mut there = collection.indexes.iter();
    if let Some(there) = there.find(|there| there.name == index.name) {
        let (mut kept, asked) = (flattened(&there.params)?, flattened(&index.params)?);
        let mut is_it = kept == asked;
        kept.retain(|key, _| !CHANGEABLE.contains(&key.as_str()));
        is_it |= kept == asked;
        return match is_it && is_of_the_same(there, &index) {
            true => Ok(Changes::default()),
            false => Err(MilvusError::invalid(
                "at most one distinct index is allowed per field",
            )),
        };
    }
    let mut there = collection.indexes.iter();
    if there.any(|there| is_of_the_same(there, &index)) {
        return Err(MilvusError::invalid(
            "CreateIndex failed: creating multiple indexes on same field is not supported",
        ));
    }
    collection.indexes.push(index);
    Ok(changes)
}

/// Refuses an index of a type that is said without a metric: which one is usual is for those that choose their type.
fn check_metric_said(field: &Field, given: &BTreeMap<String, String>) -> Result<()> {
    let is_said = |name: &str| given.get(name).is_some_and(|said| !said.is_empty());
    let chooses = given
        .get("index_type")
        .is_none_or(|kind| kind.is_empty() || kind == "AUTOINDEX");
    match chooses || is_said("metric_type") || field.is_of_words() {
        true => Ok(()),
        false => Err(MilvusError::invalid(
            "metric type not set for vector index: invalid parameter[expected=valid index params][actual=invalid index params]",
        )),
    }
}

fn json_path(index: &KeptIndex) -> Option<String> {
    let params = flattened(&index.params);
    params.ok()?.remove("json_path")
}

/// Refuses an index of JSON by a path that does not lead into its field.
fn check_path(collection: &Collection, field: &Field, path: Option<&String>) -> Result<()> {
    let Some(path) = path.filter(|_| field.data_type == DataType::Json) else {
        return Ok(());
    };
    match inside(path, collection) {
        Ok(Some((member, _))) if member == field.path() => Ok(()),
        _ => Err(MilvusError::invalid(format!(
            "cannot create index: json_path {path} does not lead into field {}: invalid parameter",
            field.name
        ))),
    }
}

/// Refuses an index of what is no field, unless it is one of a key that rows may have beyond the fields, or of what lies inside:
/// these are JSON.
fn check_dynamic(collection: &Collection, index: &KeptIndex) -> Result<()> {
    if !collection.dynamic {
        return Err(MilvusError::invalid(format!(
            "cannot create index on non-exist field: {}",
            index.field
        )));
    }
    let beyond = Field::read(FieldSchema {
        name: "beyond".to_string(),
        data_type: DataType::Json.number(),
        ..FieldSchema::default()
    })?;
    let params = flattened(&index.params)?;
    check_scalar(&beyond, &params)?;
    let path = params.get("json_path").unwrap_or(&index.field);
    match inside(path, collection)? {
        Some((member, _)) if member == DYNAMIC => Ok(()),
        _ => Err(MilvusError::invalid(format!(
            "cannot parse identifier: {path}"
        ))),
    }
}

/// What is said of an index that there is not, or of none at all.
pub(super) fn not_found(collection: &str, index: &str) -> MilvusError {
    MilvusError::IndexNotFound(match index {
        "" => format!("index not found[collection={collection}]"),
        index => format!("index not found[collection={collection}][index={index}]"),
    })
}

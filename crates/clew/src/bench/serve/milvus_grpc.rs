//! Milvus' API by gRPC, which Clew and Milvus answer on the same port as the RESTful one. Messages are those of Clew's own
//! description of the API, and are written and read outside of the clock.

use anyhow::{Context, bail};
use axum::http::{Method, StatusCode};
use bytes::{BufMut, Bytes, BytesMut};
use clew_milvus::proto;
use clew_vector::Space;
use prost::Message;
use serde_json::json;

use super::api::{Api, Collection};
use super::http::{BodyKind, Call, Reply};
use super::load::Judgement;
use super::opensearch::shown;

const SERVICE: &str = "/milvus.proto.milvus.MilvusService";
/// Whether a message is compressed, and its length.
const HEAD_BYTES: usize = 5;
/// A request that was refused because it is too much (`RateLimit`).
const TOO_MUCH: i32 = 8;
/// An index that is built.
const FINISHED: i32 = 3;

/// Milvus' numbers of types.
const INT64: i32 = 5;
const FLOAT_VECTOR: i32 = 101;

const ID: &str = "id";
const VECTOR: &str = "vector";

#[derive(Debug)]
pub(super) struct MilvusGrpc;

fn call(name: &str, message: &impl Message) -> Call {
    let length = message.encoded_len();
    let mut body = BytesMut::with_capacity(HEAD_BYTES + length);
    body.put_u8(0);
    body.put_u32(u32::try_from(length).expect("batches are limited"));
    message.encode(&mut body).expect("it grows as it must");
    let path = format!("{SERVICE}/{name}");
    Call::new(Method::POST, &path, BodyKind::Message, body.freeze())
}

fn on(call_name: &str, collection: &str) -> Call {
    let message = proto::CollectionRequest {
        collection_name: collection.to_owned(),
        ..proto::CollectionRequest::default()
    };
    call(call_name, &message)
}

fn pair(key: &str, value: impl ToString) -> proto::KeyValuePair {
    proto::KeyValuePair {
        key: key.to_owned(),
        value: value.to_string(),
    }
}

/// The message of an answer.
fn read<M: Message + Default>(reply: &Reply) -> anyhow::Result<M> {
    let Some(message) = reply.body.get(HEAD_BYTES..) else {
        bail!("the answer has no message");
    };
    M::decode(message).context("the answer")
}

fn floats(row: &[f32]) -> impl Iterator<Item = u8> {
    row.iter().flat_map(|value| value.to_le_bytes())
}

fn schema(collection: &Collection) -> Vec<u8> {
    let field = |name: &str, data_type| proto::FieldSchema {
        name: name.to_owned(),
        data_type,
        ..proto::FieldSchema::default()
    };
    let schema = proto::CollectionSchema {
        name: collection.name.clone(),
        fields: vec![
            proto::FieldSchema {
                is_primary_key: true,
                ..field(ID, INT64)
            },
            proto::FieldSchema {
                type_params: vec![pair("dim", collection.dims)],
                ..field(VECTOR, FLOAT_VECTOR)
            },
        ],
        ..proto::CollectionSchema::default()
    };
    schema.encode_to_vec()
}

impl Api for MilvusGrpc {
    fn name(&self) -> &'static str {
        "milvus-grpc"
    }

    fn version(&self) -> Call {
        call("GetVersion", &proto::GetVersionRequest::default())
    }

    fn read_version(&self, reply: &Reply) -> Option<String> {
        let told: proto::GetVersionResponse = read(reply).ok()?;
        Some(format!("milvus {}", told.version))
    }

    fn exists(&self, name: &str) -> Call {
        on("HasCollection", name)
    }

    fn read_exists(&self, reply: &Reply) -> bool {
        read::<proto::BoolResponse>(reply).is_ok_and(|told| told.value)
    }

    fn delete(&self, name: &str) -> Call {
        on("DropCollection", name)
    }

    fn create(&self, collection: &Collection) -> Vec<Call> {
        let name = &collection.name;
        let metric = match collection.space {
            Space::Cosine => "COSINE",
            Space::InnerProduct => "IP",
            _ => "L2",
        };
        let made = proto::CreateCollectionRequest {
            collection_name: name.clone(),
            schema: schema(collection).into(),
            shards_num: i32::try_from(collection.shards).unwrap_or(i32::MAX),
            // Bounded.
            consistency_level: 2,
            ..proto::CreateCollectionRequest::default()
        };
        let params = json!({"M": collection.m, "efConstruction": collection.ef_construction});
        let indexed = proto::CreateIndexRequest {
            collection_name: name.clone(),
            field_name: VECTOR.to_owned(),
            index_name: VECTOR.to_owned(),
            extra_params: vec![
                pair("index_type", "HNSW"),
                pair("metric_type", metric),
                pair("params", params),
            ],
            ..proto::CreateIndexRequest::default()
        };
        let loaded = proto::LoadCollectionRequest {
            collection_name: name.clone(),
            replica_number: 1,
            ..proto::LoadCollectionRequest::default()
        };
        vec![
            call("CreateCollection", &made),
            call("CreateIndex", &indexed),
            call("LoadCollection", &loaded),
        ]
    }

    fn insert(&self, name: &str, first: usize, rows: &[Vec<f32>]) -> Call {
        let field = |name: &str, data_type, values| proto::FieldData {
            r#type: data_type,
            field_name: name.to_owned(),
            field: Some(values),
            ..proto::FieldData::default()
        };
        let numbers = (first..).take(rows.len());
        let numbers = numbers.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        let ids = proto::scalar_field::Data::LongData(proto::LongArray {
            data: numbers.collect(),
        });
        let vectors = proto::vector_field::Data::FloatVector(proto::PackedFloats {
            data: rows.iter().flat_map(|row| floats(row)).collect(),
        });
        let dims = rows.first().map_or(0, Vec::len);
        let message = proto::InsertRequest {
            collection_name: name.to_owned(),
            num_rows: u32::try_from(rows.len()).expect("batches are limited"),
            fields_data: vec![
                field(
                    ID,
                    INT64,
                    proto::field_data::Field::Scalars(proto::ScalarField { data: Some(ids) }),
                ),
                field(
                    VECTOR,
                    FLOAT_VECTOR,
                    proto::field_data::Field::Vectors(proto::VectorField {
                        dim: i64::try_from(dims).unwrap_or(i64::MAX),
                        data: Some(vectors),
                    }),
                ),
            ],
            ..proto::InsertRequest::default()
        };
        call("Insert", &message)
    }

    fn refresh(&self, name: &str) -> Call {
        let message = proto::FlushRequest {
            collection_names: vec![name.to_owned()],
            ..proto::FlushRequest::default()
        };
        call("Flush", &message)
    }

    fn merge(&self, name: &str) -> Call {
        let message = proto::ManualCompactionRequest {
            collection_name: name.to_owned(),
            ..proto::ManualCompactionRequest::default()
        };
        call("ManualCompaction", &message)
    }

    /// Milvus builds indexes when it likes.
    fn pending(&self, name: &str) -> Option<Call> {
        let message = proto::DescribeIndexRequest {
            collection_name: name.to_owned(),
            field_name: VECTOR.to_owned(),
            index_name: VECTOR.to_owned(),
            ..proto::DescribeIndexRequest::default()
        };
        Some(call("DescribeIndex", &message))
    }

    fn read_pending(&self, reply: &Reply) -> bool {
        let is_built = |index: &proto::IndexDescription| {
            index.state == FINISHED && index.pending_index_rows == 0
        };
        let told = read::<proto::DescribeIndexResponse>(reply);
        !told.is_ok_and(|told| told.index_descriptions.iter().all(is_built))
    }

    fn search(&self, name: &str, query: &[f32], k: usize, ef_search: usize) -> Call {
        let group = proto::PlaceholderGroup {
            placeholders: vec![proto::PlaceholderValue {
                tag: "$0".to_owned(),
                r#type: FLOAT_VECTOR,
                values: vec![floats(query).collect()],
            }],
        };
        let group: Bytes = group.encode_to_vec().into();
        let message = proto::SearchRequest {
            collection_name: name.to_owned(),
            nq: 1,
            search_input: Some(proto::search_request::SearchInput::PlaceholderGroup(group)),
            search_params: vec![
                pair("anns_field", VECTOR),
                pair("topk", k),
                pair("params", json!({"ef": ef_search})),
            ],
            use_default_consistency: true,
            ..proto::SearchRequest::default()
        };
        call("Search", &message)
    }

    fn read_hits(&self, reply: &Reply) -> anyhow::Result<Vec<u64>> {
        let found: proto::SearchResults = read(reply)?;
        let ids = found.results.and_then(|results| results.ids);
        let Some(proto::i_ds::IdField::IntId(ids)) = ids.and_then(|ids| ids.id_field) else {
            bail!("the answer has no numbers of rows");
        };
        let ids = ids.data.into_iter();
        ids.map(|id| u64::try_from(id).context("an id that nobody wrote"))
            .collect()
    }

    fn judge(&self) -> fn(&Reply) -> Judgement {
        judge
    }
}

/// What nearly every answer begins with.
#[derive(Clone, PartialEq, Message)]
struct Beginning {
    #[prost(message, optional, tag = "1")]
    status: Option<proto::Status>,
}

/// Errors come in messages, with a code.
fn judge(reply: &Reply) -> Judgement {
    match reply.status {
        StatusCode::TOO_MANY_REQUESTS => return Judgement::Refused,
        status if !status.is_success() => return Judgement::Failed(shown(&reply.body)),
        _ => {}
    }
    // The others are a status themselves, whose first field is a number.
    let status = match read::<Beginning>(reply) {
        Ok(beginning) => beginning.status.unwrap_or_default(),
        Err(_) => match read(reply) {
            Ok(status) => status,
            Err(error) => return Judgement::Failed(format!("{error:#}")),
        },
    };
    match status {
        proto::Status { code: TOO_MUCH, .. } => Judgement::Refused,
        proto::Status {
            code: 0,
            error_code: 0,
            ..
        } => Judgement::Answered,
        proto::Status { code, reason, .. } => Judgement::Failed(format!("{code}: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(message: &impl Message) -> Reply {
        Reply {
            status: StatusCode::OK,
            body: call("x", message).body,
        }
    }

    #[test]
    fn an_answer_is_judged_by_its_code_wherever_it_stands() {
        let status = |code, error_code| proto::Status {
            code,
            error_code,
            reason: "why".to_owned(),
            ..proto::Status::default()
        };
        let check = |status: proto::Status| {
            let alone = judge(&reply(&status));
            let within = judge(&reply(&proto::MutationResult {
                status: Some(status),
                ..proto::MutationResult::default()
            }));
            assert_eq!(alone, within);
            alone
        };
        assert_eq!(check(status(0, 0)), Judgement::Answered);
        assert_eq!(check(status(TOO_MUCH, 49)), Judgement::Refused);
        let failed = |told: &str| Judgement::Failed(told.to_owned());
        assert_eq!(check(status(100, 4)), failed("100: why"));
        let none = Reply {
            status: StatusCode::OK,
            body: Bytes::new(),
        };
        assert_eq!(judge(&none), failed("the answer has no message"));
        let transport = |status| Reply {
            status,
            body: Bytes::from("why"),
        };
        let check = |status| judge(&transport(status));
        assert_eq!(check(StatusCode::TOO_MANY_REQUESTS), Judgement::Refused);
        assert_eq!(check(StatusCode::BAD_GATEWAY), failed("why"));
    }

    #[test]
    fn hits_and_what_is_built_are_read() {
        let ids = proto::i_ds::IdField::IntId(proto::LongArray { data: vec![7, 3] });
        let found = proto::SearchResults {
            results: Some(proto::SearchResultData {
                ids: Some(proto::IDs {
                    id_field: Some(ids),
                }),
                ..proto::SearchResultData::default()
            }),
            ..proto::SearchResults::default()
        };
        assert_eq!(MilvusGrpc.read_hits(&reply(&found)).unwrap(), [7, 3]);
        let pending = |state, pending_index_rows| {
            let index = proto::IndexDescription {
                state,
                pending_index_rows,
                ..proto::IndexDescription::default()
            };
            MilvusGrpc.read_pending(&reply(&proto::DescribeIndexResponse {
                index_descriptions: vec![index],
                ..proto::DescribeIndexResponse::default()
            }))
        };
        assert!(!pending(FINISHED, 0));
        assert!(pending(FINISHED, 7));
        assert!(pending(2, 0));
    }
}

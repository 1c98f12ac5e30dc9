//! Inserts and upserts.

use std::collections::HashSet;
use std::sync::Arc;

use clew_engine::{
    Action, EngineError, ListChange, OpType, Purpose, UpdateSpec, WriteOperation, WriteOutcome,
};
use clew_schema::{FieldId, FieldKind, Mapping, VectorValue};
use clew_vector::VectorError;
use serde_json::Value;

use super::field_ops::{change_lists, list_changes};
use super::loading::check_loaded_to;
use super::{Call, Service, check_namespace};
use crate::collection::{
    Collection, DEFAULT_PARTITION, DYNAMIC, Field, NameOf, partitions_go_by_key,
};
use crate::collections::Opened;
use crate::error::{MilvusError, Result};
use crate::proto::*;
use crate::rows::{Ids, NewRow, defaults_beside, documents, keys, not_finite, not_given};
use crate::timestamp;

/// What becomes of rows whose keys are there already, and where keys come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Insert,
    Upsert,
    /// Only the fields given change.
    Partial,
}

/// Rows that are inserted or upserted.
struct RowsToWrite<'r> {
    request: &'r InsertRequest,
    partition: &'r str,
    mode: Mode,
    /// What becomes of lists of rows that are there.
    lists: &'r [(String, ListChange)],
}

impl Service {
    pub(crate) async fn insert(
        &self,
        call: Call,
        request: InsertRequest,
    ) -> Result<MutationResult> {
        let count = request.num_rows;
        let ids = self.insert_rows(&call, Arc::new(request)).await?;
        Ok(MutationResult {
            i_ds: Some(ids),
            succ_index: (0..count).collect(),
            acknowledged: true,
            insert_cnt: count.into(),
            timestamp: self.timestamp(),
            ..MutationResult::default()
        })
    }

    pub(crate) async fn upsert(
        &self,
        call: Call,
        request: UpsertRequest,
    ) -> Result<MutationResult> {
        let count = request.num_rows;
        let ops = request.field_ops;
        let mode = if request.partial_update || change_lists(&ops) {
            Mode::Partial
        } else {
            Mode::Upsert
        };
        let request = InsertRequest {
            db_name: request.db_name,
            collection_name: request.collection_name,
            partition_name: request.partition_name,
            fields_data: request.fields_data,
            num_rows: request.num_rows,
            schema_timestamp: request.schema_timestamp,
            namespace: request.namespace,
        };
        let ids = self
            .write_rows(&call, (Arc::new(request), mode), &ops)
            .await?;
        Ok(MutationResult {
            i_ds: Some(ids),
            succ_index: (0..count).collect(),
            acknowledged: true,
            // As Milvus counts: each row of it is one that goes and one that comes.
            insert_cnt: count.into(),
            delete_cnt: count.into(),
            upsert_cnt: count.into(),
            timestamp: self.timestamp(),
            ..MutationResult::default()
        })
    }

    /// Where the rows of a request go: the collection, and the partition.
    fn place_of(&self, call: &Call, request: &InsertRequest) -> Result<(Opened, String)> {
        let opened = self.open_named(call, request, Purpose::Write)?;
        check_namespace(&request.namespace)?;
        let collection = &opened.named.collection;
        let packed_for = request.schema_timestamp;
        if packed_for != 0 && packed_for != timestamp::of_millis(collection.updated_ms) {
            let name = opened.named.name.clone();
            return Err(MilvusError::SchemaMismatch(name));
        }
        let partition = match request.partition_name.as_str() {
            "" => DEFAULT_PARTITION.to_string(),
            name => name.to_string(),
        };
        if collection.has_partition_key() {
            if !request.partition_name.is_empty() {
                return Err(partitions_go_by_key());
            }
        } else {
            NameOf::Partition.check(&partition)?;
            collection.check_partitions(std::slice::from_ref(&partition))?;
        }
        if request.num_rows == 0 {
            return Err(MilvusError::expected("need long int more than 0", 0));
        }
        Ok((opened, partition))
    }

    /// Reads rows as an insert does, and writes nothing.
    ///
    /// # Errors
    /// What an insert of them would be refused for before anything is written.
    pub(super) async fn check_rows(&self, call: &Call, request: Arc<InsertRequest>) -> Result<()> {
        let (opened, partition) = self.place_of(call, &request)?;
        self.beside(move |service| {
            let rows = RowsToWrite {
                request: &request,
                partition: &partition,
                mode: Mode::Insert,
                lists: &[],
            };
            service.made_rows(&opened, &rows).map(|_| ())
        })
        .await
    }

    /// Inserts rows, and answers with their keys. The request is shared, so that it can be tried again as it is.
    ///
    /// # Errors
    /// What an insert of them is refused for.
    pub(super) async fn insert_rows(
        &self,
        call: &Call,
        request: Arc<InsertRequest>,
    ) -> Result<IDs> {
        self.write_rows(call, (request, Mode::Insert), &[]).await
    }

    async fn write_rows(
        &self,
        call: &Call,
        (request, mode): (Arc<InsertRequest>, Mode),
        ops: &[FieldPartialUpdateOp],
    ) -> Result<IDs> {
        let (opened, partition) = self.place_of(call, &request)?;
        if mode == Mode::Partial {
            // The rows that are there are read for it, as Milvus does.
            check_loaded_to("query", &opened)?;
        }
        let collection = opened.named.collection.clone();
        let lists = list_changes(&collection, &request.fields_data, ops)?;
        let call = call.clone();
        let left_out = collection.left_out(&request.fields_data).map(not_given);
        let (ids, written) = self
            .beside(move |service| {
                let rows = RowsToWrite {
                    request: &request,
                    partition: &partition,
                    mode,
                    lists: &lists,
                };
                service.apply_rows(&call, &opened, &rows)
            })
            .await?;
        match (written, left_out) {
            (Ok(outcome), _) => {
                self.engine().durable(&outcome).await?;
                Ok(ids)
            }
            (Err(EngineError::DocumentMissing { .. }), Some(left_out)) => Err(left_out),
            (Err(error), _) => Err(error.into()),
        }
    }

    /// The rows of a request as documents, and their keys.
    fn made_rows(&self, opened: &Opened, rows: &RowsToWrite<'_>) -> Result<(Vec<NewRow>, IDs)> {
        let &RowsToWrite {
            request,
            partition,
            mode,
            ..
        } = rows;
        let collection = &opened.named.collection;
        let mapping = opened.handle.mapping();
        let rows = usize::try_from(request.num_rows).unwrap_or(usize::MAX);
        let mut next = || self.new_id();
        let ids = match mode {
            Mode::Insert if collection.makes_keys(&request.fields_data) => Ids::Made(&mut next),
            // As Milvus does it: a row whose key is made gets another one, and that of the key that is given goes.
            Mode::Upsert if collection.primary().auto_id => Ids::Renewed(&mut next),
            Mode::Insert | Mode::Upsert | Mode::Partial => Ids::Given,
        };
        let relaxed;
        let read_as = match mode {
            Mode::Partial => {
                relaxed = collection.with_fields_of(&request.fields_data);
                &relaxed
            }
            Mode::Insert | Mode::Upsert => &**collection,
        };
        let made = documents(
            (read_as, &mapping),
            &request.fields_data,
            rows,
            (partition, self.engine().clock().epoch_ms(), ids),
            mode == Mode::Partial,
        )?;
        for row in &made {
            check_vectors(&mapping, &row.vectors)?;
        }
        if mode != Mode::Insert {
            check_once(&made)?;
        }
        let keys = keys(collection, made.iter().map(|row| row.id.as_str()))?;
        Ok((made, keys))
    }

    /// Writes all rows of a request or none, as Milvus tells it: the outer error is of what is known before, the inner one of
    /// what the engine refuses.
    fn apply_rows(
        &self,
        call: &Call,
        opened: &Opened,
        rows: &RowsToWrite<'_>,
    ) -> Result<(IDs, std::result::Result<WriteOutcome, EngineError>)> {
        let (made, keys) = self.made_rows(opened, rows)?;
        let &RowsToWrite {
            request,
            mode,
            lists,
            ..
        } = rows;
        // A row that is not there yet is made of what is given, where that is all it must have.
        let collection = &opened.named.collection;
        let may_be_new = collection.left_out(&request.fields_data).is_none();
        let defaults = defaults_beside(collection, &request.fields_data).map(bytes::Bytes::from);
        let (index, found) = opened.written();
        let operation = |id: String, action: Action| WriteOperation {
            index: index.clone(),
            require_alias: false,
            id: Some(id),
            routing: None,
            action,
            condition: None,
        };
        let mut operations = Vec::with_capacity(made.len());
        for row in made {
            let action = match mode {
                Mode::Insert | Mode::Upsert => Action::Index {
                    source: row.source.into(),
                    vectors: row.vectors,
                    op_type: OpType::Index,
                },
                Mode::Partial => Action::Update(UpdateSpec {
                    doc: Some(row.source.into()),
                    vectors: row.vectors,
                    doc_as_upsert: may_be_new,
                    defaults: defaults.clone(),
                    // JSON is replaced; what rows have beyond the fields is joined, key by key.
                    only_joins: Some(vec![DYNAMIC.to_string()]),
                    lists: lists.to_vec(),
                    ..UpdateSpec::default()
                }),
            };
            operations.push(operation(row.id, action));
            operations.extend(row.replaces.map(|id| operation(id, Action::Delete)));
        }
        let _room = self.engine().admit(&operations)?;
        let engine = self.engine();
        let written = engine.write_as_one(&call.access, &found, operations);
        Ok((keys, written))
    }
}

/// Refuses upserts in which a key comes twice: which of the rows would stay is nobody's to say.
fn check_once(rows: &[NewRow]) -> Result<()> {
    let mut seen = HashSet::with_capacity(rows.len());
    let mut given = rows
        .iter()
        .map(|row| row.replaces.as_deref().unwrap_or(&row.id));
    match given.all(|key| seen.insert(key)) {
        true => Ok(()),
        false => Err(MilvusError::invalid(
            "duplicate primary keys are not allowed in the same batch: invalid parameter",
        )),
    }
}

/// Refuses vectors that a column cannot hold before anything of a request is written.
fn check_vectors(mapping: &Mapping, vectors: &[(FieldId, VectorValue)]) -> Result<()> {
    for (id, vector) in vectors {
        let Some(field) = mapping.by_id(*id) else {
            continue;
        };
        if let (FieldKind::Vector(kind), VectorValue::Dense(numbers)) = (&field.kind, vector) {
            let column = &kind.column;
            // Of structs there are several, one after the other.
            for one in numbers.chunks(column.element.numbers(column.dimension).max(1)) {
                clew_vector::validate(one, column).map_err(|error| match error {
                    VectorError::NotFinite { position } => not_finite(one[position].into()),
                    error => MilvusError::invalid(format!(
                        "the vector of field ({}): {error}",
                        field.path
                    )),
                })?;
            }
        }
    }
    Ok(())
}

impl Collection {
    /// The same with the fields of some columns alone: what is not among them stays as it is in rows that are there, and
    /// what is null among them becomes null.
    fn with_fields_of(&self, columns: &[FieldData]) -> Collection {
        let mut own = self.clone();
        // What a function makes of a text changes with it.
        let is_made_anew = |field: &Field| {
            let function = self.function_of(&field.name);
            let mut inputs = function.into_iter().flat_map(|function| &function.inputs);
            inputs.any(|input| is_given(columns, input))
        };
        own.fields.retain(|field| {
            field.is_primary || is_given(columns, &field.name) || is_made_anew(field)
        });
        own.structs.retain(|field| is_given(columns, &field.name));
        for field in &mut own.fields {
            if field.nullable && field.default.is_none() && !field.data_type.is_vector() {
                field.default = Some(Value::Null);
            }
        }
        own
    }

    /// Whether the keys of rows that are inserted are made, where these are their columns.
    fn makes_keys(&self, columns: &[FieldData]) -> bool {
        let primary = self.primary();
        let brings = self.takes_keys() && is_given(columns, &primary.name);
        primary.auto_id && !brings
    }

    /// A field that rows must have and that none of the columns is of.
    fn left_out(&self, columns: &[FieldData]) -> Option<&str> {
        let mut fields = self.fields.iter();
        let field = fields.find(|field| {
            let is_needed = !field.nullable && field.default.is_none() && !field.is_function_output;
            is_needed && !is_given(columns, &field.name)
        });
        let mut structs = self.structs.iter();
        let field = field.map(|field| field.name.as_str());
        field.or_else(|| {
            let found = structs.find(|one| !one.nullable && !is_given(columns, &one.name));
            found.map(|one| one.name.as_str())
        })
    }
}

/// Whether one of the columns is of a field.
pub(super) fn is_given(columns: &[FieldData], name: &str) -> bool {
    let mut columns = columns.iter().filter(|column| !column.is_dynamic);
    columns.any(|column| column.field_name == name)
}

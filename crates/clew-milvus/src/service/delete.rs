//! Deletions: of rows that are named by their keys, of those that match, and of all.

use std::collections::BTreeSet;

use clew_engine::{
    Action, Condition, EngineError, PRIMARY_TERM, Pinned, Purpose, WriteOperation, WriteOutcome,
};
use clew_query::Query;
use prost::Message;

use super::read::Page;
use super::{Call, Service, check_namespace};
use crate::collection::{partition_query, partitions_go_by_key};
use crate::collections::Opened;
use crate::error::{MilvusError, Result};
use crate::expr::{self, Templates};
use crate::proto::*;

/// Documents whose ids are read before they are deleted.
pub(super) const DELETED_AT_ONCE: usize = 10_000;

/// What is to be deleted.
enum Deleted {
    /// Rows with these keys.
    Keys(Vec<String>),
    /// Rows that match.
    Matching(Box<Query>),
}

impl Service {
    pub(crate) async fn delete(
        &self,
        call: Call,
        request: DeleteRequest,
    ) -> Result<MutationResult> {
        let opened = self.open_named(&call, &request, Purpose::Write)?;
        check_namespace(&request.namespace)?;
        let collection = &opened.named.collection;
        if request.expr.trim().is_empty() {
            return Err(MilvusError::invalid(
                "expr is empty: delete plan can't be empty or always true",
            ));
        }
        let (of, bytes) = (collection.clone(), request.encoded_len());
        let (text, values) = (request.expr, request.expr_template_values);
        self.hold_expression(&text, &values)?;
        let is_anywhere = request.partition_name.is_empty();
        if !is_anywhere && collection.has_partition_key() {
            return Err(partitions_go_by_key());
        }
        let name = opened.named.name.clone();
        let read = move || -> Result<Deleted> {
            let templates = Templates::read(values)?;
            let wanted = expr::parse(&text)?;
            // Keys that are named need no search.
            match expr::keys_of(&wanted, of.primary(), &templates)? {
                Some(ids) if is_anywhere => Ok(Deleted::Keys(ids)),
                keys => {
                    let query = expr::lower(&wanted, &of, &templates)?;
                    // Others are looked for, which takes a collection that may be searched.
                    if keys.is_none() && !of.loaded {
                        return Err(MilvusError::CollectionNotLoaded(name));
                    }
                    Ok(Deleted::Matching(Box::new(query)))
                }
            }
        };
        let count = match self
            .reading(bytes, read)
            .await
            .map_err(MilvusError::of_deletion)?
        {
            Deleted::Keys(ids) => {
                // Milvus counts the keys that are named, whether there are rows of them or not.
                let named: BTreeSet<&String> = ids.iter().collect();
                let named = u64::try_from(named.len()).unwrap_or(u64::MAX);
                self.delete_ids(&call, &opened, ids).await?;
                named
            }
            Deleted::Matching(query) => {
                let query = match request.partition_name.as_str() {
                    "" => *query,
                    name => {
                        let names = [name.to_string()];
                        let checked = collection.check_partitions(&names);
                        checked.map_err(MilvusError::of_deletion)?;
                        expr::both(*query, partition_query(&names))
                    }
                };
                self.delete_matching(&call, &opened, query).await?
            }
        };
        Ok(MutationResult {
            i_ds: Some(IDs::default()),
            acknowledged: true,
            delete_cnt: i64::try_from(count).unwrap_or(i64::MAX),
            timestamp: self.timestamp(),
            ..MutationResult::default()
        })
    }

    /// Deletes the rows that match by now; says how many.
    pub(super) async fn delete_matching(
        &self,
        call: &Call,
        opened: &Opened,
        query: Query,
    ) -> Result<u64> {
        let readable = self.open(
            call,
            (&opened.named.database, &opened.named.name),
            Purpose::Read,
        )?;
        self.see_all_writes(&readable).await?;
        let pinned = self.engine().pin(std::slice::from_ref(&readable.handle))?;
        self.delete_seen(call, opened, (&pinned, &query)).await
    }

    /// Deletes the rows of a moment that match; says how many. One that was written again since is another row, which may not
    /// match, and stays.
    pub(super) async fn delete_seen(
        &self,
        call: &Call,
        opened: &Opened,
        (pinned, query): (&Pinned, &Query),
    ) -> Result<u64> {
        let unchanged = |seq_no| Condition::At {
            seq_no,
            primary_term: PRIMARY_TERM,
        };
        let mut page = Page::first(query, DELETED_AT_ONCE);
        let mut count = 0;
        loop {
            let hits = self.next_hits(pinned, &mut page).await?;
            if hits.is_empty() {
                return Ok(count);
            }
            let rows = hits.into_iter();
            let rows = rows.map(|hit| (hit.id, Some(unchanged(hit.seq_no))));
            let outcome = self
                .change_rows(call, opened, Action::Delete, rows.collect())
                .await?;
            for result in outcome.results {
                match result {
                    Ok(_) => count += 1,
                    Err(EngineError::VersionConflict { .. }) => {}
                    Err(other) => return Err(other.into()),
                }
            }
        }
    }

    /// Deletes documents.
    async fn delete_ids(&self, call: &Call, opened: &Opened, ids: Vec<String>) -> Result<()> {
        let rows = ids.into_iter().map(|id| (id, None)).collect();
        let outcome = self.change_rows(call, opened, Action::Delete, rows).await?;
        for result in outcome.results {
            result?;
        }
        Ok(())
    }

    /// Does the same to all documents that meet conditions; durable when it returns.
    pub(super) async fn change_rows(
        &self,
        call: &Call,
        opened: &Opened,
        action: Action,
        rows: Vec<(String, Option<Condition>)>,
    ) -> Result<WriteOutcome> {
        let (index, found) = opened.written();
        let access = call.access.clone();
        let outcome = self
            .beside(move |service| {
                let operations: Vec<WriteOperation> = rows
                    .into_iter()
                    .map(|(id, condition)| WriteOperation {
                        index: index.clone(),
                        require_alias: false,
                        id: Some(id),
                        routing: None,
                        action: action.clone(),
                        condition,
                    })
                    .collect();
                let _room = service.engine().admit(&operations)?;
                Ok(service.engine().write_found(&access, &found, operations))
            })
            .await?;
        self.engine().durable(&outcome).await?;
        Ok(outcome)
    }

    pub(crate) async fn truncate_collection(
        &self,
        call: Call,
        request: CollectionRequest,
    ) -> Result<TruncateCollectionResponse> {
        let opened = self.open_named(&call, &request, Purpose::Write)?;
        self.delete_matching(&call, &opened, Query::match_all())
            .await?;
        Ok(TruncateCollectionResponse::default())
    }
}

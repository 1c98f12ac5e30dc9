//! Flushes, segments and compactions: what load tools wait for before they search.

use std::collections::HashSet;

use clew_engine::Purpose;

use super::{Call, NODE, Service};
use crate::collections::Opened;
use crate::error::{MilvusError, Result};
use crate::proto::*;

/// The state of a segment that is on the disk, that of one that is searched, and the level of both.
const FLUSHED: i32 = 4;
const SEALED: i32 = 3;
const LEVEL_ONE: i32 = 2;
/// The state of a compaction that is through.
const COMPLETED: i32 = 2;

impl Service {
    pub(crate) async fn flush(&self, call: Call, request: FlushRequest) -> Result<FlushResponse> {
        let mut answer = FlushResponse {
            db_name: request.db_name.clone(),
            ..FlushResponse::default()
        };
        for name in request.collection_names {
            let opened = self.open(&call, (&request.db_name, &name), Purpose::Write)?;
            self.flush_one(opened).await?;
            let sealed = i64::try_from(self.engine().now().as_secs()).unwrap_or_default();
            answer
                .coll_seg_i_ds
                .insert(name.clone(), LongArray::default());
            answer
                .flush_coll_seg_i_ds
                .insert(name.clone(), LongArray::default());
            answer.coll_seal_times.insert(name.clone(), sealed);
            answer.coll_flush_ts.insert(name, self.timestamp());
        }
        Ok(answer)
    }

    async fn flush_one(&self, opened: Opened) -> Result<()> {
        self.beside(move |service| {
            service.engine().refresh(&opened.handle)?;
            Ok(service.engine().flush(&opened.handle)?)
        })
        .await
    }

    pub(crate) async fn flush_all(
        &self,
        call: Call,
        request: FlushAllRequest,
    ) -> Result<FlushAllResponse> {
        let database = call.database(&request.db_name).to_string();
        for named in self.collections().list(&database, &call.access)? {
            let opened = self.open(&call, (&database, &named.name), Purpose::Write)?;
            self.flush_one(opened).await?;
        }
        Ok(FlushAllResponse {
            flush_all_ts: self.timestamp(),
            ..FlushAllResponse::default()
        })
    }

    /// A flush is through when it is answered.
    pub(crate) async fn get_flush_state(
        &self,
        _: Call,
        _: GetFlushStateRequest,
    ) -> Result<GetFlushStateResponse> {
        Ok(GetFlushStateResponse {
            flushed: true,
            ..GetFlushStateResponse::default()
        })
    }

    pub(crate) async fn get_flush_all_state(
        &self,
        _: Call,
        _: GetFlushAllStateRequest,
    ) -> Result<GetFlushStateResponse> {
        Ok(GetFlushStateResponse {
            flushed: true,
            ..GetFlushStateResponse::default()
        })
    }

    pub(crate) async fn get_persistent_segment_info(
        &self,
        call: Call,
        request: SegmentInfoRequest,
    ) -> Result<GetPersistentSegmentInfoResponse> {
        let opened = self.open_named(&call, &request, Purpose::Show)?;
        let infos = segments(&opened).map(|(segment_id, num_rows, _)| PersistentSegmentInfo {
            segment_id,
            collection_id: opened.named.collection.id,
            partition_id: 1,
            num_rows,
            state: FLUSHED,
            level: LEVEL_ONE,
            is_sorted: true,
        });
        Ok(GetPersistentSegmentInfoResponse {
            infos: infos.collect(),
            ..GetPersistentSegmentInfoResponse::default()
        })
    }

    pub(crate) async fn get_query_segment_info(
        &self,
        call: Call,
        request: SegmentInfoRequest,
    ) -> Result<GetQuerySegmentInfoResponse> {
        let opened = self.open_named(&call, &request, Purpose::Show)?;
        // Of what is not let in to searches nothing is there for them.
        let is_loaded = opened.named.collection.loaded;
        let there = segments(&opened).filter(|_| is_loaded);
        let infos = there.map(|(segment_id, num_rows, mem_size)| QuerySegmentInfo {
            segment_id,
            collection_id: opened.named.collection.id,
            partition_id: 1,
            mem_size,
            num_rows,
            node_id: NODE,
            node_ids: vec![NODE],
            state: SEALED,
            level: LEVEL_ONE,
            is_sorted: true,
            ..QuerySegmentInfo::default()
        });
        Ok(GetQuerySegmentInfoResponse {
            infos: infos.collect(),
            ..GetQuerySegmentInfoResponse::default()
        })
    }

    /// Moves segments from one node to others. There is one, so that what is asked for rightly is so already.
    ///
    /// # Errors
    /// For other nodes, segments that are not there, and collections that are not let in to searches.
    pub(crate) async fn load_balance(
        &self,
        call: Call,
        request: LoadBalanceRequest,
    ) -> Result<Status> {
        let opened = self.open_named(&call, &request, Purpose::Show)?;
        let collection = &opened.named.collection;
        if !collection.loaded {
            return Err(MilvusError::NotFullyLoaded(collection.id));
        }
        if request.src_node_id != NODE {
            return Err(MilvusError::NodeNotFound(
                request.src_node_id,
                format!(
                    "source node not found in any replica of collection {}",
                    collection.id
                ),
            ));
        }
        if let Some(other) = request.dst_node_i_ds.iter().find(|node| **node != NODE) {
            let said = "destination node not found in the same replica".to_string();
            return Err(MilvusError::NodeNotFound(*other, said));
        }
        let there: HashSet<i64> = segments(&opened).map(|(id, ..)| id).collect();
        let mut wanted = request.sealed_segment_i_ds.into_iter();
        match wanted.find(|id| !there.contains(id)) {
            Some(missing) => Err(MilvusError::SegmentNotFound(missing)),
            None => Ok(Status::default()),
        }
    }

    /// Merges a collection's segments into one for each shard; through when it is answered.
    pub(crate) async fn manual_compaction(
        &self,
        call: Call,
        request: ManualCompactionRequest,
    ) -> Result<ManualCompactionResponse> {
        let either = (request.collection_name.as_str(), request.collection_id);
        let name = self.name_of(&call, &request.db_name, either)?;
        let opened = self.open(&call, (&request.db_name, &name), Purpose::Write)?;
        self.merging(move |service| {
            service.engine().refresh(&opened.handle)?;
            Ok(service.engine().force_merge(&opened.handle, 1)?)
        })
        .await?;
        Ok(ManualCompactionResponse {
            compaction_id: self.new_id(),
            compaction_plan_count: 1,
            ..ManualCompactionResponse::default()
        })
    }

    pub(crate) async fn get_compaction_state(
        &self,
        _: Call,
        _: GetCompactionStateRequest,
    ) -> Result<GetCompactionStateResponse> {
        Ok(GetCompactionStateResponse {
            state: COMPLETED,
            completed_plan_no: 1,
            ..GetCompactionStateResponse::default()
        })
    }

    pub(crate) async fn get_compaction_state_with_plans(
        &self,
        call: Call,
        _: GetCompactionPlansRequest,
    ) -> Result<GetCompactionPlansResponse> {
        // Clients look for every segment that there is among the sources of some plan.
        let mut plans = Vec::new();
        for (database, name) in self.collection_names(&call)? {
            if let Ok(opened) = self.open(&call, (&database, &name), Purpose::Show) {
                for (id, ..) in segments(&opened) {
                    plans.push(CompactionMergeInfo {
                        sources: vec![id],
                        target: id,
                    });
                }
            }
        }
        Ok(GetCompactionPlansResponse {
            state: COMPLETED,
            merge_infos: plans,
            ..GetCompactionPlansResponse::default()
        })
    }

    fn collection_names(&self, call: &Call) -> Result<Vec<(String, String)>> {
        let database = call.database("").to_string();
        let all = self.collections().list(&database, &call.access)?;
        Ok(all
            .into_iter()
            .map(|named| (database.clone(), named.name))
            .collect())
    }
}

/// The number, rows and bytes of each segment.
fn segments(opened: &Opened) -> impl Iterator<Item = (i64, i64, i64)> {
    let all = opened.handle.segments();
    all.into_iter().flatten().map(|segment| {
        // The first digits of its id, as a number that clients take.
        let digits: String = segment
            .id
            .chars()
            .filter(char::is_ascii_hexdigit)
            .take(14)
            .collect();
        let number = i64::from_str_radix(&digits, 16).unwrap_or(1);
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        (number, signed(segment.docs), signed(segment.bytes))
    })
}

//! Partitions: parts of a collection that searches can keep to. A row says which one it is in.

use clew_engine::Purpose;

use super::collections::row_count;
use super::loading::percent;
use super::{Call, Service};
use crate::collection::{DEFAULT_PARTITION, NameOf, partition_query};
use crate::collections::Changes;
use crate::error::{MilvusError, Result};
use crate::expr;
use crate::proto::{self, *};
use crate::timestamp;

impl Service {
    pub(crate) async fn create_partition(
        &self,
        call: Call,
        request: PartitionRequest,
    ) -> Result<proto::Status> {
        NameOf::Partition.check(&request.partition_name)?;
        let place = (request.db_name, request.collection_name);
        self.change_collection(call, place, move |service, collection| {
            if collection.has_partition_key() {
                return Err(MilvusError::invalid(
                    "disable create partition if partition key mode is used",
                ));
            }
            if !collection.partitions.contains_key(&request.partition_name) {
                collection.add_partition(&request.partition_name, service.new_id())?;
            }
            Ok(((), Changes::default()))
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn drop_partition(
        &self,
        call: Call,
        request: PartitionRequest,
    ) -> Result<proto::Status> {
        NameOf::Partition.check(&request.partition_name)?;
        let name = request.partition_name.clone();
        if name == DEFAULT_PARTITION {
            return Err(MilvusError::invalid("default partition cannot be deleted"));
        }
        let opened = self.open_named(&call, &request, Purpose::Write)?;
        let collection = &opened.named.collection;
        if collection.has_partition_key() {
            return Err(MilvusError::invalid(
                "disable drop partition if partition key mode is used",
            ));
        }
        if !collection.partitions.contains_key(&name) {
            return Ok(proto::Status::default());
        }
        if collection.has_loaded(&name) {
            return Err(MilvusError::invalid(
                "partition cannot be dropped, partition is loaded, please release it first",
            ));
        }
        let rows = partition_query(std::slice::from_ref(&name));
        // First the rows: where this is cut off, the partition is there and can be dropped again.
        self.delete_matching(&call, &opened, rows.clone()).await?;
        let place = (request.db_name, request.collection_name);
        let dropped = name.clone();
        self.change_collection(call.clone(), place.clone(), move |_, collection| {
            collection.drop_partition(&dropped);
            Ok(((), Changes::default()))
        })
        .await?;
        // What was written meanwhile has no partition, but would be found by who names none.
        let place = (place.0.as_str(), place.1.as_str());
        let left = self.open(&call, place, Purpose::Read)?;
        self.see_all_writes(&left).await?;
        let pinned = self.engine().pin(std::slice::from_ref(&left.handle))?;
        // Looked for after that: where another of the name was made, they may be in it.
        let now = self.open(&call, place, Purpose::Show)?;
        if !now.named.collection.partitions.contains_key(&name) {
            self.delete_seen(&call, &opened, (&pinned, &rows)).await?;
        }
        Ok(proto::Status::default())
    }

    pub(crate) async fn has_partition(
        &self,
        call: Call,
        request: PartitionRequest,
    ) -> Result<BoolResponse> {
        NameOf::Partition.check(&request.partition_name)?;
        let opened = self.open_named(&call, &request, Purpose::Show)?;
        Ok(BoolResponse {
            value: opened
                .named
                .collection
                .partitions
                .contains_key(&request.partition_name),
            ..BoolResponse::default()
        })
    }

    pub(crate) async fn show_partitions(
        &self,
        call: Call,
        request: ShowPartitionsRequest,
    ) -> Result<ShowPartitionsResponse> {
        let opened = self.open_named(&call, &request, Purpose::Show)?;
        let collection = &opened.named.collection;
        const IN_MEMORY: i32 = 1;
        let wanted = &request.partition_names;
        collection.check_partitions(wanted)?;
        let shown = |(name, _): &(&String, &i64)| {
            let is_wanted = wanted.is_empty() || wanted.contains(name);
            is_wanted && (request.r#type != IN_MEMORY || collection.has_loaded(name))
        };
        let partitions: Vec<_> = collection.partitions.iter().filter(shown).collect();
        let created = opened.handle.created_ms();
        Ok(ShowPartitionsResponse {
            partition_names: partitions.iter().map(|(name, _)| (*name).clone()).collect(),
            partition_i_ds: partitions.iter().map(|(_, id)| **id).collect(),
            created_timestamps: vec![timestamp::of_millis(created); partitions.len()],
            created_utc_timestamps: vec![created; partitions.len()],
            in_memory_percentages: partitions
                .iter()
                .map(|(name, _)| percent(collection.has_loaded(name)))
                .collect(),
            ..ShowPartitionsResponse::default()
        })
    }

    pub(crate) async fn get_partition_statistics(
        &self,
        call: Call,
        request: PartitionRequest,
    ) -> Result<StatisticsResponse> {
        let opened = self.open_named(&call, &request, Purpose::Read)?;
        let names = [request.partition_name];
        opened.named.collection.check_partitions(&names)?;
        self.see_all_writes(&opened).await?;
        let mut query = partition_query(&names);
        if let Some(unexpired) = opened.named.collection.unexpired(self.engine().now()) {
            query = expr::both(query, unexpired);
        }
        let count = self.count_matching(&opened, query).await?;
        Ok(row_count(count))
    }
}

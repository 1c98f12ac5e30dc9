//! Indexes made of shards made of segments: write path, refresh, merge, recovery, search.
//!
//! A write goes: operation → its shard (murmur3 of the routing key) → checked against the mapping
//! → numbered → appended to the node's log → applied to the shard's buffer → acknowledged when the
//! log is durable. Everything else (segments, id map, catalog) is a view of the log and records the
//! position it has applied; recovery opens the newest complete view and replays the rest.
//!
//! Deliberately absent: any protocol's types or JSON shapes, sockets, async tasks.

mod error;
mod request;
mod settings;
mod write_outcome;
mod write_request;

mod activity;
mod alias;
mod alias_change;
mod blocks;
mod catalog;
mod define;
mod definitions;
mod operation;
mod routing;

mod shard;
mod signal;

mod data_folder;
mod disk;

mod catalog_change;

mod date_names;
mod engine;
mod index;
mod index_catalog;
mod index_state;
mod maintenance;
mod mapping_change;
mod names;
mod open_close;
mod plan_index;
mod planner;
mod recovery;
mod repair;
mod resolve;
mod verify;

mod buffers;
mod changes;
mod documents;
mod get;
mod healing;
mod health;
mod snapshot;

mod write;
mod write_memory;

mod fetch;
mod fusion;
mod inspect;
mod knn;
mod named;
mod pinned;
mod recall;
mod search;
mod search_pool;
mod segment_stats;

pub use activity::{Counted, SearchActivity};
pub use alias::{Alias, AliasAction, Aliases};
pub use blocks::{Block, BlockLevel};
pub use catalog_change::CatalogChange;
pub use changes::{Change, ChangeLimits, ChangePage};
pub use definitions::{DefinitionChange, Definitions};
pub use disk::{DiskLimits, DiskStage, DiskState, Watermark};
pub use documents::ShardDocuments;
pub use engine::{Engine, EngineOptions, EngineStats};
pub use error::{EngineError, ErrorKind};
pub use fusion::{Bound, BoundMode, Bounds, Combination, Fusion, Normalization};
pub use health::{FailedShard, NodeHealth};
pub use index::{Index, IndexStats, RunningMerge};
pub use index_state::IndexState;
pub use operation::describe_entry;
pub use pinned::{Pinned, PinnedShard, Slice};
pub use planner::{IndexPlan, IndexPlanner};
pub use recall::{
    RECALL_SAMPLE_MAX, RecallEffort, RecallFigures, RecallReport, RecallRequest, SearchCost,
    ShardRecall,
};
pub use repair::{Cure, GiveUp, RepairStep, plan_repair, repair};
pub use request::{
    Collapse, Hit, Hybrid, IndexPart, InnerHits, InnerResult, KnnProfile, NestedStep,
    SearchControl, SearchRequest, SearchResponse, ShardCounts, ShardFailure, ShardProfile, Within,
};
pub use resolve::{AliasNames, ClosedNames, ResolveOptions, Resolved, Wildcards};
pub use search_pool::SearchStats;
pub use segment_stats::SegmentStats;
pub use settings::{DATA_STREAM, IndexSettings, MERGE_REORDER, TranslogDurability};
pub use shard::FileDamage;
pub use snapshot::{
    Cleaned, RepositoryReport, SnapshotFile, SnapshotManifest, SnapshotRepository,
    documents_file_name, index_state, is_repository, verify_repository,
};
pub use verify::{FolderReport, ShardReport, ShardVerdict, verify_folder};
pub use write_memory::parsed_bytes;
pub use write_outcome::{WriteOutcome, Written};
pub use write_request::{
    Action, Condition, Document, OpType, UpdateSpec, WriteOperation, WriteResult,
};
// What profiles and reports are made of.
pub use clew_vector::{Prices, RecallEstimate, SearchProfile, Strategy};
// How far a merge is.
pub use clew_vector::{BuildPhase, BuildStatus};

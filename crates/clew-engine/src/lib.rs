//! Indexes made of shards made of segments: write path, refresh, merge, recovery, search.
//!
//! A write goes: operation → its shard (murmur3 of the routing key) → checked against the mapping
//! → numbered → appended to the node's log → applied to the shard's buffer → acknowledged when the
//! log is durable. Everything else (segments, id map, catalog) is a view of the log and records the
//! position it has applied; recovery opens the newest complete view and replays the rest.
//!
//! ```
//! use std::sync::Arc;
//!
//! use clew_engine::{
//!     Access, Action, Engine, EngineOptions, IndexSettings, OpType, Purpose, SearchRequest, WriteOperation,
//! };
//! use clew_platform::{RealClock, SimDisk};
//! use clew_query::Query;
//! use clew_schema::{FieldKind, FieldSpec, IntegerKind, Mapping, MappingSpec};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = EngineOptions::new("/data");
//! let engine = Engine::start(options, Arc::new(SimDisk::new()), Arc::new(RealClock::new()))?;
//! let access = Access::everything();
//! let year = FieldSpec::new("year", FieldKind::Integer(IntegerKind::Long));
//! let mapping = Mapping::from_spec(MappingSpec::default().with(year))?;
//! engine.create_index(&access, "books", IndexSettings::default(), mapping)?;
//!
//! let written = engine.write(&access, vec![WriteOperation {
//!     index: "books".into(),
//!     require_alias: false,
//!     id: Some("1".into()),
//!     routing: None,
//!     action: Action::index(r#"{"year": 1851}"#, OpType::Index),
//!     condition: None,
//! }]);
//! engine.durable(&written).await?;
//!
//! let books = engine.open_exactly("books", &access, Purpose::Read)?;
//! engine.refresh(&books)?;
//! let found = engine.search(SearchRequest::new(engine.pin(&[books])?, Query::match_all())).await?;
//! assert_eq!(found.hits[0].id, "1");
//! # Ok(())
//! # }
//! ```
//!
//! Rooms, lowest first: `base` (errors, names, settings, operations, the pool of search threads), `shard`, `catalog` (what is kept of
//! indexes), `index`, `node` (the engine's verbs on indexes, recovery, upkeep, snapshots), `write`, `search`, `changes`.
//!
//! Deliberately absent: any protocol's types or JSON shapes, sockets, async tasks.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod base;

mod shard;

mod catalog;

mod index;

mod node;

mod write;

mod search;

mod changes;

pub use base::access::{Access, Grant, Purpose};
pub use base::activity::{Counted, SearchActivity};
pub use base::auto_creation::{AutoCreation, CreationRule, NotMade};
pub use base::blocks::{Block, BlockLevel};
pub use base::disk::{DiskLimits, DiskStage, DiskState, Watermark};
pub use base::error::{EngineError, ErrorKind};
pub use base::operation::describe_entry;
pub use base::phase::Phase;
pub use base::search_pool::SearchStats;
pub use base::settings::{IndexSettings, MergeOrder, SettingsReader, TranslogDurability};
pub use base::slow::{SlowLevel, SlowLimits, SlowLog, SlowRequests, SlowWrite};
pub use base::slow_line::Took;
pub use base::waiting::aside;
pub use base::write_request::{
    Action, Changed, Condition, Document, DocumentChange, DocumentNow, Freshness, ListChange,
    OpType, PRIMARY_TERM, UpdateSpec, WriteOperation, WriteResult,
};
pub use catalog::alias::{Alias, AliasAction, Aliases, check_alias};
pub use catalog::definitions::{DefinitionChange, Definitions};
pub use catalog::planner::{IndexPlan, IndexPlanner};
pub use changes::{Change, ChangeLimits, ChangePage};
pub use index::handle::{AwaitedSuccessor, Index, IndexStats, RunningMerge};
pub use index::index_state::IndexState;
pub use index::write_outcome::{TouchedShard, WriteOutcome, Written};
pub use node::alias_change::NamesNow;
pub use node::catalog_change::{CatalogChange, SettingsChange};
pub use node::documents::ShardDocuments;
pub use node::engine::{Engine, EngineStats};
pub use node::finish::FilledIndex;
pub use node::health::{FailedShard, NodeHealth};
pub use node::index_handle::IndexHandle;
pub use node::index_table::NamesWatch;
pub use node::options::EngineOptions;
pub use node::repair::{Cure, GiveUp, RepairStep, plan_repair, repair};
pub use node::resolve::{AliasNames, ClosedNames, ResolveOptions, Wildcards};
pub use node::snapshot::{
    Cleaned, RepositoryReport, SnapshotFile, SnapshotManifest, SnapshotRepository, Snapshots,
    UnreadSnapshot, documents_file_name, index_state, is_repository, verify_repository,
};
pub use node::verify::{FolderReport, ShardReport, ShardVerdict, verify_folder};
pub use search::columns::{FieldColumns, FieldValues, WantedField};
pub use search::completions::{Completion, Completions};
pub use search::foreseen::Foreseen;
pub use search::fusion::{Bound, BoundMode, Bounds, Combination, Fusion, Normalization};
pub use search::inspect::Explanation;
pub use search::nearest::{
    DistanceRange, Effort, GROUP_SIZE_MAX, GroupBy, GroupField, GroupInside, GroupKey, GroupKind,
    NEIGHBOURS_MAX, NearestPages, NearestRequest, NearestResponse, Neighbour, ObjectHits,
    PROBES_MAX, Probes,
};
pub use search::pinned::{Pinned, PinnedShard, Slice};
pub use search::place::DocPlace;
pub use search::recall::{
    RECALL_SAMPLE_MAX, RecallEffort, RecallFigures, RecallReport, RecallRequest, SearchCost,
    ShardRecall,
};
pub use search::request::{
    Collapse, FetchSteps, Hit, Hybrid, IndexPart, InnerHits, InnerResult, KnnProfile, MatchedQuery,
    NestedStep, ProfileDetail, SearchControl, SearchRequest, SearchResponse, ShardCounts,
    ShardFailure, ShardProfile, Within,
};
pub use search::scripts::telling;
pub use search::segment_stats::{SegmentStats, VectorColumnStats};
pub use shard::FileDamage;
pub use write::write_memory::parsed_bytes;
// What profiles and reports are made of.
pub use clew_vector::Choice as VectorChoice;
pub use clew_vector::{Prices, RecallEstimate, SearchProfile, Strategy};
// How far a merge is.
pub use clew_vector::{BuildPhase, BuildStatus};

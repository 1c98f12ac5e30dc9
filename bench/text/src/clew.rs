//! Clew: its engine makes the segments, its own search runs over them, as for a search over HTTP with one
//! shard; what is left out is reading the request and fetching the documents.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use clew_engine::{
    Access, Action, Engine, EngineOptions, IndexHandle, IndexSettings, MergeOrder, OpType, Pinned,
    Purpose, TranslogDurability, WriteOperation,
};
use clew_platform::{RealClock, RealDisk};
use clew_query::{Bool, Fuzziness, FuzzyDistance, Match, MatchPhrase, Operator, Pattern, Query};
use clew_search::{ShardRequest, TrackTotal, VectorAnswers};
use serde_json::json;

use crate::queries::{Class, Shape};
use crate::{COUNTED, Contender, Found, Mode, TOP};

const BATCH: usize = 1_000;

/// What documents have besides their text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Columns {
    None,
    /// `at`, which ascends as the times of a log do, and `any`, in no order.
    Numbers,
}

pub(crate) struct Clew {
    pub(crate) pinned: Pinned,
    queries: Vec<Query>,
    pub(crate) engine: Engine,
}

impl Clew {
    pub(crate) fn build(
        docs: &Path,
        segments: usize,
        within: (&Path, Columns),
    ) -> anyhow::Result<Self> {
        Self::with(docs, segments, within, MergeOrder::Stacked)
    }

    /// In one segment, whose documents the merge has put in an order.
    pub(crate) fn ordered(docs: &Path, folder: &Path) -> anyhow::Result<Self> {
        Self::with(docs, 1, (folder, Columns::None), MergeOrder::Similar)
    }

    fn with(
        docs: &Path,
        segments: usize,
        (folder, columns): (&Path, Columns),
        merge_order: MergeOrder,
    ) -> anyhow::Result<Self> {
        let options = EngineOptions {
            write_buffer_bytes: 1 << 30,
            ..EngineOptions::new(folder)
        };
        let engine = Engine::start(options, Arc::new(RealDisk), Arc::new(RealClock::new()))?;
        let mapping = clew_opensearch_mapping::try_mapping(&json!({"properties": {
            "body": {"type": "text", "analyzer": "whitespace"},
            "group": {"type": "keyword"},
            "at": {"type": "date"},
            "any": {"type": "long"},
        }}))?;
        let settings = IndexSettings {
            refresh_interval: None,
            durability: TranslogDurability::Async,
            merge_order,
            ..IndexSettings::default()
        };
        let everything = Access::everything();
        engine.create_index(&everything, "docs", settings, mapping)?;
        let index = engine.open_exactly("docs", &everything, Purpose::Read)?;
        let pinned = fill((&engine, &index), (docs, columns), segments)?;
        let snapshot = pinned.shards()[0].snapshot()?;
        anyhow::ensure!(
            snapshot.readers.len() == segments,
            "{} segments were made",
            snapshot.readers.len()
        );
        // The engine reads them in the background after the first search.
        let first = Query::Match(Match::new("body", "the"));
        clew_search::search(
            snapshot,
            ShardRequest::new(&first),
            &VectorAnswers::default(),
        )?;
        snapshot.read_impacts();
        Ok(Clew {
            pinned,
            queries: Vec::new(),
            engine,
        })
    }
}

/// Writes the documents in so many segments. Eight of one size are soon merged, so they are pinned as soon as
/// the last one is there.
fn fill(
    (engine, index): (&Engine, &IndexHandle),
    (docs, columns): (&Path, Columns),
    segments: usize,
) -> anyhow::Result<Pinned> {
    let mut number = 0;
    for part in crate::parts(docs, segments)? {
        for batch in part.chunks(BATCH) {
            let operations = batch.iter().map(|body| {
                number += 1;
                operation(number - 1, body, columns)
            });
            for result in engine
                .write(&Access::everything(), operations.collect())
                .results
            {
                result?;
            }
        }
        engine.refresh(index)?;
    }
    if segments == 1 {
        engine.force_merge(index, 1)?;
    }
    Ok(engine.pin(std::slice::from_ref(index))?)
}

fn operation(number: usize, body: &str, columns: Columns) -> WriteOperation {
    let mut source = json!({"body": body, "group": crate::groups(number)});
    if columns == Columns::Numbers {
        source["at"] = (1_700_000_000_000 + number as u64 * 10).into();
        let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        source["any"] = (mixed >> 24).into();
    }
    WriteOperation {
        index: "docs".into(),
        require_alias: false,
        id: Some(number.to_string()),
        routing: None,
        action: Action::index(source.to_string(), OpType::Index),
        condition: None,
    }
}

impl Contender for Clew {
    fn prepare(&mut self, class: &Class, text: &str) -> anyhow::Result<()> {
        let query = match class.shape {
            Shape::Or => Query::Match(Match::new("body", text)),
            Shape::And => Query::Match(Match {
                operator: Operator::And,
                ..Match::new("body", text)
            }),
            Shape::Phrase => Query::MatchPhrase(MatchPhrase::new("body", text)),
            Shape::Prefix => Query::Prefix(Pattern::new("body", text)),
            Shape::Fuzzy => Query::Fuzzy {
                field: "body".into(),
                value: text.into(),
                fuzziness: Fuzziness {
                    distance: FuzzyDistance::Fixed(1),
                    ..Fuzziness::auto()
                },
                boost: 1.0,
            },
        };
        self.queries.push(match &class.filter {
            None => query,
            Some(group) => Query::Bool(Bool {
                must: vec![query],
                filter: vec![Query::term("group", group.as_str())],
                ..Bool::default()
            }),
        });
        Ok(())
    }

    fn run(&self, at: usize, mode: Mode) -> anyhow::Result<Found> {
        let shard = self.pinned.shards().first().context("no shard")?;
        let request = ShardRequest {
            limit: TOP,
            track_total: match mode {
                Mode::Top => TrackTotal::No,
                Mode::Count => TrackTotal::UpTo(COUNTED),
            },
            ..ShardRequest::new(&self.queries[at])
        };
        let result = clew_search::search(shard.snapshot()?, request, &VectorAnswers::default())?;
        Ok(Found {
            scores: result.hits.iter().filter_map(|hit| hit.score).collect(),
            count: result.total.value,
        })
    }

    fn clear(&mut self) {
        self.queries.clear();
    }
}

//! What do sorted searches cost that need not see every match? The ten first by a date that ascends and by numbers
//! in no order, beside the same searches where every match is looked at.

use std::fmt::Write as _;
use std::path::Path;

use clew_query::{Match, Query};
use clew_query::{Order, SortKey};
use clew_search::{ShardRequest, TrackTotal, VectorAnswers};
use rustix::time::ClockId;

use crate::clew::{Clew, Columns};
use crate::{COUNTED, TOP, nanoseconds};

const ROUNDS: usize = 21;

pub(crate) fn measure(docs: &Path, segments: usize, folder: &Path) -> anyhow::Result<String> {
    let clew = Clew::build(docs, segments, (folder, Columns::Numbers))?;
    let snapshot = clew.pinned.shards()[0].snapshot()?;
    let mut table = String::from("| query | sort | every match, µs | passing over, µs | times |\n");
    table += "| --- | --- | --- | --- | --- |";
    let queries = [
        ("all documents", Query::MatchAll { boost: 1.0 }),
        ("half of them", Query::term("group", "half")),
        ("a tenth", Query::term("group", "tenth")),
        ("a word", Query::Match(Match::new("body", "package"))),
    ];
    for (name, query) in &queries {
        for (path, order) in [
            ("at", Order::Desc),
            ("at", Order::Asc),
            ("any", Order::Desc),
        ] {
            let sort = [SortKey::field(path, order)];
            let run = |min_score: Option<f32>| -> anyhow::Result<(u64, Vec<u32>)> {
                let mut times = Vec::new();
                let mut found = Vec::new();
                for _ in 0..ROUNDS {
                    let request = ShardRequest {
                        limit: TOP,
                        sort: &sort,
                        track_total: TrackTotal::UpTo(COUNTED),
                        // With a least score every match must be looked at.
                        min_score,
                        ..ShardRequest::new(query)
                    };
                    let before = nanoseconds(ClockId::ThreadCPUTime);
                    let result = clew_search::search(snapshot, request, &VectorAnswers::default())?;
                    times.push(nanoseconds(ClockId::ThreadCPUTime) - before);
                    found = result.hits.iter().map(|hit| hit.doc).collect();
                }
                times.sort_unstable();
                Ok((times[ROUNDS / 2] / 1000, found))
            };
            let (every, passing) = (run(Some(f32::MIN))?, run(None)?);
            anyhow::ensure!(every.1 == passing.1, "other documents came first");
            write!(
                table,
                "\n| {name} | {path} {order:?} | {} | {} | {:.1} |",
                every.0,
                passing.0,
                every.0 as f64 / passing.0.max(1) as f64
            )?;
        }
    }
    Ok(table)
}

//! Searches that took long are told: what a shard did by the limits of its index, a whole search by those of the
//! cluster. Nothing is measured for it where there are no limits.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clew_engine::{
    Index, Phase, SearchRequest, SearchResponse, ShardCounts, ShardProfile, SlowLevel,
    SlowRequests, Took, tell_slow,
};
use clew_profile::SpentTold;
use clew_search::{Relation, Total};
use serde_json::Value;

use crate::state::call::Call;

/// Bytes of a search's body in a line.
const SOURCE_BYTES_MAX: usize = 4096;

/// A search whose shards are told if they were slow.
pub(super) struct WatchedSearch {
    groups: String,
    shards: usize,
}

impl WatchedSearch {
    /// Has the shards of a search timed where one of its indexes tells slow ones.
    pub(super) fn of(
        call: &Call,
        indices: &[Arc<Index>],
        request: &mut SearchRequest,
    ) -> Option<Self> {
        let tells = |index: &Arc<Index>| {
            let slow = &index.settings().slow;
            slow.query.is_on() || slow.fetch.is_on()
        };
        if !call.api.engine.tells_slow() || !indices.iter().any(tells) {
            return None;
        }
        request.time_phases();
        Some(WatchedSearch {
            groups: request.groups.join(","),
            shards: request.pinned.shards().len(),
        })
    }

    /// Tells what was slow. `source` is the search's body.
    pub(super) fn tell(
        &self,
        call: &Call,
        indices: &[Arc<Index>],
        source: &Value,
        found: &SearchResponse,
    ) {
        for shard in &found.shard_profiles {
            let Some(index) = indices.iter().find(|index| index.name() == shard.index) else {
                continue;
            };
            let settings = index.settings();
            let (slow, least) = (&settings.slow, settings.slow.search_level);
            let query = slow.query.level(shard.query.took, least);
            if let Some(level) = query {
                let line = Line::of(call, source, shard.query.took);
                self.tell_phase(level, ("query", hits(Some(shard.total))), shard, &line);
            }
            let fetch = shard.fetch.map(|fetch| fetch.took);
            if let Some(took) = fetch
                && let Some(level) = slow.fetch.level(took, least)
            {
                let line = Line::of(call, source, took);
                self.tell_phase(level, ("fetch", "-1".to_string()), shard, &line);
            }
        }
    }

    fn tell_phase(
        &self,
        level: SlowLevel,
        (phase, total_hits): (&str, String),
        shard: &ShardProfile,
        line: &Line<'_>,
    ) {
        let parts = SpentTold::so_far();
        tell_slow!(
            level, "slowlog.search", parts,
            {
                phase, took = %line.took, took_millis = line.took.millis(), total_hits, stats = self.groups,
                search_type = line.search_type, total_shards = self.shards, source = line.source, id = line.id,
                index = shard.index, shard = shard.shard
            },
            "[{}][{}]", shard.index, shard.shard
        );
    }
}

/// A whole search that is told if it was slow.
pub(super) struct WatchedRequest {
    limits: SlowRequests,
    total: Option<Total>,
    shards: ShardCounts,
    query: Duration,
    fetch: Duration,
}

impl WatchedRequest {
    /// What will be told of it; none where the cluster tells no slow searches.
    pub(super) fn of(call: &Call, found: &SearchResponse) -> Option<Self> {
        let took = |phase: Phase| phase.took;
        let profiles = || found.shard_profiles.iter();
        let fetches = profiles().filter_map(|shard| shard.fetch);
        Some(WatchedRequest {
            limits: call.api.cluster_settings.slow_requests()?,
            total: found.total,
            shards: found.shards,
            query: profiles()
                .map(|shard| shard.query.took)
                .max()
                .unwrap_or_default(),
            fetch: fetches.map(took).sum(),
        })
    }

    /// Tells it if it was slow.
    pub(super) fn tell(&self, call: &Call, source: &Value, started: Instant) {
        let took = started.elapsed();
        let Some(level) = self.limits.level(took) else {
            return;
        };
        let (line, parts) = (Line::of(call, source, took), SpentTold::so_far());
        let phase_took_millis = format!(
            "{{query={}, fetch={}}}",
            Took(self.query).millis(),
            Took(self.fetch).millis()
        );
        let ShardCounts {
            total,
            successful,
            failed,
            skipped,
        } = self.shards;
        let shards = format!(
            "{{total:{total}, successful:{successful}, skipped:{skipped}, failed:{failed}}}"
        );
        tell_slow!(
            level, "slowlog.request", parts,
            {
                took = %line.took, took_millis = line.took.millis(), phase_took_millis, total_hits = hits(self.total),
                search_type = line.search_type, shards, source = line.source, id = line.id
            },
            "search"
        );
    }
}

/// What every line has.
struct Line<'a> {
    took: Took,
    search_type: String,
    source: String,
    id: &'a str,
}

impl<'a> Line<'a> {
    fn of(call: &'a Call, source: &Value, took: Duration) -> Self {
        let asked = call.params.get("search_type").unwrap_or("query_then_fetch");
        Line {
            took: Took(took),
            search_type: asked.to_uppercase(),
            source: beginning(source),
            id: call.opaque_id.as_deref().unwrap_or_default(),
        }
    }
}

fn hits(total: Option<Total>) -> String {
    match total {
        None => "-1".to_string(),
        Some(Total { value, relation }) => match relation {
            Relation::Eq => format!("{value} hits"),
            Relation::Gte => format!("{value}+ hits"),
        },
    }
}

/// The beginning of a body, as much of it as a line may have; the rest is not written at all.
fn beginning(source: &Value) -> String {
    struct Beginning(Vec<u8>);
    impl Write for Beginning {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let room = SOURCE_BYTES_MAX - self.0.len();
            self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
            match room >= bytes.len() {
                true => Ok(bytes.len()),
                false => Err(std::io::ErrorKind::WriteZero.into()),
            }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut beginning = Beginning(Vec::new());
    if source.is_null() {
        return "{}".to_string();
    }
    // It ends with an error where the line is full.
    let _ = serde_json::to_writer(&mut beginning, source);
    String::from_utf8_lossy(&beginning.0).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_a_long_body_the_beginning_is_told() {
        let body = json!({"query": {"match": {"t": "fox"}}});
        assert_eq!(beginning(&body), body.to_string());
        assert_eq!(beginning(&Value::Null), "{}");
        let long = json!({"query": {"terms": {"k": vec!["word"; 5_000]}}});
        let told = beginning(&long);
        assert_eq!(told.len(), SOURCE_BYTES_MAX);
        assert!(long.to_string().starts_with(&told));
    }
}

//! `fetch` of a profile: what it cost to read the hits of a shard and to show them, in OpenSearch's shape. It is noted while hits
//! are written, as half of it happens then; without `profile` there is nothing to note it in, and no look at a clock.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use clew_engine::Hit;
use clew_platform::whole_ns;
use clew_search::Timing;
use serde_json::{Map, Value, json};

use super::step;

/// Steps that OpenSearch has beside those that are noted, and there is no such thing here.
const STEPS_OF_OTHERS: [&str; 3] = [
    "create_stored_fields_visitor",
    "build_sub_phase_processors",
    "get_next_reader",
];

/// What is done with a hit beside reading it, in OpenSearch's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::search) enum FetchPhase {
    Explain,
    DocValues,
    Scripts,
    Source,
    Fields,
    Version,
    SeqNo,
    MatchedQueries,
    Highlight,
    Percolated,
}

impl FetchPhase {
    /// OpenSearch's name of it.
    fn name(self) -> &'static str {
        match self {
            FetchPhase::Explain => "ExplainPhase",
            FetchPhase::DocValues => "FetchDocValuesPhase",
            FetchPhase::Scripts => "ScriptFieldsPhase",
            FetchPhase::Source => "FetchSourcePhase",
            FetchPhase::Fields => "FetchFieldsPhase",
            FetchPhase::Version => "FetchVersionPhase",
            FetchPhase::SeqNo => "SeqNoPrimaryTermPhase",
            FetchPhase::MatchedQueries => "MatchedQueriesPhase",
            FetchPhase::Highlight => "HighlightPhase",
            FetchPhase::Percolated => "PercolatorMatchedSlotSubFetchPhase",
        }
    }
}

/// What fetching cost, by the index and the number of a shard.
#[derive(Debug, Default)]
pub(in crate::search) struct FetchNotes(RefCell<BTreeMap<(String, u32), Vec<Fetched>>>);

/// What was fetched for one purpose, from one shard.
#[derive(Debug, Default)]
struct Fetched {
    purpose: String,
    /// Looking for what is inside of hits.
    search: Timing,
    rows: Timing,
    sources: Timing,
    phases: BTreeMap<FetchPhase, Timing>,
}

impl FetchNotes {
    /// Notes what is fetched for a purpose, as OpenSearch names it.
    pub(in crate::search) fn of<'n>(&'n self, purpose: &'n str) -> Fetching<'n> {
        Fetching {
            notes: self,
            purpose,
        }
    }

    /// What was fetched from a shard.
    pub(super) fn render(&self, index: &str, shard: u32) -> Vec<Value> {
        let notes = self.0.borrow();
        let fetched = notes.get(&(index.to_string(), shard));
        fetched.into_iter().flatten().map(entry).collect()
    }
}

/// Where the fetching of hits for one purpose is noted.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct Fetching<'n> {
    notes: &'n FetchNotes,
    purpose: &'n str,
}

impl<'n> Fetching<'n> {
    /// The same for what is inside of these hits.
    pub(in crate::search) fn inside(self, purpose: &'n str) -> Self {
        Fetching { purpose, ..self }
    }

    /// Notes what reading a hit cost, where that was measured.
    pub(in crate::search) fn read(self, hit: &Hit) {
        let Some(steps) = &hit.steps else {
            return;
        };
        self.change(hit, |fetched| {
            add(&mut fetched.rows, steps.row);
            if let Some(took) = steps.source {
                add(&mut fetched.sources, took);
            }
            for (phase, took) in [
                (FetchPhase::Explain, steps.explanation),
                (FetchPhase::MatchedQueries, steps.matched_queries),
                (FetchPhase::Percolated, steps.percolated),
            ] {
                if let Some(took) = took {
                    add(fetched.phases.entry(phase).or_default(), took);
                }
            }
        });
    }

    /// Notes what a phase of showing a hit took.
    pub(in crate::search) fn phase(self, hit: &Hit, phase: FetchPhase, took: Duration) {
        self.change(hit, |fetched| {
            add(fetched.phases.entry(phase).or_default(), took);
        });
    }

    /// Notes how long it was looked for these hits inside of another.
    pub(in crate::search) fn looked_for(self, around: &Hit, took: Duration) {
        self.change(around, |fetched| add(&mut fetched.search, took));
    }

    fn change(self, hit: &Hit, change: impl FnOnce(&mut Fetched)) {
        let mut notes = self.notes.0.borrow_mut();
        let of_shard = notes
            .entry((hit.index.name().to_string(), hit.shard))
            .or_default();
        let known = of_shard.iter().position(|one| one.purpose == self.purpose);
        let at = known.unwrap_or(of_shard.len());
        if known.is_none() {
            of_shard.push(Fetched {
                purpose: self.purpose.to_string(),
                ..Fetched::default()
            });
        }
        if let Some(fetched) = of_shard.get_mut(at) {
            change(fetched);
        }
    }
}

fn add(timing: &mut Timing, took: Duration) {
    timing.took += took;
    timing.count += 1;
}

fn entry(fetched: &Fetched) -> Value {
    let mut breakdown = Map::new();
    for name in STEPS_OF_OTHERS {
        step(&mut breakdown, name, Timing::default());
    }
    step(&mut breakdown, "load_stored_fields", fetched.rows);
    step(&mut breakdown, "load_source", fetched.sources);
    if fetched.search != Timing::default() {
        step(&mut breakdown, "search", fetched.search);
    }
    let phases = fetched.phases.iter().map(|(phase, timing)| {
        let mut breakdown = Map::new();
        step(&mut breakdown, "process", *timing);
        step(&mut breakdown, "set_next_reader", Timing::default());
        json!({
            "type": phase.name(),
            "description": phase.name(),
            "time_in_nanos": whole_ns(timing.took),
            "breakdown": breakdown,
        })
    });
    let own = fetched.rows.took + fetched.sources.took + fetched.search.took;
    let inside: Duration = fetched.phases.values().map(|timing| timing.took).sum();
    json!({
        "type": fetched.purpose,
        "description": fetched.purpose,
        "time_in_nanos": whole_ns(own + inside),
        "breakdown": breakdown,
        "children": phases.collect::<Vec<Value>>(),
    })
}

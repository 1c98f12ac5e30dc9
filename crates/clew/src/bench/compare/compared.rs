//! Two sides held against each other, metric by metric.

use anyhow::bail;
use serde_json::{Map, Value, json};

use super::super::results::words;
use super::better::{self, Better};
use super::samples::{Measurement, Side, differences};
use super::statistics::{Summary, mann_whitney, p_min, samples_needed};

/// Of the intervals around medians.
const CONFIDENCE: f64 = 0.95;

/// All that two sides tell of each other.
#[derive(Debug)]
pub(super) struct Comparison {
    /// Metrics in the order in which they were met.
    pub(super) metrics: Vec<MetricTable>,
    /// What all compared rows have in common.
    pub(super) common: Map<String, Value>,
    pub(super) machines: Vec<(String, Vec<String>, Vec<String>)>,
    /// Rows that the other side lacks.
    pub(super) only_old: Vec<String>,
    pub(super) only_new: Vec<String>,
    /// Metrics of rows in common that the other side lacks, with their rows.
    pub(super) metrics_only_old: Vec<String>,
    pub(super) metrics_only_new: Vec<String>,
    /// Metrics that were asked for and that no row in common has.
    pub(super) nowhere: Vec<String>,
    /// Samples of each side below which no difference can be told from chance.
    pub(super) samples_needed: usize,
    pub(super) alpha: f64,
}

/// One metric of all rows that have it on both sides.
#[derive(Debug)]
pub(super) struct MetricTable {
    pub(super) metric: String,
    pub(super) unit: &'static str,
    pub(super) better: Better,
    pub(super) lines: Vec<Line>,
    /// Geometric means of the medians, old and new; none where a median is not positive.
    pub(super) geomean: Option<(f64, f64)>,
}

/// One row's metric on both sides.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) params: Map<String, Value>,
    pub(super) old: Summary,
    pub(super) new: Summary,
    pub(super) p: f64,
    pub(super) verdict: Verdict,
}

/// What may be said of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No test can find a difference in so few samples.
    TooFew,
    /// None that chance does not explain.
    Same,
    Better,
    Worse,
    /// Of a metric of which nobody says which way is better.
    Different,
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Verdict::TooFew => "too few samples",
            Verdict::Same => "same",
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Different => "different",
        }
    }
}

/// By how many percent it changed; none from zero to something.
pub(super) fn delta_pct(old: f64, new: f64) -> Option<f64> {
    if old == new {
        return Some(0.0);
    }
    (old != 0.0).then(|| 100.0 * (new - old) / old.abs())
}

impl Comparison {
    /// Compares the metrics named, or all. Refused where the sides have nothing in common.
    pub(super) fn of(
        old: &Side,
        new: &Side,
        wanted: &[String],
        alpha: f64,
    ) -> anyhow::Result<Self> {
        let pairs: Vec<(&Measurement, &Measurement)> = old
            .things
            .iter()
            .filter_map(|thing| Some((thing, new.like(thing)?)))
            .collect();
        let only = |side: &Side, other: &Side| -> Vec<String> {
            let alone = |thing: &&Measurement| other.like(thing).is_none();
            side.things.iter().filter(alone).map(told).collect()
        };
        let (only_old, only_new) = (only(old, new), only(new, old));
        if pairs.is_empty() {
            bail!(
                "no row of the one side has the name and the parameters of a row of the other: old has {}; new has {}",
                some(&only_old),
                some(&only_new)
            );
        }
        let metrics = tables(&pairs, wanted, alpha);
        if metrics.is_empty() {
            bail!(
                "the rows in common have no metric in common{}",
                asked(wanted)
            );
        }
        Ok(Comparison {
            metrics,
            common: common(&pairs),
            machines: differences(old, new),
            only_old,
            only_new,
            metrics_only_old: lone_metrics(pairs.iter().copied(), wanted),
            metrics_only_new: lone_metrics(pairs.iter().map(|(old, new)| (*new, *old)), wanted),
            nowhere: nowhere(&pairs, wanted),
            samples_needed: samples_needed(alpha),
            alpha,
        })
    }

    pub(super) fn json(&self) -> Value {
        let machines: Map<String, Value> = self
            .machines
            .iter()
            .map(|(name, old, new)| (name.clone(), json!({"old": old, "new": new})))
            .collect();
        let metrics: Vec<Value> = self.metrics.iter().map(MetricTable::json).collect();
        json!({
            "alpha": self.alpha, "confidence": CONFIDENCE, "metrics": metrics, "machine_differences": machines,
            "only_old": self.only_old, "only_new": self.only_new,
            "metrics_only_old": self.metrics_only_old, "metrics_only_new": self.metrics_only_new,
        })
    }
}

fn asked(wanted: &[String]) -> String {
    match wanted.is_empty() {
        true => String::new(),
        false => format!(" of those asked for, {}", wanted.join(", ")),
    }
}

fn told(thing: &Measurement) -> String {
    let params = words(&thing.params);
    format!("{} {params}", thing.name).trim_end().to_owned()
}

/// Metrics that the first of a pair has and the second has not, of those that were asked for.
fn lone_metrics<'m>(
    pairs: impl Iterator<Item = (&'m Measurement, &'m Measurement)>,
    wanted: &[String],
) -> Vec<String> {
    let mut found = Vec::new();
    for (thing, other) in pairs {
        for (name, _) in &thing.metrics {
            let is_wanted = wanted.is_empty() || wanted.contains(name);
            if is_wanted && other.samples(name).is_none() {
                found.push(format!("{name} of {}", told(thing)));
            }
        }
    }
    found
}

/// What was asked for and is on neither side of any row.
fn nowhere(pairs: &[(&Measurement, &Measurement)], wanted: &[String]) -> Vec<String> {
    let has = |name: &String| {
        let mut both = pairs.iter().flat_map(|(old, new)| [old, new]);
        both.any(|thing| thing.samples(name).is_some())
    };
    wanted.iter().filter(|name| !has(name)).cloned().collect()
}

/// The first few of some rows, for a message.
pub(super) fn some(rows: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = rows.iter().take(SHOWN).map(|row| format!("`{row}`"));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if rows.len() > SHOWN {
        text += &format!(" and {} more", rows.len() - SHOWN);
    }
    text
}

fn common(pairs: &[(&Measurement, &Measurement)]) -> Map<String, Value> {
    let mut common = pairs[0].0.params.clone();
    // With a single row, its parameters are better read beside it.
    if pairs.len() == 1 {
        return Map::new();
    }
    common.retain(|key, value| {
        pairs
            .iter()
            .all(|(old, _)| old.params.get(key) == Some(value))
    });
    common
}

fn tables(
    pairs: &[(&Measurement, &Measurement)],
    wanted: &[String],
    alpha: f64,
) -> Vec<MetricTable> {
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in pairs.iter().flat_map(|(old, _)| &old.metrics) {
        if !names.contains(&name) && (wanted.is_empty() || wanted.contains(name)) {
            names.push(name);
        }
    }
    let tables = names.into_iter().map(|name| {
        let (unit, better) = better::of(name);
        let lines: Vec<Line> = pairs
            .iter()
            .filter_map(|(old, new)| {
                let (before, after) = (old.samples(name)?, new.samples(name)?);
                Some(Line::of(old, before, after, better, alpha))
            })
            .collect();
        MetricTable {
            metric: name.clone(),
            unit,
            better,
            geomean: geomean(&lines),
            lines,
        }
    });
    tables.filter(|table| !table.lines.is_empty()).collect()
}

fn geomean(lines: &[Line]) -> Option<(f64, f64)> {
    let positive = |line: &Line| line.old.median > 0.0 && line.new.median > 0.0;
    if lines.len() < 2 || !lines.iter().all(positive) {
        return None;
    }
    let mean = |median: fn(&Line) -> f64| {
        let logarithms: f64 = lines.iter().map(|line| median(line).ln()).sum();
        (logarithms / lines.len() as f64).exp()
    };
    Some((mean(|line| line.old.median), mean(|line| line.new.median)))
}

impl Line {
    fn of(thing: &Measurement, old: &[f64], new: &[f64], better: Better, alpha: f64) -> Self {
        let p = mann_whitney(old, new);
        let (before, after) = (Summary::of(old, CONFIDENCE), Summary::of(new, CONFIDENCE));
        let verdict = if p_min(old.len(), new.len()) >= alpha {
            Verdict::TooFew
        } else if p >= alpha {
            Verdict::Same
        } else {
            match better {
                Better::Unknown => Verdict::Different,
                // The medians of sets that differ may still be equal.
                _ if after.median == before.median => Verdict::Different,
                Better::Higher if after.median > before.median => Verdict::Better,
                Better::Lower if after.median < before.median => Verdict::Better,
                Better::Higher | Better::Lower => Verdict::Worse,
            }
        };
        Line {
            name: thing.name.clone(),
            params: thing.params.clone(),
            old: before,
            new: after,
            p,
            verdict,
        }
    }

    fn json(&self) -> Value {
        let side = |side: &Summary| {
            let (low, high) = side.interval.unzip();
            json!({"median": side.median, "low": low, "high": high, "samples": side.samples})
        };
        json!({
            "name": self.name, "params": self.params, "old": side(&self.old), "new": side(&self.new),
            "delta_pct": delta_pct(self.old.median, self.new.median), "p": self.p, "verdict": self.verdict.word(),
        })
    }
}

impl MetricTable {
    fn json(&self) -> Value {
        let geomean = self
            .geomean
            .map(|(old, new)| json!({"old": old, "new": new, "delta_pct": delta_pct(old, new)}));
        let lines: Vec<Value> = self.lines.iter().map(Line::json).collect();
        json!({
            "metric": self.metric, "unit": self.unit, "better": self.better.words(), "rows": lines, "geomean": geomean,
        })
    }
}

#[cfg(test)]
mod tests;

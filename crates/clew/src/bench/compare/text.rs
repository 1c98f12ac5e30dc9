//! A comparison as tables for people, one for each metric.

use serde_json::{Map, Value};

use super::super::columns::{Columns, figure};
use super::super::results::words;
use super::compared::{Comparison, Line, MetricTable, Verdict, delta_pct, some};
use super::statistics::Summary;

/// The whole text, with a line break at its end.
pub(super) fn of(comparison: &Comparison) -> String {
    let mut lines = Vec::new();
    for (name, old, new) in &comparison.machines {
        lines.push(format!(
            "{name} differs: old {}, new {}",
            old.join(" and "),
            new.join(" and ")
        ));
    }
    if !comparison.common.is_empty() {
        lines.push(format!("all rows: {}", words(&comparison.common)));
    }
    for table in &comparison.metrics {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(metric(table, &comparison.common));
    }
    let notes = notes(comparison);
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes);
    }
    lines.join("\n") + "\n"
}

fn metric(table: &MetricTable, common: &Map<String, Value>) -> Vec<String> {
    let unit = match table.unit {
        "" => String::new(),
        unit => format!("{unit}, "),
    };
    let head = format!("{} ({unit}{})", table.metric, table.better.words());
    let mut cells = vec![
        [head.as_str(), "old", "new", "change", ""]
            .map(str::to_owned)
            .to_vec(),
    ];
    for line in &table.lines {
        let mut own = line.params.clone();
        own.retain(|key, _| !common.contains_key(key));
        let name = format!("{} {}", line.name, words(&own));
        let (change, why) = change(line);
        cells.push(vec![
            name.trim_end().to_owned(),
            side(&line.old),
            side(&line.new),
            change,
            why,
        ]);
    }
    if let Some((old, new)) = table.geomean {
        let mean = |value| figure(value) + "      ";
        cells.push(vec![
            "geomean".to_owned(),
            mean(old),
            mean(new),
            percent(old, new),
            String::new(),
        ]);
    }
    let columns = Columns::fitting(&cells);
    cells.iter().map(|cells| columns.line(cells)).collect()
}

fn side(summary: &Summary) -> String {
    let spread = match summary.spread() {
        Some(share) if share.is_finite() => format!("{:.0}%", 100.0 * share),
        // Of a median of 0 nothing is a share.
        Some(_) => "?".to_owned(),
        None => "∞".to_owned(),
    };
    format!("{} ± {spread:>3}", figure(summary.median))
}

/// What changed, and on what grounds it is said.
fn change(line: &Line) -> (String, String) {
    let samples = match line.old.samples == line.new.samples {
        true => line.old.samples.to_string(),
        false => format!("{}+{}", line.old.samples, line.new.samples),
    };
    let grounds = format!("p={:.3} n={samples}", line.p);
    match line.verdict {
        Verdict::TooFew | Verdict::Same => ("~".to_owned(), format!("({grounds})")),
        verdict => (
            percent(line.old.median, line.new.median),
            format!("{} ({grounds})", verdict.word()),
        ),
    }
}

fn percent(old: f64, new: f64) -> String {
    match delta_pct(old, new) {
        Some(percent) => format!("{percent:+.2}%"),
        None => "?".to_owned(),
    }
}

fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    let lines = || comparison.metrics.iter().flat_map(|table| &table.lines);
    if lines().any(|line| line.old.interval.is_none() || line.new.interval.is_none()) {
        notes.push("∞: need >= 6 samples for a confidence interval of 95%".to_owned());
    }
    if lines().any(|line| line.verdict == Verdict::TooFew) {
        notes.push(format!(
            "~: need >= {} samples of each side to detect a difference at alpha {}",
            comparison.samples_needed, comparison.alpha
        ));
    } else if lines().any(|line| line.verdict == Verdict::Same) {
        notes.push(format!("~: no difference at alpha {}", comparison.alpha));
    }
    let lacks_mean = |table: &MetricTable| table.lines.len() > 1 && table.geomean.is_none();
    if comparison.metrics.iter().any(lacks_mean) {
        notes.push("geomean: there is none of medians that are not above 0".to_owned());
    }
    for (told, names) in [
        ("only in old", &comparison.only_old),
        ("only in new", &comparison.only_new),
        ("measured only in old", &comparison.metrics_only_old),
        ("measured only in new", &comparison.metrics_only_new),
        ("no row in common has", &comparison.nowhere),
    ] {
        if !names.is_empty() {
            notes.push(format!("{told}: {}", some(names)));
        }
    }
    notes
}

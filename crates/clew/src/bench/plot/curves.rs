//! Which rows make which curve.

use std::collections::BTreeSet;

use anyhow::{bail, ensure};
use serde_json::Value;

use super::super::results::{Row, plain};

/// More cannot be told apart.
const CURVES_MAX: usize = 16;
/// What is farther from 0, or nearer to it, has no place on an axis: beyond it lies room for marks, and factors between values.
const VALUE_MAX: f64 = 1e100;
/// The name of a row, where parameters are asked for.
const NAME: &str = "name";
/// How much work a search is worth: what a curve of recall runs along.
const EFFORTS: [&str; 2] = ["ef_search", "probes"];
/// What a curve of latency runs along.
const LOADS: [&str; 2] = ["concurrency", "rate"];

/// What the two axes show.
#[derive(Debug)]
pub(super) struct Axes {
    pub(super) x: String,
    pub(super) y: String,
}

impl Axes {
    pub(super) fn of(rows: &[(String, Row)], x: Option<&str>, y: Option<&str>) -> Self {
        let has_recall = rows
            .iter()
            .any(|(_, row)| row.metrics.contains_key("recall"));
        let (usual_x, usual_y) = match has_recall && x.is_none_or(|x| x == "recall") {
            true => ("recall", "qps"),
            false => ("qps", "p99_ms"),
        };
        Axes {
            x: x.unwrap_or(usual_x).to_owned(),
            y: y.unwrap_or(usual_y).to_owned(),
        }
    }

    /// The parameters that change along a curve.
    fn along(&self) -> Vec<&str> {
        let mut along = vec![self.x.as_str(), self.y.as_str()];
        match along.contains(&"recall") {
            true => along.extend(EFFORTS),
            false => along.extend(LOADS),
        }
        along
    }
}

/// A curve, in the order in which its points are joined.
#[derive(Debug, PartialEq)]
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Where on the curve, in words.
    pub(super) name: String,
}

/// Curves of the rows that have both values, told apart by file and by these parameters.
pub(super) fn curves(
    rows: &[(String, Row)],
    axes: &Axes,
    by: &[String],
) -> anyhow::Result<Vec<Curve>> {
    let usable: Vec<&(String, Row)> = rows
        .iter()
        .filter(|(_, row)| number(row, &axes.x).is_some() && number(row, &axes.y).is_some())
        .collect();
    if usable.is_empty() {
        bail!("no row has both {} and {}: {}", axes.x, axes.y, names(rows));
    }
    for key in by {
        ensure!(
            usable.iter().any(|(_, row)| param(row, key).is_some()),
            "no row has a parameter {key} that curves could be told apart by: {}",
            params(&usable)
        );
    }
    let by = match by.is_empty() {
        true => differing(&usable, &axes.along()),
        false => by.to_vec(),
    };
    let files: BTreeSet<&String> = usable.iter().map(|(file, _)| file).collect();
    let mut groups: Vec<(String, Vec<&Row>)> = Vec::new();
    for (file, row) in &usable {
        let mut words: Vec<String> = Vec::new();
        if files.len() > 1 {
            words.push(file.clone());
        }
        let told = |key: &String| Some(format!("{key} {}", param(row, key)?));
        words.extend(by.iter().filter_map(told));
        let name = words.join(", ");
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((name, vec![row])),
        }
    }
    ensure!(
        groups.len() <= CURVES_MAX,
        "there would be {} curves, and {CURVES_MAX} can be told apart: --by and --only leave some out",
        groups.len()
    );
    let mut curves = Vec::with_capacity(groups.len());
    for (name, rows) in groups {
        let points = points(&rows, axes, &by);
        for value in points.iter().flat_map(|point| [point.x, point.y]) {
            ensure!(
                value == 0.0 || (1.0 / VALUE_MAX..=VALUE_MAX).contains(&value.abs()),
                "{value:e} has no place on an axis: what is beyond {VALUE_MAX:e}, or between 0 and its inverse, is not drawn"
            );
        }
        curves.push(Curve { name, points });
    }
    Ok(curves)
}

/// A parameter of a row in words, or its name.
pub(super) fn param(row: &Row, key: &str) -> Option<String> {
    match key {
        NAME => Some(row.name.clone()),
        key => row.params.get(key).map(plain),
    }
}

/// What curves can be told apart by.
fn params(rows: &[&(String, Row)]) -> String {
    let keys = rows.iter().flat_map(|(_, row)| row.params.keys());
    let keys: BTreeSet<&str> = keys.map(String::as_str).chain([NAME]).collect();
    let keys: Vec<&str> = keys.into_iter().collect();
    format!("there are {}", keys.join(", "))
}

/// Rows of the same parameters are samples of a point.
fn points(rows: &[&Row], axes: &Axes, by: &[String]) -> Vec<Point> {
    let mut places: Vec<(String, Vec<f64>, Vec<f64>)> = Vec::new();
    for row in rows {
        let own = row.params.iter().filter(|(key, _)| !by.contains(key));
        let name: Vec<String> = own
            .map(|(key, value)| format!("{key} {}", plain(value)))
            .collect();
        let name = name.join(", ");
        let (Some(x), Some(y)) = (number(row, &axes.x), number(row, &axes.y)) else {
            continue;
        };
        match places.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, xs, ys)) => {
                xs.push(x);
                ys.push(y);
            }
            None => places.push((name, vec![x], vec![y])),
        }
    }
    let mut points: Vec<Point> = places
        .into_iter()
        .map(|(name, mut xs, mut ys)| Point {
            x: super::super::report::quantile(&mut xs, 0.5),
            y: super::super::report::quantile(&mut ys, 0.5),
            name,
        })
        .collect();
    // Where a server is asked for more than it can, answers a second become fewer again: the order is that of the load.
    if axes.x != "qps" {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    points
}

/// Parameters whose values differ among the rows.
fn differing(rows: &[&(String, Row)], along: &[&str]) -> Vec<String> {
    let mut keys: Vec<&String> = Vec::new();
    for key in rows.iter().flat_map(|(_, row)| row.params.keys()) {
        if !keys.contains(&key) && !along.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    keys.retain(|key| {
        let first = rows[0].1.params.get(*key);
        rows.iter().any(|(_, row)| row.params.get(*key) != first)
    });
    keys.into_iter().cloned().collect()
}

/// A metric, or a parameter; the median where it is a list of samples.
fn number(row: &Row, name: &str) -> Option<f64> {
    let value = row.metrics.get(name).or_else(|| row.params.get(name))?;
    let found = match value {
        Value::Array(samples) => {
            let mut samples: Vec<f64> = samples.iter().filter_map(Value::as_f64).collect();
            (!samples.is_empty()).then(|| super::super::report::quantile(&mut samples, 0.5))
        }
        value => value.as_f64(),
    };
    found.filter(|number| number.is_finite())
}

/// What can be asked for.
fn names(rows: &[(String, Row)]) -> String {
    let numbers = rows.iter().flat_map(|(_, row)| {
        let keys = row.params.keys().chain(row.metrics.keys());
        keys.filter(|key| number(row, key).is_some())
    });
    let names: BTreeSet<&str> = numbers.map(String::as_str).collect();
    let names: Vec<&str> = names.into_iter().collect();
    format!("there are {}", names.join(", "))
}

#[cfg(test)]
mod tests;

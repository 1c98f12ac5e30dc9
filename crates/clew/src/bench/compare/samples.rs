//! Rows of several files brought together: rows of one name and the same parameters are samples of one thing.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::super::results::{Results, Row};

/// What the files of one side have.
#[derive(Debug, Default)]
pub(super) struct Side {
    /// In the order in which they were first met.
    pub(super) things: Vec<Measurement>,
    by_key: HashMap<String, usize>,
    /// What each file says of its machine, the program's version with it.
    pub(super) machines: Vec<Map<String, Value>>,
}

/// One thing that was measured, once or several times.
#[derive(Debug)]
pub(super) struct Measurement {
    pub(super) name: String,
    pub(super) params: Map<String, Value>,
    /// In the order in which they were first met, at least one sample each.
    pub(super) metrics: Vec<(String, Vec<f64>)>,
}

impl Side {
    pub(super) fn read(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let mut side = Side::default();
        for path in paths {
            side.add(Results::read(path)?);
        }
        Ok(side)
    }

    pub(super) fn add(&mut self, results: Results) {
        let mut machine = results.machine;
        machine.insert("clew".to_owned(), results.clew.into());
        self.machines.push(machine);
        for row in results.rows {
            let at = *self.by_key.entry(key(&row)).or_insert(self.things.len());
            if at == self.things.len() {
                self.things.push(Measurement {
                    name: row.name,
                    params: row.params,
                    metrics: Vec::new(),
                });
            }
            self.things[at].add(&row.metrics);
        }
    }

    /// The same thing on this side.
    pub(super) fn like(&self, other: &Measurement) -> Option<&Measurement> {
        let at = self.by_key.get(&key_of(&other.name, &other.params))?;
        self.things.get(*at)
    }
}

impl Measurement {
    /// Numbers and lists of numbers are samples; anything else is none.
    fn add(&mut self, metrics: &Map<String, Value>) {
        for (name, value) in metrics {
            let found: Vec<f64> = match value {
                Value::Array(list) => list.iter().filter_map(Value::as_f64).collect(),
                other => other.as_f64().into_iter().collect(),
            };
            if found.is_empty() {
                continue;
            }
            match self.metrics.iter_mut().find(|(known, _)| known == name) {
                Some((_, samples)) => samples.extend(found),
                None => self.metrics.push((name.clone(), found)),
            }
        }
    }

    pub(super) fn samples(&self, metric: &str) -> Option<&[f64]> {
        let found = self.metrics.iter().find(|(name, _)| name == metric);
        found.map(|(_, samples)| samples.as_slice())
    }
}

fn key(row: &Row) -> String {
    key_of(&row.name, &row.params)
}

/// The same for the same parameters in any order, and for a whole number however it is written: `1` and `1.0`.
fn key_of(name: &str, params: &Map<String, Value>) -> String {
    let said = |value: &Value| match value.as_f64() {
        Some(number) if value.is_f64() && number.fract() == 0.0 => format!("{number:.0}"),
        _ => value.to_string(),
    };
    let sorted: BTreeMap<&String, String> = (params.iter())
        .map(|(name, value)| (name, said(value)))
        .collect();
    format!("{name} {sorted:?}")
}

/// Where the machines differ: what is told, and what each side says, a value once.
pub(super) fn differences(old: &Side, new: &Side) -> Vec<(String, Vec<String>, Vec<String>)> {
    let all = || old.machines.iter().chain(&new.machines);
    let mut names: Vec<&String> = Vec::new();
    for name in all().flat_map(Map::keys) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let said = |side: &Side, name: &String| {
        let mut values: Vec<String> = Vec::new();
        for machine in &side.machines {
            let value = machine
                .get(name)
                .map_or_else(|| "not said".to_owned(), super::super::results::plain);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    names
        .into_iter()
        .map(|name| (name.clone(), said(old, name), said(new, name)))
        .filter(|(_, old, new)| old != new || old.len() > 1)
        .collect()
}

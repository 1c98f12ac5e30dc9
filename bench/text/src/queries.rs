//! The queries by class, as the driver wrote them: a class and a text a line.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};

/// What a query of a class looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) shape: Shape,
    /// The group that hits must belong to.
    pub(crate) filter: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Or,
    And,
    Phrase,
    Prefix,
    Fuzzy,
}

impl Class {
    /// Reads names such as `term`, `or3`, `phrase2` or `or2+half`.
    pub(crate) fn parse(name: &str) -> anyhow::Result<Self> {
        let (name, filter) = match name.split_once('+') {
            Some((name, filter)) => (name, Some(filter.to_string())),
            None => (name, None),
        };
        let shape = match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "term" | "or" => Shape::Or,
            "and" => Shape::And,
            "phrase" => Shape::Phrase,
            "prefix" => Shape::Prefix,
            "fuzzy" => Shape::Fuzzy,
            other => bail!("no class {other}"),
        };
        Ok(Class { shape, filter })
    }
}

#[derive(Debug)]
pub(crate) struct Queries(BTreeMap<String, Vec<String>>);

impl Queries {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let mut classes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in text.lines() {
            let (class, text) = line.split_once('\t').context("a line without a tab")?;
            classes.entry(class.into()).or_default().push(text.into());
        }
        Ok(Queries(classes))
    }

    pub(crate) fn of(&self, class: &str) -> Option<&[String]> {
        let plain = class.split('+').next()?;
        self.0.get(plain).map(Vec::as_slice)
    }
}

//! The stacks of one or two profiles as one tree of calls.

use std::collections::HashMap;

use crate::{Profile, Sample};

/// What a node of the tree weighs in the old and in the new profile; of a single profile, in the new one.
pub(super) type Weights = [f64; 2];

/// Calls by name, those of one caller together.
#[derive(Debug)]
pub(super) struct Tree<'p> {
    /// The first is the root of all, and each stands behind its caller.
    pub(super) nodes: Vec<Node<'p>>,
    by_caller: HashMap<(usize, &'p str), usize>,
}

#[derive(Debug)]
pub(super) struct Node<'p> {
    pub(super) name: &'p str,
    pub(super) depth: usize,
    /// With all that is called from it.
    pub(super) within: Weights,
    pub(super) calls: Vec<usize>,
}

impl<'p> Tree<'p> {
    pub(super) fn new() -> Self {
        let root = Node {
            name: "all",
            depth: 0,
            within: [0.0; 2],
            calls: Vec::new(),
        };
        Tree {
            nodes: vec![root],
            by_caller: HashMap::new(),
        }
    }

    /// Adds a profile's stacks, each value times a factor, to one of the two weights.
    pub(super) fn add(&mut self, profile: &'p Profile, value: usize, side: usize, factor: f64) {
        for sample in &profile.samples {
            let Some(weight) = weight_of(sample, value) else {
                continue;
            };
            let weight = weight * factor;
            let mut at = 0;
            self.weigh(at, side, weight);
            for name in profile.names(sample) {
                at = self.call(at, name);
                self.weigh(at, side, weight);
            }
        }
    }

    fn weigh(&mut self, at: usize, side: usize, weight: f64) {
        let node = self.nodes.get_mut(at);
        if let Some(sum) = node.and_then(|node| node.within.get_mut(side)) {
            *sum += weight;
        }
    }

    fn call(&mut self, caller: usize, name: &'p str) -> usize {
        if let Some(found) = self.by_caller.get(&(caller, name)) {
            return *found;
        }
        let number = self.nodes.len();
        let depth = self.nodes.get(caller).map_or(0, |node| node.depth);
        self.nodes.push(Node {
            name,
            depth: depth + 1,
            within: [0.0; 2],
            calls: Vec::new(),
        });
        if let Some(node) = self.nodes.get_mut(caller) {
            node.calls.push(number);
        }
        self.by_caller.insert((caller, name), number);
        number
    }

    /// The calls of a node by name, so that the same code lies in the same place in every picture.
    pub(super) fn calls_by_name(&self, node: &Node<'_>) -> Vec<usize> {
        let mut calls = node.calls.clone();
        calls.sort_by_key(|call| self.nodes.get(*call).map(|node| node.name));
        calls
    }
}

/// What all stacks of a profile weigh together in a tree.
pub(super) fn whole(profile: &Profile, value: usize) -> f64 {
    let samples = profile.samples.iter();
    samples.filter_map(|sample| weight_of(sample, value)).sum()
}

/// None for what has no width: differences of other tools have numbers below 0.
fn weight_of(sample: &Sample, value: usize) -> Option<f64> {
    let of = sample.values.get(value).copied().unwrap_or_default();
    #[allow(clippy::cast_precision_loss, reason = "widths in a picture")]
    let weight = of as f64;
    (of > 0).then_some(weight)
}

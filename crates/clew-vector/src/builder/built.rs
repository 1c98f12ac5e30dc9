//! What a builder has made of the vectors, and the sections that follow from it.

use crate::builder::encode::OwnedCodes;
use crate::calibrate::{Choice, Point, Tried};
use crate::column::{FRAME_HEAD_BYTES, ListBytes, vector_sums};
use crate::graph::{OwnedGraph, Reuse};
use crate::ivf::{OwnedLists, ReuseLists};

/// What a column is searched through.
pub(super) enum Built {
    /// A graph, and the codes that its walks measure by unless the vectors are short.
    Graph {
        graph: OwnedGraph,
        codes: Option<OwnedCodes>,
    },
    Lists(OwnedLists),
}

impl Built {
    pub(super) fn graph(&self) -> Option<&OwnedGraph> {
        match self {
            Built::Graph { graph, .. } => Some(graph),
            Built::Lists(_) => None,
        }
    }

    /// How many lists there are; none where there is a graph.
    pub(super) fn list_count(&self) -> usize {
        match self {
            Built::Graph { .. } => 0,
            Built::Lists(lists) => lists.heads.len(),
        }
    }

    pub(super) fn codes(&self) -> Option<&OwnedCodes> {
        match self {
            Built::Graph { codes, .. } => codes.as_ref(),
            Built::Lists(_) => None,
        }
    }
}

/// What a column that was merged was searched through.
pub(super) enum Structures<'a> {
    Graph(Reuse<'a>),
    Lists(ReuseLists<'a>),
}

/// A column that was merged.
pub(super) struct Before<'a> {
    pub(super) structure: Structures<'a>,
    /// Why it was searched so, and its points.
    pub(super) choice: Option<Choice>,
    pub(super) points: &'a [Point],
}

/// What was learnt by searches through what was built.
#[derive(Default)]
pub(super) struct Learnt {
    pub(super) points: Vec<Point>,
    pub(super) probes: Vec<f32>,
    pub(super) choice: Option<Choice>,
}

impl Learnt {
    /// What was learnt of lists that stand in for a graph.
    pub(super) fn of_lists(tried: &[Tried], points: Vec<Point>, choice: Option<Choice>) -> Self {
        let probes = tried.iter().map(|one| one.effort as f32);
        Learnt {
            points,
            probes: probes.collect(),
            choice,
        }
    }
}

/// Sections that follow from others.
pub(super) struct Derived {
    pub(super) frame: Vec<u8>,
    pub(super) lists: ListBytes,
    pub(super) vector_sums: Vec<u32>,
    pub(super) learnt: Learnt,
}

impl Derived {
    pub(super) fn of(vectors: &[u8], built: Option<&Built>, learnt: Learnt) -> Self {
        let mut frame = Vec::new();
        if let Some(codes) = built.and_then(Built::codes) {
            frame.extend(codes.frame.seed.to_le_bytes());
            frame.extend(codes.error.to_le_bytes());
            frame.extend(u32::from(codes.bits.count()).to_le_bytes());
            // The centre starts where readers look for it.
            assert_eq!(frame.len(), FRAME_HEAD_BYTES);
            frame.extend_from_slice(bytemuck::cast_slice(&codes.frame.centre));
        }
        let vector_sums = vector_sums(vectors);
        let lists = match built {
            Some(Built::Lists(lists)) => ListBytes::of(lists),
            Some(Built::Graph { .. }) | None => ListBytes::default(),
        };
        Derived {
            frame,
            lists,
            vector_sums,
            learnt,
        }
    }
}

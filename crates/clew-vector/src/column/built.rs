//! What a builder has made of the vectors, and the sections that follow from it.

use crate::calibrate::Point;
use crate::column::encode::OwnedCodes;
use crate::column::format::FRAME_HEAD_BYTES;
use crate::column::integrity::vector_sums;
use crate::column::lists::ListBytes;
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

    pub(super) fn codes(&self) -> Option<&OwnedCodes> {
        match self {
            Built::Graph { codes, .. } => codes.as_ref(),
            Built::Lists(_) => None,
        }
    }
}

/// What a column that was merged was searched through.
pub(super) enum Before<'a> {
    Graph(Reuse<'a>),
    Lists(ReuseLists<'a>),
}

/// Sections that follow from others.
pub(super) struct Derived {
    pub(super) frame: Vec<u8>,
    pub(super) lists: ListBytes,
    pub(super) vector_sums: Vec<u32>,
    pub(super) learnt: Vec<Point>,
}

impl Derived {
    pub(super) fn of(vectors: &[u8], built: Option<&Built>, learnt: Vec<Point>) -> Self {
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

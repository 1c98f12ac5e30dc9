//! Starts a build from a graph that exists: a merge keeps the graph of its largest part, and inserts
//! the rest. Rows that died are taken out, and whoever had a link to one may link to what it linked
//! to (Singh and others, "FreshDiskANN", 2021).

use crate::graph::grow::Growing;
use crate::graph::{Graph, LEVELS_MAX, Layer, NONE};

/// A graph to start from.
#[derive(Debug)]
pub(crate) struct Reuse<'a> {
    pub(crate) graph: Graph<'a>,
    /// New row of each of its rows; [`NONE`] for those that are gone.
    pub(crate) new_rows: Vec<u32>,
}

/// A row with fewer links than this is inserted like a new one: it may not be found otherwise.
pub(super) const LINKS_MIN: usize = 4;

impl Reuse<'_> {
    /// New row of an old one. Numbers that a damaged image made up are gone too.
    pub(super) fn new_row(&self, old: u32) -> u32 {
        self.new_rows.get(old as usize).copied().unwrap_or(NONE)
    }

    /// Upper levels of the rows that are kept, by new row.
    pub(super) fn levels(&self) -> impl Iterator<Item = (u32, u32)> {
        let spans = self.graph.upper_starts.windows(2);
        let pairs = self.graph.upper_rows.iter().zip(spans);
        pairs.filter_map(|(&old, span)| {
            let row = self.new_row(old);
            (row != NONE).then(|| (row, span[1].saturating_sub(span[0]).min(LEVELS_MAX)))
        })
    }

    /// The list of an old row on level 0 in new rows, and whether rows that are gone were left out;
    /// the neighbours of those are added while `list` is shorter than `max`.
    fn list(&self, old: u32, max: usize, list: &mut Vec<u32>) {
        list.clear();
        let slots = |row: u32| {
            let start = row as usize * self.graph.base_slots;
            let list = self.graph.links.get(start..start + self.graph.base_slots);
            let list = list.unwrap_or_default().iter().copied();
            list.take_while(|&row| row != NONE)
        };
        let own = self.new_row(old);
        let kept = slots(old).map(|near| self.new_row(near));
        list.extend(kept.filter(|&near| near != NONE));
        for gone in slots(old).filter(|&near| self.new_row(near) == NONE) {
            for far in slots(gone).map(|far| self.new_row(far)) {
                if list.len() >= max {
                    return;
                }
                if far != NONE && far != own && !list.contains(&far) {
                    list.push(far);
                }
            }
        }
    }

    /// Fills the lists of the rows that are kept, and answers which rows are linked well enough to
    /// need no insertion. `max` is what a list on level 0 may hold.
    pub(super) fn fill(&self, growing: &Growing, max: usize) -> Vec<bool> {
        let mut linked = vec![false; growing.row_count];
        let mut list = Vec::new();
        for (old, &row) in (0_u32..).zip(&self.new_rows) {
            if row == NONE {
                continue;
            }
            self.list(old, max, &mut list);
            if list.len() >= LINKS_MIN {
                linked[row as usize] = true;
                growing.base.set(row as usize, list.iter().copied());
            }
        }
        self.fill_upper(growing);
        let best = self.levels().filter(|&(row, _)| linked[row as usize]);
        if let Some((row, _)) = best.max_by_key(|&(_, level)| level) {
            growing.restart_at(row);
        } else if let Some(row) = linked.iter().position(|&linked| linked) {
            growing.restart_at(u32::try_from(row).expect("a column holds at most 2^30 rows"));
        }
        linked
    }

    fn fill_upper(&self, growing: &Growing) {
        for (upper, &old) in (0_u32..).zip(self.graph.upper_rows) {
            let row = self.new_row(old);
            if row == NONE {
                continue;
            }
            let own = growing.upper_index(row);
            for level in 1..=growing.level(own) {
                let layer = self.graph.layer(level);
                let near = layer.neighbours(upper).iter();
                let rows = near.take_while(|&&near| near != NONE).filter_map(|&near| {
                    let old = self.graph.upper_rows.get(near as usize)?;
                    let upper = growing.upper_of(self.new_row(*old));
                    // A node of this level only: a damaged image may say otherwise.
                    (growing.level(upper) >= level).then_some(upper)
                });
                growing.upper.set(growing.upper_list(own, level), rows);
            }
        }
    }
}

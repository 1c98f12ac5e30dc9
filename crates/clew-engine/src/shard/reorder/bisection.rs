//! The order of documents in which their postings have small gaps: recursive graph bisection (Dhulipala et
//! al., "Compressing Graphs and Indexes with Recursive Graph Bisection", 2016; the faster rounds of Mackenzie
//! et al., 2019 and 2022).
//!
//! The documents are cut into halves; a document changes sides when more of what it holds is on the other
//! one, until that brings nothing more; then each half is cut. Nothing here knows what a term or a segment is,
//! and the same input gives the same order whatever the number of threads.

use std::thread;

/// So few documents are left in the order in which they come.
const LEAF: usize = 16;
/// A cut is as good as it gets after so many rounds.
const ROUNDS_MAX: usize = 20;
/// Or when a round moves fewer than one in so many of the documents.
const MOVED_SHARE: usize = 200;
/// Left and right.
const SIDES: usize = 2;

/// What the documents hold: numbers below `kinds`, each at most once in a document.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Holdings {
    /// The documents, by their numbers.
    docs: Vec<u32>,
    /// Where what a document holds begins; one more than there are documents.
    starts: Vec<u32>,
    held: Vec<u32>,
    kinds: usize,
}

impl Holdings {
    /// Of as many documents as there are starts but one.
    pub(super) fn new(starts: Vec<u32>, held: Vec<u32>, kinds: usize) -> Self {
        let count = starts.len().saturating_sub(1);
        assert_eq!(starts.last().map_or(0, |end| *end as usize), held.len());
        Holdings {
            docs: (0..).take(count).collect(),
            starts,
            held,
            kinds,
        }
    }

    /// Memory that [`order`] takes at most, that of the holdings included: 8 bytes for each thing held, 37 for each
    /// document, 20 for each kind. Both halves of a cut are made before what was cut is given up.
    pub(super) fn memory_needed(docs: usize, held: usize, kinds: usize) -> usize {
        let word = size_of::<u32>();
        // A document's number and where it begins, twice; its side and its pull; its place and its step.
        let of_doc = SIDES * 2 * word + 1 + size_of::<Pull>() + 2 * word;
        // Counts and forces for both sides, and the number in a half.
        let of_kind = (2 * SIDES + 1) * word;
        SIDES * word * held + of_doc * docs + of_kind * kinds
    }

    fn of(&self, doc: usize) -> &[u32] {
        &self.held[self.starts[doc] as usize..self.starts[doc + 1] as usize]
    }

    /// The documents of a side. What only one of them holds, or all of them, has no say in their order.
    fn half(&self, cut: &Cut, side: u8) -> Holdings {
        let counts = &cut.counts[usize::from(side)];
        let members = || (0..self.docs.len()).filter(|&doc| cut.sides[doc] == side);
        let size = members().count();
        let mut half = Holdings {
            docs: members().map(|doc| self.docs[doc]).collect(),
            starts: Vec::with_capacity(size + 1),
            ..Holdings::default()
        };
        let mut room = 0;
        let mut kinds = 0;
        let mut numbers = vec![u32::MAX; self.kinds];
        for (number, &count) in numbers.iter_mut().zip(counts) {
            if (2..size).contains(&(count as usize)) {
                *number = kinds;
                kinds += 1;
                room += count as usize;
            }
        }
        half.held.reserve_exact(room);
        half.starts.push(0);
        let mut end = 0;
        for doc in members() {
            for &kind in self.of(doc) {
                let number = numbers[kind as usize];
                if number != u32::MAX {
                    half.held.push(number);
                    end += 1;
                }
            }
            half.starts.push(end);
        }
        half.kinds = kinds as usize;
        half
    }
}

/// How a work is done.
pub(super) struct Effort<'a> {
    pub(super) threads: usize,
    /// Whether to stop; asked between rounds.
    pub(super) stopped: &'a (dyn Fn() -> bool + Sync),
}

/// The documents in their new order; `None` when it was told to stop.
pub(super) fn order(holdings: Holdings, effort: &Effort<'_>) -> Option<Vec<u32>> {
    let mut order = vec![0; holdings.docs.len()];
    let steps = steps(holdings.docs.len());
    let bisection = Bisection { steps, effort };
    bisection
        .arrange(holdings, &mut order, effort.threads)
        .then_some(order)
}

/// By how much `k log2(k + 1)` grows with its last step to `k`.
fn steps(docs: usize) -> Vec<f32> {
    let mut last = 0.0_f64;
    let mut step = |k: u32| {
        let value = f64::from(k) * f64::from(k + 1).log2();
        let grown = value - last;
        last = value;
        narrow(grown)
    };
    (0..).take(docs + 2).map(&mut step).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a logarithm that is rounded"
)]
fn narrow(wide: f64) -> f32 {
    wide as f32
}

struct Bisection<'a> {
    steps: Vec<f32>,
    effort: &'a Effort<'a>,
}

/// How strongly a document is drawn to the right, and the side that it is on: who is drawn equally stays.
#[derive(Clone, Copy)]
struct Pull {
    force: f32,
    side: u8,
    doc: u32,
}

/// Which side each document is on, and how many of a side hold what.
struct Cut {
    sides: Vec<u8>,
    counts: [Vec<u32>; SIDES],
}

impl Bisection<'_> {
    /// Writes documents in their order; whether it came to an end.
    fn arrange(&self, holdings: Holdings, order: &mut [u32], threads: usize) -> bool {
        if holdings.docs.len() <= LEAF || holdings.kinds == 0 {
            order.copy_from_slice(&holdings.docs);
            return true;
        }
        let Some(cut) = self.cut(&holdings) else {
            return false;
        };
        let left = holdings.half(&cut, 0);
        let right = holdings.half(&cut, 1);
        drop((holdings, cut));
        let (first, second) = order.split_at_mut(left.docs.len());
        if threads < SIDES {
            return self.arrange(left, first, 1) && self.arrange(right, second, 1);
        }
        thread::scope(|scope| {
            let other = scope.spawn(|| self.arrange(left, first, threads / SIDES));
            let done = self.arrange(right, second, threads - threads / SIDES);
            // A panic there is one here.
            other.join().expect("the other half was arranged") && done
        })
    }

    /// Cuts documents into halves; `None` when it was told to stop.
    fn cut(&self, holdings: &Holdings) -> Option<Cut> {
        let count = holdings.docs.len();
        let half = count.div_ceil(SIDES);
        let mut cut = Cut {
            sides: (0..count).map(|doc| u8::from(doc >= half)).collect(),
            counts: [vec![0; holdings.kinds], vec![0; holdings.kinds]],
        };
        for doc in 0..count {
            let counts = &mut cut.counts[usize::from(cut.sides[doc])];
            for &kind in holdings.of(doc) {
                counts[kind as usize] += 1;
            }
        }
        let mut forces = vec![[0.0; SIDES]; holdings.kinds];
        let mut pulls: Vec<Pull> = Vec::with_capacity(count);
        for _ in 0..ROUNDS_MAX {
            if (self.effort.stopped)() {
                return None;
            }
            self.weigh(&cut, (half, count - half), &mut forces);
            pulls.clear();
            pulls.extend((0..).zip(&cut.sides).map(|(doc, &side)| {
                let held = holdings.of(doc as usize);
                let force = held
                    .iter()
                    .map(|&kind| forces[kind as usize][usize::from(side)]);
                let force = force.sum();
                Pull { force, side, doc }
            }));
            let moved = cut.divide(holdings, &mut pulls);
            if moved * MOVED_SHARE < count {
                break;
            }
        }
        Some(cut)
    }

    /// How strongly each kind draws the documents of either side that hold it to the right: by the bits that its gaps
    /// would lose if one of the left went there, or gain if one of the right went away.
    fn weigh(&self, cut: &Cut, (left, right): (usize, usize), forces: &mut [[f32; SIDES]]) {
        let more = |size: usize| narrow((size as f64).log2());
        let uneven = more(left) - more(right);
        let [ours, theirs] = &cut.counts;
        for ((force, &x), &y) in forces.iter_mut().zip(ours).zip(theirs) {
            let (x, y) = (x as usize, y as usize);
            *force = [
                uneven + self.steps[y + 1] - self.steps[x],
                uneven + self.steps[y] - self.steps[x + 1],
            ];
        }
    }
}

impl Cut {
    /// The half of the documents that is drawn least to the right is left; how many went to another side.
    fn divide(&mut self, holdings: &Holdings, pulls: &mut [Pull]) -> usize {
        let half = pulls.len().div_ceil(SIDES);
        pulls.select_nth_unstable_by(half, |a, b| {
            let by_force = a.force.total_cmp(&b.force);
            by_force.then((a.side, a.doc).cmp(&(b.side, b.doc)))
        });
        let (left, right) = pulls.split_at(half);
        let mut moved = 0;
        for (side, group) in [(0, left), (1, right)] {
            for pull in group.iter().filter(|pull| pull.side != side) {
                let doc = pull.doc as usize;
                self.sides[doc] = side;
                for &kind in holdings.of(doc) {
                    let kind = kind as usize;
                    self.counts[usize::from(pull.side)][kind] -= 1;
                    self.counts[usize::from(side)][kind] += 1;
                }
                moved += 1;
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests;

//! The automaton of a term dictionary: from a term to how many come before it.
//!
//! It has the format of `tantivy_fst`, which reads it. That library's own builder keeps the nodes that it may use again in
//! 20,000 places with a list of their own each, so that every node waits for memory. Here those of one transition, which
//! nearly all are, need no list, and the table of the others is small.

use std::sync::LazyLock;

use tantivy_fst::Map;

/// The version of the format, and the kind of automaton, of which there is one.
const HEADER: [u64; 2] = [2, 0];
/// The address of the node that ends a term and goes nowhere; it is not written.
const LEAF: u64 = 0;
/// No node's address.
const NOWHERE: u64 = 1;
/// Transitions above which a node has a table of them by their inputs.
const TABLE_ABOVE: usize = 32;
/// Nodes that are remembered at most to be used again, those of one transition and those of more: powers of two. As many
/// as stay in a core's own cache.
const KNOWN: usize = 1 << 13;
const KNOWN_WIDE: usize = 1 << 10;

/// The upper bits of a node's last byte: one transition, which goes to the node before or elsewhere; or any number, and
/// whether a term ends there.
const ONE_TO_PREVIOUS: u8 = 0b1100_0000;
const ONE: u8 = 0b1000_0000;
const ENDS_TERM: u8 = 0b0100_0000;
/// What its lower bits count to.
const LOWER_MAX: u8 = 0b0011_1111;

/// Builds the automaton of ascending terms, each of which stands for the number of those before it.
///
/// The algorithm is that of Daciuk, Mihov, Watson and Watson ("Incremental construction of minimal acyclic finite-state
/// automata", 2000), with outputs as Mihov and Maurel put them; since values ascend, an output that was given to a
/// transition never moves. Memory is that of the automaton, and some 150 bytes for each of the longest term.
pub(super) struct Automaton {
    out: Vec<u8>,
    /// The nodes along the last term, one more than its bytes; those behind them are free.
    path: Vec<Open>,
    last: Vec<u8>,
    previous: u64,
    count: u64,
    known: Vec<Known>,
    known_wide: Vec<KnownWide>,
}

/// A node that may get more transitions. The target of the last one is not known yet, when the path goes on.
#[derive(Default)]
struct Open {
    ends_term: bool,
    transitions: Vec<Transition>,
    /// The outputs on the way to it.
    output: u64,
}

#[derive(Clone, Copy, PartialEq)]
struct Transition {
    input: u8,
    output: u64,
    target: u64,
}

/// A node of one transition that was written.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The target, and below it whether a term ends in the node, and the input.
    key: u64,
    output: u64,
    /// Zero in free places.
    address: u64,
}

/// A node of several transitions that was written.
#[derive(Clone, Default)]
struct KnownWide {
    ends_term: bool,
    transitions: Vec<Transition>,
    /// Zero in free places.
    address: u64,
}

impl Automaton {
    /// An automaton for about so many terms.
    pub(super) fn new(terms: usize) -> Self {
        let size = |most: usize| terms.next_power_of_two().min(most);
        Automaton {
            out: HEADER.into_iter().flat_map(u64::to_le_bytes).collect(),
            path: vec![Open::default()],
            last: Vec::new(),
            previous: NOWHERE,
            count: 0,
            known: vec![Known::default(); size(KNOWN)],
            known_wide: vec![KnownWide::default(); size(KNOWN_WIDE)],
        }
    }

    /// Adds a term, which comes after all before.
    pub(super) fn add(&mut self, term: &[u8]) {
        let value = self.count;
        self.count += 1;
        let shared = self.last.iter().zip(term).take_while(|(a, b)| a == b);
        let shared = shared.count();
        self.close(shared);
        let mut output = value - self.path[shared].output;
        if self.path.len() <= term.len() {
            self.path.resize_with(term.len() + 1, Open::default);
        }
        for (node, input) in self.path[shared..].iter_mut().zip(&term[shared..]) {
            node.transitions.push(Transition {
                input: *input,
                output: std::mem::take(&mut output),
                target: NOWHERE,
            });
        }
        for node in &mut self.path[shared + 1..=term.len()] {
            node.output = value;
        }
        self.path[term.len()].ends_term = true;
        self.last.clear();
        self.last.extend_from_slice(term);
    }

    /// The dictionary that another one becomes with this automaton in place of its own. What it has behind its own one,
    /// where the postings of each term are, stays: that, its length, and the two versions of the formats.
    pub(super) fn finish_with(self, dictionary: &[u8]) -> Vec<u8> {
        let versions = dictionary.len().saturating_sub(2 * size_of::<u32>());
        let length = dictionary[..versions].last_chunk();
        let length = length.map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let behind = usize::try_from(length).unwrap_or(usize::MAX);
        let start = versions.saturating_sub(size_of::<u64>().saturating_add(behind));
        let mut out = self.finish();
        out.extend_from_slice(&dictionary[start..]);
        out
    }

    /// All of it.
    fn finish(mut self) -> Vec<u8> {
        self.close(0);
        let root = self.write(0);
        self.out.extend_from_slice(&self.count.to_le_bytes());
        self.out.extend_from_slice(&root.to_le_bytes());
        self.out
    }

    /// Writes the nodes along the last term that lie behind so many bytes.
    fn close(&mut self, shared: usize) {
        for depth in (shared..self.last.len()).rev() {
            let target = self.write(depth + 1);
            if let Some(last) = self.path[depth].transitions.last_mut() {
                last.target = target;
            }
        }
        self.last.truncate(shared);
    }

    /// Writes a node of the path, if it is not known, and says where it is.
    fn write(&mut self, depth: usize) -> u64 {
        let node = &mut self.path[depth];
        let ends_term = std::mem::take(&mut node.ends_term);
        let address = match node.transitions[..] {
            [] if ends_term => LEAF,
            [only] => {
                let key = only.target << 9 | u64::from(ends_term) << 8 | u64::from(only.input);
                let hash = mixed(mixed(0, key), only.output);
                let known = place(&mut self.known, hash);
                if known.address == 0 || (known.key, known.output) != (key, only.output) {
                    if ends_term {
                        write_any(&mut self.out, true, &[only]);
                    } else {
                        write_one(&mut self.out, only, only.target == self.previous);
                    }
                    self.previous = self.out.len() as u64 - 1;
                    *known = Known {
                        key,
                        output: only.output,
                        address: self.previous,
                    };
                }
                known.address
            }
            ref transitions => {
                let hash = transitions.iter().fold(0, |hash, transition| {
                    let own = transition.target << 8 | u64::from(transition.input);
                    mixed(mixed(hash, transition.output), own)
                });
                let known = place(&mut self.known_wide, hash);
                let is_known = known.ends_term == ends_term && known.transitions == *transitions;
                if known.address == 0 || !is_known {
                    write_any(&mut self.out, ends_term, transitions);
                    self.previous = self.out.len() as u64 - 1;
                    known.ends_term = ends_term;
                    known.transitions.clone_from(&node.transitions);
                    known.address = self.previous;
                }
                known.address
            }
        };
        self.path[depth].transitions.clear();
        address
    }
}

fn mixed(hash: u64, number: u64) -> u64 {
    let product = (hash ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 32
}

/// The place of a hash in a table, whose size is a power of two.
fn place<T>(table: &mut [T], hash: u64) -> &mut T {
    let last = table.len() - 1;
    &mut table[usize::try_from(hash).unwrap_or(0) & last]
}

/// A node of one transition in which no term ends. Whatever a node has lies in front of its last byte.
fn write_one(out: &mut Vec<u8>, transition: Transition, is_to_previous: bool) {
    let Transition {
        input,
        output,
        target,
    } = transition;
    let kind = if is_to_previous && output == 0 {
        ONE_TO_PREVIOUS
    } else {
        let distance = distance(out, target);
        let output_bytes = if output == 0 { 0 } else { bytes_of(output) };
        write_number(out, output, output_bytes);
        write_number(out, distance, bytes_of(distance));
        write_sizes(out, bytes_of(distance), output_bytes);
        ONE
    };
    let common = COMMON_INPUTS[usize::from(input)];
    if common == 0 {
        out.push(input);
    }
    out.push(kind | common);
}

/// A node of any number of transitions, all of whose numbers take the same room.
fn write_any(out: &mut Vec<u8>, ends_term: bool, transitions: &[Transition]) {
    let start = out.len();
    let outputs = transitions.iter().map(|transition| transition.output);
    let output_bytes = match outputs.max() {
        None | Some(0) => 0,
        Some(most) => bytes_of(most),
    };
    let targets = transitions.iter().map(|transition| transition.target);
    let farthest = targets.map(|target| distance(&out[..start], target)).max();
    let distance_bytes = farthest.map_or(0, bytes_of);
    if ends_term {
        write_number(out, 0, output_bytes);
    }
    for transition in transitions.iter().rev() {
        write_number(out, transition.output, output_bytes);
    }
    for transition in transitions.iter().rev() {
        let distance = distance(&out[..start], transition.target);
        write_number(out, distance, distance_bytes);
    }
    out.extend(transitions.iter().rev().map(|transition| transition.input));
    if transitions.len() > TABLE_ABOVE {
        let mut table = [u8::MAX; 256];
        for (at, transition) in (0..=u8::MAX).zip(transitions) {
            table[usize::from(transition.input)] = at;
        }
        out.extend_from_slice(&table);
    }
    write_sizes(out, distance_bytes, output_bytes);
    let mut count = 0;
    match u8::try_from(transitions.len()) {
        Ok(few @ 1..) if few <= LOWER_MAX => count = few,
        Ok(some) => out.push(some),
        // A single transition is never told this way.
        Err(_) => out.push(1),
    }
    out.push(if ends_term { ENDS_TERM } else { 0 } | count);
}

/// How far a node that begins at the end lies behind another.
fn distance(out: &[u8], target: u64) -> u64 {
    if target == LEAF {
        0
    } else {
        out.len() as u64 - target
    }
}

/// Bytes that a number takes, at least one.
fn bytes_of(number: u64) -> usize {
    let bits = number.checked_ilog2().unwrap_or(0) + 1;
    bits.div_ceil(8) as usize
}

fn write_number(out: &mut Vec<u8>, number: u64, bytes: usize) {
    out.extend_from_slice(&number.to_le_bytes()[..bytes]);
}

/// Both are at most eight.
fn write_sizes(out: &mut Vec<u8>, distance: usize, output: usize) {
    out.push(u8::try_from(distance << 4 | output).unwrap_or(0));
}

/// For inputs that are frequent in words, by which number nodes of one transition say them; zero for those that take a
/// byte. The format's table is read off an automaton of the library's, of one term that has all bytes in turn.
static COMMON_INPUTS: LazyLock<[u8; 256]> = LazyLock::new(|| {
    let mut common = [0; 256];
    let term: [u8; 256] = std::array::from_fn(|byte| u8::try_from(byte).unwrap_or(0));
    let Ok(bytes) = Map::from_iter([(term, 0)]).map(|sample| sample.as_fst().to_vec()) else {
        return common;
    };
    let root = bytes
        .last_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes));
    // From the root on, each node lies in front of the one that leads to it.
    let mut last = usize::try_from(root).unwrap_or(0);
    for common in &mut common {
        *common = bytes.get(last).map_or(0, |byte| byte & LOWER_MAX);
        last = last.saturating_sub(1 + usize::from(*common == 0));
    }
    common
});

#[cfg(test)]
mod tests;

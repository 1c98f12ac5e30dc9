//! What a capture is made into: samples with stacks of named frames, in the shape that pprof's files have.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use crate::error::{ProfileError, RATE_MAX};

/// What was watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProfileKind {
    /// Time on the processors.
    OnCpu,
    /// Time off them.
    OffCpu,
    /// Memory.
    Heap,
}

impl ProfileKind {
    /// The values that each sample has, in their order; the last is the one that graphs show.
    pub fn values(self) -> Vec<ValueType> {
        let of = |name: &str, unit: &str| ValueType {
            name: name.to_string(),
            unit: unit.to_string(),
        };
        match self {
            ProfileKind::OnCpu => vec![of("samples", "count"), of("cpu", "nanoseconds")],
            ProfileKind::OffCpu => {
                vec![of("runqueue", "nanoseconds"), of("blocked", "nanoseconds")]
            }
            ProfileKind::Heap => vec![
                of("alloc_objects", "count"),
                of("alloc_space", "bytes"),
                of("inuse_objects", "count"),
                of("inuse_space", "bytes"),
            ],
        }
    }
}

/// How often a thread's stack is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(u32);

impl Rate {
    /// More than the scheduler's clock of any usual system can do.
    pub const MAX: u32 = RATE_MAX;

    /// # Errors
    /// For none and for more than [`Rate::MAX`].
    pub fn per_second(times: u32) -> Result<Self, ProfileError> {
        match times {
            1..=Self::MAX => Ok(Rate(times)),
            _ => Err(ProfileError::Rate(times)),
        }
    }

    /// The time between two looks.
    pub fn period(self) -> Duration {
        Duration::from_secs(1) / self.0
    }

    pub(crate) fn period_ns(self) -> u64 {
        1_000_000_000 / u64::from(self.0)
    }
}

impl Default for Profile {
    /// Nothing was measured.
    fn default() -> Self {
        Profile {
            values: Vec::new(),
            samples: Vec::new(),
            locations: Vec::new(),
            functions: Vec::new(),
            began: SystemTime::UNIX_EPOCH,
            took: Duration::ZERO,
            period: 0,
            comments: Vec::new(),
        }
    }
}

/// A value that every sample has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueType {
    /// What is counted, `cpu`.
    pub name: String,
    /// In what, `nanoseconds`, `bytes` or `count`.
    pub unit: String,
}

/// A capture.
#[derive(Clone, Debug)]
pub struct Profile {
    /// What the numbers of each sample are.
    pub values: Vec<ValueType>,
    /// Each stack once.
    pub samples: Vec<Sample>,
    /// The places in the code that stacks are made of.
    pub locations: Vec<Location>,
    /// The functions that those lie in.
    pub functions: Vec<Function>,
    /// When it began.
    pub began: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// Nanoseconds (for memory: bytes) between two samples; 0 where each event was seen.
    pub period: u64,
    /// How it was made, what was lost.
    pub comments: Vec<String>,
}

/// A stack, and how much of what was measured is its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Indexes into [`Profile::locations`], the innermost first.
    pub stack: Vec<u32>,
    /// One for each of [`Profile::values`].
    pub values: Vec<i64>,
    /// The thread's name, where it is told.
    pub thread: Option<String>,
}

/// An address in the code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// As the file of the program counts it; 0 where only names are known.
    pub address: u64,
    /// The function, and those that were inlined into it, the innermost first.
    pub lines: Vec<Line>,
}

/// A line of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// Index into [`Profile::functions`].
    pub function: u32,
    /// 0 where it is not known.
    pub line: u32,
}

/// A function by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// As the program's source has it, with its path.
    pub name: String,
    /// Its source file, empty where it is not known.
    pub file: String,
}

impl Profile {
    /// The index of the value that is shown where one is.
    pub fn main_value(&self) -> usize {
        self.values.len().saturating_sub(1)
    }

    /// The index of a value by name.
    pub fn value(&self, name: &str) -> Option<usize> {
        self.values.iter().position(|value| value.name == name)
    }

    /// Names of a sample's frames with its thread in front, the outermost first: what graphs show.
    pub fn names<'p>(&'p self, sample: &'p Sample) -> impl Iterator<Item = &'p str> {
        let lines = sample.stack.iter().rev().flat_map(|location| {
            let location = self.locations.get(*location as usize);
            location
                .into_iter()
                .flat_map(|found| found.lines.iter().rev())
        });
        let names = lines
            .filter_map(|line| Some(self.functions.get(line.function as usize)?.name.as_str()));
        sample.thread.as_deref().into_iter().chain(names)
    }

    /// The sum of one value over all samples, as far as numbers go.
    pub fn total(&self, value: usize) -> i64 {
        let of = |sample: &Sample| sample.values.get(value).copied().unwrap_or_default();
        self.samples.iter().map(of).fold(0, i64::saturating_add)
    }

    /// One capture of several that measured the same, one after the other. What they have in common is kept once; what
    /// no sample refers to is left out.
    ///
    /// # Errors
    /// When they have different values.
    pub fn merged(profiles: &[Profile]) -> Result<Profile, ProfileError> {
        let (mut functions, mut locations) = (Interned::new(), Interned::new());
        let mut samples: HashMap<(Option<&str>, Vec<u32>), Vec<i64>> = HashMap::new();
        let mut merged = Profile::default();
        for profile in profiles {
            if merged.values.is_empty() {
                merged.values.clone_from(&profile.values);
                merged.began = profile.began;
                merged.period = profile.period;
                merged.comments.clone_from(&profile.comments);
            }
            if merged.values != profile.values {
                let names = |values: &[ValueType]| {
                    values
                        .last()
                        .map_or(String::new(), |value| value.name.clone())
                };
                return Err(ProfileError::Different(
                    names(&merged.values),
                    names(&profile.values),
                ));
            }
            merged.took += profile.took;
            let mut numbers: HashMap<u32, u32> = HashMap::new();
            for sample in &profile.samples {
                let mut number = |old: &u32| {
                    let known = numbers.get(old).copied();
                    known.or_else(|| {
                        let found = profile.locations.get(*old as usize)?;
                        let line = |line: &Line| {
                            let function = profile.functions.get(line.function as usize)?;
                            let function = functions.number(function.clone());
                            Some(Line {
                                function,
                                line: line.line,
                            })
                        };
                        let lines = found.lines.iter().filter_map(line).collect();
                        let new = locations.number(Location {
                            address: found.address,
                            lines,
                        });
                        numbers.insert(*old, new);
                        Some(new)
                    })
                };
                let stack = sample.stack.iter().filter_map(&mut number).collect();
                let sums = samples
                    .entry((sample.thread.as_deref(), stack))
                    .or_insert_with(|| vec![0; sample.values.len()]);
                for (sum, value) in sums.iter_mut().zip(&sample.values) {
                    *sum = sum.saturating_add(*value);
                }
            }
        }
        let mut samples: Vec<_> = samples.into_iter().collect();
        samples.sort();
        let sample = |((thread, stack), values): ((Option<&str>, Vec<u32>), Vec<i64>)| Sample {
            stack,
            values,
            thread: thread.map(String::from),
        };
        merged.samples = samples.into_iter().map(sample).collect();
        (merged.locations, merged.functions) = (locations.all, functions.all);
        Ok(merged)
    }

    /// Takes functions away from the inner ends of all stacks, also where they were inlined into others.
    pub(crate) fn leave_out_inner(&mut self, is_meant: impl Fn(&str) -> bool) {
        let name = |line: &Line| {
            self.functions
                .get(line.function as usize)
                .map(|function| function.name.as_str())
        };
        let is_left_out = |line: &Line| name(line).is_some_and(&is_meant);
        // Without those lines: nothing where they are all, a place of its own where they are some.
        let mut instead: Vec<Option<u32>> = Vec::with_capacity(self.locations.len());
        let mut added = Vec::new();
        for (number, location) in (0_u32..).zip(&self.locations) {
            let last = location.lines.iter().rposition(is_left_out);
            let left = last.map(|last| location.lines.get(last + 1..).unwrap_or_default());
            instead.push(match left {
                None => Some(number),
                Some([]) => None,
                Some(lines) => {
                    let place = self.locations.len() + added.len();
                    added.push(Location {
                        address: location.address,
                        lines: lines.to_vec(),
                    });
                    u32::try_from(place).ok()
                }
            });
        }
        self.locations.append(&mut added);
        for sample in &mut self.samples {
            let instead_of = |number: &u32| instead.get(*number as usize).copied().flatten();
            let whole = sample
                .stack
                .iter()
                .position(|number| instead_of(number).is_some());
            sample.stack.drain(..whole.unwrap_or(sample.stack.len()));
            if let Some(first) = sample.stack.first_mut()
                && let Some(instead) = instead_of(first)
            {
                *first = instead;
            }
        }
    }

    /// The sum over the samples in which a function that satisfies this is the innermost, or anywhere.
    pub fn share_of(&self, value: usize, is_meant: impl Fn(&str) -> bool) -> (i64, i64) {
        let (mut own, mut within) = (0, 0);
        for sample in &self.samples {
            let of = sample.values.get(value).copied().unwrap_or_default();
            let names: Vec<&str> = self.names(sample).collect();
            own += names.last().filter(|name| is_meant(name)).map_or(0, |_| of);
            within += names.iter().find(|name| is_meant(name)).map_or(0, |_| of);
        }
        (own, within)
    }
}

/// Things by number, each once.
#[derive(Debug)]
pub(crate) struct Interned<T> {
    pub(crate) all: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    pub(crate) fn new() -> Self {
        Interned {
            all: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    pub(crate) fn number(&mut self, one: T) -> u32 {
        if let Some(number) = self.numbers.get(&one) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(one.clone());
        self.numbers.insert(one, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, Profile, ProfileKind};

    #[test]
    fn what_captures_have_in_common_is_kept_once() {
        let read = |text: &str| Profile::read(text.as_bytes()).unwrap();
        let all = [read("a;b 1\na;c 2\n"), read("c;b 4\na;b 8\n")];
        let merged = Profile::merged(&all).unwrap();
        let mut text = Vec::new();
        merged.write(Format::Collapsed, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "a;b 9\na;c 2\nc;b 4\n");
        assert_eq!((merged.functions.len(), merged.locations.len()), (3, 3));
        // It makes no difference what became one before.
        let in_two = Profile::merged(&[merged, read("a;b 1\n")]).unwrap();
        let mut text = Vec::new();
        in_two.write(Format::Collapsed, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "a;b 10\na;c 2\nc;b 4\n");
        let mut other = all[0].clone();
        other.values = ProfileKind::Heap.values();
        assert!(Profile::merged(&[all[1].clone(), other]).is_err());
        assert!(Profile::merged(&[]).unwrap().samples.is_empty());
    }

    #[test]
    fn sums_end_where_numbers_do() {
        let text = format!("a {0}\na {0}\nb {0}\n", i64::MAX);
        let large = Profile::read(text.as_bytes()).unwrap();
        assert_eq!(large.total(0), i64::MAX);
        for format in [Format::Collapsed, Format::Svg, Format::Html, Format::Pprof] {
            large.write(format, &mut Vec::new()).unwrap();
        }
    }
}

//! Buckets per combination of values of several sources. Combinations are numbered source by
//! source: a number stands for all sources so far, and with the next source's value finds the next
//! number, so that no combination is ever built per document.

use std::cmp::Ordering;

use clew_platform::Pace;
use clew_query::aggregation::{DateInterval, Direction, Grid, GridBounds, MissingOrder};
use clew_query::{AggError, go_on_reducing, unless_overdue};
use clew_schema::geo::{GeoArea, GeoPoint};
use jiff::tz::TimeZone;
use tantivy::columnar::MonotonicallyMappableToU64;

use crate::bucket::shown_terms::shown_key;
use crate::bucket::steps::{start_of_step, step_of_number};
use crate::collect::slots::count_up;
use crate::collect::{Block, Collect, Planned, Segment, Subs};
use crate::counted::Partial;
use crate::counted::buckets::Buckets;
use crate::field::column::ValueColumn;
use crate::field::rows::{Repeats, Rows};
use crate::field::{ValueKind, ValuePlan};
use crate::limits::Account;
use crate::value::grid::{cell_of, name_of};
use crate::value::key::{Entry, Key, KeyTable};
use crate::value::rounding::Rounding;
use crate::value::shape_cells::cells_of;

/// A source's value as a number, or nothing.
type Code = Option<u64>;

struct Source {
    field: String,
    column: ValueColumn,
    rows: Rows,
    step: Steps,
    missing_bucket: bool,
    repeats: Repeats,
    /// How far the block's rows have been read.
    at: usize,
    codes: Vec<Code>,
    table: KeyTable<Code>,
}

enum Steps {
    Value,
    Number {
        interval: f64,
    },
    Date {
        rounding: Rounding,
        hint: usize,
    },
    Cell {
        grid: Grid,
        area: Option<GeoArea>,
    },
    /// Cells of shapes, each of which is in all that it touches.
    Shape {
        grid: Grid,
        area: Option<GeoArea>,
    },
}

impl Steps {
    /// Cells of points or shapes, of which those count that lie in a box.
    fn cells(grid: Grid, bounds: Option<GridBounds>, kind: ValueKind) -> Self {
        let area = bounds.map(|sides| GeoArea::Rectangle {
            top: sides.top,
            left: sides.left,
            bottom: sides.bottom,
            right: sides.right,
        });
        match kind {
            ValueKind::Outlines => Steps::Shape { grid, area },
            _ => Steps::Cell { grid, area },
        }
    }
}

impl Source {
    fn open(segment: Segment<'_>, link: &Link) -> Result<Self, AggError> {
        let column = ValueColumn::open(segment.reader, &link.values)?;
        let step = match &link.step {
            LinkStep::Value => Steps::Value,
            LinkStep::Number { interval } => Steps::Number {
                interval: *interval,
            },
            LinkStep::Cell { grid, bounds } => Steps::cells(*grid, *bounds, link.values.kind),
            LinkStep::Date {
                interval,
                zone,
                offset_ms,
            } => {
                let (min, max) = column.instants().unwrap_or((0, 0));
                Steps::Date {
                    rounding: Rounding::prepare(*interval, zone, *offset_ms, min..=max),
                    hint: 0,
                }
            }
        };
        Ok(Source {
            field: link.values.field.clone(),
            column,
            rows: Rows::default(),
            step,
            missing_bucket: link.missing_bucket,
            repeats: link.repeats,
            at: 0,
            codes: Vec::new(),
            table: KeyTable::default(),
        })
    }

    fn begin(&mut self, block: Block<'_>) -> Result<(), AggError> {
        self.at = 0;
        self.rows.clear();
        match self.column.is_empty() {
            true => Ok(()),
            false => self.column.read(block.docs, self.repeats, &mut self.rows),
        }
    }

    /// Reads the codes of the document at a place of the block.
    fn read(&mut self, place: u32) -> Result<(), AggError> {
        self.codes.clear();
        if matches!(self.step, Steps::Shape { .. }) {
            self.read_shape(place)?;
        } else {
            self.read_values(place);
        }
        if self.codes.is_empty() && self.missing_bucket {
            self.codes.push(None);
        }
        Ok(())
    }

    /// The cells of the document's shape; all of them where it touches the box that counts, as in OpenSearch.
    fn read_shape(&mut self, place: u32) -> Result<(), AggError> {
        let from = self.at;
        while self.rows.entries.get(self.at) == Some(&place) {
            self.at += 1;
        }
        let (Steps::Shape { grid, area }, Some(shape)) = (
            &self.step,
            self.column.shape(&self.rows.values[from..self.at])?,
        ) else {
            return Ok(());
        };
        if area.as_ref().is_none_or(|area| shape.touches(area)) {
            let cells = cells_of(*grid, &shape)?;
            self.codes.extend(cells.into_iter().map(Some));
        }
        Ok(())
    }

    fn read_values(&mut self, place: u32) {
        while self.rows.entries.get(self.at) == Some(&place) {
            let raw = self.rows.values[self.at];
            self.at += 1;
            let code = Some(match &mut self.step {
                // Of shapes there is more to read than one value.
                Steps::Value | Steps::Shape { .. } => raw,
                Steps::Number { interval } => {
                    let value = self.column.number(raw);
                    start_of_step(step_of_number(value, *interval, 0.0), *interval, 0.0).to_u64()
                }
                Steps::Cell { grid, area } => {
                    let point = GeoPoint::decode(raw);
                    if area.as_ref().is_some_and(|area| !area.holds(point)) {
                        continue;
                    }
                    cell_of(*grid, point)
                }
                Steps::Date { rounding, hint } => {
                    rounding.round(self.column.instant(raw), hint).to_u64()
                }
            });
            // Values are sorted, so equal codes are neighbours, but for cells.
            let known = match &self.step {
                _ if self.repeats == Repeats::Kept => false,
                Steps::Cell { .. } => self.codes.contains(&code),
                _ => self.codes.last() == Some(&code),
            };
            if !known {
                self.codes.push(code);
            }
        }
    }

    /// Every code's key, in the table's order.
    fn keys(&self, account: &mut Account) -> Result<Vec<Key>, AggError> {
        let codes = self.table.keys();
        account.charge_keys(2 * codes.len())?;
        let mut distinct: Vec<u64> = codes.iter().copied().flatten().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let keys: Vec<Key> = match &self.step {
            Steps::Value => self.column.booked_keys(&self.field, &distinct, account)?,
            Steps::Number { .. } => {
                let key = |code: &u64| Key::F64(f64::from_u64(*code));
                distinct.iter().map(key).collect()
            }
            Steps::Cell { grid, .. } | Steps::Shape { grid, .. } => {
                let key = |code: &u64| Key::Str(name_of(*grid, *code).into());
                distinct.iter().map(key).collect()
            }
            Steps::Date { .. } => {
                let key = |code: &u64| Key::I64(i64::from_u64(*code));
                distinct.iter().map(key).collect()
            }
        };
        let key_of = |code: &Code| {
            let at = code.and_then(|code| distinct.binary_search(&code).ok());
            let key = at.map_or(Key::Null, |at| keys[at].clone());
            account.charge(key.heap_bytes())?;
            Ok(key)
        };
        codes.iter().map(key_of).collect()
    }
}

pub(crate) struct Chain {
    sources: Vec<Source>,
    counts: Vec<u64>,
    subs: Subs,
    /// Numbers that the sources so far lead to, and those that one more leads to.
    numbers: Vec<u32>,
    next: Vec<u32>,
    /// Counts sources of documents.
    pace: Pace,
}

impl Chain {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        links: &[Link],
    ) -> Result<Self, AggError> {
        let sources = links.iter().map(|link| {
            unless_overdue()?;
            Source::open(segment, link)
        });
        Ok(Chain {
            sources: sources.collect::<Result<_, _>>()?,
            counts: Vec::new(),
            subs: plan.open_subs(segment)?,
            numbers: Vec::new(),
            next: Vec::new(),
            pace: Pace::default(),
        })
    }
}

impl Collect for Chain {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        for source in &mut self.sources {
            if self.pace.is_over() {
                return Ok(());
            }
            source.begin(block)?;
        }
        'docs: for ((place, doc), parent) in (0_u32..).zip(block.docs).zip(block.parents) {
            self.numbers.clear();
            self.numbers.push(*parent);
            for source in &mut self.sources {
                // A block may take seconds. What a document has not come to the end of is counted nowhere.
                if self.pace.is_over() {
                    break 'docs;
                }
                source.read(place)?;
                self.next.clear();
                for number in &self.numbers {
                    for code in &source.codes {
                        let (next, entry) = source.table.number(*number, *code);
                        if entry == Entry::New {
                            account.charge(size_of::<(u32, Code)>() + 4 * size_of::<u32>())?;
                        }
                        self.next.push(next);
                    }
                }
                std::mem::swap(&mut self.numbers, &mut self.next);
            }
            for number in &self.numbers {
                count_up(&mut self.counts, *number, *doc, account)?;
                if !self.subs.is_empty() {
                    self.subs.push(*doc, *number);
                }
            }
        }
        self.subs.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let keys = self.sources.iter().map(|source| source.keys(account));
        let keys: Vec<Vec<Key>> = keys.collect::<Result<_, _>>()?;
        let count = self.sources.last().map_or(0, |last| last.table.len());
        account.charge_keys(count * (1 + self.sources.len()))?;
        let mut parents = Vec::with_capacity(count);
        let mut tuples = Vec::with_capacity(count);
        let mut pace = Pace::default();
        for bucket in 0..count {
            let mut number = bucket;
            let mut tuple = Vec::with_capacity(self.sources.len());
            for (source, keys) in self.sources.iter().zip(&keys).rev() {
                go_on_reducing(&mut pace)?;
                tuple.push(keys[number].clone());
                number = source.table.parents()[number] as usize;
            }
            tuple.reverse();
            account.charge(tuple.iter().map(Key::heap_bytes).sum())?;
            parents.push(u32::try_from(number).expect("numbers are 32 bits"));
            tuples.push(Key::Tuple(tuple.into()));
        }
        let mut counts = self.counts;
        counts.resize(count, 0);
        Ok(Partial::Buckets(Buckets::of(
            KeyTable::of_distinct(parents, tuples),
            counts,
            self.subs.finish(account)?,
        )))
    }
}

/// One source of a combination.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) values: ValuePlan,
    pub(crate) step: LinkStep,
    /// Whether documents without a value have a bucket.
    pub(crate) missing_bucket: bool,
    /// Whether a document counts once in a bucket that several of its values lead to.
    pub(crate) repeats: Repeats,
    pub(crate) direction: Direction,
    pub(crate) missing_order: MissingOrder,
}

/// What of a value is combined.
#[derive(Clone, Debug)]
pub(crate) enum LinkStep {
    Value,
    Number {
        interval: f64,
    },
    Date {
        interval: DateInterval,
        zone: TimeZone,
        offset_ms: i64,
    },
    Cell {
        grid: Grid,
        bounds: Option<GridBounds>,
    },
}

impl Link {
    pub(crate) fn compare(&self, a: &Key, b: &Key) -> Ordering {
        let directed = |ordering: Ordering| match self.direction {
            Direction::Ascending => ordering,
            Direction::Descending => ordering.reverse(),
        };
        match (a, b, self.missing_order) {
            (Key::Null, Key::Null, _) => Ordering::Equal,
            (Key::Null, _, MissingOrder::First) | (_, Key::Null, MissingOrder::Last) => {
                Ordering::Less
            }
            (Key::Null, _, MissingOrder::Last) | (_, Key::Null, MissingOrder::First) => {
                Ordering::Greater
            }
            // Nothing is less than every value.
            (Key::Null, _, MissingOrder::Default) => directed(Ordering::Less),
            (_, Key::Null, MissingOrder::Default) => directed(Ordering::Greater),
            (a, b, _) => directed(self.step.order(a, b)),
        }
    }
}

impl LinkStep {
    /// The order of two keys: of cells of the map that of their numbers, as `8/9/148` comes before `8/103/185`.
    fn order(&self, a: &Key, b: &Key) -> Ordering {
        match (self, a, b) {
            (
                LinkStep::Cell {
                    grid: Grid::Geotile { .. },
                    ..
                },
                Key::Str(one),
                Key::Str(other),
            ) => numbers(one)
                .cmp(numbers(other))
                .then_with(|| one.cmp(other)),
            _ => a.cmp(b),
        }
    }
}

/// The numbers of a tile's name.
fn numbers(tile: &str) -> impl Iterator<Item = Option<u32>> {
    tile.split('/').map(|number| number.parse().ok())
}

/// A combination, each part as its own source shows it.
pub(crate) fn shown_tuple(key: &Key, links: &[Link]) -> Key {
    match key {
        Key::Tuple(keys) => {
            let shown = keys.iter().zip(links);
            Key::Tuple(
                shown
                    .map(|(key, link)| shown_key(key, link.values.kind))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// What another shard's mapping says of the sources and this one's does not.
pub(crate) fn adopt_links(mine: &mut [Link], theirs: &[Link]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        mine.values.adopt(&theirs.values);
    }
}

//! The best hits of each of the best groups: as many hits are looked at as it takes to fill them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use clew_platform::Reservation;
use clew_schema::FieldKind;
use serde_json::Value;
use tantivy::columnar::{Column, StrColumn};

use super::leaf::Admitted;
use super::{
    Found, GroupBy, GroupField, GroupInside, GroupKey, NearestRequest, Neighbour, found_bytes,
    neighbour,
};
use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::columns::members;
use crate::search::pinned::{Pinned, PinnedShard};
use crate::search::place::DocPlace;
use crate::search::times::unless_stopped;

/// So many times more hits are looked at when those before were not enough.
const GROWTH: usize = 4;

impl Inner {
    /// The groups of each vector.
    pub(super) fn grouped(
        &self,
        request: &NearestRequest,
        group: &GroupBy,
        memory: &mut Reservation,
    ) -> Result<Vec<Vec<Neighbour>>, EngineError> {
        let mut values = GroupValues::new(&request.pinned, group);
        let mut all = Vec::with_capacity(request.probes.len());
        // They are the same for all vectors, however often more hits are looked at.
        let admitted = self.admitted(request)?;
        let mut one = request.clone();
        for at in 0..request.probes.len() {
            one.probes = request.probes.only(at);
            let own = memory.sibling();
            let found = self.grouped_one((&one, &admitted), group, (&mut values, own))?;
            memory.grow(found.iter().map(|hit| told_bytes(request, hit)).sum())?;
            all.push(found);
        }
        Ok(all)
    }

    fn grouped_one(
        &self,
        (request, admitted): (&NearestRequest, &[Admitted]),
        group: &GroupBy,
        (values, mut memory): (&mut GroupValues<'_>, Reservation),
    ) -> Result<Vec<Neighbour>, EngineError> {
        let wanted = request.limit + request.offset;
        // Nested objects may be hits too.
        let segments = request.pinned.shards.iter();
        let segments = segments.flat_map(|shard| &shard.view.segments);
        let rows: usize = segments.map(|segment| segment.alive_count() as usize).sum();
        let rows = rows.max(1);
        let mut depth = wanted.saturating_mul(group.size).min(rows);
        loop {
            unless_stopped()?;
            memory.grow_to(depth.saturating_mul(found_bytes(request)))?;
            let found = self.all_shards((request, Some(admitted)), depth)?.pop();
            let found = found.unwrap_or_default();
            let mut filling = Filling::new(wanted, group);
            for one in &found {
                filling.add(values.of(one.place)?, *one);
            }
            if filling.is_done() || found.len() < depth || depth == rows {
                return filling.told(request);
            }
            depth = depth.saturating_mul(GROWTH).min(rows);
        }
    }
}

/// What a hit takes, with what its group has in common.
fn told_bytes(request: &NearestRequest, hit: &Neighbour) -> usize {
    found_bytes(request) + hit.group.as_ref().map_or(0, key_bytes)
}

/// What a key takes beside its own place.
fn key_bytes(key: &GroupKey) -> usize {
    match key {
        GroupKey::Text(text) => text.len(),
        GroupKey::Integer(_) | GroupKey::Missing => 0,
        GroupKey::All(keys) => {
            let own = |key: &GroupKey| size_of::<GroupKey>() + key_bytes(key);
            keys.iter().map(own).sum()
        }
    }
}

/// Groups being filled, in the order of their nearest.
struct Filling<'g> {
    wanted: usize,
    group: &'g GroupBy,
    groups: Vec<(GroupKey, Vec<Found>)>,
    place_of: HashMap<GroupKey, usize>,
    full: usize,
}

impl<'g> Filling<'g> {
    fn new(wanted: usize, group: &'g GroupBy) -> Self {
        Filling {
            wanted,
            group,
            groups: Vec::new(),
            place_of: HashMap::new(),
            full: 0,
        }
    }

    fn add(&mut self, key: GroupKey, found: Found) {
        let place = match self.place_of.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if self.groups.len() == self.wanted => return,
            Entry::Vacant(free) => {
                self.groups.push((free.key().clone(), Vec::new()));
                *free.insert(self.groups.len() - 1)
            }
        };
        let hits = &mut self.groups[place].1;
        if hits.len() < self.group.size {
            hits.push(found);
            self.full += usize::from(hits.len() == self.group.size);
        }
    }

    fn is_done(&self) -> bool {
        match self.group.strict {
            true => self.full == self.wanted,
            false => self.groups.len() == self.wanted,
        }
    }

    fn told(self, request: &NearestRequest) -> Result<Vec<Neighbour>, EngineError> {
        let mut hits = Vec::new();
        for (key, found) in self.groups.into_iter().skip(request.offset) {
            for one in &found {
                hits.push(neighbour(&request.pinned, one, Some(key.clone()))?);
            }
        }
        Ok(hits)
    }
}

/// The values of the fields that hits are grouped by, segment by segment as they are asked for.
struct GroupValues<'p> {
    pinned: &'p Pinned,
    group: &'p GroupBy,
    /// By shard, segment, and the number of the field.
    columns: HashMap<(u32, u32, usize), GroupColumn>,
}

enum GroupColumn {
    Integers(Column<i64>),
    Texts(StrColumn),
    /// No document there has a value.
    Absent,
}

impl<'p> GroupValues<'p> {
    fn new(pinned: &'p Pinned, group: &'p GroupBy) -> Self {
        GroupValues {
            pinned,
            group,
            columns: HashMap::new(),
        }
    }

    /// What a hit has in common with those of its group.
    fn of(&mut self, place: DocPlace) -> Result<GroupKey, EngineError> {
        let group = self.group;
        if let [only] = &group.fields[..] {
            return self.of_field(place, (0, only));
        }
        let fields = group.fields.iter().enumerate();
        let keys = fields.map(|field| self.of_field(place, field));
        Ok(GroupKey::of_fields(keys.collect::<Result<_, _>>()?))
    }

    fn of_field(
        &mut self,
        place: DocPlace,
        (number, field): (usize, &GroupField),
    ) -> Result<GroupKey, EngineError> {
        let shard = self.pinned.shard_at(place)?;
        if let Some(inside) = &field.inside {
            return key_inside(shard, place, (&field.path, inside));
        }
        let column = match self.columns.entry((place.shard, place.segment, number)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(open(shard, place.segment as usize, &field.path)?),
        };
        let told = |error: std::io::Error| shard.shard.tantivy_error(error.into());
        Ok(match column {
            GroupColumn::Absent => field.missing.clone(),
            GroupColumn::Integers(column) => column
                .first(place.doc)
                .map_or_else(|| field.missing.clone(), GroupKey::Integer),
            GroupColumn::Texts(column) => match column.term_ords(place.doc).next() {
                None => field.missing.clone(),
                Some(ordinal) => {
                    let mut text = String::new();
                    column.ord_to_str(ordinal, &mut text).map_err(told)?;
                    GroupKey::Text(text)
                }
            },
        })
    }
}

/// What a document has in common with others by a value inside one of its members.
fn key_inside(
    shard: &PinnedShard,
    place: DocPlace,
    (member, inside): (&str, &GroupInside),
) -> Result<GroupKey, EngineError> {
    let mut sources = shard.view.segments[place.segment as usize].sources();
    let source = sources.get(place.doc);
    let source = source.map_err(|error| shard.shard.tantivy_error(error))?;
    let names = BTreeMap::from([(member, vec![0])]);
    let Some((_, json)) = members(shard, source, &names)?.pop() else {
        return inside.key(None);
    };
    let value: Value = serde_json::from_str(json.get()).unwrap_or(Value::Null);
    inside.key(Some(&value))
}

fn open(shard: &PinnedShard, segment: usize, field: &str) -> Result<GroupColumn, EngineError> {
    let mapped = shard.mapping().field(field);
    let told = |error| shard.shard.tantivy_error(error);
    let Some(mapped) = mapped else {
        return Ok(GroupColumn::Absent);
    };
    let columns = shard.view.segments[segment].reader.fast_fields();
    let name = mapped.column();
    let integers = matches!(
        mapped.kind,
        FieldKind::Integer(_) | FieldKind::Boolean | FieldKind::Date { .. }
    );
    if integers {
        let column = columns.column_opt::<i64>(&name).map_err(told)?;
        return Ok(column.map_or(GroupColumn::Absent, GroupColumn::Integers));
    }
    if matches!(mapped.kind, FieldKind::Keyword { .. }) {
        let column = columns.str(&name).map_err(told)?;
        return Ok(column.map_or(GroupColumn::Absent, GroupColumn::Texts));
    }
    Err(EngineError::InvalidRequest {
        reason: format!(
            "hits cannot be grouped by field [{field}] of type [{}]",
            mapped.kind.type_name()
        ),
    })
}

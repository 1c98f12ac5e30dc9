//! The best hits of each of the best groups, as many as asked for however the groups lie: taken from
//! pages until they are full, so that nobody has to guess how many hits would be enough.

use std::collections::BTreeMap;
use std::ops::Deref;

use crate::search::{Hit, SearchRequest};
use crate::{Column, Scratch, VectorError};

/// Hits of the largest page taken.
const PAGE_HITS_MAX: usize = 4_096;

/// How many groups, and of what size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupOptions {
    /// Groups wanted.
    pub groups: usize,
    /// Hits wanted of each.
    pub group_size: usize,
    /// Hits looked at before it is enough; `usize::MAX` for all there are. A group that has fewer
    /// members than `group_size` is never full, and without a limit the whole column is then asked.
    pub hits_max: usize,
}

/// One group found.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<G> {
    /// What its hits have in common.
    pub key: G,
    /// Its best hits, best first; at least one.
    pub hits: Vec<Hit>,
}

/// The answer to a search for groups.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupsOutcome<G> {
    /// The groups, by their best hit.
    pub groups: Vec<Group<G>>,
    /// False when [`GroupOptions::hits_max`] ended the search before it had all it was to find.
    pub complete: bool,
    /// Hits looked at.
    pub hits: usize,
    /// Distances computed.
    pub distances: u64,
}

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// The nearest groups and the nearest hits of each. The request's `k` is not used; a document for
    /// which `group_of` has no answer is in no group.
    ///
    /// The search goes on until `groups` groups have `group_size` hits each, or nothing is left. What
    /// is promised of pages holds: exact requests are exact, others as good as `ef_search`.
    ///
    /// Fails as [`Column::search`] does.
    pub fn search_groups<G: Ord + Copy>(
        &self,
        request: &SearchRequest<'_>,
        options: GroupOptions,
        group_of: impl Fn(u32) -> Option<G>,
        scratch: &mut Scratch,
    ) -> Result<GroupsOutcome<G>, VectorError> {
        let wanted = options.groups.saturating_mul(options.group_size);
        let mut size = wanted.clamp(1, PAGE_HITS_MAX);
        let request = SearchRequest {
            k: size,
            ..*request
        };
        let mut pages = self.pages(&request)?;
        let mut full = Filling::new(options);
        let (mut hits, mut distances) = (0, 0);
        while !full.is_done() && hits < options.hits_max {
            size = size.min(options.hits_max - hits);
            let page = self.next_page(&mut pages, size, scratch)?;
            distances += page.distances;
            hits += page.hits.len();
            for hit in &page.hits {
                if let Some(key) = group_of(hit.doc) {
                    full.add(key, *hit);
                }
            }
            if page.hits.len() < size {
                full.ended = true;
            }
            size = (2 * size).min(PAGE_HITS_MAX);
        }
        Ok(GroupsOutcome {
            complete: full.is_done(),
            groups: full.finish(),
            hits,
            distances,
        })
    }
}

/// Groups being filled.
struct Filling<G> {
    options: GroupOptions,
    /// In the order of their first hits.
    groups: Vec<Group<G>>,
    place_of: BTreeMap<G, usize>,
    full_count: usize,
    /// Nothing is left to add.
    ended: bool,
}

impl<G: Ord + Copy> Filling<G> {
    fn new(options: GroupOptions) -> Self {
        Filling {
            options,
            groups: Vec::new(),
            place_of: BTreeMap::new(),
            full_count: 0,
            ended: options.groups == 0 || options.group_size == 0,
        }
    }

    fn is_done(&self) -> bool {
        self.ended || self.full_count == self.options.groups
    }

    fn add(&mut self, key: G, hit: Hit) {
        let place = match self.place_of.get(&key) {
            Some(&place) => place,
            None if self.groups.len() == self.options.groups => return,
            None => {
                self.place_of.insert(key, self.groups.len());
                let hits = Vec::new();
                self.groups.push(Group { key, hits });
                self.groups.len() - 1
            }
        };
        let hits = &mut self.groups[place].hits;
        if hits.len() < self.options.group_size {
            hits.push(hit);
            self.full_count += usize::from(hits.len() == self.options.group_size);
        }
    }

    /// The groups by their best hits; a walk may have met a better one late.
    fn finish(mut self) -> Vec<Group<G>> {
        let order = |a: &Hit, b: &Hit| a.distance.total_cmp(&b.distance).then(a.doc.cmp(&b.doc));
        for group in &mut self.groups {
            group.hits.sort_unstable_by(order);
        }
        self.groups.sort_by(|a, b| order(&a.hits[0], &b.hits[0]));
        self.groups
    }
}

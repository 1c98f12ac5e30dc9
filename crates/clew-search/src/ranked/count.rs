//! How many documents have any of some words. Only documents are decompressed, neither frequencies nor lengths: they
//! are marked in windows of bits, which a core's fastest cache holds, and the marks are counted.

use clew_platform::Pace;
use tantivy::DocId;

use super::hits::Admission;
use super::impacts::Impacts;
use super::list::List;

/// Documents of a window: 8 KiB of marks.
const WINDOW: u32 = 1 << 16;
const WORDS: usize = WINDOW as usize / 64;
/// Documents that are looked at together where all words have impacts.
const NEAR: usize = 1024;

/// Counts documents that all of the lists have, the rarest first, until there are more than `most`.
pub(super) fn all(lists: &mut [List<'_>], admission: &Admission<'_>, most: u64) -> u64 {
    let impacts: Option<Vec<Impacts<'_>>> = lists.iter().map(|list| list.impacts).collect();
    if let Some(impacts) = impacts {
        return all_by_impacts(&impacts, admission, most);
    }
    let Some((lead, others)) = lists.split_first_mut() else {
        return 0;
    };
    let is_choosy = admission.is_choosy();
    let (mut count, mut least) = (0, 0);
    let mut pace = Pace::of_blocks();
    lead.walk(&mut |docs| {
        for doc in docs {
            if *doc < least {
                continue;
            }
            let mut found = others.iter_mut().map(|list| list.seek(*doc));
            match found.find(|found| found != doc) {
                Some(further) => least = further,
                None => count += u64::from(!is_choosy || admission.admits(*doc)),
            }
        }
        count <= most && least < tantivy::TERMINATED && !pace.is_over()
    });
    count
}

/// The same by impacts alone.
fn all_by_impacts(impacts: &[Impacts<'_>], admission: &Admission<'_>, most: u64) -> u64 {
    let docs = impacts.first().map_or(0, |first| first.shares().len());
    let kernels = clew_kernels::kernels();
    let mut count = 0;
    let mut pace = Pace::default();
    for (first, from) in (0..).step_by(NEAR).zip((0..docs).step_by(NEAR)) {
        if count > most || pace.is_over() {
            break;
        }
        let places = from..docs.min(from + NEAR);
        let mut all = [u64::MAX; NEAR / 64];
        for impacts in impacts {
            let mut has = [0; NEAR / 64];
            kernels.mark_impacts(&impacts.shares()[places.clone()], &mut has);
            all.iter_mut().zip(has).for_each(|(all, has)| *all &= has);
        }
        count += counted(first, &mut all, admission);
    }
    count
}

/// How many of the documents that are marked count, the first bit being that of `from`; takes the marks away.
fn counted(from: DocId, marks: &mut [u64], admission: &Admission<'_>) -> u64 {
    let is_choosy = admission.is_choosy();
    let mut count = 0;
    for (first, word) in (from..).step_by(64).zip(marks) {
        let mut docs = std::mem::take(word);
        if is_choosy && docs != 0 {
            docs = admission.admitted(first, docs);
        }
        count += u64::from(docs.count_ones());
    }
    count
}

/// The marks of a window, all zero between searches of segments.
pub(super) struct Marks(Vec<u64>);

impl Default for Marks {
    fn default() -> Self {
        Marks(vec![0; WORDS])
    }
}

impl Marks {
    /// Counts documents that any of the lists has, until there are more than `most`; the segment has so many documents.
    pub(super) fn any(
        &mut self,
        (lists, docs): (&mut [List<'_>], u32),
        admission: &Admission<'_>,
        most: u64,
    ) -> u64 {
        if let ([only], false) = (&*lists, admission.is_choosy()) {
            return u64::from(only.count);
        }
        let kernels = clew_kernels::kernels();
        let (mut count, mut from) = (0, 0);
        let mut pace = Pace::of_lists(lists.len());
        while count <= most && !pace.is_over() {
            let next = lists.iter().filter_map(|list| match list.impacts {
                Some(impacts) => (!impacts.shares_from(from).is_empty()).then_some(from),
                None => (!list.is_over()).then(|| list.next_at_least()),
            });
            let Some(next) = next.min().filter(|next| *next < tantivy::TERMINATED) else {
                break;
            };
            // What an admission says of 64 documents begins there.
            from = next - next % 64;
            let end = from.saturating_add(WINDOW);
            let words = WORDS.min(docs.saturating_sub(from).div_ceil(64) as usize);
            for list in &mut *lists {
                match list.impacts {
                    Some(impacts) => kernels.mark_impacts(impacts.shares_from(from), &mut self.0),
                    None => list.mark_until((from, end), &mut self.0),
                }
            }
            count += counted(from, &mut self.0[..words], admission);
            from = end;
        }
        count
    }
}

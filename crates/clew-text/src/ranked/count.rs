//! How many documents have any of some words. Only documents are decompressed, neither frequencies nor lengths: they
//! are marked in windows of bits, which a core's fastest cache holds, and the marks are counted.

use tantivy::DocId;

use super::hits::Admission;
use super::impacts::Impacts;
use super::list::List;

/// Documents of a window: 8 KiB of marks.
const WINDOW: u32 = 1 << 16;
const WORDS: usize = WINDOW as usize / 64;
/// Documents that are looked at together by their impacts.
const HAS: usize = 1024;

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
        count <= most && least < tantivy::TERMINATED
    });
    count
}

/// The same by impacts alone.
fn all_by_impacts(impacts: &[Impacts<'_>], admission: &Admission<'_>, most: u64) -> u64 {
    let docs = impacts.first().map_or(0, |first| first.shares().len());
    let mut has = [0; HAS];
    let mut count = 0;
    for (first, from) in (0..).step_by(HAS).zip((0..docs).step_by(HAS)) {
        if count > most {
            break;
        }
        has.fill(1);
        let has = &mut has[..HAS.min(docs - from)];
        for impacts in impacts {
            for (has, share) in has.iter_mut().zip(&impacts.shares()[from..]) {
                *has &= u8::from(*share > 0);
            }
        }
        count += if admission.is_choosy() {
            let docs = (first..).zip(has).filter(|(_, has)| **has > 0);
            docs.filter(|(doc, _)| admission.admits(*doc)).count() as u64
        } else {
            u64::from(has.iter().map(|has| u16::from(*has)).sum::<u16>())
        };
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
    /// Counts documents that any of the lists has, until there are more than `most`.
    pub(super) fn any(
        &mut self,
        lists: &mut [List<'_>],
        admission: &Admission<'_>,
        most: u64,
    ) -> u64 {
        if let ([only], false) = (&*lists, admission.is_choosy()) {
            return u64::from(only.count);
        }
        let mut count = 0;
        while count <= most {
            let living = lists.iter().filter(|list| !list.is_over());
            let Some(from) = living.map(List::next_at_least).min() else {
                break;
            };
            if from >= tantivy::TERMINATED {
                break;
            }
            // What an admission says of 64 documents begins there.
            let from = from - from % 64;
            let window = (from, from.saturating_add(WINDOW));
            for list in &mut *lists {
                list.mark_until(window, &mut self.0);
            }
            count += self.take(from, admission);
        }
        count
    }

    /// Counts the marks that count, and takes all away.
    fn take(&mut self, from: DocId, admission: &Admission<'_>) -> u64 {
        let is_choosy = admission.is_choosy();
        let mut count = 0;
        for (first, word) in (from..).step_by(64).zip(&mut self.0) {
            let mut docs = std::mem::take(word);
            if is_choosy && docs != 0 {
                docs = admission.admitted(first, docs);
            }
            count += u64::from(docs.count_ones());
        }
        count
    }
}

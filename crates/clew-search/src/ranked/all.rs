//! Documents with all of some words. The rarest word leads; where its block and those of the others around it
//! hold nothing good enough, the documents up to the end of the first of these blocks are passed over. In the others the
//! blocks of the two rarest words are intersected, and only documents with both are scored and looked up further.

use clew_platform::Pace;

use super::any::Sums;
use super::bm25::rounded;
use super::dense::{Needs, dense};
use super::hits::Hits;
use super::list::List;

/// Two words or more, the rarest first.
pub(super) fn all(lists: &mut [List<'_>], sums: &mut Sums, hits: &mut Hits<'_>) {
    // What is left then has not all words, or is not good enough.
    if dense(lists, Needs::All, sums, hits) > 0 {
        return;
    }
    let Some((lead, others)) = lists.split_first_mut() else {
        return;
    };
    sums.begin(others.len());
    let Sums {
        candidates,
        // After each of the others: what those behind it can still add.
        near: behind,
        ..
    } = sums;
    let mut from = 0;
    let mut pace = Pace::of_lists(1 + others.len());
    while from < tantivy::TERMINATED && !pace.is_over() {
        from = lead.next_from(from);
        if lead.is_over() {
            return;
        }
        let mut end = lead.last();
        // As long as every match counts, no bounds are needed: documents with the first two words are few enough.
        let bounding = hits.floor() > f32::MIN;
        for (at, list) in others.iter_mut().enumerate().rev() {
            let best = if at > 0 && !bounding {
                f32::INFINITY
            } else if let Some(best) = list.best_of_impacts() {
                // Its blocks are many and bound documents no better than impacts do.
                best
            } else {
                list.shallow(from);
                if list.is_over() {
                    return;
                }
                end = end.min(list.last());
                list.block_bound()
            };
            behind[at] = behind[at + 1] + f64::from(best);
        }
        let bound = f64::from(lead.block_bound());
        let end = end.saturating_add(1);
        if rounded(bound + behind[0]) > hits.floor() {
            lead.seek(from);
            candidates.meet((lead, &mut others[0]), end, (behind[1], hits));
            for (list, rest) in others.iter_mut().zip(&behind[1..]).skip(1) {
                candidates.keep_common(list, hits.reach(*rest));
            }
            candidates.take(hits);
        }
        from = end;
    }
}

//! Documents with all of some words. The rarest word leads; where its block and those of the others around it
//! hold nothing good enough, the documents up to the end of the first of these blocks are passed over.

use tantivy::DocId;

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
    while from < tantivy::TERMINATED {
        lead.shallow(from);
        if lead.is_over() {
            return;
        }
        let mut end = lead.last();
        let floor = hits.floor();
        if floor > f32::MIN {
            for (at, list) in others.iter_mut().enumerate().rev() {
                // Blocks of a list with impacts are many and bound documents no better than these do.
                let best = if let Some(best) = list.best_of_impacts() {
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
            if rounded(f64::from(lead.block_bound()) + behind[0]) <= floor {
                from = end + 1;
                continue;
            }
        } else {
            from = common(lead, others, from, hits);
            continue;
        }
        lead.seek(from);
        candidates.read(lead, end.saturating_add(1), (behind[0], &*hits));
        for (list, rest) in others.iter_mut().zip(&behind[1..]) {
            candidates.keep_common(list, hits.reach(*rest));
        }
        candidates.take(hits);
        from = end.saturating_add(1);
    }
}

/// As long as every match counts, scores are of use only where all words are: takes the matches from a document to
/// the end of the first list's block, and returns what comes behind it.
fn common(lead: &mut List<'_>, others: &mut [List<'_>], from: DocId, hits: &mut Hits<'_>) -> DocId {
    lead.seek(from);
    let end = lead.last().saturating_add(1);
    // No document before this one has all words.
    let mut least = from;
    for place in lead.places() {
        let doc = lead.doc_at(place);
        if doc < least || !hits.admits(doc) {
            continue;
        }
        let mut impacts = others.iter().filter_map(|list| list.impacts);
        if impacts.any(|impacts| !impacts.has(doc)) {
            continue;
        }
        let mut found = others.iter_mut().map(|list| list.seek(doc));
        if let Some(further) = found.find(|found| *found != doc) {
            least = further;
            continue;
        }
        lead.place_at(place);
        let sum: f64 = others.iter_mut().map(|list| f64::from(list.score())).sum();
        let score = rounded(f64::from(lead.score()) + sum);
        if score > hits.floor() {
            hits.take(doc, score);
        }
    }
    end.max(least)
}

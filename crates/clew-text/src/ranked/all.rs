//! Documents with all of some words. The rarest word leads, block by block; of its documents only those are
//! looked up in the others that may be good enough with the best scores that the others have near them.

use tantivy::DocId;

use super::any::Candidate;
use super::bm25::rounded;
use super::hits::Hits;
use super::list::{BLOCK, List};

/// Two words or more.
pub(super) fn all(lists: &mut [List<'_>], hits: &mut Hits<'_>) {
    lists.sort_by_key(|list| list.count);
    let Some((lead, others)) = lists.split_first_mut() else {
        return;
    };
    let mut candidates: Vec<Candidate> = Vec::with_capacity(BLOCK);
    let mut scores = [0.0; BLOCK];
    // After each of the others: what those behind it can still add.
    let mut behind = vec![0.0; others.len() + 1];
    while !lead.is_over() {
        let from = lead.next_at_least();
        let end = lead.last();
        let floor = hits.floor();
        if floor > f32::MIN {
            for (at, list) in others.iter_mut().enumerate().rev() {
                list.shallow(from);
                if list.is_over() {
                    return;
                }
                let best = list.weight.times(list.factor_until(end));
                behind[at] = behind[at + 1] + f64::from(best);
            }
        }
        let worth = floor == f32::MIN || rounded(f64::from(lead.block_bound()) + behind[0]) > floor;
        if worth {
            candidates.clear();
            let docs = lead.score_until(end.saturating_add(1), &mut scores);
            for (doc, score) in docs.iter().zip(&scores) {
                let sum = f64::from(*score);
                if (floor == f32::MIN || rounded(sum + behind[0]) > floor) && hits.admits(*doc) {
                    candidates.push((*doc, sum));
                }
            }
            look_up(others, &behind, &mut candidates, hits);
        }
        if end == tantivy::TERMINATED {
            return;
        }
        lead.shallow(next_of(others, end + 1));
    }
}

/// Where the next match can be at the earliest.
fn next_of(others: &[List<'_>], after: DocId) -> DocId {
    let next = others.iter().map(List::next_at_least).max().unwrap_or(0);
    next.max(after)
}

fn look_up(
    others: &mut [List<'_>],
    behind: &[f64],
    candidates: &mut Vec<Candidate>,
    hits: &mut Hits<'_>,
) {
    for (list, rest) in others.iter_mut().zip(&behind[1..]) {
        let floor = hits.floor();
        candidates.retain_mut(|(doc, sum)| {
            if floor > f32::MIN {
                list.shallow(*doc);
                let best = f64::from(list.block_bound());
                if rounded(*sum + best + rest) <= floor {
                    return false;
                }
            }
            let found = list.seek(*doc) == *doc;
            if found {
                *sum += f64::from(list.score());
            }
            found
        });
    }
    for (doc, sum) in candidates.drain(..) {
        let score = rounded(sum);
        if score > hits.floor() {
            hits.take(doc, score);
        }
    }
}

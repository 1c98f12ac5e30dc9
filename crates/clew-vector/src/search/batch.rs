//! Several searches at once. Exact ones, and those through lists, share what they read; walks share nothing, and go to
//! whichever thread is free.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::column::View;
use crate::exact::{self, ExactQuery};
use crate::ivf::Lists;
use crate::plan::{Plan, Situation};
use crate::search::lists::{block_of, scan_lists_together};
use crate::search::{Query, Search, SearchOutcome, SearchRequest, Strategy, Tally};
use crate::{Column, ColumnOptions, Scratch, VectorError};

type Answer = Result<SearchOutcome, VectorError>;

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// Answers several requests, in their order, each as [`Column::search`] would: exact hits are the
    /// same to the bit, however many threads there are.
    ///
    /// Runs on as many threads as there are `scratches` (on the caller's alone when there is one, and
    /// as if there were one when there is none); the others are started and ended by this call. Exact
    /// searches read the column once per 64 of them, and are divided by rows, so that a single one
    /// also uses all threads. Searches through inverted lists read a list once for up to 128 of them, and are divided among
    /// the threads. The others take turns, one request per thread at a time.
    ///
    /// Each request fails alone, with the error that [`Column::search`] would give.
    pub fn search_batch(
        &self,
        requests: &[SearchRequest<'_>],
        scratches: &mut [Scratch],
    ) -> Vec<Result<SearchOutcome, VectorError>> {
        let mut own = [Scratch::default()];
        let scratches = if scratches.is_empty() {
            &mut own[..]
        } else {
            scratches
        };
        match self.view() {
            Ok(view) => {
                let was_whole = self.graph_damage().is_none();
                let mut answers = search_batch(&view, self.options(), requests, scratches);
                if was_whole && self.graph_damage().is_some() {
                    // What was found to be damaged is given up.
                    let again = requests.iter().zip(&mut answers);
                    for (request, answer) in again.filter(|(_, answer)| answer.is_err()) {
                        *answer = self.search(request, &mut scratches[0]);
                    }
                }
                answers
            }
            Err(_) => requests
                .iter()
                .map(|request| self.search(request, &mut scratches[0]))
                .collect(),
        }
    }
}

fn search_batch(
    view: &View<'_>,
    options: &ColumnOptions,
    requests: &[SearchRequest<'_>],
    scratches: &mut [Scratch],
) -> Vec<Answer> {
    let mut answers: Vec<Option<Answer>> = Vec::new();
    answers.resize_with(requests.len(), || None);
    let queries: Vec<Option<Query<'_>>> = requests
        .iter()
        .map(|request| Query::check(request.vector, options).ok())
        .collect();
    let (mut scans, mut through_lists) = (Vec::new(), Vec::new());
    for (at, (request, query)) in requests.iter().zip(&queries).enumerate() {
        let Some(query) = query else { continue };
        if let Ok((search, situation)) = Search::prepare(view, query, request)
            && search.k > 0
            && request.after.is_none()
            // Scans of documents with several rows cannot be divided between any two rows.
            && view.documents.is_none()
        {
            match situation.plan() {
                Plan::Scan => scans.push((at, search, situation)),
                Plan::ScanLists => through_lists.push((at, search, situation)),
                Plan::ScanCodes | Plan::Walk | Plan::Sweep => {}
            }
        }
    }
    if let Some(lists) = &view.lists {
        for (at, answer) in search_lists((view, lists), &through_lists, scratches) {
            answers[at] = Some(answer);
        }
    }
    for ((at, ..), answer) in scans.iter().zip(scan_all(view, &scans, scratches.len())) {
        answers[*at] = Some(answer);
    }
    // Whatever was wrong with the others comes out here.
    let left: Vec<usize> = (0..requests.len())
        .filter(|&at| answers[at].is_none())
        .collect();
    let work =
        |scratch: &mut Scratch, at: usize| super::search(view, options, &requests[at], scratch);
    for (at, answer) in take_turns(&left, scratches, |scratch, &at| (at, work(scratch, at))) {
        answers[at] = Some(answer);
    }
    let answered =
        |answer: Option<Answer>| answer.expect("every request was scanned or took a turn");
    answers.into_iter().map(answered).collect()
}

/// The searches of a batch that go through lists, in no order.
fn search_lists(
    (view, lists): (&View<'_>, &Lists<'_>),
    searches: &[(usize, Search<'_>, Situation)],
    scratches: &mut [Scratch],
) -> Vec<(usize, Answer)> {
    let size = block_of(lists, searches, scratches.len());
    let blocks: Vec<_> = searches.chunks(size).collect();
    let work = |scratch: &mut Scratch,
                block: &&[(usize, Search<'_>, Situation)]|
     -> Vec<(usize, Answer)> {
        let found = scan_lists_together(view, lists, block, scratch);
        // What goes on alone does so from the start, and each is told what is damaged.
        let found = found.unwrap_or_else(|_| vec![None; block.len()]);
        let each = block.iter().zip(found);
        let answer =
            |((at, search, situation), found): (&(usize, Search<'_>, Situation), Option<_>)| {
                let alone = |scratch| search.run(situation, Plan::ScanLists, scratch);
                (*at, found.map_or_else(|| alone(scratch), Ok))
            };
        each.map(answer).collect()
    };
    take_turns(&blocks, scratches, work)
        .into_iter()
        .flatten()
        .collect()
}

/// The scans of a batch, read together.
fn scan_all(
    view: &View<'_>,
    scans: &[(usize, Search<'_>, Situation)],
    threads: usize,
) -> Vec<Answer> {
    let queries: Vec<ExactQuery<'_>> = scans
        .iter()
        .map(|(_, search, _)| ExactQuery {
            probe: search.probe,
            filter: search.filter,
            k: search.k,
        })
        .collect();
    let Ok(found) = exact::search_many(&queries, &view.integrity, threads) else {
        // Each is told what is damaged, by finding it again.
        let again = |(_, search, situation): &(usize, Search<'_>, Situation)| {
            search.run(situation, Plan::Scan, &mut Scratch::default())
        };
        return scans.iter().map(again).collect();
    };
    let outcome = |((_, search, situation), (hits, vectors)): (&(_, Search<'_>, _), _)| {
        let tally = Tally {
            vectors,
            ..Tally::default()
        };
        let hits: Vec<_> = hits;
        search.tell(hits.iter().copied(), &hits);
        Ok(search.outcome(&hits, Strategy::Exact, situation, tally))
    };
    scans.iter().zip(found).map(outcome).collect()
}

/// Does `work` for each of `items` on one thread per scratch, whichever is free; the answers come in
/// no order.
fn take_turns<I: Sync, T: Send>(
    items: &[I],
    scratches: &mut [Scratch],
    work: impl Fn(&mut Scratch, &I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let run = |scratch: &mut Scratch| {
        let mut done = Vec::new();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(work(scratch, item));
        }
        done
    };
    let Some((own, others)) = scratches.split_first_mut() else {
        return Vec::new();
    };
    let needed = items.len().saturating_sub(1);
    thread::scope(|scope| {
        let run = &run;
        let others: Vec<_> = others
            .iter_mut()
            .take(needed)
            .map(|scratch| scope.spawn(move || run(scratch)))
            .collect();
        let mut done = run(own);
        for other in others {
            let joined = other.join();
            done.extend(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    })
}

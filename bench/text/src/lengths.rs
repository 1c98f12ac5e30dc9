//! What does reading a document's length cost? The documents of frequent words are scored twice, with the length
//! of each, read as ranking reads it, and with one length for all; the difference is the reading.

use std::hint::black_box;
use std::path::Path;

use anyhow::Context;
use rustix::time::ClockId;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED, Term};

use crate::clew::{Clew, Columns};
use crate::nanoseconds;
use crate::queries::Queries;

const ROUNDS: usize = 15;

pub(crate) fn measure(docs: &Path, queries: &Queries, folder: &Path) -> anyhow::Result<String> {
    let clew = Clew::build(docs, 1, (folder, Columns::None))?;
    let snapshot = clew.pinned.shards()[0].snapshot()?;
    let mapped = snapshot.mapping.field("body").context("no field")?;
    let field = mapped.field.context("not indexed")?;
    let reader = &snapshot.readers[0];
    let inverted = reader.inverted_index(field)?;
    let mut lists = Vec::new();
    for word in queries.of("term").context("no words")? {
        let term = Term::from_field_text(field, word);
        if let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)? {
            let mut list = Vec::new();
            while postings.doc() != TERMINATED {
                list.push(postings.doc());
                postings.advance();
            }
            lists.push(list);
        }
    }
    let norms = reader.fieldnorms_readers().get_field(field)?;
    let norms = norms.context("no lengths")?;
    let stored: Vec<u8> = (0..reader.max_doc())
        .map(|doc| norms.fieldnorm_id(doc))
        .collect();
    let table: Vec<f32> = (0u8..=255).map(|id| 0.3 + f32::from(id) / 64.0).collect();
    let table: &[f32; 256] = table.first_chunk().context("256 lengths")?;
    let count: usize = lists.iter().map(Vec::len).sum();
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        with.push(spent(&lists, |doc| {
            table[usize::from(stored[doc as usize])]
        }));
        without.push(spent(&lists, |doc| f32::from_bits(0x3f80_0000 | (doc & 1))));
    }
    let middle = |mut times: Vec<u64>| {
        times.sort_unstable();
        times[times.len() / 2] as f64 / count as f64
    };
    let (with, without) = (middle(with), middle(without));
    Ok(format!(
        "{} words, {count} documents scored: {with:.2} ns each with their lengths, {without:.2} ns without: \
         {:.2} ns for a length",
        lists.len(),
        with - without
    ))
}

/// The time that scoring all documents takes when their lengths count as `norm` says.
fn spent(lists: &[Vec<u32>], norm: impl Fn(u32) -> f32) -> u64 {
    let before = nanoseconds(ClockId::ThreadCPUTime);
    let mut best = 0.0_f32;
    for list in lists {
        for block in list.chunks(128) {
            let mut scores = [0.0_f32; 128];
            for (score, doc) in scores.iter_mut().zip(block) {
                *score = norm(*doc);
            }
            for score in &mut scores {
                *score = 2.0 / (2.0 + *score);
            }
            best = scores.iter().fold(best, |best, score| best.max(*score));
        }
    }
    black_box(best);
    nanoseconds(ClockId::ThreadCPUTime) - before
}

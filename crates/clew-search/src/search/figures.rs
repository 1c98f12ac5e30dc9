//! What an index knows of a field and of its terms.

use clew_query::QueryError;
use tantivy::Term;
use tantivy::schema::IndexRecordOption;

use crate::snapshot::Snapshot;

/// What is known of a term, deleted documents included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermFigures {
    /// Documents that have it.
    pub docs: u64,
    /// How often it is there; once in each document, where no more is kept of it.
    pub total: u64,
}

/// What is known of a field, deleted documents included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldFigures {
    /// Documents that have it.
    pub docs: u64,
    /// Terms of each document, each counted once, summed.
    pub terms: u64,
    /// Tokens in all documents.
    pub tokens: u64,
}

/// How large the vocabulary of a field is, deleted documents included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// Tokens in all documents.
    pub tokens: u64,
    /// Different terms.
    pub terms: u64,
}

/// The vocabulary of a field. The terms of several segments are not counted: as Lucene's suggesters do, as many are taken
/// as there are documents.
///
/// # Errors
/// When a segment cannot be read.
pub fn vocabulary(snapshot: &Snapshot, path: &str) -> Result<Vocabulary, QueryError> {
    let Some(mapped) = snapshot.mapping.field(path) else {
        return Ok(Vocabulary::default());
    };
    let Some(field) = snapshot.searchable(mapped) else {
        return Ok(Vocabulary::default());
    };
    let terms = match snapshot.readers.as_slice() {
        [only] => only.inverted_index(field)?.terms().num_terms() as u64,
        several => several
            .iter()
            .map(|reader| u64::from(reader.max_doc()))
            .sum(),
    };
    Ok(Vocabulary {
        tokens: snapshot.statistics(mapped)?.tokens,
        terms,
    })
}

/// The figures of a term in a field.
///
/// # Errors
/// When a segment cannot be read.
pub fn term_figures(
    snapshot: &Snapshot,
    path: &str,
    term: &str,
) -> Result<TermFigures, QueryError> {
    let mut figures = TermFigures::default();
    let Some(mapped) = snapshot.mapping.field(path) else {
        return Ok(figures);
    };
    let Some(field) = snapshot.searchable(mapped) else {
        return Ok(figures);
    };
    let may_repeat = mapped.counted().frequencies;
    let term = Term::from_field_text(field, term);
    for reader in &snapshot.readers {
        let inverted = reader.inverted_index(field)?;
        let Some(info) = inverted.get_term_info(&term)? else {
            continue;
        };
        let docs = u64::from(info.doc_freq);
        figures.docs += docs;
        if !may_repeat {
            figures.total += docs;
            continue;
        }
        let mut block =
            inverted.read_block_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?;
        let mut total = 0_u64;
        while !block.docs().is_empty() {
            total += block
                .freqs()
                .iter()
                .map(|freq| u64::from(*freq))
                .sum::<u64>();
            block.advance();
        }
        // Postings without frequencies have none to add up.
        figures.total += total.max(docs);
    }
    Ok(figures)
}

/// The figures of a field. Goes through its whole dictionary.
///
/// # Errors
/// When a segment cannot be read.
pub fn field_figures(snapshot: &Snapshot, path: &str) -> Result<FieldFigures, QueryError> {
    let Some(mapped) = snapshot.mapping.field(path) else {
        return Ok(FieldFigures::default());
    };
    let Some(field) = snapshot.searchable(mapped) else {
        return Ok(FieldFigures::default());
    };
    let statistics = snapshot.statistics(mapped)?;
    let mut figures = FieldFigures {
        docs: statistics.docs,
        terms: 0,
        tokens: statistics.tokens,
    };
    for reader in &snapshot.readers {
        let inverted = reader.inverted_index(field)?;
        let mut terms = inverted.terms().stream()?;
        while terms.advance() {
            figures.terms += u64::from(terms.value().doc_freq);
        }
    }
    if !mapped.counted().frequencies {
        figures.tokens = figures.terms;
    }
    Ok(figures)
}

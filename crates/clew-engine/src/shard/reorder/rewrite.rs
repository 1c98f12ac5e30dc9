//! A segment's files written anew with its rows in another order. Everything in them that is not the place of a
//! row stays as it was: terms, their statistics, lengths, values.

use std::io::Write;

use clew_schema::{reorder_sources, source_component};
use tantivy::columnar::{
    ColumnarReader, MergeRowOrder, RowAddr, ShuffleMergeOrder, merge_columnar,
};
use tantivy::directory::TerminatingWrite;
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::postings::{FieldSerializer, InvertedIndexSerializer, Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption, Type};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED};

use crate::shard::row_plugin::{self, plugin_error};
use crate::shard::vector_file;

/// An order of rows, both ways.
pub(in crate::shard) struct RowOrder {
    old_of_new: Vec<DocId>,
    new_of_old: Vec<DocId>,
}

impl RowOrder {
    /// From the old numbers in the new order, each of which must be there once.
    pub(super) fn new(old_of_new: Vec<DocId>) -> Self {
        let mut new_of_old = vec![DocId::MAX; old_of_new.len()];
        for (new, &old) in (0..).zip(&old_of_new) {
            new_of_old[old as usize] = new;
        }
        // A row without a place would be lost.
        assert!(new_of_old.iter().all(|&new| new != DocId::MAX));
        RowOrder {
            old_of_new,
            new_of_old,
        }
    }

    /// Where a row has gone.
    pub(in crate::shard) fn new_of(&self, old: DocId) -> DocId {
        self.new_of_old[old as usize]
    }
}

/// Writes all files of a segment without deletes and without vectors.
pub(super) fn rewrite(
    reader: &SegmentReader,
    segments: (&Segment, &Segment),
    order: &RowOrder,
    check: &dyn Fn() -> tantivy::Result<()>,
) -> tantivy::Result<()> {
    let (source, target) = segments;
    write_norms(reader, target, order)?;
    check()?;
    write_postings(reader, target, order, check)?;
    write_columns(source, target, order)?;
    check()?;
    // Entries of the store are empty, and there is no vector: each is as good as any other.
    for component in [SegmentComponent::Store, vector_file::component()] {
        let mut out = target.open_write(component.clone())?;
        out.write_all(&source.open_read(component)?.read_bytes()?)?;
        out.terminate()?;
    }
    row_plugin::reorder(reader, target, &order.old_of_new)?;
    check()?;
    let out = target.open_write(source_component())?;
    reorder_sources(reader, &order.old_of_new, out)?.terminate()?;
    Ok(())
}

fn write_norms(reader: &SegmentReader, target: &Segment, order: &RowOrder) -> tantivy::Result<()> {
    let out = target.open_write(SegmentComponent::FieldNorms)?;
    let mut out = FieldNormsSerializer::from_write(out)?;
    for (field, _) in reader.schema().fields() {
        if let Some(norms) = reader.fieldnorms_readers().get_field(field)? {
            let rows = order.old_of_new.iter();
            let norms: Vec<u8> = rows.map(|&old| norms.fieldnorm_id(old)).collect();
            out.serialize_field(field, &norms)?;
        }
    }
    Ok(out.close()?)
}

fn write_columns(source: &Segment, target: &Segment, order: &RowOrder) -> tantivy::Result<()> {
    let component = || SegmentComponent::FastFields;
    let columns = ColumnarReader::open(source.open_read(component())?)?;
    let kept: Vec<_> = columns
        .iter_columns()?
        .map(|(name, column)| (name, column.column_type()))
        .collect();
    let address = |&row_id: &DocId| RowAddr {
        segment_ord: 0,
        row_id,
    };
    let rows = MergeRowOrder::Shuffled(ShuffleMergeOrder {
        new_row_id_to_old_row_id: order.old_of_new.iter().map(address).collect(),
        alive_bitsets: vec![None],
    });
    let mut out = target.open_write(component())?;
    merge_columnar(&[&columns], &kept, rows, &mut out)?;
    Ok(out.terminate()?)
}

fn write_postings(
    reader: &SegmentReader,
    target: &Segment,
    order: &RowOrder,
    check: &dyn Fn() -> tantivy::Result<()>,
) -> tantivy::Result<()> {
    let norms = FieldNormReaders::open(target.open_read(SegmentComponent::FieldNorms)?)?;
    let mut out = InvertedIndexSerializer::open(target)?;
    for (field, entry) in reader.schema().fields() {
        let Some(option) = entry.field_type().get_index_record_option() else {
            continue;
        };
        // Only there the terms of one field differ in what is known of them.
        if entry.field_type().value_type() == Type::Json {
            return Err(plugin_error("a JSON field has no order to be put in"));
        }
        let tokens = reader.inverted_index(field)?.total_num_tokens();
        let out = out.new_field(field, tokens, norms.get_field(field)?)?;
        write_field((reader, field), (out, option), order, check)?;
    }
    Ok(out.close()?)
}

fn write_field(
    (reader, field): (&SegmentReader, Field),
    (mut out, option): (FieldSerializer<'_>, IndexRecordOption),
    order: &RowOrder,
    check: &dyn Fn() -> tantivy::Result<()>,
) -> tantivy::Result<()> {
    let index = reader.inverted_index(field)?;
    let mut stream = index.terms().stream()?;
    let mut list = List::default();
    while let Some((term, info)) = stream.next() {
        check()?;
        let postings = index.read_postings_from_terminfo(info, option)?;
        list.read(postings, option, order);
        out.new_term(term, info.doc_freq, option.has_freq())?;
        list.write(&mut out);
        out.close_term()?;
    }
    Ok(out.close()?)
}

/// The postings of a term.
#[derive(Default)]
struct List {
    entries: Vec<Entry>,
    /// Of all of them, if they are known: the first of each as it is, the others as the steps to them.
    positions: Vec<u32>,
}

struct Entry {
    doc: DocId,
    frequency: u32,
    /// Where its positions begin.
    start: usize,
}

impl List {
    fn read(&mut self, mut postings: SegmentPostings, option: IndexRecordOption, order: &RowOrder) {
        self.entries.clear();
        self.positions.clear();
        while postings.doc() != TERMINATED {
            let start = self.positions.len();
            let has_frequency = option.has_freq();
            if option.has_positions() {
                postings.append_positions_with_offset(0, &mut self.positions);
                let own = &mut self.positions[start..];
                for at in (1..own.len()).rev() {
                    own[at] -= own[at - 1];
                }
            }
            self.entries.push(Entry {
                doc: order.new_of(postings.doc()),
                frequency: if has_frequency {
                    postings.term_freq()
                } else {
                    0
                },
                start,
            });
            postings.advance();
        }
        self.entries.sort_unstable_by_key(|entry| entry.doc);
    }

    fn write(&self, out: &mut FieldSerializer<'_>) {
        for entry in &self.entries {
            let positions = match self.positions[..] {
                [] => &[],
                _ => &self.positions[entry.start..entry.start + entry.frequency as usize],
            };
            out.write_doc(entry.doc, entry.frequency, positions);
        }
    }
}

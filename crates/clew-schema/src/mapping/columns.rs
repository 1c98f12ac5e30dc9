//! tantivy's schema for the fields of a mapping: what postings and which column each one has.

use std::borrow::Cow;

use clew_analysis::{LengthOf, counting};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, IpAddrOptions, NumericOptions, STRING, Schema,
    SchemaBuilder, TextFieldIndexing, TextOptions,
};

use super::field::{FieldKind, MappedField, TextStyle};
use crate::similarity::Similarities;

/// The schema, and the tantivy field of each mapped field. Names are generated (`f0`, `f1`, ...)
/// because tantivy gives meaning to dots and refuses some names that users may choose.
pub(super) fn build_schema(
    fields: &[MappedField],
    similarities: &Similarities,
) -> (Schema, Vec<Option<Field>>) {
    let mut builder = Schema::builder();
    builder.add_text_field("_id", STRING);
    let added = fields
        .iter()
        .map(|field| add_to(&mut builder, field, similarities))
        .collect();
    (builder.build(), added)
}

/// Terms as they are, without positions or norms.
fn whole_terms() -> TextFieldIndexing {
    TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::Basic)
}

/// Terms that stand where their weights say, without norms.
fn weighted_terms() -> TextOptions {
    TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions),
    )
}

/// The analyzer of a text's postings, under the name that says how its words count.
pub(super) fn postings_analyzer<'f>(
    field: &MappedField,
    analyzer: &'f str,
    similarities: &Similarities,
) -> Cow<'f, str> {
    let similarity = field.settings.similarity.as_deref();
    let counted = field.counted();
    let length = if counted.lengths && !counted.frequencies {
        LengthOf::Distinct
    } else if similarities.counts_each(similarity) {
        LengthOf::Words
    } else {
        LengthOf::Places
    };
    counting(analyzer, length).map_or(Cow::Borrowed(analyzer), Cow::Owned)
}

fn add_to(
    builder: &mut SchemaBuilder,
    field: &MappedField,
    similarities: &Similarities,
) -> Option<Field> {
    let name = field.column();
    let numeric = |postings: bool| {
        let options = NumericOptions::default() | FAST;
        if postings && field.indexed && !field.kind.is_never_searched() {
            options | INDEXED
        } else {
            options
        }
    };
    Some(match &field.kind {
        FieldKind::Text { analyzer, style } => {
            let mut options = TextOptions::default();
            if field.indexed {
                options = options.set_indexing_options(
                    TextFieldIndexing::default()
                        .set_tokenizer(&postings_analyzer(field, analyzer, similarities))
                        .set_fieldnorms(*style != TextStyle::MatchOnly)
                        .set_index_option(match style {
                            TextStyle::MatchOnly => IndexRecordOption::Basic,
                            _ => IndexRecordOption::WithFreqsAndPositions,
                        }),
                );
            }
            if field.has_fielddata() {
                options = options.set_fast(analyzer);
            }
            builder.add_text_field(&name, options)
        }
        FieldKind::Keyword { .. } | FieldKind::Flat => {
            let mut options = TextOptions::default().set_fast("raw");
            if field.indexed {
                options = options.set_indexing_options(whole_terms());
            }
            builder.add_text_field(&name, options)
        }
        FieldKind::RankFeatures => builder.add_text_field(&name, weighted_terms()),
        FieldKind::Completion(_) => builder.add_text_field(
            &name,
            TextOptions::default().set_indexing_options(whole_terms()),
        ),
        FieldKind::Integer(_) | FieldKind::Boolean => builder.add_i64_field(&name, numeric(true)),
        // A timestamp is almost unique: postings for it would cost more than the column's scan.
        FieldKind::Date { .. } | FieldKind::DateNanos { .. } => {
            builder.add_i64_field(&name, numeric(false))
        }
        FieldKind::Unsigned => builder.add_u64_field(&name, numeric(true)),
        FieldKind::Float(_) => builder.add_f64_field(&name, numeric(false)),
        FieldKind::Ip => {
            let options = IpAddrOptions::default().set_fast();
            builder.add_ip_addr_field(
                &name,
                if field.indexed {
                    options.set_indexed()
                } else {
                    options
                },
            )
        }
        FieldKind::GeoPoint => builder.add_u64_field(&name, numeric(false)),
        FieldKind::Range { .. }
        | FieldKind::Binary { doc_values: true }
        | FieldKind::GeoShape
        | FieldKind::Percolator => builder.add_bytes_field(&name, FAST),
        FieldKind::Vector(_)
        | FieldKind::SparseVector
        | FieldKind::Constant { .. }
        | FieldKind::Binary { .. } => {
            return None;
        }
    })
}

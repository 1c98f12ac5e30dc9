//! `significant_terms` and `significant_text`: terms that are more frequent in a bucket than elsewhere, and how often each
//! occurs in the background.

use std::sync::Arc;

use clew_platform::Pace;
use clew_query::aggregation::{Direction, Heuristic, SignificantSpec, Source};
use clew_query::{AggError, go_on_reducing};
use clew_schema::FieldKind;
use clew_search::SegmentBits;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};

use crate::bucket::terms::{TermsPlan, TermsShape, shard_size};
use crate::bucket::words::WordsPlan;
use crate::bucket::{AskedBuckets, Asking, BucketPlan};
use crate::collect::{BLOCK_DOCS, Planned};
use crate::counted::buckets::Buckets;
use crate::field::column::ValueColumn;
use crate::field::context::{AggContext, documents_of};
use crate::field::rows::{Repeats, Rows};
use crate::field::values::{plan_values, term_filter};
use crate::field::{ValueKind, ValuePlan};
use crate::order::{By, PlannedOrder};
use crate::result::{AggResult, TermsResult};
use crate::value::key::Key;

impl AskedBuckets for SignificantSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let context = asking.context;
        let values = match &self.words {
            Some(_) => words_of(&self.source, context)?,
            None => plan_values(&self.source, "significant_terms", context)?,
        };
        if values.kind == ValueKind::Double {
            return Err(AggError::invalid(
                "No support for examining floating point numerics",
            ));
        }
        let plan = plan_significant(self, &values, (context, asking.name))?;
        Ok((values, plan.into()))
    }
}

/// What the words of a text are to an aggregation.
///
/// # Errors
/// [`AggError`] when the field has no words.
fn words_of(source: &Source, context: &AggContext<'_>) -> Result<ValuePlan, AggError> {
    let field = &source.field;
    if source.script.is_some() {
        return Err(AggError::invalid(
            "[script] is not supported for aggregation [significant_text]",
        ));
    }
    let Some(mapped) = context.mapping.field(field) else {
        return Err(AggError::invalid(format!(
            "Field [{field}] does not exist, SignificantText requires an analyzed field"
        )));
    };
    if !matches!(
        mapped.kind,
        FieldKind::Text { .. } | FieldKind::Keyword { .. }
    ) {
        return Err(AggError::invalid(format!(
            "Field [{field}] has no analyzer, but SignificantText requires an analyzed field"
        )));
    }
    Ok(ValuePlan {
        field: field.clone(),
        kind: ValueKind::Keyword,
        ..ValuePlan::none()
    })
}

/// How words are taken from texts; `None` where a column is read, or nothing is indexed yet.
fn words_plan(
    spec: &SignificantSpec,
    context: &AggContext<'_>,
) -> Result<Option<WordsPlan>, AggError> {
    let mapped = context.mapping.field(&spec.source.field);
    let (Some(words), Some(mapped)) = (&spec.words, mapped) else {
        return Ok(None);
    };
    let indexed = mapped.field.filter(|_| mapped.indexed);
    let field = indexed.ok_or_else(|| {
        AggError::invalid(format!("Field [{}] is not indexed", spec.source.field))
    })?;
    let paths = if words.paths.is_empty() {
        context.mapping.source_paths(mapped)
    } else {
        words.paths.clone()
    };
    Ok(Some(WordsPlan {
        field,
        analyzer: match &mapped.kind {
            FieldKind::Text { analyzer, .. } => analyzer.clone(),
            _ => "keyword".to_string(),
        },
        paths,
        drops_copies: words.drops_copies,
    }))
}

/// The plan of `significant_terms`.
///
/// # Errors
/// [`AggError`] naming what is wrong.
fn plan_significant(
    spec: &SignificantSpec,
    values: &ValuePlan,
    (context, name): (&AggContext<'_>, &str),
) -> Result<TermsPlan, AggError> {
    let filter = term_filter(&spec.filter, values, name)?;
    let background = spec.background.as_ref();
    let background = background.map(|query| documents_of(query, context));
    let size = spec.size as usize;
    // Twice as many as for other terms: what stands out is rarer than what is frequent.
    let asked = spec.shard_size.map(|asked| asked as usize);
    let shard_size = asked.unwrap_or_else(|| size.max(2 * shard_size(None, size)));
    Ok(TermsPlan {
        size,
        shard_size,
        min_doc_count: spec.min_doc_count,
        shard_min_doc_count: spec.shard_min_doc_count.min(spec.min_doc_count),
        order: vec![PlannedOrder {
            by: By::Score(spec.heuristic.clone()),
            direction: Direction::Descending,
        }],
        filter,
        show_error: false,
        shape: TermsShape::Significant(SignificantPlan {
            heuristic: spec.heuristic.clone(),
            background: background.transpose()?.map(Arc::new),
            words: words_plan(spec, context)?.map(Arc::new),
        }),
    })
}

/// The background of significant terms.
#[derive(Clone, Debug)]
pub(crate) struct SignificantPlan {
    pub(crate) heuristic: Heuristic,
    /// Per segment: the documents of the background, if these are not all.
    pub(crate) background: Option<Arc<Vec<SegmentBits>>>,
    /// How words are taken from texts that have no column.
    pub(crate) words: Option<Arc<WordsPlan>>,
}

impl SignificantPlan {
    /// Counts the background of the terms that were seen, over all segments of a shard.
    ///
    /// # Errors
    /// [`AggError::Column`] when a column cannot be read.
    pub(crate) fn count_background(
        &self,
        plan: &dyn Planned,
        buckets: &mut Buckets,
        readers: &[SegmentReader],
    ) -> Result<(), AggError> {
        buckets.background.with = vec![0; buckets.table.len()];
        buckets.background.all = 0;
        // Documents of an index without the field are neither compared nor compared with.
        if plan.values().kind == ValueKind::Unmapped {
            buckets.background.sizes.clear();
            return Ok(());
        }
        for (ord, reader) in readers.iter().enumerate() {
            let documents = match &self.background {
                Some(sets) => sets.get(ord).cloned(),
                None => None,
            };
            // As in Lucene: what was deleted counts until it is merged away, so that a bucket is never more than the background,
            // and so do nested objects, among which terms are compared inside them.
            let documents = documents.unwrap_or_else(|| SegmentBits::all(reader));
            match &self.words {
                Some(words) => count_words(words, buckets, reader, &documents),
                None => count_column(plan, buckets, reader, &documents),
            }?;
        }
        Ok(())
    }
}

/// The result of the terms of one parent, of which some are shown.
pub(crate) fn significant_result(
    terms: TermsResult,
    buckets: &Buckets,
    parent: Option<u32>,
) -> AggResult {
    let sizes = &buckets.background.sizes;
    AggResult::Significant {
        terms,
        doc_count: parent
            .and_then(|parent| sizes.get(parent as usize))
            .copied()
            .unwrap_or(0),
        background: buckets.background.all,
    }
}

fn count_column(
    plan: &dyn Planned,
    buckets: &mut Buckets,
    reader: &SegmentReader,
    documents: &SegmentBits,
) -> Result<(), AggError> {
    buckets.background.all += u64::from(documents.count());
    let column = ValueColumn::open(reader, plan.values())?;
    if column.is_empty() {
        return Ok(());
    }
    // The number of each bucket's term in this segment; several parents can have the same term.
    let mut wanted: Vec<(u64, usize)> = Vec::new();
    let mut pace = Pace::default();
    for (at, key) in buckets.table.keys().iter().enumerate() {
        go_on_reducing(&mut pace)?;
        let raw = column.raw_of(key).map_err(|source| AggError::Column {
            field: plan.values().field.clone(),
            source,
        })?;
        wanted.extend(raw.map(|raw| (raw, at)));
    }
    wanted.sort_unstable();
    let mut raws: Vec<u64> = wanted.iter().map(|(raw, _)| *raw).collect();
    raws.dedup();
    let mut counts = vec![0_u64; raws.len()];
    let docs: Vec<u32> = (0..reader.max_doc())
        .filter(|doc| documents.contains(*doc))
        .collect();
    let mut rows = Rows::default();
    let mut pace = Pace::of_blocks();
    for docs in docs.chunks(BLOCK_DOCS) {
        go_on_reducing(&mut pace)?;
        column.read(docs, Repeats::Dropped, &mut rows)?;
        for raw in &rows.values {
            if let Ok(at) = raws.binary_search(raw) {
                counts[at] += 1;
            }
        }
    }
    for (raw, at) in wanted {
        if let Ok(place) = raws.binary_search(&raw) {
            buckets.background.with[at] += counts[place];
        }
    }
    Ok(())
}

/// The same for words, by their postings.
fn count_words(
    words: &WordsPlan,
    buckets: &mut Buckets,
    reader: &SegmentReader,
    documents: &SegmentBits,
) -> Result<(), AggError> {
    buckets.background.all += u64::from(documents.count());
    let failed = |source: tantivy::TantivyError| AggError::Column {
        field: reader.schema().get_field_name(words.field).to_string(),
        source,
    };
    let index = reader.inverted_index(words.field).map_err(failed)?;
    let mut pace = Pace::of_blocks();
    for (at, key) in buckets.table.keys().iter().enumerate() {
        go_on_reducing(&mut pace)?;
        let Key::Str(word) = key else {
            continue;
        };
        let term = Term::from_field_text(words.field, word);
        let postings = index.read_postings(&term, IndexRecordOption::Basic);
        let Some(mut postings) = postings.map_err(|source| failed(source.into()))? else {
            continue;
        };
        let mut count = 0;
        while postings.doc() != TERMINATED {
            count += u64::from(documents.contains(postings.doc()));
            postings.advance();
        }
        buckets.background.with[at] += count;
    }
    Ok(())
}

//! By how much the share of documents with a term in a bucket differs from that in a background.

use clew_query::aggregation::{Comparison, Heuristic};
use clew_query::{AggError, Script, ScriptDocument, ScriptError, ScriptValue};

/// Documents of a bucket and of the background, with a term and in all.
#[derive(Clone, Copy, Debug)]
struct Counts {
    with: f64,
    size: f64,
    background_with: f64,
    background_size: f64,
}

/// How significant it is that so many documents of a bucket, and so many of the background, have a term.
///
/// # Errors
/// Where a script fails.
#[allow(
    clippy::cast_precision_loss,
    reason = "2^53 documents will not be counted"
)]
pub(crate) fn score(
    heuristic: &Heuristic,
    (with, size): (u64, u64),
    (background, all): (u64, u64),
) -> Result<f64, AggError> {
    let counts = Counts {
        with: with as f64,
        size: size as f64,
        background_with: background as f64,
        background_size: all as f64,
    };
    if size == 0 || all == 0 {
        return Ok(0.0);
    }
    let score = match heuristic {
        Heuristic::Jlh => jlh(counts),
        Heuristic::Percentage if background == 0 => 0.0,
        Heuristic::Percentage => counts.with / counts.background_with,
        Heuristic::Gnd { superset } => gnd(counts, *superset),
        Heuristic::ChiSquare(comparison) => chi_square(counts, *comparison),
        Heuristic::MutualInformation(comparison) => mutual_information(counts, *comparison),
        Heuristic::Script(script) => scripted(script, [with, size, background, all])?,
    };
    Ok(if score.is_nan() { 0.0 } else { score })
}

/// What scripts call the counts, in the order in which they are given.
const COUNTS: [&str; 4] = [
    "_subset_freq",
    "_subset_size",
    "_superset_freq",
    "_superset_size",
];

fn scripted(script: &Script, counts: [u64; 4]) -> Result<f64, AggError> {
    let value = |field: &String| {
        let place = COUNTS.iter().position(|name| *name == field.as_str())?;
        i64::try_from(*counts.get(place)?).ok()
    };
    let mut seen = SeenCounts(script.fields().iter().map(value).collect());
    Ok(script.number(&mut seen)?)
}

/// The counts as a script sees them: its fields, of which there is nothing under other names.
struct SeenCounts(Vec<Option<i64>>);

impl SeenCounts {
    fn value<'a>(&self, field: usize) -> ScriptValue<'a> {
        let value = self.0.get(field).copied().flatten();
        value.map_or(ScriptValue::Null, ScriptValue::Whole)
    }
}

impl<'a> ScriptDocument<'a> for SeenCounts {
    fn is_mapped(&self, field: usize) -> bool {
        self.0.get(field).is_some_and(Option::is_some)
    }

    fn values(&mut self, field: usize) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        Ok(vec![self.value(field)])
    }

    fn first(&mut self, field: usize) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        Ok(Some(self.value(field)))
    }
}

fn jlh(counts: Counts) -> f64 {
    let here = counts.with / counts.size;
    let there = counts.background_with.max(1.0) / counts.background_size;
    if here <= there {
        return 0.0;
    }
    (here - there) * (here / there)
}

fn gnd(counts: Counts, superset: bool) -> f64 {
    let (with_term, all) = if superset {
        (counts.background_with, counts.background_size)
    } else {
        (
            counts.background_with + counts.with,
            counts.background_size + counts.size,
        )
    };
    if counts.with == 0.0 {
        return 0.0;
    }
    if with_term.total_cmp(&counts.size).is_eq() && with_term.total_cmp(&counts.with).is_eq() {
        return 1.0;
    }
    let (x, y) = (with_term.ln(), counts.size.ln());
    let distance = (x.max(y) - counts.with.ln()) / (all.ln() - x.min(y));
    (-distance).exp()
}

/// Documents by whether they have the term and whether they are in the bucket.
struct Table {
    both: f64,
    term_only: f64,
    bucket_only: f64,
    neither: f64,
}

impl Table {
    fn of(counts: Counts, superset: bool) -> Self {
        let bucket_only = counts.size - counts.with;
        if superset {
            Table {
                both: counts.with,
                term_only: counts.background_with - counts.with,
                bucket_only,
                neither: counts.background_size - counts.background_with - bucket_only,
            }
        } else {
            Table {
                both: counts.with,
                term_only: counts.background_with,
                bucket_only,
                neither: counts.background_size - counts.background_with,
            }
        }
    }

    fn total(&self) -> f64 {
        self.both + self.term_only + self.bucket_only + self.neither
    }

    /// Whether the term is rarer in the bucket than elsewhere.
    fn is_negative(&self) -> bool {
        self.both / (self.both + self.bucket_only)
            < self.term_only / (self.term_only + self.neither)
    }
}

fn chi_square(counts: Counts, comparison: Comparison) -> f64 {
    let table = Table::of(counts, comparison.superset);
    if !comparison.negatives && table.is_negative() {
        return f64::NEG_INFINITY;
    }
    let difference = table.both * table.neither - table.bucket_only * table.term_only;
    let products = (table.both + table.bucket_only)
        * (table.both + table.term_only)
        * (table.neither + table.bucket_only)
        * (table.neither + table.term_only);
    table.total() * difference.powi(2) / products
}

fn mutual_information(counts: Counts, comparison: Comparison) -> f64 {
    let table = Table::of(counts, comparison.superset);
    if !comparison.negatives && table.is_negative() {
        return f64::NEG_INFINITY;
    }
    let total = table.total();
    let part = |both: f64, one: f64, other: f64| {
        if both <= 0.0 {
            return 0.0;
        }
        both / total * (total * both / (one * other)).log2()
    };
    let (term, no_term) = (
        table.both + table.term_only,
        table.bucket_only + table.neither,
    );
    let (bucket, no_bucket) = (
        table.both + table.bucket_only,
        table.term_only + table.neither,
    );
    part(table.both, term, bucket)
        + part(table.term_only, term, no_bucket)
        + part(table.bucket_only, no_term, bucket)
        + part(table.neither, no_term, no_bucket)
}

#[cfg(test)]
mod tests {
    use clew_query::{ScriptLanguage, ScriptPurpose};

    use super::*;

    #[test]
    fn terms_that_stand_out_score_higher() {
        let comparison = Comparison {
            superset: true,
            negatives: false,
        };
        for heuristic in [
            Heuristic::Jlh,
            Heuristic::ChiSquare(comparison),
            Heuristic::MutualInformation(comparison),
            Heuristic::Gnd { superset: true },
            Heuristic::Percentage,
        ] {
            let strong = score(&heuristic, (40, 50), (45, 1_000)).unwrap();
            let weak = score(&heuristic, (10, 50), (150, 1_000)).unwrap();
            assert!(strong > weak, "{heuristic:?}: {strong} {weak}");
        }
        let jlh = score(&Heuristic::Jlh, (4, 4), (5, 10)).unwrap();
        assert!((jlh - 0.5 * 2.0).abs() < 1e-12, "{jlh}");
        let rarer = score(&Heuristic::ChiSquare(comparison), (1, 50), (500, 1_000));
        assert!(rarer.unwrap() < 0.0);
    }

    #[test]
    fn scripts_see_the_counts_as_whole_numbers() {
        let read = |source| {
            let (language, purpose) = (ScriptLanguage::Painless, ScriptPurpose::Bucket);
            let script = Script::read(source, language, &serde_json::Value::Null, purpose);
            Heuristic::Script(Box::new(script.unwrap()))
        };
        for (source, expected) in [
            ("params._subset_freq / params._superset_freq", 0.0),
            ("1.0 * params._subset_freq / params._superset_freq", 0.8),
            ("params._superset_size - params._subset_size", 6.0),
        ] {
            let made = score(&read(source), (4, 4), (5, 10)).unwrap();
            assert!((made - expected).abs() < 1e-12, "{source}: {made}");
        }
        let failed = score(
            &read("params._subset_freq / (params._subset_size - 4)"),
            (4, 4),
            (5, 10),
        );
        assert!(failed.is_err());
    }
}

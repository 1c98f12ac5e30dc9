//! `matrix_stats`: documents by their numbers in several fields, and how these vary together.

use clew_query::aggregation::MatrixSpec;
use clew_query::{AggError, SortMode};

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::rows::{Repeats, Rows};
use crate::field::values::plan_values;
use crate::limits::{Account, grow};
use crate::metric::{InBucket, Metric, SHAPE, of_bucket};
use crate::numbers::matrix::MatrixMoments;
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::{AggResult, MatrixResult};

/// Which fields, and which of several values of a document counts.
#[derive(Clone, Debug)]
pub(crate) struct MatrixPlan {
    pub(crate) fields: Vec<ValuePlan>,
    pub(crate) mode: SortMode,
}

pub(crate) struct Matrix {
    columns: Vec<ValueColumn>,
    mode: SortMode,
    rows: Rows,
    moments: Vec<MatrixMoments>,
}

impl Matrix {
    pub(crate) fn open(
        segment: Segment<'_>,
        fields: &[ValuePlan],
        mode: SortMode,
    ) -> Result<Self, AggError> {
        let columns = fields
            .iter()
            .map(|field| ValueColumn::open(segment.reader, field));
        Ok(Matrix {
            columns: columns.collect::<Result<_, _>>()?,
            mode,
            rows: Rows::default(),
            moments: Vec::new(),
        })
    }
}

impl Collect for Matrix {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.columns.iter().any(ValueColumn::is_empty) {
            return Ok(());
        }
        let width = self.columns.len();
        let mut numbers = vec![f64::NAN; block.docs.len() * width];
        let mut values = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            column.read(block.docs, Repeats::Kept, &mut self.rows)?;
            let mut start = 0;
            while let Some(entry) = self.rows.entries.get(start).copied() {
                let same = |other: &&u32| **other == entry;
                let count = self.rows.entries[start..].iter().take_while(same).count();
                let raws = &self.rows.values[start..start + count];
                values.clear();
                values.extend(raws.iter().map(|raw| column.number(*raw)));
                numbers[entry as usize * width + at] = one_of(&mut values, self.mode);
                start += count;
            }
        }
        for (document, parent) in numbers.chunks(width).zip(block.parents) {
            // Only documents that have all fields can say how these vary together.
            if document.iter().all(|number| number.is_finite()) {
                grow(&mut self.moments, *parent, account)?;
                self.moments[*parent as usize].add(document);
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Matrix(self.moments))
    }
}

/// The number that stands for a document's values, of which there is one at least.
#[allow(clippy::cast_precision_loss, reason = "a document has few values")]
fn one_of(values: &mut [f64], mode: SortMode) -> f64 {
    let sum = || values.iter().sum::<f64>();
    match mode {
        SortMode::Sum => sum(),
        SortMode::Avg => sum() / values.len() as f64,
        SortMode::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
        SortMode::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        SortMode::Median => {
            values.sort_by(f64::total_cmp);
            let middle = values.len() / 2;
            if values.len() % 2 == 1 {
                values[middle]
            } else {
                f64::midpoint(values[middle - 1], values[middle])
            }
        }
    }
}

/// Fields that are compared with each other; each two of them are.
const MATRIX_FIELDS_MAX: usize = 100;

/// The plan of `matrix_stats`.
pub(crate) fn plan_matrix(
    spec: &MatrixSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, MatrixPlan), AggError> {
    let (fields, mode) = (&spec.fields, spec.mode);
    if fields.len() > MATRIX_FIELDS_MAX {
        return Err(AggError::invalid(format!(
            "[matrix_stats] takes at most [{MATRIX_FIELDS_MAX}] fields, got [{}]",
            fields.len()
        )));
    }
    let fields = fields
        .iter()
        .map(|source| plan_values(source, "matrix_stats", context));
    let fields = fields.collect::<Result<_, _>>()?;
    Ok((ValuePlan::none(), MatrixPlan { fields, mode }))
}

fn matrix_result(names: Vec<String>, moments: &MatrixMoments) -> MatrixResult {
    let width = moments.width();
    let table = |number: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        let row = |one: usize| (0..width).map(|other| number(one, other)).collect();
        (0..width).map(row).collect()
    };
    MatrixResult {
        doc_count: moments.count,
        names,
        fields: (0..width).map(|at| moments.field(at)).collect(),
        covariance: table(&|one, other| moments.covariance(one, other)),
        correlation: table(&|one, other| moments.correlation(one, other)),
    }
}

impl Metric for MatrixPlan {
    fn open(&self, segment: Segment<'_>, _: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Ok(Box::new(Matrix::open(segment, &self.fields, self.mode)?))
    }

    fn empty(&self) -> Partial {
        Partial::Matrix(Vec::new())
    }

    fn result(&self, of: InBucket<'_>, _: &mut Budget<'_>) -> AggResult {
        let Partial::Matrix(moments) = of.partial else {
            unreachable!("{SHAPE}");
        };
        let moments = of_bucket(moments, of.bucket).cloned();
        let names = self.fields.iter().map(|field| field.field.clone());
        AggResult::Matrix(matrix_result(names.collect(), &moments.unwrap_or_default()))
    }

    fn property(&self, _: Option<&str>) -> Option<Property> {
        None
    }

    fn profiled_as(&self) -> &'static str {
        "MatrixStatsAggregator"
    }
}

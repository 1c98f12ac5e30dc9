//! Values that scripts make: of documents, or of each value of a field. They lie in no column, so that the script runs
//! whenever they are read; texts are numbered in the order in which they come.

use std::cell::RefCell;
use std::sync::Arc;

use clew_platform::{MemoryAccount, Pace};
use clew_query::aggregation::Source;
use clew_query::{AggError, Script, ScriptValue, go_on_reducing};
use clew_schema::{DerivedField, DerivedKind};
use clew_search::{
    DerivedPath, DerivedValues, GivenValue, OpenDerived, OpenValueScript, ValueScript,
};
use jiff::tz::TimeZone;
use tantivy::{DocId, SegmentReader};

use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::missing::stand_in;
use crate::field::rows::{Repeats, Rows};
use crate::field::support::supports;
use crate::field::values::{date_format, hinted_kind, plan_values, unsupported};
use crate::field::{TermSets, ValueKind, ValuePlan};
use crate::limits::Account;
use crate::value::format::ValueFormat;
use crate::value::key::Key;

/// Aggregations whose values scripts can make.
const WITH_SCRIPTS: &[&str] = &[
    "terms",
    "rare_terms",
    "cardinality",
    "value_count",
    "missing",
    "min",
    "max",
    "avg",
    "sum",
    "stats",
    "extended_stats",
    "percentiles",
    "percentile_ranks",
    "median_absolute_deviation",
    "weighted_avg",
    "histogram",
    "variable_width_histogram",
    "date_histogram",
    "range",
    "date_range",
    "diversified_sampler",
];

/// What makes values, under a mapping.
#[derive(Clone, Debug)]
enum Maker {
    Script(ValueScript),
    Derived(DerivedValues),
}

/// A script that makes values, under a mapping.
#[derive(Clone, Debug)]
pub(crate) struct MadePlan {
    maker: Maker,
    /// The values that it is given one by one.
    of: Option<ValuePlan>,
    pub(super) memory: Option<Arc<MemoryAccount>>,
}

impl MadePlan {
    /// Whether the script looks at the scores of documents.
    pub(super) fn wants_scores(&self) -> bool {
        match &self.maker {
            Maker::Script(script) => script.sees_score(),
            Maker::Derived(_) => false,
        }
    }
}

/// Where the values of a source come from whose values a script makes, and what they mean.
///
/// # Errors
/// When the aggregation takes no scripts, or its field cannot serve.
pub(super) fn plan_made(
    source: &Source,
    script: &Script,
    aggregation: &'static str,
    context: &AggContext<'_>,
) -> Result<ValuePlan, AggError> {
    if !WITH_SCRIPTS.contains(&aggregation) {
        return Err(AggError::invalid(format!(
            "[script] is not supported for aggregation [{aggregation}]"
        )));
    }
    let of = given_of(source, context)?;
    let kind = match &of {
        // A field that is not there has no values that a script could make something of.
        Some(of) if of.kind == ValueKind::Unmapped => {
            let plain = Source {
                script: None,
                ..source.clone()
            };
            return plan_values(&plain, aggregation, context);
        }
        Some(of) => {
            let made = made_of(of.kind, aggregation);
            made.ok_or_else(|| unsupported(source, "geo_point", aggregation))?
        }
        None => made_alone(source, aggregation),
    };
    if !supports(aggregation, kind) {
        return Err(unsupported(source, "keyword", aggregation));
    }
    let script = ValueScript::new(script, context.mapping, context.index, context.now_ms);
    plan_of(source, kind, (Maker::Script(script), of), context)
}

/// The values of a derived field, which its script makes, and what they mean.
///
/// # Errors
/// When the aggregation takes no scripts, or the field cannot serve.
pub(super) fn plan_derived(
    source: &Source,
    field: &DerivedField,
    aggregation: &'static str,
    context: &AggContext<'_>,
) -> Result<ValuePlan, AggError> {
    let path = &source.field;
    let refused = |why: &str| {
        AggError::invalid(format!(
            "Field [{path}] of type [derived] is not supported for aggregation [{aggregation}]{why}"
        ))
    };
    if !WITH_SCRIPTS.contains(&aggregation) {
        return Err(refused(""));
    }
    let derived = DerivedPath::new(field, path)?;
    let kind = match derived.kind() {
        Some(DerivedKind::Keyword | DerivedKind::Ip | DerivedKind::Object) => ValueKind::Keyword,
        Some(DerivedKind::Long | DerivedKind::Double | DerivedKind::Float) => ValueKind::Double,
        Some(DerivedKind::Boolean) => ValueKind::Boolean,
        Some(DerivedKind::Date) => ValueKind::Date,
        Some(DerivedKind::Text) => return Err(refused(": its values are words")),
        Some(DerivedKind::GeoPoint) => return Err(refused(": its values are places")),
        None => return Err(refused(": its type is not among the [properties]")),
    };
    if !supports(aggregation, kind) {
        return Err(unsupported(
            source,
            derived.field().kind.name(),
            aggregation,
        ));
    }
    let values = DerivedValues::new(derived, context.mapping, context.now_ms);
    plan_of(source, kind, (Maker::Derived(values), None), context)
}

/// Values of a kind, with what makes them and what that is given.
fn plan_of(
    source: &Source,
    kind: ValueKind,
    (maker, of): (Maker, Option<ValuePlan>),
    context: &AggContext<'_>,
) -> Result<ValuePlan, AggError> {
    let of_dates = |of: &ValuePlan| matches!(of.format, ValueFormat::Date { .. });
    let is_date = kind == ValueKind::Date || of.as_ref().is_some_and(of_dates);
    let format = match kind {
        _ if is_date => ValueFormat::Date {
            format: date_format(source, of.as_ref().map(|of| &of.format))?,
            zone: TimeZone::UTC,
        },
        ValueKind::Boolean => ValueFormat::Boolean,
        ValueKind::Keyword => ValueFormat::Raw,
        // What is made of truths is shown as a truth.
        _ => match (&of, source.format.as_deref()) {
            (Some(of), None) => of.format.clone(),
            (_, pattern) => ValueFormat::of_numbers(pattern)?,
        },
    };
    let made = MadePlan {
        maker,
        of,
        memory: context.memory.cloned(),
    };
    let given = if is_date { ValueKind::Date } else { kind };
    let (_, missing) = stand_in(source, given, &format, context.now_ms)?;
    Ok(ValuePlan {
        field: source.field.clone(),
        column: None,
        kind,
        missing: missing.map(|key| as_fraction(key, kind)),
        format,
        made: Some(Arc::new(made)),
    })
}

/// The values that a script is given, where there are any.
fn given_of(source: &Source, context: &AggContext<'_>) -> Result<Option<ValuePlan>, AggError> {
    if source.field.is_empty() {
        return Ok(None);
    }
    // What is missing is a value of the script, and every kind of field can be counted.
    let plain = Source::field(source.field.clone());
    plan_values(&plain, "value_count", context).map(Some)
}

/// A key of dates as a number where such are made of them.
fn as_fraction(key: Key, kind: ValueKind) -> Key {
    match (key, kind) {
        #[allow(
            clippy::cast_precision_loss,
            reason = "scripts of values make floating-point numbers, as in OpenSearch"
        )]
        (Key::I64(millis), ValueKind::Double) => Key::F64(millis as f64),
        (key, _) => key,
    }
}

/// What a script makes of the values of a field: of dates numbers where their own values are the keys of buckets.
fn made_of(kind: ValueKind, aggregation: &str) -> Option<ValueKind> {
    Some(match kind {
        ValueKind::Keyword | ValueKind::Ip => ValueKind::Keyword,
        ValueKind::Long | ValueKind::Double | ValueKind::Boolean | ValueKind::Unsigned => {
            ValueKind::Double
        }
        ValueKind::Date | ValueKind::DateNanos if aggregation == "terms" => ValueKind::Double,
        ValueKind::Date | ValueKind::DateNanos => ValueKind::Date,
        ValueKind::Unmapped
        | ValueKind::Geo
        | ValueKind::Range(_)
        | ValueKind::Shape
        | ValueKind::Corners
        | ValueKind::Outlines
        | ValueKind::Bytes => return None,
    })
}

/// What a script makes of documents: what the request says, or what the aggregation is usually of.
fn made_alone(source: &Source, aggregation: &str) -> ValueKind {
    let hinted = source.value_type.as_deref().and_then(hinted_kind);
    match (hinted, aggregation) {
        (Some(ValueKind::Unsigned), _) => ValueKind::Long,
        (
            Some(
                kind @ (ValueKind::Keyword
                | ValueKind::Long
                | ValueKind::Double
                | ValueKind::Boolean
                | ValueKind::Date),
            ),
            _,
        ) => kind,
        (
            _,
            "terms"
            | "rare_terms"
            | "cardinality"
            | "value_count"
            | "missing"
            | "diversified_sampler",
        ) => ValueKind::Keyword,
        (_, "date_histogram" | "date_range") => ValueKind::Date,
        _ => ValueKind::Double,
    }
}

/// What makes values, over one segment.
enum OpenMaker {
    Script(OpenValueScript),
    Derived(RefCell<OpenDerived>),
}

/// A script over one segment.
pub(super) struct Made {
    maker: OpenMaker,
    /// What it is given.
    of: Option<Box<ValueColumn>>,
    field: String,
    kind: ValueKind,
    /// Which of its values count, where only some do.
    pub(super) only: RefCell<Option<TermSets>>,
}

impl Made {
    pub(super) fn open(
        reader: &SegmentReader,
        plan: &ValuePlan,
        made: &MadePlan,
    ) -> Result<Self, AggError> {
        let maker = match &made.maker {
            Maker::Script(script) => {
                let open = script.open(reader);
                OpenMaker::Script(open.map_err(|source| AggError::Column {
                    field: plan.field.clone(),
                    source,
                })?)
            }
            Maker::Derived(values) => OpenMaker::Derived(RefCell::new(values.open(reader)?)),
        };
        Ok(Made {
            maker,
            of: match &made.of {
                Some(of) => Some(Box::new(ValueColumn::open(reader, of)?)),
                None => None,
            },
            field: plan.field.clone(),
            kind: plan.kind,
            only: RefCell::new(None),
        })
    }

    /// Hands over what the script makes of documents, each value with its document's place among them. Scores are those of
    /// an account, and 0 where none is given.
    pub(super) fn each(
        &self,
        docs: &[DocId],
        account: Option<&Account>,
        mut take: impl FnMut(u32, Key),
    ) -> Result<(), AggError> {
        let score = |doc: DocId| account.map_or(0.0, |account| account.score(doc));
        let mut pace = Pace::of_blocks();
        let mut run =
            |entry: u32, doc: DocId, given: Option<&GivenValue>| -> Result<(), AggError> {
                go_on_reducing(&mut pace)?;
                match &self.maker {
                    OpenMaker::Script(script) => {
                        let mut take = |key| take(entry, key);
                        let taken = script.value((doc, score(doc)), given, |value| {
                            each_key(&value, self.kind, &mut take)
                        });
                        taken?
                    }
                    OpenMaker::Derived(open) => {
                        let values = open.borrow_mut().values(doc)?;
                        values.iter().try_for_each(|value| {
                            let value = ScriptValue::of_json(value);
                            one_key(&value, self.kind, &mut |key| take(entry, key))
                        })
                    }
                }
            };
        let Some(of) = &self.of else {
            let mut docs = (0_u32..).zip(docs);
            return docs.try_for_each(|(entry, doc)| run(entry, *doc, None));
        };
        let mut rows = Rows::default();
        of.read(docs, Repeats::Kept, &mut rows)?;
        let mut distinct = rows.values.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let keys = of.keys(&distinct).map_err(|source| AggError::Column {
            field: self.field.clone(),
            source: source.into(),
        })?;
        let given: Vec<GivenValue> = keys.iter().map(given).collect();
        for (entry, raw) in rows.entries.iter().zip(&rows.values) {
            if let Ok(at) = distinct.binary_search(raw) {
                run(*entry, docs[*entry as usize], given.get(at))?;
            }
        }
        Ok(())
    }
}

/// A value of a field as its script is given it: all numbers are fractions.
#[allow(
    clippy::cast_precision_loss,
    reason = "scripts of values are given floating-point numbers, as in OpenSearch"
)]
fn given(key: &Key) -> GivenValue {
    match key {
        Key::I64(whole) | Key::Date(whole) => GivenValue::Float(*whole as f64),
        Key::U64(whole) => GivenValue::Float(*whole as f64),
        Key::F64(number) => GivenValue::Float(*number),
        Key::Bool(truth) => GivenValue::Float(f64::from(u8::from(*truth))),
        Key::Str(text) => GivenValue::Text(text.clone()),
        Key::Ip(address) => GivenValue::Text(address.to_canonical().to_string().into()),
        Key::Null | Key::Tuple(_) => GivenValue::Text("".into()),
    }
}

/// Hands over the values that a script made: none of nothing, each of a list.
fn each_key(
    value: &ScriptValue<'_>,
    kind: ValueKind,
    take: &mut dyn FnMut(Key),
) -> Result<(), AggError> {
    match value.items() {
        Some(items) => items.iter().try_for_each(|item| one_key(item, kind, take)),
        None => one_key(value, kind, take),
    }
}

fn one_key(
    value: &ScriptValue<'_>,
    kind: ValueKind,
    take: &mut dyn FnMut(Key),
) -> Result<(), AggError> {
    match (value, kind) {
        (ScriptValue::Null, _) => {}
        (value, ValueKind::Keyword) => take(Key::Str(value.shown().into())),
        (value, ValueKind::Double) => take(Key::F64(number(value)?)),
        (ScriptValue::Whole(own) | ScriptValue::Date(own), _) => take(Key::I64(*own)),
        (value, _) => take(Key::I64(whole(number(value)?))),
    }
    Ok(())
}

/// A value as a number: a truth value is 1 or 0, a moment its milliseconds.
fn number(value: &ScriptValue<'_>) -> Result<f64, AggError> {
    let number = match value {
        ScriptValue::Bool(truth) => Some(f64::from(u8::from(*truth))),
        #[allow(
            clippy::cast_precision_loss,
            reason = "metrics compute in floating point, as their clients expect"
        )]
        ScriptValue::Date(millis) => Some(*millis as f64),
        other => other.number(),
    };
    // Nothing behind this reckons with numbers that are none.
    number.filter(|number| number.is_finite()).ok_or_else(|| {
        AggError::aggregation(format!(
            "Unsupported script value [{}], expected a number, date, or boolean",
            value.shown()
        ))
    })
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "whole numbers lose the fraction, and the cast saturates"
)]
fn whole(number: f64) -> i64 {
    number as i64
}

//! What is asked for can be written and read again, NaN and infinities as well.

use std::num::NonZeroI64;

use clew_query::{
    MovingModel, Script, ScriptLanguage, ScriptPurpose, SeasonModel, Seasons, SortMode,
};
use proptest::prelude::*;
use serde_json::Value;

use super::named;
use super::tape::Tape;
use clew_query::aggregation::*;

/// How many kinds [`Tape::spec`] knows.
const KINDS: u64 = 34;

impl Tape {
    fn direction(&mut self) -> Direction {
        self.of(&[Direction::Ascending, Direction::Descending])
    }

    fn order(&mut self) -> Vec<OrderBy> {
        self.some(|tape| OrderBy {
            key: match tape.below(3) {
                0 => OrderKey::Count,
                1 => OrderKey::Key,
                _ => OrderKey::Metric(tape.text()),
            },
            direction: tape.direction(),
        })
    }

    fn bounds(&mut self) -> Bounds {
        Bounds {
            min: self.maybe(Tape::scalar),
            max: self.maybe(Tape::scalar),
        }
    }

    fn interval(&mut self) -> DateInterval {
        match NonZeroI64::new(self.word().cast_signed()) {
            Some(step_ms) if self.flag() => DateInterval::Fixed { step_ms },
            _ => DateInterval::Calendar(self.of(&[CalendarUnit::Second, CalendarUnit::Quarter])),
        }
    }

    fn filter(&mut self) -> TermFilter {
        let set = |tape: &mut Tape| match tape.below(3) {
            0 => IncludeExclude::Values(tape.some(Tape::scalar)),
            1 => IncludeExclude::Pattern(tape.text()),
            _ => IncludeExclude::Partition {
                part: tape.small(),
                count: tape.small(),
            },
        };
        TermFilter {
            include: self.maybe(set),
            exclude: self.maybe(set),
        }
    }

    fn grid(&mut self) -> Grid {
        let number = u8::try_from(self.below(13)).unwrap();
        self.of(&[
            Grid::Geohash { precision: number },
            Grid::Geotile { zoom: number },
            Grid::Geohex { resolution: number },
        ])
    }

    fn composite_kind(&mut self) -> CompositeKind {
        let source = self.source();
        match self.below(4) {
            0 => CompositeKind::Terms(source),
            1 => CompositeKind::Histogram {
                source,
                interval: self.number(),
            },
            2 => CompositeKind::DateHistogram {
                source,
                interval: self.interval(),
                time_zone: self.maybe(Tape::text),
                offset_ms: self.word().cast_signed(),
            },
            _ => CompositeKind::Cells {
                source,
                grid: self.grid(),
                bounds: None,
            },
        }
    }

    fn summary(&mut self) -> Summary {
        match self.below(7) {
            0 => Summary::Avg,
            1 => Summary::Max,
            2 => Summary::Min,
            3 => Summary::Sum,
            4 => Summary::Stats,
            5 => Summary::ExtendedStats {
                sigma: self.number(),
            },
            _ => Summary::Percentiles {
                percents: self.some(Tape::number),
                keyed: self.flag(),
            },
        }
    }

    fn script(&mut self) -> Box<Script> {
        let text = self.of(&[
            "params.a / params.b * 100",
            "double a = -params.a; if (a > 1.5 && !(params.b <= 0.1)) { return a } Math.max(params.b, 3)",
        ]);
        let language = ScriptLanguage::Painless;
        let script = Script::read(text, language, &Value::Null, ScriptPurpose::Bucket);
        Box::new(script.unwrap())
    }

    fn window_script(&mut self) -> Box<Script> {
        let text = self.of(&[
            "MovingFunctions.holt(values, 0.25, params.beta)",
            "values.length > 1 && \"a\" =~ /a+/i ? values[1] : MovingFunctions.max(values)",
        ]);
        let language = ScriptLanguage::Painless;
        let script = Script::read(text, language, &Value::Null, ScriptPurpose::Window);
        Box::new(script.unwrap())
    }

    fn moving_model(&mut self) -> MovingModel {
        let (alpha, beta) = (self.number(), self.number());
        let seasons = SeasonModel {
            factors: [alpha, beta, 0.5],
            period: self.size(),
            seasons: self.of(&[Seasons::Added, Seasons::Multiplied]),
            padding: 0.0,
        };
        self.of(&[
            MovingModel::Mean,
            MovingModel::LinearMean,
            MovingModel::Exponential { alpha },
            MovingModel::Trend { alpha, beta },
            MovingModel::Seasonal(seasons),
        ])
    }

    fn pipeline(&mut self) -> PipelineKind {
        match self.below(9) {
            0 => PipelineKind::Summary(self.summary()),
            1 => PipelineKind::Sequence(Sequence::Derivative {
                unit_ms: self.maybe(Tape::number),
            }),
            2 => PipelineKind::Sequence(Sequence::CumulativeSum),
            3 => PipelineKind::Sequence(Sequence::SerialDiff { lag: self.size() }),
            4 => PipelineKind::Sequence(Sequence::MovingFn {
                window: self.size(),
                shift: self.word().cast_signed(),
                script: self.window_script(),
            }),
            7 => PipelineKind::Sequence(Sequence::MovingAvg(MovingAverage {
                window: self.size(),
                model: self.moving_model(),
                is_fitted: self.flag(),
                predicted: self.size(),
            })),
            5 => PipelineKind::Script(self.script()),
            6 => PipelineKind::Selector(self.script()),
            _ => PipelineKind::Sort {
                by: self.some(|tape| (tape.text(), tape.direction())),
                from: self.size(),
                size: self.maybe(Tape::size),
            },
        }
    }

    fn heuristic(&mut self) -> Heuristic {
        let comparison = Comparison {
            superset: self.flag(),
            negatives: self.flag(),
        };
        self.of(&[
            Heuristic::Jlh,
            Heuristic::ChiSquare(comparison),
            Heuristic::MutualInformation(comparison),
            Heuristic::Gnd { superset: true },
            Heuristic::Percentage,
        ])
    }

    fn metric(&mut self, kind: u64) -> AggSpec {
        let source = self.source();
        match kind {
            0 => AggSpec::Min(source),
            1 => AggSpec::Max(source),
            2 => AggSpec::Avg(source),
            3 => AggSpec::Sum(source),
            4 => AggSpec::ValueCount(source),
            5 => AggSpec::Stats(source),
            6 => AggSpec::ExtendedStats(ExtendedStatsSpec {
                source,
                sigma: self.number(),
            }),
            7 => AggSpec::Cardinality(CardinalitySpec {
                source,
                precision_threshold: self.small(),
            }),
            8 => AggSpec::Percentiles(PercentilesSpec {
                source,
                points: self.some(Tape::number),
                ranks: self.flag(),
                keyed: self.flag(),
                method: match self.flag() {
                    true => Method::Hdr { digits: 3 },
                    false => Method::TDigest {
                        compression: self.number(),
                    },
                },
            }),
            9 => AggSpec::MedianDeviation(MedianDeviationSpec {
                source,
                compression: self.number(),
            }),
            10 => AggSpec::WeightedAvg(WeightedAvgSpec {
                value: source,
                weight: self.source(),
                format: self.maybe(Tape::text),
            }),
            11 => AggSpec::GeoBounds(GeoBoundsSpec {
                source,
                wrap: self.flag(),
            }),
            12 => AggSpec::GeoCentroid(source),
            13 => AggSpec::Matrix(MatrixSpec {
                fields: self.some(Tape::source),
                mode: self.of(&[SortMode::Avg, SortMode::Sum]),
            }),
            _ => AggSpec::TopHits(TopHitsSpec {
                from: self.size(),
                size: self.size(),
                sort: self.some(Tape::sort_key),
                track_scores: self.flag(),
            }),
        }
    }

    /// Buckets by values.
    fn values(&mut self, kind: u64) -> AggSpec {
        let source = self.source();
        match kind {
            0 => AggSpec::Terms(TermsSpec {
                source,
                size: self.small(),
                shard_size: self.maybe(Tape::small),
                min_doc_count: self.word(),
                shard_min_doc_count: self.word(),
                order: self.order(),
                filter: self.filter(),
                show_error: self.flag(),
            }),
            1 | 2 | 8 | 9 => self.intervals(source, kind),
            3 => AggSpec::Range(RangeSpec {
                source,
                ranges: self.some(|tape| RangeItem {
                    key: tape.maybe(Tape::text),
                    from: tape.maybe(Tape::scalar),
                    to: tape.maybe(Tape::scalar),
                    mask: tape.maybe(Tape::text),
                }),
                keyed: self.flag(),
                kind: self.of(&[EndKind::Numbers, EndKind::Distances]),
                time_zone: self.maybe(Tape::text),
                origin: self.maybe(|tape| DistanceOrigin {
                    place: tape.point(),
                    unit_metres: tape.number(),
                }),
            }),
            4 => AggSpec::Missing(source),
            5 => AggSpec::RareTerms(RareTermsSpec {
                source,
                max_doc_count: self.word(),
                filter: self.filter(),
            }),
            6 => AggSpec::GeoGrid(GridSpec {
                source,
                grid: self.grid(),
                bounds: self.maybe(|tape| GridBounds {
                    top: tape.number(),
                    left: tape.number(),
                    bottom: tape.number(),
                    right: tape.number(),
                }),
                size: self.small(),
                shard_size: self.maybe(Tape::small),
            }),
            7 => self.significant(source),
            _ => AggSpec::MultiTerms(MultiTermsSpec {
                sources: self.some(Tape::source),
                size: self.small(),
                shard_size: self.maybe(Tape::small),
                min_doc_count: self.word(),
                shard_min_doc_count: self.word(),
                order: self.order(),
                show_error: self.flag(),
            }),
        }
    }

    /// Words that stand out.
    fn significant(&mut self, source: Source) -> AggSpec {
        AggSpec::SignificantTerms(SignificantSpec {
            source,
            size: self.small(),
            shard_size: self.maybe(Tape::small),
            min_doc_count: self.word(),
            shard_min_doc_count: self.word(),
            filter: self.filter(),
            heuristic: self.heuristic(),
            background: self.maybe(Tape::query),
            words: self.maybe(|tape| WordsSpec {
                drops_copies: tape.flag(),
                paths: tape.some(Tape::text),
            }),
        })
    }

    /// Buckets by intervals of values.
    fn intervals(&mut self, source: Source, kind: u64) -> AggSpec {
        match kind {
            1 => AggSpec::DateHistogram(DateHistogramSpec {
                source,
                interval: self.interval(),
                time_zone: self.maybe(Tape::text),
                offset_ms: self.word().cast_signed(),
                min_doc_count: self.word(),
                extended_bounds: self.maybe(Tape::bounds),
                hard_bounds: self.maybe(Tape::bounds),
                order: self.order(),
                keyed: self.flag(),
            }),
            2 => AggSpec::Histogram(HistogramSpec {
                source,
                interval: self.number(),
                offset: self.number(),
                min_doc_count: self.word(),
                extended_bounds: self.maybe(Tape::bounds),
                hard_bounds: self.maybe(Tape::bounds),
                order: self.order(),
                keyed: self.flag(),
            }),
            8 => AggSpec::VariableWidth(VariableWidthSpec {
                source,
                buckets: self.small(),
            }),
            _ => AggSpec::AutoDateHistogram(AutoDateSpec {
                source,
                buckets: self.small(),
                time_zone: self.maybe(Tape::text),
                minimum: self.maybe(|tape| tape.of(&[CalendarUnit::Hour, CalendarUnit::Year])),
            }),
        }
    }

    fn spec(&mut self, kind: u64) -> AggSpec {
        match kind {
            0..15 => self.metric(kind),
            15..26 => self.values(kind - 15),
            26 => AggSpec::Nested(NestedSpec { path: self.text() }),
            27 => AggSpec::ReverseNested(ReverseNestedSpec {
                path: self.maybe(Tape::text),
            }),
            28 => AggSpec::Relatives(RelativesSpec {
                way: self.of(&[Generation::Children, Generation::Parents]),
                kind: self.text(),
            }),
            29 => AggSpec::Filters(FiltersSpec {
                filters: self.some(|tape| (tape.text(), tape.query())),
                shape: self.of(&[
                    FilterShape::Single,
                    FilterShape::Named {
                        keyed: true,
                        other: Some("x".to_string()),
                    },
                    FilterShape::Adjacency {
                        separator: "&".to_string(),
                    },
                ]),
            }),
            30 => AggSpec::Global(GlobalSpec),
            31 => AggSpec::Composite(CompositeSpec {
                sources: self.some(|tape| CompositeSource {
                    name: tape.text(),
                    kind: tape.composite_kind(),
                    missing_bucket: tape.flag(),
                    missing_order: tape.of(&[MissingOrder::Default, MissingOrder::Last]),
                    direction: tape.direction(),
                }),
                size: self.small(),
                after: self.maybe(|tape| tape.some(|tape| (tape.text(), tape.maybe(Tape::scalar)))),
            }),
            32 => AggSpec::Sample(SampleSpec {
                size: self.small(),
                diverse: self.maybe(|tape| (tape.source(), tape.small())),
            }),
            _ => AggSpec::Pipeline(PipelineSpec {
                kind: self.pipeline(),
                paths: self.some(|tape| (tape.text(), tape.text())),
                gaps: self.of(&[GapPolicy::Skip, GapPolicy::InsertZeros]),
                format: self.maybe(Tape::text),
            }),
        }
    }

    fn agg(&mut self, kind: u64) -> NamedAgg {
        let spec = self.spec(kind);
        self.depth += 1;
        let subs = match self.depth {
            1..3 => self.some(|tape| {
                let kind = tape.below(KINDS);
                tape.agg(kind)
            }),
            _ => Vec::new(),
        };
        self.depth -= 1;
        named(&self.text(), spec, subs)
    }
}

fn check(agg: &NamedAgg) {
    let mut written = Vec::new();
    ciborium::into_writer(agg, &mut written).unwrap();
    let read: NamedAgg = ciborium::from_reader(&written[..]).unwrap();
    // Unlike `==`, the text says that NaN is NaN, and that zero has a sign.
    assert_eq!(format!("{read:?}"), format!("{agg:?}"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_asked_for_is_read_as_it_was_written(
        words in prop::collection::vec(any::<u64>(), 200..400),
    ) {
        for kind in 0..KINDS {
            let words = words.clone().into_iter();
            check(&Tape { words, depth: 0 }.agg(kind));
        }
    }
}

//! Metrics in the text format of OpenMetrics 1.0, in which histograms bear examples of what they count.
//! Source: <https://prometheus.io/docs/specs/om/open_metrics_spec/>.

use std::fmt::{self, Write};

use axum::http::{HeaderMap, header};
use clew_profile::ExemplarBook;
use prometheus::proto::{Histogram, Metric, MetricFamily, MetricType};

/// What the format is called.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Whether a client would rather have this format than Prometheus' own.
pub(crate) fn is_wanted(headers: &HeaderMap) -> bool {
    let texts = headers.get_all(header::ACCEPT).iter();
    let ranges = texts
        .filter_map(|text| text.to_str().ok())
        .flat_map(|text| text.split(','));
    let (mut own, mut plain) = (0.0, 0.0);
    for range in ranges {
        let mut words = range.split(';').map(str::trim);
        let kind = words.next().unwrap_or_default().to_ascii_lowercase();
        let (mut weight, mut is_known) = (1.0_f32, true);
        for (name, value) in words.filter_map(|word| word.split_once('=')) {
            match name.trim().to_ascii_lowercase().as_str() {
                "q" => weight = value.trim().parse().unwrap_or(0.0),
                // What 0.0.1 asks for is in 1.0.0, which it became.
                "version" => {
                    let version = value.trim().trim_matches('"');
                    is_known = matches!(version, "1.0.0" | "0.0.1");
                }
                _ => {}
            }
        }
        match kind.as_str() {
            "application/openmetrics-text" if is_known => own = weight.max(own),
            "text/plain" => plain = weight.max(plain),
            _ => {}
        }
    }
    own > 0.0 && own >= plain
}

/// The whole page.
pub(crate) fn encode(families: &[MetricFamily], book: &ExemplarBook) -> String {
    let mut page = String::new();
    // A text takes whatever is written to it.
    let _ = write_all(&mut page, families, book);
    page
}

fn write_all(page: &mut String, families: &[MetricFamily], book: &ExemplarBook) -> fmt::Result {
    for family in families {
        let kind = Kind::of(family);
        let name = kind.name(family.name());
        writeln!(page, "# TYPE {name} {}", kind.word())?;
        if !family.help().is_empty() {
            write!(page, "# HELP {name} ")?;
            write_escaped(page, family.help())?;
            page.push('\n');
        }
        for metric in family.get_metric() {
            match kind {
                Kind::Counter => {
                    let value = metric.get_counter().get_value();
                    write_sample(page, (name, "_total"), (metric, None), Number(value))?;
                    page.push('\n');
                }
                Kind::Gauge => {
                    let value = metric.get_gauge().get_value();
                    write_sample(page, (name, ""), (metric, None), Number(value))?;
                    page.push('\n');
                }
                Kind::Histogram => write_histogram(page, name, metric, book)?,
                Kind::Unknown => {}
            }
        }
    }
    page.push_str("# EOF\n");
    Ok(())
}

/// What a family is in this format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
    /// There is none of these here.
    Unknown,
}

impl Kind {
    fn of(family: &MetricFamily) -> Kind {
        match family.get_field_type() {
            MetricType::COUNTER => Kind::Counter,
            MetricType::GAUGE => Kind::Gauge,
            MetricType::HISTOGRAM => Kind::Histogram,
            MetricType::SUMMARY | MetricType::UNTYPED => Kind::Unknown,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
            Kind::Unknown => "unknown",
        }
    }

    /// The family's name; samples of counters have more behind it.
    fn name(self, name: &str) -> &str {
        match self {
            Kind::Counter => name.strip_suffix("_total").unwrap_or(name),
            _ => name,
        }
    }
}

fn write_histogram(
    page: &mut String,
    name: &str,
    metric: &Metric,
    book: &ExemplarBook,
) -> fmt::Result {
    let labels: Vec<(&str, &str)> = labels_of(metric).collect();
    let exemplars = book.of(name, &labels);
    let histogram: &Histogram = metric.get_histogram();
    let buckets = histogram.get_bucket().iter();
    let mut buckets: Vec<(f64, u64)> = buckets
        .map(|bucket| (bucket.upper_bound(), bucket.cumulative_count()))
        .collect();
    if buckets.last().is_none_or(|(bound, _)| bound.is_finite()) {
        buckets.push((f64::INFINITY, histogram.get_sample_count()));
    }
    for (place, (bound, count)) in buckets.into_iter().enumerate() {
        write_sample(page, (name, "_bucket"), (metric, Some(bound)), count)?;
        let exemplar = exemplars
            .as_ref()
            .and_then(|exemplars| exemplars.of_bucket(place));
        // One that was noted since the histogram was read is shown with the next page.
        if let Some(exemplar) = exemplar.filter(|_| count > 0) {
            write!(
                page,
                " # {{trace_id=\"{}\",span_id=\"{}\"}} {} {}.{:03}",
                exemplar.trace,
                exemplar.span,
                Number(exemplar.value),
                exemplar.at.as_secs(),
                exemplar.at.subsec_millis()
            )?;
        }
        page.push('\n');
    }
    let count = histogram.get_sample_count();
    write_sample(page, (name, "_count"), (metric, None), count)?;
    page.push('\n');
    let sum = histogram.get_sample_sum();
    write_sample(page, (name, "_sum"), (metric, None), Number(sum))?;
    page.push('\n');
    Ok(())
}

fn labels_of(metric: &Metric) -> impl Iterator<Item = (&str, &str)> {
    let labels = metric.get_label().iter();
    labels.map(|label| (label.name(), label.value()))
}

fn write_sample(
    page: &mut String,
    (name, suffix): (&str, &str),
    (metric, bound): (&Metric, Option<f64>),
    value: impl fmt::Display,
) -> fmt::Result {
    write!(page, "{name}{suffix}")?;
    let mut before = '{';
    for (label, value) in labels_of(metric) {
        write!(page, "{before}{label}=\"")?;
        write_escaped(page, value)?;
        page.push('"');
        before = ',';
    }
    if let Some(bound) = bound {
        write!(page, "{before}le=\"{}\"", Number(bound))?;
        before = ',';
    }
    if before == ',' {
        page.push('}');
    }
    write!(page, " {value}")
}

/// A number as the format writes it: with a point, so that bounds of buckets are the same text everywhere.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            value if value.is_nan() => f.write_str("NaN"),
            f64::INFINITY => f.write_str("+Inf"),
            f64::NEG_INFINITY => f.write_str("-Inf"),
            value => write!(f, "{value:?}"),
        }
    }
}

/// Texts of labels and of help.
fn write_escaped(page: &mut String, text: &str) -> fmt::Result {
    for letter in text.chars() {
        match letter {
            '\\' => page.push_str("\\\\"),
            '"' => page.push_str("\\\""),
            '\n' => page.push_str("\\n"),
            other => page.push(other),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clew_profile::{RequestMetrics, RequestNames, Spent, TraceParent};
    use prometheus::{IntCounter, IntCounterVec, IntGauge, Opts, Registry};

    use super::*;

    #[test]
    fn who_would_rather_have_it_gets_it() {
        let scraper = "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,\
                       text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        for (accept, wanted) in [
            (scraper, true),
            ("application/openmetrics-text", true),
            ("Application/OpenMetrics-Text ; Version=1.0.0", true),
            ("application/openmetrics-text; version=\"1.0.0\"", true),
            ("text/plain, application/openmetrics-text", true),
            ("application/openmetrics-text; q=0.2, text/plain", false),
            ("application/openmetrics-text; q=0", false),
            ("application/openmetrics-text; q=x", false),
            ("application/openmetrics-text; version=2.0.0", false),
            ("text/plain;version=0.0.4", false),
            ("*/*", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(is_wanted(&headers), wanted, "{accept}");
        }
        assert!(!is_wanted(&HeaderMap::new()));
    }

    #[test]
    fn a_page_has_counters_gauges_and_histograms_with_examples() {
        let (registry, book) = (Registry::new(), std::sync::Arc::<ExemplarBook>::default());
        let counter = IntCounterVec::new(Opts::new("a_total", "Of \"a\"."), &["k"]).unwrap();
        counter.with_label_values(&["x\\\n\"y\""]).inc_by(3);
        let read = IntCounter::new("b_total", "B.").unwrap();
        let open = IntGauge::new("c_open", "Open.").unwrap();
        open.set(-2);
        let names = RequestNames {
            total: "d_requests_total",
            seconds: "d_seconds",
            part_seconds: "d_part_seconds",
            class: "call",
        };
        registry.register(Box::new(counter)).unwrap();
        registry.register(Box::new(read)).unwrap();
        registry.register(Box::new(open)).unwrap();
        let metrics = RequestMetrics::new(names, Some(&registry), book.clone()).unwrap();
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let spent = Spent::of_request(TraceParent::read(parent, None), None, false).unwrap();
        let trace = spent.trace().unwrap();
        metrics.observe("s", "ok", Duration::from_millis(1500), Some(trace));
        let page = encode(&registry.gather(), &book);
        let begin = "# TYPE a counter\n# HELP a Of \\\"a\\\".\na_total{k=\"x\\\\\\n\\\"y\\\"\"} 3.0\n\
                     # TYPE b counter\n# HELP b B.\nb_total 0.0\n# TYPE c_open gauge\n# HELP c_open Open.\nc_open -2.0\n";
        assert!(page.starts_with(begin), "{page}");
        assert!(page.ends_with("# EOF\n"));
        let example = format!(
            "d_seconds_bucket{{call=\"s\",le=\"2.0\"}} 1 # {{trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\",span_id=\"{}\"}} 1.5 ",
            trace.span()
        );
        assert!(page.contains(&example), "{page}");
        assert!(page.contains("d_seconds_bucket{call=\"s\",le=\"1.0\"} 0\n"));
        assert!(page.contains("d_seconds_bucket{call=\"s\",le=\"+Inf\"} 1\n"));
        assert!(page.contains("d_seconds_count{call=\"s\"} 1\nd_seconds_sum{call=\"s\"} 1.5\n"));
        assert_eq!(page.matches("trace_id").count(), 1);
    }
}

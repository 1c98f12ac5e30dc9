//! Figures of `GET /_metrics` that others count by themselves, and that are read for each page.

use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};

/// One that only grows, as its name then says, is a counter.
pub(crate) enum Figure {
    Grows(IntCounterVec),
    Varies(IntGaugeVec),
}

impl Figure {
    /// Registered, and told for nothing yet.
    ///
    /// # Errors
    /// When the registry has one of this name.
    pub(crate) fn new(
        registry: &Registry,
        name: &str,
        help: &str,
        labels: &[&str],
    ) -> anyhow::Result<Self> {
        let about = Opts::new(name, help);
        if name.ends_with("_total") {
            let counter = IntCounterVec::new(about, labels)?;
            registry.register(Box::new(counter.clone()))?;
            return Ok(Figure::Grows(counter));
        }
        let gauge = IntGaugeVec::new(about, labels)?;
        registry.register(Box::new(gauge.clone()))?;
        Ok(Figure::Varies(gauge))
    }

    /// Tells it for values of its labels, of which each has its own; once for a page.
    pub(crate) fn tell(&self, labels: &[&str], value: u64) {
        match self {
            Figure::Grows(counter) => counter.with_label_values(labels).inc_by(value),
            // What is not limited has a limit that no gauge can show.
            Figure::Varies(gauge) => gauge
                .with_label_values(labels)
                .set(i64::try_from(value).unwrap_or(i64::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use prometheus::TextEncoder;

    use super::*;

    #[test]
    fn what_only_grows_is_a_counter_and_all_else_a_gauge() {
        let registry = Registry::new();
        let grows = Figure::new(&registry, "a_total", "A.", &["k"]).unwrap();
        grows.tell(&["x"], 3);
        let varies = Figure::new(&registry, "b", "B.", &[]).unwrap();
        varies.tell(&[], 7);
        assert!(Figure::new(&registry, "b", "B.", &[]).is_err());
        let page = TextEncoder::new().encode_to_string(&registry.gather());
        assert_eq!(
            page.unwrap(),
            "# HELP a_total A.\n# TYPE a_total counter\na_total{k=\"x\"} 3\n\
             # HELP b B.\n# TYPE b gauge\nb 7\n"
        );
    }
}

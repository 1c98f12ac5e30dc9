//! Which way each metric is better, and its unit: by its name, where units stand last.

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
    /// Neither: what was given, or what only says how the others came about.
    Unknown,
}

impl Better {
    pub(super) fn words(self) -> &'static str {
        match self {
            Better::Higher => "higher is better",
            Better::Lower => "lower is better",
            Better::Unknown => "no way is better",
        }
    }
}

#[derive(Clone, Copy)]
enum Name {
    Is(&'static str),
    Begins(&'static str),
    Ends(&'static str),
}

/// The first line that fits a name decides.
const METRICS: &[(Name, &str, Better)] = &[
    (Name::Is("qps"), "/s", Better::Higher),
    (Name::Is("recall"), "", Better::Higher),
    (Name::Ends("_per_s"), "/s", Better::Higher),
    (Name::Ends("_per_cpu_s"), "/CPU-s", Better::Higher),
    (Name::Begins("us_per_"), "µs", Better::Lower),
    (Name::Begins("ns_per_"), "ns", Better::Lower),
    (Name::Begins("bytes_per_"), "B", Better::Lower),
    (Name::Begins("allocs_per_"), "", Better::Lower),
    (Name::Ends("_ns_per_entry"), "ns", Better::Lower),
    (Name::Ends("_us_per_document"), "µs", Better::Lower),
    (Name::Ends("_bytes_per_vector"), "B", Better::Lower),
    (Name::Ends("_us"), "µs", Better::Lower),
    (Name::Ends("_ms"), "ms", Better::Lower),
    (Name::Ends("_s"), "s", Better::Lower),
    (Name::Ends("_mb"), "MB", Better::Lower),
    (Name::Ends("bytes"), "B", Better::Lower),
    (Name::Begins("bytes_"), "B", Better::Lower),
    (Name::Is("seconds"), "s", Better::Lower),
    (Name::Is("codes"), "", Better::Lower),
    (Name::Is("vectors"), "", Better::Lower),
    (Name::Is("allocations"), "", Better::Lower),
    (Name::Is("instructions"), "", Better::Lower),
    (Name::Is("failed"), "", Better::Lower),
    (Name::Is("failures"), "", Better::Lower),
    (Name::Is("refusals"), "", Better::Lower),
    (Name::Is("unsent"), "", Better::Lower),
];

/// Unit and better way of a metric.
pub(super) fn of(metric: &str) -> (&'static str, Better) {
    let fits = |name: Name| match name {
        Name::Is(text) => metric == text,
        Name::Begins(text) => metric.starts_with(text),
        Name::Ends(text) => metric.ends_with(text),
    };
    let found = METRICS.iter().find(|(name, ..)| fits(*name));
    found.map_or(("", Better::Unknown), |&(_, unit, better)| (unit, better))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_unit_and_better_way() {
        for (name, unit, better) in [
            ("qps", "/s", Better::Higher),
            ("lines_per_cpu_s", "/CPU-s", Better::Higher),
            ("p99_ms", "ms", Better::Lower),
            ("ns_per_entry", "ns", Better::Lower),
            ("append_ns_per_entry", "ns", Better::Lower),
            ("walk_bytes_per_vector", "B", Better::Lower),
            ("document_bytes", "B", Better::Lower),
            ("bytes_touched", "B", Better::Lower),
            ("merge_s", "s", Better::Lower),
            ("documents", "", Better::Unknown),
            ("min", "", Better::Unknown),
        ] {
            assert_eq!(of(name), (unit, better), "{name}");
        }
    }
}

//! What a request for a profile asks for, checked.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use clew_profile::{Format, OffCpuMode, ProfileKind, Rate};

/// Without a wish.
pub(super) const SECONDS_DEFAULT: u64 = 10;
pub(super) const RATE_DEFAULT: u32 = 99;
/// A request is not to hang for longer.
pub(super) const SECONDS_MAX: u64 = 300;

/// The names that kinds have in addresses, which are those of Go's tools but for `offcpu`, and the value that each shows without a
/// wish.
const KINDS: [(&str, ProfileKind, &str); 4] = [
    ("profile", ProfileKind::OnCpu, "cpu"),
    ("offcpu", ProfileKind::OffCpu, "blocked"),
    ("heap", ProfileKind::Heap, "inuse_space"),
    ("allocs", ProfileKind::Heap, "alloc_space"),
];

/// A kind, and the value that is shown of it without a wish, by the last part of its address.
pub(super) fn kind_of(name: &str) -> Result<(ProfileKind, &'static str), String> {
    let known = KINDS.iter().find(|(known, ..)| *known == name);
    let names = KINDS.map(|(name, ..)| name).join(", ");
    known
        .map(|(_, kind, value)| (*kind, *value))
        .ok_or_else(|| format!("no kind of profile is named [{name}]: there are {names}"))
}

/// A capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AskedCapture {
    pub(super) kind: ProfileKind,
    pub(super) length: Duration,
    pub(super) rate: Rate,
    pub(super) is_exact: bool,
    /// Not a new capture, but what was kept from the first moment to the second.
    pub(super) kept: Option<(SystemTime, SystemTime)>,
    pub(super) format: Format,
    /// Index of the value to show.
    pub(super) value: usize,
}

impl AskedCapture {
    /// `shown_value` is the value that is shown where none is asked for.
    pub(super) fn read(
        kind: ProfileKind,
        shown_value: &str,
        params: &HashMap<String, String>,
    ) -> Result<Self, String> {
        // Go's tools may say the last two, which mean nothing here.
        const KNOWN: [&str; 9] = [
            "seconds", "rate", "mode", "format", "value", "from", "to", "debug", "gc",
        ];
        if let Some(unknown) = params.keys().find(|name| !KNOWN.contains(&name.as_str())) {
            return Err(format!(
                "unknown parameter [{unknown}]: there are {}",
                KNOWN[..7].join(", ")
            ));
        }
        let seconds = number(params, "seconds", SECONDS_DEFAULT)?;
        if !(1..=SECONDS_MAX).contains(&seconds) {
            return Err(format!(
                "[seconds] is {seconds}, and must be from 1 to {SECONDS_MAX}"
            ));
        }
        let rate = number(params, "rate", RATE_DEFAULT.into())?;
        let rate = Rate::per_second(u32::try_from(rate).unwrap_or(u32::MAX));
        let is_exact = match params.get("mode").map(String::as_str) {
            None | Some("sampled") => false,
            Some("exact") if kind == ProfileKind::OffCpu => true,
            Some(other) => return Err(format!("[mode] is {other}: sampled, or for offcpu exact")),
        };
        let kept = kept_time(kind, params)?;
        let format = params.get("format").map_or("pprof", String::as_str);
        let name = params.get("value").map_or(shown_value, String::as_str);
        let values = kind.values();
        let found = values.iter().position(|value| value.name == name);
        let value = found.ok_or_else(|| {
            let names: Vec<String> = values.into_iter().map(|value| value.name).collect();
            format!("[value] is {name}: there are {}", names.join(", "))
        })?;
        Ok(AskedCapture {
            kind,
            length: Duration::from_secs(seconds),
            rate: rate.map_err(|error| format!("[rate]: {error}"))?,
            is_exact,
            kept,
            format: Format::by_name(format)
                .ok_or_else(|| format!("[format] is {format}: pprof, collapsed, svg or html"))?,
            value,
        })
    }

    pub(super) fn off_cpu_mode(&self) -> OffCpuMode {
        match self.is_exact {
            true => OffCpuMode::Exact,
            false => OffCpuMode::Sampled(self.rate),
        }
    }
}

/// The time that is asked for of what was kept.
fn kept_time(
    kind: ProfileKind,
    params: &HashMap<String, String>,
) -> Result<Option<(SystemTime, SystemTime)>, String> {
    let Some(from) = params.get("from") else {
        return match params.contains_key("to") {
            true => Err("[to] goes with [from]".to_string()),
            false => Ok(None),
        };
    };
    if kind != ProfileKind::OnCpu {
        return Err("only time on the processors is kept".to_string());
    }
    if params.contains_key("seconds") || params.contains_key("rate") {
        return Err("what was kept has its [seconds] and its [rate]".to_string());
    }
    let moment = |name: &str, text: &String| {
        let parsed: Result<jiff::Timestamp, _> = text.parse();
        let parsed = parsed.map_err(|error| format!("[{name}] is {text}, and no moment: {error}"));
        parsed.map(SystemTime::from)
    };
    let from = moment("from", from)?;
    let to = (params.get("to")).map_or_else(|| Ok(SystemTime::now()), |to| moment("to", to))?;
    match from < to {
        true => Ok(Some((from, to))),
        false => Err("[from] is not before [to]".to_string()),
    }
}

fn number(params: &HashMap<String, String>, name: &str, default: u64) -> Result<u64, String> {
    let Some(text) = params.get(name) else {
        return Ok(default);
    };
    text.parse()
        .map_err(|_| format!("[{name}] is {text}, and no whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: ProfileKind, query: &str) -> Result<AskedCapture, String> {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let params = pairs.map(|(name, value)| (name.to_string(), value.to_string()));
        let (_, _, shown) = KINDS.iter().find(|(_, known, _)| *known == kind).unwrap();
        AskedCapture::read(kind, shown, &params.collect())
    }

    #[test]
    fn each_address_shows_a_value_of_its_own() {
        for (name, _, shown) in KINDS {
            let (kind, value) = kind_of(name).unwrap();
            let asked = AskedCapture::read(kind, value, &HashMap::new()).unwrap();
            assert_eq!(kind.values()[asked.value].name, shown, "{name}");
        }
    }

    #[test]
    fn what_is_asked_for_has_bounds_that_are_told() {
        let refused = [
            (ProfileKind::OnCpu, "seconds=0", "from 1 to 300"),
            (ProfileKind::OnCpu, "seconds=10000", "from 1 to 300"),
            (ProfileKind::OnCpu, "seconds=x", "no whole number"),
            (ProfileKind::OnCpu, "rate=0", "from 1 to 1000"),
            (ProfileKind::OnCpu, "rate=99999999999", "from 1 to 1000"),
            (
                ProfileKind::OnCpu,
                "mode=exact",
                "sampled, or for offcpu exact",
            ),
            (
                ProfileKind::OnCpu,
                "format=png",
                "pprof, collapsed, svg or html",
            ),
            (
                ProfileKind::OnCpu,
                "value=blocked",
                "there are samples, cpu",
            ),
            (ProfileKind::OnCpu, "second=1", "unknown parameter [second]"),
            (ProfileKind::OnCpu, "from=14:05", "no moment"),
            (
                ProfileKind::OnCpu,
                "to=2026-11-25T14:05:00Z",
                "[to] goes with [from]",
            ),
            (
                ProfileKind::OnCpu,
                "from=2026-11-25T14:05:00Z&to=2026-11-25T14:05:00Z",
                "not before",
            ),
            (
                ProfileKind::OnCpu,
                "from=2026-11-25T14:05:00Z&seconds=3",
                "its [seconds]",
            ),
            (
                ProfileKind::Heap,
                "from=2026-11-25T14:05:00Z",
                "only time on the processors",
            ),
        ];
        for (kind, query, told) in refused {
            let error = read(kind, query).unwrap_err();
            assert!(error.contains(told), "{query}: {error}");
        }
        let asked = read(
            ProfileKind::OffCpu,
            "seconds=2&mode=exact&value=runqueue&format=svg",
        )
        .unwrap();
        assert_eq!((asked.length, asked.value), (Duration::from_secs(2), 0));
        assert_eq!(asked.off_cpu_mode(), OffCpuMode::Exact);
        let asked = read(ProfileKind::OnCpu, "from=2026-11-25T14:05:00Z").unwrap();
        assert!(asked.kept.is_some_and(|(from, to)| from < to));
        assert!(
            kind_of("mutex")
                .unwrap_err()
                .contains("profile, offcpu, heap")
        );
    }
}

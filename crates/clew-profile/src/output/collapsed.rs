//! Collapsed stacks: a line for each stack, its frames from the outermost on with semicolons between them, and a number.

use std::collections::BTreeMap;
use std::io::Write;

use crate::profile::{Interned, Profile};
use crate::{Function, Line, Location, ProfileError, Sample, ValueType};

pub(super) fn write(
    profile: &Profile,
    value: usize,
    to: &mut dyn Write,
) -> Result<(), ProfileError> {
    let mut lines: BTreeMap<String, i64> = BTreeMap::new();
    for sample in &profile.samples {
        let of = sample.values.get(value).copied().unwrap_or_default();
        if of != 0 {
            let names: Vec<String> = profile
                .names(sample)
                .map(|name| name.replace(';', ":"))
                .collect();
            let sum = lines.entry(names.join(";")).or_default();
            *sum = sum.saturating_add(of);
        }
    }
    for (stack, value) in lines {
        writeln!(to, "{stack} {value}")?;
    }
    Ok(())
}

pub(super) fn read(bytes: &[u8]) -> Result<Profile, ProfileError> {
    let text = std::str::from_utf8(bytes);
    let text = text.map_err(|_| ProfileError::Malformed("neither pprof's nor text".to_string()))?;
    let mut functions = Interned::new();
    let mut samples = Vec::new();
    for (number, line) in (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let parts = line.trim_end().rsplit_once(' ');
        let parsed = parts.and_then(|(stack, value)| Some((stack, value.parse().ok()?)));
        let (stack, value) = parsed.ok_or_else(|| {
            ProfileError::Malformed(format!(
                "line {number} is not of the form `frame;frame NUMBER`"
            ))
        })?;
        let number_of = |name: &str| {
            functions.number(Function {
                name: name.to_string(),
                file: String::new(),
            })
        };
        samples.push(Sample {
            stack: stack.rsplit(';').map(number_of).collect(),
            values: vec![value],
            thread: None,
        });
    }
    if samples.is_empty() {
        return Err(ProfileError::Malformed("it holds no stack".to_string()));
    }
    let location = |(function, _)| Location {
        address: 0,
        lines: vec![Line { function, line: 0 }],
    };
    Ok(Profile {
        values: vec![ValueType {
            name: "samples".to_string(),
            unit: "count".to_string(),
        }],
        samples,
        locations: (0..).zip(&functions.all).map(location).collect(),
        functions: functions.all,
        ..Profile::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_stacks_are_told() {
        for (text, told) in [
            ("", "no stack"),
            ("a;b 1\na;b\n", "line 2"),
            ("a;b x\n", "line 1"),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        assert!(read(&[0xff, 0xfe]).is_err());
        // As some tools end their lines.
        let read = read(b"a;b c 1 \r\na 2\t\n").unwrap();
        assert_eq!(read.total(0), 3);
        assert!(read.names(&read.samples[0]).eq(["a", "b c"]));
    }
}

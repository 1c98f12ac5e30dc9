//! pprof's file: a protobuf message whose strings stand in one table, compressed by gzip. The names and numbers of its fields
//! are those of `profile.proto` of the pprof project.

use std::io::{Read, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use prost::Message;

use crate::profile::{Interned, Profile};
use crate::{Function, Line, Location, ProfileError, Sample, ValueType};

/// The label of a sample that says which thread it is of.
const THREAD: &str = "thread";
/// The longest file that is read, inflated.
const READ_MAX: u64 = 256 << 20;

/// `perftools.profiles.Profile`.
#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<FileValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<FileSample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<FileMapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<FileLocation>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<FileFunction>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<FileValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct FileValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct FileSample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<FileLabel>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct FileLabel {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct FileMapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    memory_start: u64,
    #[prost(uint64, tag = "3")]
    memory_limit: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
    #[prost(bool, tag = "10")]
    has_inline_frames: bool,
}

#[derive(Clone, PartialEq, Message)]
struct FileLocation {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<FileLine>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct FileLine {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct FileFunction {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// The table of strings, of which the first is empty.
struct Strings(Interned<String>);

impl Strings {
    fn new() -> Self {
        let mut strings = Interned::new();
        strings.number(String::new());
        Strings(strings)
    }

    fn number(&mut self, text: &str) -> i64 {
        i64::from(self.0.number(text.to_string()))
    }

    fn value_type(&mut self, value: &ValueType) -> FileValueType {
        FileValueType {
            r#type: self.number(&value.name),
            unit: self.number(&value.unit),
        }
    }
}

pub(super) fn write(
    profile: &Profile,
    value: usize,
    to: &mut dyn Write,
) -> Result<(), ProfileError> {
    let mut gzip = GzEncoder::new(to, Compression::default());
    gzip.write_all(&File::of(profile, value).encode_to_vec())?;
    gzip.finish()?;
    Ok(())
}

impl File {
    fn of(profile: &Profile, value: usize) -> Self {
        let mut strings = Strings::new();
        let mapping = FileMapping {
            id: 1,
            // Addresses are those of the program's file.
            memory_start: 0,
            memory_limit: u64::MAX,
            filename: strings.number("clew"),
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
            has_inline_frames: true,
        };
        let samples = (profile.samples.iter()).map(|sample| FileSample::of(sample, &mut strings));
        let samples = samples.collect();
        let location = |(id, location): (u64, &Location)| FileLocation {
            id,
            mapping_id: 1,
            address: location.address,
            line: location.lines.iter().map(file_line).collect(),
        };
        let functions = (1..).zip(&profile.functions);
        let functions =
            functions.map(|(id, function)| FileFunction::of(id, function, &mut strings));
        let functions = functions.collect();
        let since = profile.began.duration_since(UNIX_EPOCH).unwrap_or_default();
        let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let default = profile.values.get(value).map_or("", |value| &value.name);
        File {
            sample_type: (profile.values.iter())
                .map(|value| strings.value_type(value))
                .collect(),
            sample: samples,
            mapping: vec![mapping],
            location: (1..).zip(&profile.locations).map(location).collect(),
            function: functions,
            time_nanos: nanos(since),
            duration_nanos: nanos(profile.took),
            period_type: profile.values.last().map(|value| strings.value_type(value)),
            period: i64::try_from(profile.period).unwrap_or(i64::MAX),
            comment: (profile.comments.iter())
                .map(|comment| strings.number(comment))
                .collect(),
            default_sample_type: strings.number(default),
            string_table: strings.0.all,
        }
    }
}

impl FileSample {
    fn of(sample: &Sample, strings: &mut Strings) -> Self {
        let label = |name: &String| FileLabel {
            key: strings.number(THREAD),
            str: strings.number(name),
        };
        FileSample {
            location_id: (sample.stack.iter())
                .map(|number| u64::from(*number) + 1)
                .collect(),
            value: sample.values.clone(),
            label: sample.thread.iter().map(label).collect(),
        }
    }
}

impl FileFunction {
    fn of(id: u64, function: &Function, strings: &mut Strings) -> Self {
        let name = strings.number(&function.name);
        FileFunction {
            id,
            name,
            // The same name there would say that it is mangled, and pprof would take its types for templates.
            system_name: 0,
            filename: strings.number(&function.file),
        }
    }
}

fn file_line(line: &Line) -> FileLine {
    FileLine {
        function_id: u64::from(line.function) + 1,
        line: line.line.into(),
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Profile, ProfileError> {
    let malformed = |reason: &str| ProfileError::Malformed(reason.to_string());
    let mut inflated = Vec::new();
    let message = match bytes {
        [0x1f, 0x8b, ..] => {
            let read = GzDecoder::new(bytes)
                .take(READ_MAX + 1)
                .read_to_end(&mut inflated);
            read.map_err(|error| malformed(&error.to_string()))?;
            inflated.as_slice()
        }
        bytes => bytes,
    };
    if message.len() as u64 > READ_MAX {
        return Err(malformed("it is larger than 256 MiB"));
    }
    let file = File::decode(message).map_err(|error| malformed(&error.to_string()))?;
    file.profile()
        .ok_or_else(|| malformed("it refers to what is not in it"))
}

impl File {
    fn string(&self, number: i64) -> Option<String> {
        self.string_table
            .get(usize::try_from(number).ok()?)
            .cloned()
    }

    /// None when something refers to what is not there. Ids need not be in order.
    fn profile(&self) -> Option<Profile> {
        let value_type = |value: &FileValueType| {
            Some(ValueType {
                name: self.string(value.r#type)?,
                unit: self.string(value.unit)?,
            })
        };
        let numbers = |ids: Vec<u64>| -> std::collections::HashMap<u64, u32> {
            ids.into_iter().zip(0..).collect()
        };
        let functions = numbers(self.function.iter().map(|function| function.id).collect());
        let locations = numbers(self.location.iter().map(|location| location.id).collect());
        let line = |line: &FileLine| {
            Some(Line {
                function: *functions.get(&line.function_id)?,
                line: u32::try_from(line.line).unwrap_or_default(),
            })
        };
        let location = |location: &FileLocation| {
            Some(Location {
                address: location.address,
                lines: location.line.iter().map(line).collect::<Option<_>>()?,
            })
        };
        let sample = |sample: &FileSample| {
            let thread = sample
                .label
                .iter()
                .find(|label| self.string(label.key).as_deref() == Some(THREAD));
            Some(Sample {
                stack: sample
                    .location_id
                    .iter()
                    .map(|id| locations.get(id).copied())
                    .collect::<Option<_>>()?,
                values: sample.value.clone(),
                thread: thread.and_then(|label| self.string(label.str)),
            })
        };
        let function = |function: &FileFunction| {
            Some(Function {
                name: self.string(function.name)?,
                file: self.string(function.filename)?,
            })
        };
        let nanos = |nanos: i64| Duration::from_nanos(nanos.unsigned_abs());
        Some(Profile {
            values: self
                .sample_type
                .iter()
                .map(value_type)
                .collect::<Option<_>>()?,
            samples: self.sample.iter().map(sample).collect::<Option<_>>()?,
            locations: self.location.iter().map(location).collect::<Option<_>>()?,
            functions: self.function.iter().map(function).collect::<Option<_>>()?,
            began: SystemTime::UNIX_EPOCH + nanos(self.time_nanos),
            took: nanos(self.duration_nanos),
            period: self.period.unsigned_abs(),
            comments: self
                .comment
                .iter()
                .filter_map(|comment| self.string(*comment))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::collapsed;

    #[test]
    fn what_is_written_is_read_again() {
        let lines = "main;a::b;c 30\nmain;a::b 5\nother 7\n";
        let profile = collapsed::read(lines.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        write(&profile, 0, &mut bytes).unwrap();
        let again = read(&bytes).unwrap();
        assert_eq!(
            (&again.values, &again.samples),
            (&profile.values, &profile.samples)
        );
        assert_eq!(
            (&again.locations, &again.functions),
            (&profile.locations, &profile.functions)
        );
        let mut text = Vec::new();
        collapsed::write(&again, 0, &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "main;a::b 5\nmain;a::b;c 30\nother 7\n"
        );
    }

    #[test]
    fn what_begins_as_a_file_may_be_stacks() {
        let profile = Profile::read(b"\na;b 1\n").unwrap();
        assert_eq!(profile.total(0), 1);
        let neither = Profile::read(b"\na;b\n").unwrap_err().to_string();
        assert!(neither.contains("Protobuf"), "{neither}");
    }

    #[test]
    fn damaged_files_are_refused() {
        let profile = collapsed::read(b"a;b 1\n").unwrap();
        let mut bytes = Vec::new();
        write(&profile, 0, &mut bytes).unwrap();
        for length in 2..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length}");
        }
        let mut file = File::default();
        file.sample.push(FileSample {
            location_id: vec![9],
            ..FileSample::default()
        });
        assert!(read(&file.encode_to_vec()).is_err());
    }
}

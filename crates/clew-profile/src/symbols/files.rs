//! The files that symbols are in: the program's own, the one beside it that its debug link names, libraries.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use addr2line::gimli::{self, EndianSlice, RunTimeEndian};
use object::{Object, ObjectSection, ObjectSymbol};

use super::inlined_name;

/// How much memory finding the names of addresses takes: about what the units of debugging information become in which
/// it looks, the whole of the file beside the program and what its sections are when they are inflated.
pub(super) fn symbol_bytes() -> usize {
    /// The tables of symbols, of the program and of libraries.
    const TABLES: usize = 32 << 20;
    /// How much a file beside the program takes with all that it becomes, by its own length: 6.5 times with its own bytes
    /// beside, which are let go of before the last of it is there.
    const INFLATED: usize = 6;
    let of_units = || {
        let program = Program::open().ok()?;
        let file = parsed(&program.bytes).ok()?;
        let info = file.section_by_name(gimli::SectionId::DebugInfo.name());
        let (length, times) = match info {
            Some(info) => (info.compressed_data().ok()?.uncompressed_size, 1),
            None => {
                let beside = program.path_beside(&file)?.0;
                (std::fs::metadata(beside).ok()?.len(), INFLATED)
            }
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Some(length.saturating_mul(times))
    };
    TABLES.saturating_add(of_units().unwrap_or_default())
}

type Reader<'s> = EndianSlice<'s, RunTimeEndian>;

/// The sections of debugging information, decompressed.
pub(super) struct Symbols<'f> {
    sections: HashMap<&'static str, Cow<'f, [u8]>>,
    table: Table,
    endian: RunTimeEndian,
}

impl<'f> Symbols<'f> {
    /// Those of a program or of a file beside it; none where it has none.
    pub(super) fn of(file: &object::File<'f>) -> Result<Option<Self>, String> {
        let mut sections = HashMap::new();
        for id in SECTIONS {
            let name = id.name();
            let Some(section) = file.section_by_name(name) else {
                continue;
            };
            let data = section
                .compressed_data()
                .map_err(|error| error.to_string())?;
            let bytes = inflated(&data).map_err(|error| format!("section {name} {error}"))?;
            sections.insert(name, bytes);
        }
        let usable = sections.get(gimli::SectionId::DebugInfo.name());
        let endian = match file.is_little_endian() {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        let usable = usable.is_some_and(|bytes| !bytes.is_empty());
        Ok(usable.then(|| Symbols {
            sections,
            table: Table::of(file),
            endian,
        }))
    }

    /// The same without the file's bytes.
    pub(super) fn owned(self) -> Symbols<'static> {
        let sections = self.sections.into_iter();
        Symbols {
            sections: sections
                .map(|(name, bytes)| (name, Cow::Owned(bytes.into_owned())))
                .collect(),
            table: self.table,
            endian: self.endian,
        }
    }

    pub(super) fn context(&self) -> Result<addr2line::Context<Reader<'_>>, String> {
        let load = |id: gimli::SectionId| -> Result<Reader<'_>, gimli::Error> {
            let bytes = self.sections.get(id.name()).map(Cow::as_ref);
            Ok(EndianSlice::new(bytes.unwrap_or_default(), self.endian))
        };
        let dwarf = gimli::Dwarf::load(load).map_err(|error| error.to_string())?;
        addr2line::Context::from_dwarf(dwarf).map_err(|error| error.to_string())
    }

    /// The function that an address lies in, and before it those that were inlined into it, the innermost first: at least one.
    pub(super) fn frames(
        &self,
        context: &addr2line::Context<Reader<'_>>,
        address: u64,
    ) -> Vec<Frame> {
        let mut found = Vec::new();
        if let Ok(mut frames) = context.find_frames(address).skip_all_loads() {
            while let Ok(Some(frame)) = frames.next() {
                let place = frame.location.as_ref();
                let file = place.and_then(|place| place.file).unwrap_or_default();
                let name = frame.function.as_ref();
                let name = name.and_then(|name| name.demangle().ok());
                found.push(Frame {
                    name: name.map(|name| inlined_name(&name, file)),
                    file: file.to_string(),
                    line: place.and_then(|place| place.line).unwrap_or_default(),
                });
            }
        }
        if found.is_empty() {
            found.push(Frame::default());
        }
        // The function itself has its whole name in the table of symbols; line tables have short ones alone.
        if let (Some(whole), Some(outermost)) = (self.table.find(address), found.last_mut()) {
            outermost.name = Some(whole);
        }
        found
    }
}

/// A function that an address lies in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// None where it is not known.
    pub(super) name: Option<String>,
    /// Its source file, empty where it is not known.
    pub(super) file: String,
    /// 0 where it is not known.
    pub(super) line: u32,
}

/// The running program's file, be it replaced by now.
#[derive(Debug)]
pub(super) struct Program {
    path: PathBuf,
    pub(super) bytes: memmap2::Mmap,
}

impl Program {
    pub(super) fn open() -> Result<Self, String> {
        let path = std::env::current_exe().map_err(|error| error.to_string())?;
        let file = File::open("/proc/self/exe").map_err(|error| error.to_string())?;
        // SAFETY: the system lets nobody change the file of a program that runs.
        #[allow(unsafe_code, reason = "a memory map")]
        let bytes = unsafe { memmap2::Mmap::map(&file) };
        let bytes = bytes.map_err(|error| error.to_string())?;
        Ok(Program { path, bytes })
    }

    /// The file that its debug link names, and its checksum.
    fn path_beside(&self, file: &object::File<'_>) -> Option<(PathBuf, u32)> {
        let (name, sum) = file.gnu_debuglink().ok().flatten()?;
        let name = String::from_utf8_lossy(name);
        Some((self.path.with_file_name(name.as_ref()), sum))
    }

    /// The file that its debug link names, if it is the one that was made with it.
    pub(super) fn beside(&self, file: &object::File<'_>) -> Result<Vec<u8>, String> {
        let link = file.gnu_debuglink().ok().flatten();
        let (name, sum) = link
            .ok_or("it was built without debugging information, and names no file that has it")?;
        let path = self
            .path
            .with_file_name(String::from_utf8_lossy(name).as_ref());
        let bytes = read(&path)?;
        let mut found = flate2::Crc::new();
        found.update(&bytes);
        match found.sum() == sum {
            true => Ok(bytes),
            false => Err(format!("{} belongs to another build", path.display())),
        }
    }
}

pub(super) fn parsed(bytes: &[u8]) -> Result<object::File<'_>, String> {
    object::File::parse(bytes).map_err(|error| error.to_string())
}

/// What a section holds.
fn inflated<'f>(data: &object::CompressedData<'f>) -> Result<Cow<'f, [u8]>, String> {
    let from: &mut dyn Read = match data.format {
        object::CompressionFormat::None => return Ok(Cow::Borrowed(data.data)),
        object::CompressionFormat::Zlib => &mut flate2::read::ZlibDecoder::new(data.data),
        object::CompressionFormat::Zstandard => {
            &mut zstd::Decoder::with_buffer(data.data).map_err(|error| error.to_string())?
        }
        other => return Err(format!("is compressed as {other:?}")),
    };
    let length = usize::try_from(data.uncompressed_size).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(length)
        .map_err(|error| error.to_string())?;
    let read = from.take(data.uncompressed_size).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    Ok(Cow::Owned(bytes))
}

const SECTIONS: [gimli::SectionId; 11] = [
    gimli::SectionId::DebugAbbrev,
    gimli::SectionId::DebugAddr,
    gimli::SectionId::DebugAranges,
    gimli::SectionId::DebugInfo,
    gimli::SectionId::DebugLine,
    gimli::SectionId::DebugLineStr,
    gimli::SectionId::DebugRanges,
    gimli::SectionId::DebugRngLists,
    gimli::SectionId::DebugStr,
    gimli::SectionId::DebugStrOffsets,
    gimli::SectionId::DebugTypes,
];

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(bytes)
}

/// A file's table of symbols: functions by address.
#[derive(Debug, Default)]
pub(super) struct Table(Vec<(u64, u64, String)>);

impl Table {
    pub(super) fn of(file: &object::File<'_>) -> Self {
        let symbols = file.dynamic_symbols().chain(file.symbols());
        let code =
            symbols.filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.size() > 0);
        let mut all: Vec<_> = code
            .filter_map(|symbol| {
                Some((
                    symbol.address(),
                    symbol.size(),
                    symbol.name().ok()?.to_string(),
                ))
            })
            .collect();
        all.sort();
        Table(all)
    }

    pub(super) fn read(path: &Path) -> Option<Self> {
        path.is_absolute().then_some(())?;
        let bytes = read(path).ok()?;
        Some(Self::of(&parsed(&bytes).ok()?))
    }

    /// The name of the function that an address lies in.
    pub(super) fn find(&self, address: u64) -> Option<String> {
        let after = self.0.partition_point(|(from, ..)| *from <= address);
        let (from, size, name) = self.0.get(after.checked_sub(1)?)?;
        (address < from + size).then(|| format!("{:#}", rustc_demangle::demangle(name)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn sections_are_read_however_they_are_compressed() {
        let text = b"a section ".repeat(1000);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&text).unwrap();
        let kinds = [
            (object::CompressionFormat::None, text.clone()),
            (object::CompressionFormat::Zlib, zlib.finish().unwrap()),
            (
                object::CompressionFormat::Zstandard,
                zstd::encode_all(&text[..], 0).unwrap(),
            ),
        ];
        for (format, bytes) in &kinds {
            let section = |data| object::CompressedData {
                format: *format,
                data,
                uncompressed_size: text.len() as u64,
            };
            assert_eq!(inflated(&section(bytes)).unwrap(), text, "{format:?}");
            if *format != object::CompressionFormat::None {
                assert!(inflated(&section(b"no such section")).is_err());
                // No more than it says is read.
                let short = object::CompressedData {
                    uncompressed_size: 7,
                    ..section(bytes)
                };
                assert_eq!(inflated(&short).unwrap().len(), 7);
            }
        }
        let unknown = object::CompressedData {
            format: object::CompressionFormat::Unknown,
            data: &[],
            uncompressed_size: 0,
        };
        assert!(inflated(&unknown).unwrap_err().contains("Unknown"));
    }
}

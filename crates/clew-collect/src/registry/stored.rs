//! The registry's file: its two versions, its sum, and the lock beside it. `docs/formats/registry.md` specifies it.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use clew_platform::Disk;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::FileRecord;
use crate::error::CollectError;

const VERSION: u32 = 2;
/// Digits of the sum in front of the JSON, and the newline behind them.
const SUM_BYTES: usize = 9;

/// What is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Stored {
    version: u32,
    /// When each exact path was first asked for, in milliseconds since the epoch.
    #[serde(default)]
    pub(super) asked: BTreeMap<String, u64>,
    /// By the names of inputs of journals, behind what they begin.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) cursors: BTreeMap<String, String>,
    pub(super) files: Vec<FileRecord>,
}

impl Stored {
    pub(super) fn new(
        asked: BTreeMap<String, u64>,
        cursors: BTreeMap<String, String>,
        files: Vec<FileRecord>,
    ) -> Stored {
        Stored {
            version: VERSION,
            asked,
            cursors,
            files,
        }
    }
}

/// Reads the file; a missing one is empty.
pub(super) fn load(disk: &dyn Disk, path: &Path) -> Result<Stored, CollectError> {
    if !disk.exists(path) {
        return Ok(Stored::default());
    }
    let bytes = disk
        .read(path)
        .map_err(io_error("read the registry", path))?;
    decode(&bytes).map_err(|reason| CollectError::RegistryBroken {
        path: path.to_owned(),
        reason,
    })
}

fn decode(bytes: &[u8]) -> Result<Stored, String> {
    if bytes.first() == Some(&b'{') {
        check_version(bytes, 1)?;
        return decode_1(bytes).map_err(|error| error.to_string());
    }
    let (sum, json) = bytes
        .split_at_checked(SUM_BYTES)
        .ok_or("it has no checksum")?;
    let sum = std::str::from_utf8(sum)
        .ok()
        .and_then(|sum| sum.strip_suffix('\n'))
        .and_then(|sum| u32::from_str_radix(sum, 16).ok())
        .ok_or("it does not begin with a checksum")?;
    if crc32c::crc32c(json) != sum {
        return Err("its checksum does not fit its content".to_owned());
    }
    check_version(json, VERSION)?;
    serde_json::from_slice(json).map_err(|error| error.to_string())
}

/// Looked at first, because another version's members may differ.
fn check_version(json: &[u8], expected: u32) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let found: Version = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    if found.version != expected {
        let found = found.version;
        return Err(format!(
            "it has version {found}, this program writes {VERSION}"
        ));
    }
    Ok(())
}

/// Version 1 was JSON alone, and of a file's beginning it had the hashes of at most 32 bytes (`start`) and of
/// at most 1,024 (`head`).
fn decode_1(json: &[u8]) -> serde_json::Result<Stored> {
    let mut stored: serde_json::Value = serde_json::from_slice(json)?;
    let files = stored
        .get_mut("files")
        .and_then(|files| files.as_array_mut());
    for file in files.into_iter().flatten() {
        let mut marks = Vec::new();
        for name in ["start", "head"] {
            let mark = json!([file[name]["bytes"], file[name]["hash"]]);
            // Nothing is known of the beginning of an empty file.
            if mark[0] != 0 && !marks.contains(&mark) {
                marks.push(mark);
            }
        }
        file["head"] = marks.into();
    }
    serde_json::from_value(stored)
}

/// Replaces the file.
pub(super) fn save(disk: &dyn Disk, path: &Path, stored: &Stored) -> Result<(), CollectError> {
    let failed = io_error("write the registry", path);
    let mut bytes = vec![0; SUM_BYTES];
    let written = serde_json::to_writer(&mut bytes, stored).map_err(io::Error::from);
    let sum = format!("{:08x}\n", crc32c::crc32c(&bytes[SUM_BYTES..]));
    bytes[..SUM_BYTES].copy_from_slice(sum.as_bytes());
    written
        .and_then(|()| disk.write_atomic(path, &bytes))
        .map_err(failed)
}

/// The file whose lock says that a registry is in use.
pub(crate) fn lock_path(registry: &Path) -> PathBuf {
    let mut name = registry.file_name().unwrap_or_default().to_os_string();
    name.push(".lock");
    registry.with_file_name(name)
}

/// Takes the registry for this process, until the guard is dropped or the process ends. The file
/// says which process it is, for the message that a second one gets.
pub(super) fn lock(
    disk: &dyn Disk,
    registry: &Path,
) -> Result<Box<dyn Any + Send + Sync>, CollectError> {
    let guard = hold(disk, registry)?;
    let path = lock_path(registry);
    let written = disk.open(&path).and_then(|mut file| {
        file.set_len(0)?;
        file.write_all_at(std::process::id().to_string().as_bytes(), 0)
    });
    written.map_err(io_error("write the lock of the registry", &path))?;
    Ok(guard)
}

/// The same without saying so in the file, which a full disk would refuse.
pub(super) fn hold(
    disk: &dyn Disk,
    registry: &Path,
) -> Result<Box<dyn Any + Send + Sync>, CollectError> {
    let path = lock_path(registry);
    match disk.lock(&path) {
        Ok(guard) => Ok(guard),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            let holder = disk.read(&path).unwrap_or_default();
            Err(CollectError::RegistryInUse {
                path: registry.to_owned(),
                process: String::from_utf8_lossy(&holder[..holder.len().min(20)]).into_owned(),
            })
        }
        Err(error) => Err(io_error("lock the registry", &path)(error)),
    }
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CollectError {
    move |source| CollectError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

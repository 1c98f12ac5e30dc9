//! Which files an import may read: those in one folder, of formats that there is a reader for.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use clew_platform::open_regular;
use serde::{Deserialize, Serialize};

use super::{unread, wrong};
use crate::error::{MilvusError, Result};

/// Most files of a job, as in Milvus.
const FILES_MAX: usize = 1_024;
/// Longest file, as in Milvus.
const FILE_BYTES_MAX: u64 = 16 << 30;
/// Longest path of a file, in bytes.
const PATH_BYTES_MAX: usize = 1_024;

/// How rows stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Format {
    /// One list of objects, or an object whose member `rows` is that.
    Json,
    /// An object in each line.
    JsonLines,
    /// A line of names, and values in the lines below it.
    Csv,
    /// Groups of rows, in them column by column.
    Parquet,
    /// A file for each field.
    Numpy,
}

impl Format {
    /// What a name ends with says how a file is read.
    fn of(path: &str) -> Result<Format> {
        let extension = Path::new(path).extension().and_then(|end| end.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("json") => Ok(Format::Json),
            Some("jsonl" | "ndjson") => Ok(Format::JsonLines),
            Some("csv") => Ok(Format::Csv),
            Some("npy") => Ok(Format::Numpy),
            Some("parquet") => Ok(Format::Parquet),
            _ => Err(wrong(format!("unexpected file type, files=[{path}]"))),
        }
    }
}

/// What rows are read from: one file, or one for each field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Input {
    pub(crate) format: Format,
    /// As they were named.
    pub(crate) names: Vec<String>,
    /// Where they are.
    pub(crate) paths: Vec<PathBuf>,
    /// How long they are together.
    pub(crate) bytes: u64,
}

impl Input {
    /// What an error calls it: fields may have many files.
    pub(crate) fn name(&self) -> String {
        match self.names.as_slice() {
            [one] => one.clone(),
            [first, others @ ..] => format!("{first} and {} others", others.len()),
            [] => String::new(),
        }
    }
}

/// Finds the files that are named, in the folder or by their whole paths. Files of single fields belong together where they
/// lie in one folder: each is named like its field.
///
/// # Errors
/// When one is not there, is no file, lies outside the folder, is too long or of no format that is read, and when there are
/// none or too many.
pub(crate) fn inputs(folder: &Path, names: &[String]) -> Result<Vec<Input>> {
    if names.is_empty() {
        return Err(MilvusError::invalid("import request is empty"));
    }
    if names.len() > FILES_MAX {
        return Err(wrong(format!(
            "The max number of import files should not exceed {FILES_MAX}, but got {}",
            names.len()
        )));
    }
    let mut found = Vec::new();
    let mut columns: BTreeMap<PathBuf, Input> = BTreeMap::new();
    for name in names {
        let format = Format::of(name)?;
        let (path, bytes) = resolved(folder, name)?;
        let input = Input {
            format,
            names: vec![name.clone()],
            paths: vec![path],
            bytes,
        };
        match format {
            Format::Numpy => join(&mut columns, input)?,
            Format::Json | Format::JsonLines | Format::Csv | Format::Parquet => found.push(input),
        }
    }
    found.extend(columns.into_values());
    Ok(found)
}

/// Puts the file of a field to those of its folder.
fn join(columns: &mut BTreeMap<PathBuf, Input>, input: Input) -> Result<()> {
    let parent = |input: &Input| {
        let path = input.paths.first().and_then(|path| path.parent());
        path.unwrap_or(Path::new("")).to_path_buf()
    };
    let Some(others) = columns.get_mut(&parent(&input)) else {
        columns.insert(parent(&input), input);
        return Ok(());
    };
    if input.paths.iter().any(|path| others.paths.contains(path)) {
        let name = input.names.first().cloned().unwrap_or_default();
        return Err(wrong(format!("the file {name} is named twice")));
    }
    others.names.extend(input.names);
    others.paths.extend(input.paths);
    others.bytes = others.bytes.saturating_add(input.bytes);
    Ok(())
}

/// Where a file is, and how long.
fn resolved(folder: &Path, name: &str) -> Result<(PathBuf, u64)> {
    if name.len() > PATH_BYTES_MAX {
        return Err(wrong(format!(
            "the path of a file has {} bytes, more than {PATH_BYTES_MAX}",
            name.len()
        )));
    }
    let folder = fs::canonicalize(folder)
        .map_err(|error| wrong(format!("the folder of imports cannot be read: {error}")))?;
    // An absolute path stays what it is.
    let path = fs::canonicalize(folder.join(name))
        .map_err(|error| wrong(format!("the file {name} cannot be read: {error}")))?;
    if !path.starts_with(&folder) {
        return Err(wrong(format!(
            "the file {name} lies outside the folder of imports"
        )));
    }
    let file = fs::metadata(&path)
        .map_err(|error| wrong(format!("the file {name} cannot be read: {error}")))?;
    if !file.is_file() {
        return Err(wrong(format!("{name} is no file")));
    }
    if file.len() > FILE_BYTES_MAX {
        return Err(wrong(format!(
            "The import file size has reached the maximum limit allowed for importing, file={name}, fileSize={}, maxSize={FILE_BYTES_MAX}",
            file.len()
        )));
    }
    Ok((path, file.len()))
}

/// Opens a file that was found. What has come into its place since then is not followed: the job may have waited.
///
/// # Errors
/// When it is no longer there, or no longer what it was.
pub(super) fn open(path: &Path) -> Result<File> {
    let now = fs::canonicalize(path).map_err(|error| unread(&error))?;
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    if now != path || !is_file {
        return Err(wrong(
            "the file is no longer what it was when the import began",
        ));
    }
    open_regular(path, OpenOptions::new().read(true)).map_err(|error| unread(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_comes_into_the_place_of_a_file_is_not_followed() {
        let place = std::env::temp_dir().join(format!("clew-swapped-{}", std::process::id()));
        fs::create_dir_all(place.join("in")).unwrap();
        let place = fs::canonicalize(&place).unwrap();
        let (inside, outside) = (place.join("in/rows.json"), place.join("out.json"));
        for path in [&inside, &outside] {
            fs::write(path, "[]").unwrap();
        }
        assert!(open(&inside).is_ok());
        fs::remove_file(&inside).unwrap();
        assert_eq!(open(&inside).unwrap_err().code(), 2100);
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        let error = open(&inside).unwrap_err().to_string();
        assert!(error.contains("no longer what it was"), "{error}");
        fs::remove_file(&inside).unwrap();
        fs::create_dir(&inside).unwrap();
        assert!(open(&inside).is_err());
        fs::remove_dir_all(&place).unwrap();
    }

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|name| (*name).to_string()).collect()
    }

    #[test]
    fn files_are_found_in_the_folder_and_nowhere_else() {
        let place = std::env::temp_dir().join(format!("clew-imports-{}", std::process::id()));
        let folder = place.join("in");
        for part in ["a", "b"] {
            fs::create_dir_all(folder.join(part)).unwrap();
            fs::write(folder.join(part).join("id.npy"), "12").unwrap();
            fs::write(folder.join(part).join("v.npy"), "345").unwrap();
        }
        fs::write(folder.join("rows.json"), "[]").unwrap();
        fs::write(place.join("out.json"), "[]").unwrap();
        let whole = folder.join("rows.json").to_string_lossy().into_owned();
        let asked = names(&["a/id.npy", "rows.json", "b/id.npy", "a/v.npy", "b/v.npy"]);
        let found = inputs(&folder, &asked).unwrap();
        let told: Vec<_> = found.iter().map(|one| one.names.join(" ")).collect();
        assert_eq!(told, ["rows.json", "a/id.npy a/v.npy", "b/id.npy b/v.npy"]);
        assert_eq!(found.iter().map(|one| one.bytes).sum::<u64>(), 12);
        let told: Vec<_> = found.iter().map(Input::name).collect();
        assert_eq!(
            told,
            [
                "rows.json",
                "a/id.npy and 1 others",
                "b/id.npy and 1 others"
            ]
        );
        assert_eq!(inputs(&folder, &[whole]).unwrap()[0].format, Format::Json);
        for (name, code, said) in [
            ("../out.json", 2100, "outside the folder"),
            ("nothing.json", 2100, "cannot be read"),
            ("a", 2100, "unexpected file type, files=[a]"),
            ("x.parquet", 2100, "cannot be read"),
        ] {
            let error = inputs(&folder, &names(&[name])).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert_eq!(error.code(), code, "{error}");
        }
        let twice = inputs(&folder, &names(&["a/id.npy", "a/../a/id.npy"]));
        assert!(twice.unwrap_err().to_string().contains("is named twice"));
        assert_eq!(inputs(&folder, &[]).unwrap_err().code(), 1100);
        fs::remove_dir_all(&place).unwrap();
    }
}

//! Tables that processors look things up in: files of CSV, read when the configuration is, and again with it.

use std::path::Path;

use clew_platform::Disk;
use serde_json::Value;

use super::{CollectConfig, ConfigError, Definition};

/// The largest table.
const TABLE_BYTES_MAX: u64 = 64 << 20;

impl CollectConfig {
    /// Puts the text of each `file` that a `lookup` names in its place.
    ///
    /// # Errors
    /// The processor whose file cannot be read.
    pub(super) fn read_tables(&mut self, disk: &dyn Disk) -> Result<(), ConfigError> {
        let of_inputs = self.inputs.iter_mut().map(|input| &mut input.processors);
        let mut lists = of_inputs.chain([&mut self.processors]);
        lists.try_for_each(|list| list.iter_mut().try_for_each(|one| read_table(one, disk)))
    }
}

fn read_table(processor: &mut Definition, disk: &dyn Disk) -> Result<(), ConfigError> {
    let lookup = processor.written.get_mut("lookup");
    let Some(parameters) = lookup.and_then(Value::as_object_mut) else {
        return Ok(());
    };
    let Some(Value::String(path)) = parameters.shift_remove("file") else {
        return Ok(());
    };
    let read = table(disk, Path::new(&path));
    match read {
        Ok(text) => {
            parameters.insert("csv".to_owned(), text.into());
            Ok(())
        }
        Err(reason) => Err(processor.wrong(&format!("[file] {path}: {reason}"))),
    }
}

fn table(disk: &dyn Disk, path: &Path) -> Result<String, String> {
    let wrong = |error: std::io::Error| error.to_string();
    let bytes = disk.open(path).and_then(|file| file.len()).map_err(wrong)?;
    if bytes > TABLE_BYTES_MAX {
        return Err(format!(
            "has {bytes} bytes, at most {TABLE_BYTES_MAX} are read"
        ));
    }
    let text = disk.read(path).map_err(wrong)?;
    String::from_utf8(text).map_err(|_| "is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use clew_platform::RealDisk;

    use crate::config::CollectConfig;

    #[test]
    fn a_table_takes_the_place_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "a,b\n1,2\n").unwrap();
        let read = |path: &str| {
            let text = format!(
                "inputs: [{{paths: [/l]}}]\nprocessors:\n  - lookup: {{field: a, file: {path}}}\noutputs: [{{type: stdout}}]"
            );
            let mut config = CollectConfig::parse("c.yaml", &text, &|_| None).unwrap();
            config.read_files(&RealDisk).map(|()| config)
        };
        let config = read(path.to_str().unwrap()).unwrap();
        let expected = serde_json::json!({"lookup": {"field": "a", "csv": "a,b\n1,2\n"}});
        assert_eq!(config.processors[0].written, expected);
        let wrong = read("/nowhere/t.csv").unwrap_err().to_string();
        assert!(
            wrong.starts_with("c.yaml, line 3: [processors[0]] [file] /nowhere/t.csv: "),
            "{wrong}"
        );
    }
}

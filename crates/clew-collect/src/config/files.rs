//! Files that a configuration names: tables that processors look things up in, programs, secrets, certificates. They are read
//! when the configuration is, and again with it.

use std::path::Path;

use clew_platform::Disk;
use serde_json::{Map, Value};

use super::{CollectConfig, ConfigError, Definition};

/// The processors that name files: where the text of the file goes, and the largest that is read.
const NAMING: [(&str, &str, u64); 2] = [("lookup", "csv", 64 << 20), ("vrl", "source", 1 << 20)];

impl CollectConfig {
    /// Reads the files that it names beside the inputs' own: tables and programs of processors, secrets, certificates and keys.
    ///
    /// # Errors
    /// The place whose file cannot be read, or is not what it has to be.
    pub fn read_files(&mut self, disk: &dyn Disk) -> Result<(), ConfigError> {
        let of_inputs = self.inputs.iter_mut().map(|input| &mut input.processors);
        for processor in of_inputs.chain([&mut self.processors]).flatten() {
            read_file(processor, disk)?;
        }
        for input in &mut self.inputs {
            for credential in &mut input.authentication {
                credential.read_file(disk)?;
            }
            if let Some(tls) = &mut input.tls {
                tls.read(disk)?;
            }
            if let Some(tls) = &mut input.connecting {
                tls.read(disk)?;
            }
        }
        for output in &mut self.outputs {
            if let Some(credential) = &mut output.authentication {
                credential.read_file(disk)?;
            }
            if let Some(tls) = &mut output.tls {
                tls.read(disk)?;
            }
        }
        Ok(())
    }
}

fn read_file(processor: &mut Definition, disk: &dyn Disk) -> Result<(), ConfigError> {
    let done = put_file(&mut processor.written, disk);
    done.map_err(|reason| processor.wrong(&reason))
}

/// Puts the files of one processor, and of those that handle its failures, in their places.
fn put_file(written: &mut Value, disk: &dyn Disk) -> Result<(), String> {
    let members = written.as_object_mut();
    for (name, parameters) in members.into_iter().flatten() {
        let Some(parameters) = parameters.as_object_mut() else {
            continue;
        };
        let naming = NAMING.iter().find(|(naming, _, _)| naming == name);
        if let Some((_, goes_to, bytes_max)) = naming {
            put_text(parameters, goes_to, *bytes_max, disk)?;
        }
        let handlers = parameters.get_mut("on_failure");
        for handler in handlers.and_then(Value::as_array_mut).into_iter().flatten() {
            put_file(handler, disk)?;
        }
    }
    Ok(())
}

fn put_text(
    parameters: &mut Map<String, Value>,
    goes_to: &str,
    bytes_max: u64,
    disk: &dyn Disk,
) -> Result<(), String> {
    let Some(Value::String(path)) = parameters.get("file") else {
        return Ok(());
    };
    if parameters.contains_key(goes_to) {
        return Err(format!("takes one of [file] and [{goes_to}]"));
    }
    let text = text_of(disk, Path::new(path), bytes_max);
    let text = text.map_err(|reason| format!("[file] {path}: {reason}"))?;
    parameters.insert(goes_to.to_owned(), text.into());
    Ok(())
}

fn text_of(disk: &dyn Disk, path: &Path, bytes_max: u64) -> Result<String, String> {
    let wrong = |error: std::io::Error| error.to_string();
    let bytes = disk.open(path).and_then(|file| file.len()).map_err(wrong)?;
    if bytes > bytes_max {
        return Err(format!("has {bytes} bytes, at most {bytes_max} are read"));
    }
    let text = disk.read(path).map_err(wrong)?;
    String::from_utf8(text).map_err(|_| "is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use clew_platform::RealDisk;

    use crate::config::CollectConfig;

    #[test]
    fn the_text_of_a_file_is_put_beside_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        std::fs::write(&path, "a,b\n1,2\n").unwrap();
        let path = path.to_str().unwrap();
        let read = |processor: &str| {
            let text = format!(
                "inputs: [{{paths: [/l]}}]\nprocessors:\n  - {processor}\noutputs: [{{type: stdout}}]"
            );
            let mut config = CollectConfig::parse("c.yaml", &text, &|_| None).unwrap();
            let done = config.read_files(&RealDisk);
            done.map(|()| config.processors[0].written.clone())
        };
        let expected =
            serde_json::json!({"lookup": {"field": "a", "file": path, "csv": "a,b\n1,2\n"}});
        let written = read(&format!("lookup: {{field: a, file: {path}}}"));
        assert_eq!(written.unwrap(), expected);
        let written = read(&format!(
            "trim: {{field: a, on_failure: [vrl: {{file: {path}}}]}}"
        ));
        let handler = &written.unwrap()["trim"]["on_failure"][0]["vrl"];
        assert_eq!(handler["source"], "a,b\n1,2\n");
        let both = read(&format!("vrl: {{file: {path}, source: .a = 1}}"));
        let wrong = both.unwrap_err().to_string();
        let expected = "c.yaml, line 3: [processors[0]] takes one of [file] and [source]";
        assert_eq!(wrong, expected);
        let missing = read("lookup: {field: a, file: /nowhere/t.csv}");
        let wrong = missing.unwrap_err().to_string();
        assert!(
            wrong.starts_with("c.yaml, line 3: [processors[0]] [file] /nowhere/t.csv: "),
            "{wrong}"
        );
    }
}

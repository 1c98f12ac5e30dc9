use std::io::Read;

use clew_platform::{RealDisk, SimDisk};

use super::*;

fn event(number: u64) -> Event {
    Event {
        document: format!("{{\"n\":{number}}}").into_bytes(),
        ..Event::default()
    }
}

fn sink(folder: &Path, compression: Compression) -> FileSink {
    let options = FileSinkOptions {
        path: folder.join("deep/out.json"),
        rotate_bytes: 20,
        files_kept: 3,
        compression,
        sync: true,
    };
    FileSink::new(Arc::new(RealDisk), options)
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn files_are_rotated_by_size_and_compressed_and_the_oldest_go() {
    for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
        let folder = tempfile::tempdir().unwrap();
        let mut sink = sink(folder.path(), compression);
        for number in (0..20).step_by(2) {
            let batch = [event(number), event(number + 1)];
            assert_eq!(sink.deliver(&batch).unwrap().acked, 2);
        }
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for entry in std::fs::read_dir(folder.path().join("deep")).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let bytes = match compression {
                _ if path.ends_with("out.json") => bytes,
                Compression::None => bytes,
                Compression::Zstd => zstd::decode_all(&bytes[..]).unwrap(),
                Compression::Gzip => {
                    let mut plain = Vec::new();
                    let mut decoder = flate2::read::GzDecoder::new(&bytes[..]);
                    decoder.read_to_end(&mut plain).unwrap();
                    plain
                }
            };
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            found.push((name, lines(&bytes)));
        }
        found.sort();
        let suffix = match compression {
            Compression::None => "",
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
        };
        let file = |name: String, from: u64| {
            (
                name,
                vec![
                    format!("{{\"n\":{from}}}"),
                    format!("{{\"n\":{}}}", from + 1),
                ],
            )
        };
        let expected = vec![
            file("out.json".to_owned(), 18),
            file(format!("out.json.1{suffix}"), 16),
            file(format!("out.json.2{suffix}"), 14),
            file(format!("out.json.3{suffix}"), 12),
        ];
        assert_eq!(found, expected);
    }
}

#[test]
fn half_a_line_of_a_crash_is_cut_off_and_whole_lines_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/out.json");
    for (before, expected) in [
        ("{\"n\":1}\n{\"n", 2),
        ("{\"n", 1),
        ("", 1),
        ("{\"n\":1}\n", 2),
    ] {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, before).unwrap();
        let mut sink = sink(folder.path(), Compression::None);
        sink.options.rotate_bytes = 1000;
        sink.deliver(&[event(2)]).unwrap();
        let found = lines(&std::fs::read(&path).unwrap());
        assert_eq!(found.len(), expected, "{before:?}: {found:?}");
        assert_eq!(found.last().unwrap(), "{\"n\":2}");
    }
}

#[test]
fn a_full_disk_is_told_and_what_was_refused_is_written_whole_once_there_is_room() {
    let disk = SimDisk::new();
    let open = || {
        let options = FileSinkOptions {
            path: "/out.json".into(),
            rotate_bytes: 1 << 20,
            files_kept: 3,
            compression: Compression::None,
            sync: true,
        };
        FileSink::new(Arc::new(disk.clone()), options)
    };
    let mut sink = open();
    sink.deliver(&[event(1), event(2)]).unwrap();
    disk.limit_bytes(disk.bytes_used() + 11);
    let batch = [event(3), event(4), event(5)];
    let error = sink.deliver(&batch).unwrap_err().to_string();
    assert!(error.contains("out.json"), "{error}");
    assert!(error.contains("No space left"), "{error}");
    // Nothing of it is left over for a later batch of the same sink, or of the next one.
    disk.limit_bytes(u64::MAX);
    sink.deliver(&batch).unwrap();
    open().deliver(&[event(6)]).unwrap();
    let file = disk.open(Path::new("/out.json")).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_exact_at(&mut bytes, 0).unwrap();
    let expected: Vec<String> = [1, 2, 3, 3, 4, 5, 6]
        .iter()
        .map(|number| format!("{{\"n\":{number}}}"))
        .collect();
    assert_eq!(lines(&bytes), expected);
}

#[test]
fn what_cannot_be_written_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("deep"), "a file").unwrap();
    let error = sink(folder.path(), Compression::None)
        .deliver(&[event(1)])
        .unwrap_err();
    assert!(error.to_string().contains("out.json"), "{error}");
    let error = sink(folder.path(), Compression::None).check().unwrap_err();
    assert!(error.to_string().contains("out.json"), "{error}");
}

#[test]
fn a_look_at_whether_a_file_can_be_written_leaves_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/out.json");
    let sink = sink(folder.path(), Compression::None);
    sink.check().unwrap();
    assert!(!path.exists());
    std::fs::write(&path, "{\"n\":1}\n{\"n").unwrap();
    sink.check().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"{\"n\":1}\n{\"n");
}

#[test]
fn what_was_delivered_into_a_new_folder_outlives_a_power_cut() {
    let disk = SimDisk::new();
    let path = Path::new("/out/today/out.json");
    let options = FileSinkOptions {
        path: path.to_owned(),
        rotate_bytes: 1 << 20,
        files_kept: 3,
        compression: Compression::None,
        sync: true,
    };
    let mut sink = FileSink::new(Arc::new(disk.clone()), options);
    // When it is tried again the file is there, and its name is not durable yet.
    disk.fail_folder_sync(3);
    assert!(sink.deliver(&[event(1)]).is_err());
    assert_eq!(sink.deliver(&[event(1)]).unwrap().acked, 1);
    for seed in 0..16 {
        let found = disk.crashed(seed).read(path).unwrap();
        assert_eq!(lines(&found), [r#"{"n":1}"#], "seed {seed}");
    }
}

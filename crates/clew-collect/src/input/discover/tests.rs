use super::*;
use crate::options::FileOptions;
use std::fs;

#[test]
fn folders_patterns_and_names_find_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("a/b")).unwrap();
    for name in [
        "x.log",
        "x.log.1",
        "y.txt",
        "a/x.log",
        "a/b/x.log",
        "a/b/.x.log",
        "own",
        "own.1",
        "own.2.gz",
        "own.2026-01-01",
    ] {
        fs::write(root.join(name), name).unwrap();
    }
    std::os::unix::fs::symlink(root.join("nowhere"), root.join("broken")).unwrap();
    std::os::unix::fs::symlink(root, root.join("a/loop")).unwrap();
    let check = |path: &str, expected: &[&str]| {
        let options = FileOptions::new(vec![root.join(path)]);
        let rules = Arc::new(FileRules::new(&options).unwrap());
        let found = discover(&[rules], &[root.join("own")]);
        let mut names: Vec<String> = found
            .files
            .iter()
            .map(|file| {
                let name = file.path.strip_prefix(root).unwrap().to_str().unwrap();
                let mark = if file.wanted == CandidateReason::Asked {
                    ""
                } else {
                    "?"
                };
                format!("{name}{mark}")
            })
            .collect();
        names.sort();
        assert_eq!(names, expected, "{path}");
        found.skipped.len()
    };
    let all = [
        "a/b/.x.log",
        "a/b/x.log",
        "a/x.log",
        "own.2026-01-01",
        "x.log",
        "x.log.1",
        "y.txt",
    ];
    assert_eq!(check("", &all), 2);
    assert_eq!(check("x.log", &["x.log", "x.log.1?"]), 0);
    assert_eq!(check("x.log.1", &["x.log.1"]), 0);
    assert_eq!(check("z.log", &[]), 1);
    assert_eq!(check("*.log*", &["x.log", "x.log.1"]), 0);
    assert_eq!(check("*/x.log", &["a/x.log"]), 0);
    assert_eq!(check("**/x.log", &["a/b/x.log", "a/x.log", "x.log"]), 0);
    assert_eq!(check("a/**", &["a/b/x.log", "a/x.log"]), 1);
    assert_eq!(check("[y-z].*", &["y.txt"]), 0);
    // One that fits only what is left out fits; one that nothing fits is told of.
    assert_eq!(check("own.[0-9]", &[]), 0);
    assert_eq!(check("own*", &["own.2026-01-01"]), 0);
    assert_eq!(check("*.lgo", &[]), 1);
}

#[test]
fn what_a_link_leads_to_is_named_and_its_folder_is_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in ["logs", "pods"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    fs::write(root.join("logs/own.log"), "own").unwrap();
    fs::write(root.join("pods/0.log"), "0").unwrap();
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(to, root.join("logs").join(from)).unwrap();
    };
    link("second.log", "first.log");
    link("../pods/0.log", "second.log");
    link("circle.log", "circle.log");
    for path in ["logs/first.log", "logs/f*.log"] {
        let rules = FileRules::new(&FileOptions::new(vec![root.join(path)])).unwrap();
        let found = discover(&[Arc::new(rules)], &[]);
        let [file] = found.files.as_slice() else {
            panic!("{:?}", found.files);
        };
        assert_eq!(file.path, root.join("logs/first.log"));
        let pods = fs::canonicalize(root.join("pods")).unwrap();
        let target = pods.join("0.log");
        assert_eq!(file.target.as_deref(), Some(target.as_path()), "{path}");
        let folders = [pods];
        assert!(found.target_folders.iter().eq(&folders), "{path}");
        assert!(found.folders.contains(&folders[0]) && found.folders.contains(&root.join("logs")));
    }
    let rules = FileRules::new(&FileOptions::new(vec![root.join("logs/circle.log")])).unwrap();
    let found = discover(&[Arc::new(rules)], &[]);
    assert_eq!((found.files.len(), found.skipped.len()), (0, 1));
}

#[test]
fn own_files_are_left_out_whatever_leads_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("logs/buffer")).unwrap();
    fs::create_dir_all(root.join("other")).unwrap();
    for name in [
        "app.log",
        "out.json",
        "out.json.1",
        "out.json.1.gz.tmp",
        "out.json.12.zst",
        "out.json.old",
        "out.json2",
        "buffer/1.buffer",
    ] {
        fs::write(root.join("logs").join(name), name).unwrap();
    }
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(root.join(to), root.join(from)).unwrap();
    };
    link("logs", "linked");
    link("logs/out.json", "other/latest.json");
    link("logs/app.log", "other/app.log");
    let check = |own: &str, path: &str, expected: &[&str]| {
        let rules = FileRules::new(&FileOptions::new(vec![root.join(path)])).unwrap();
        let own = ["out.json", "buffer"].map(|name| root.join(own).join(name));
        let found = discover(&[Arc::new(rules)], &own);
        let names = found.files.iter().map(|file| {
            let name = file.path.strip_prefix(root).unwrap();
            name.to_str().unwrap()
        });
        assert_eq!(names.collect::<Vec<_>>(), expected, "{own:?} {path}");
        // Who names one is told.
        let is_named = root.join(path).is_file();
        let told = is_named.then(|| (root.join(path), SkipReason::Own));
        assert_eq!(found.skipped, Vec::from_iter(told));
        found.own.len()
    };
    for own in ["logs", "linked", "other/../logs"] {
        let logs = ["logs/app.log", "logs/out.json.old", "logs/out.json2"];
        // Four files and the folder of a buffer.
        assert_eq!(check(own, "logs", &logs), 5);
        let linked = ["linked/app.log", "linked/out.json.old", "linked/out.json2"];
        assert_eq!(check(own, "linked/*", &linked), 5);
        check(own, "logs/out.json", &[]);
        check(own, "other", &["other/app.log"]);
        check(own, "other/latest.json", &[]);
    }
}

//! A program in the place of `journalctl`, which does what its documentation says, and then what it should not.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clew_platform::RealClock;
use rustix::event::{EventfdFlags, eventfd};

use super::*;
use crate::feed::{Ended, FeedAddress, FeedOptions, Feeds};
use crate::parse::ParserChoice;

const LONG: Duration = Duration::from_secs(60);

/// A program that is this script of the shell.
fn program(folder: &Path, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("journalctl");
    let own = format!("#!/bin/sh\nfolder={}\n{script}", folder.display());
    // A file that is open for writing cannot be started, and one that is open here is for a moment so in whatever another
    // test starts just then: what is started was written by another process.
    let (written, copied) = (folder.join("written"), folder.join("copied"));
    std::fs::write(&written, own).unwrap();
    let copy = Command::new("cp").args([&written, &copied]).status();
    assert!(copy.unwrap().success());
    std::fs::set_permissions(&copied, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&copied, &path).unwrap();
    path
}

fn start(program: PathBuf, follow: bool, cursors: &[(&str, &str)]) -> Feeds {
    let options = FeedOptions {
        address: FeedAddress::Journal(JournalFeed {
            id: "j".to_owned(),
            program,
            arguments: vec!["--unit=a b".to_owned()],
            first: vec!["--since=-1h".to_owned()],
            from_now: false,
            follow,
        }),
        parse: ParserChoice::Auto,
        line_bytes_max: 200,
        plan: 0,
        tls: None,
    };
    let cursors: BTreeMap<String, String> = cursors
        .iter()
        .map(|(id, cursor)| ((*id).to_owned(), (*cursor).to_owned()))
        .collect();
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).unwrap());
    let clock: Arc<dyn clew_platform::Clock> = Arc::new(RealClock::new());
    Feeds::start(&[options], &cursors, &clock, &wake).unwrap()
}

/// Messages and the last cursor, of so many entries.
fn entries(feeds: &Feeds, count: usize) -> (Vec<String>, Option<String>) {
    let (mut found, mut cursor) = (Vec::new(), None);
    while found.len() < count {
        let parcel = feeds.wait(LONG).unwrap().expect("more entries come");
        found.extend(parcel.lines().map(|(line, _)| {
            let document: serde_json::Value = serde_json::from_slice(line).unwrap();
            document["message"].as_str().unwrap().to_owned()
        }));
        cursor = parcel.cursor.or(cursor);
    }
    (found, cursor)
}

#[test]
fn a_program_that_dies_is_started_again_behind_the_last_entry() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
echo "$*" >> $folder/calls
entry() { echo "{\"__CURSOR\":\"s=1;i=$1\",\"MESSAGE\":\"$2\"}"; }
case "$*" in
    *'--after-cursor=s=1;i=2 '*) entry 3 three; exit ;;
    *'--after-cursor=s=1;i=3 '*) entry 4 four; exec sleep 1000 ;;
esac
entry 1 one
echo "something is wrong" >&2
printf '%s' '{"__CURSOR":"s=1;i=2",'
printf '%s\n' '"MESSAGE":"two"}'
exit 3
"#;
    let feeds = start(program(folder.path(), script), true, &[]);
    let (found, cursor) = entries(&feeds, 4);
    assert_eq!(found, ["one", "two", "three", "four"]);
    assert_eq!(cursor.as_deref(), Some("s=1;i=4"));
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    let common = "--output=json --all --quiet";
    let expected = [
        // What is there is read first, and what comes is waited for then.
        format!("{common} --since=-1h --unit=a b\n"),
        format!("{common} --after-cursor=s=1;i=2 --unit=a b\n"),
        format!("{common} --follow --no-tail --after-cursor=s=1;i=3 --unit=a b\n"),
    ];
    assert_eq!(calls, expected.concat());
    // One that does not end by itself is ended.
    feeds.close();
    while !matches!(feeds.last(), Err(Ended)) {}
}

#[test]
fn an_entry_that_is_too_long_is_kept_by_its_beginning_and_does_not_stop_those_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
long=$(printf '%300s' '' | tr ' ' x)
echo "{\"__CURSOR\":\"s=1;i=1\",\"MESSAGE\":\"$long\"}"
echo '{"__CURSOR":"s=1;i=2","MESSAGE":"behind it"}'
"#;
    let feeds = start(program(folder.path(), script), false, &[("j", "s=1;i=0")]);
    let (found, cursor) = entries(&feeds, 2);
    assert!(
        found[0].starts_with("{\"__CURSOR\":\"s=1;i=1\",\"MESSAGE\":\"xxx"),
        "{found:?}"
    );
    assert_eq!(found[1], "behind it");
    assert_eq!(cursor.as_deref(), Some("s=1;i=2"));
    // Where nothing more is waited for, the end of the program is the end.
    assert!(matches!(feeds.wait(LONG), Err(Ended)));
}

#[test]
fn a_program_that_is_not_there_keeps_no_other_input_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let feeds = start(folder.path().join("journalctl"), true, &[]);
    // It is found once it is there.
    let script = "echo '{\"__CURSOR\":\"s=1;i=1\",\"MESSAGE\":\"a\"}'\nexec sleep 60\n";
    program(folder.path(), script);
    let (found, _) = entries(&feeds, 1);
    assert_eq!(found, ["a"]);
    feeds.close();
    while !matches!(feeds.last(), Err(Ended)) {}
}

#[test]
fn a_run_that_ends_by_itself_needs_the_program() {
    let options = FeedOptions {
        address: FeedAddress::Journal(JournalFeed {
            id: "j".to_owned(),
            program: "/nowhere/journalctl".into(),
            arguments: Vec::new(),
            first: Vec::new(),
            from_now: true,
            follow: false,
        }),
        parse: ParserChoice::Auto,
        line_bytes_max: 200,
        plan: 0,
        tls: None,
    };
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).unwrap());
    let clock: Arc<dyn clew_platform::Clock> = Arc::new(RealClock::new());
    let error = Feeds::start(&[options], &BTreeMap::new(), &clock, &wake).unwrap_err();
    assert!(error.to_string().contains("/nowhere/journalctl"), "{error}");
}

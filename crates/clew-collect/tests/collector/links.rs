//! Links that are switched from one file to the next: what they led to is read to its end, whoever was down meanwhile.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{Follower, Hurried, Memory, Place, lines, sorted, text};

/// Has `current` lead to a file, at once, as programs that do so switch it.
fn switch(place: &Place, target: impl AsRef<Path>) {
    symlink(target, place.log("switching")).unwrap();
    place.rename("switching", "current");
}

const BOTH: [&str; 2] = ["current", "cur*"];

#[test]
fn what_a_link_led_to_is_read_to_its_end_after_a_restart() {
    for path in BOTH {
        let (place, mut memory) = (Place::new(), Memory::default());
        place.append("app.0", text(&lines(0, 10)));
        switch(&place, "app.0");
        place.once(path, &mut memory).unwrap();
        for round in 1..4 {
            let from = round * 20;
            place.append(&format!("app.{}", round - 1), text(&lines(from - 10, 10)));
            place.append(&format!("app.{round}"), text(&lines(from, 10)));
            switch(&place, format!("app.{round}"));
            // The run breaks off, and the next one knows only what the registry says.
            memory.crash_after = Some(5);
            place.once(path, &mut memory).unwrap_err();
            memory.crash_after = None;
            switch(&place, format!("app.{round}"));
            place.once(path, &mut memory).unwrap();
        }
        assert_eq!(sorted(memory.messages), lines(0, 70), "{path}");
        let paths = memory.documents.values();
        let current = place.log("current");
        let mut paths = paths.map(|document| document["log"]["file"]["path"].as_str());
        assert!(paths.all(|path| path == current.to_str()));
    }
}

#[test]
fn what_is_written_to_what_a_link_led_to_long_ago_is_read() {
    let place = Place::new();
    let clock = Arc::new(Hurried::new());
    place.append("app.0", text(&lines(0, 10)));
    switch(&place, "app.0");
    let options = place.options("current");
    let follower = Follower::start_by(clock.clone(), options, Memory::default());
    follower.expect(&lines(0, 10));
    place.append("app.1", text(&lines(10, 10)));
    switch(&place, "app.1");
    follower.expect(&lines(10, 10));
    // So long that nobody reads the first file any more; a new name has the collector look.
    for turn in 2..6 {
        clock.hurry(Duration::from_secs(60));
        place.append(&format!("new.{turn}"), "not asked for\n");
        place.append("app.1", text(&lines(turn * 10, 10)));
        follower.expect(&lines(turn * 10, 10));
    }
    place.append("app.0", text(&lines(60, 10)));
    follower.expect_while(&lines(60, 10), || clock.hurry(Duration::from_secs(60)));
    let (_, memory) = follower.finish();
    assert_eq!((memory.messages.len(), memory.repeated), (70, 0));
}

#[test]
fn what_a_link_led_to_between_two_looks_is_read() {
    for path in BOTH {
        let (place, mut memory) = (Place::new(), Memory::default());
        // Nobody asked for what was there before, nor for what has another name.
        place.append("app.7", "before\n");
        let born = fs::metadata(place.log("app.7")).unwrap().created();
        let Ok(born) = born else {
            return;
        };
        // The clock of birth times has to tick.
        while fs::metadata(place.log("app.0"))
            .map_or(true, |there| there.created().unwrap() == born)
        {
            let _ = fs::remove_file(place.log("app.0"));
            place.append("app.0", text(&lines(0, 10)));
        }
        switch(&place, "app.0");
        place.once(path, &mut memory).unwrap();
        for n in 1..4 {
            place.append(&format!("app.{n}"), text(&lines(n * 10, 10)));
            place.append(&format!("other.{n}"), "other\n");
            switch(&place, format!("app.{n}"));
        }
        place.once(path, &mut memory).unwrap();
        assert_eq!(sorted(memory.messages), lines(0, 40), "{path}");
        assert_eq!(memory.repeated, 0);
    }
}

#[test]
fn links_to_folders_are_switched_like_those_to_files() {
    for path in ["current/app.log", "current/*.log", "current"] {
        let (place, mut memory) = (Place::new(), Memory::default());
        for round in 0..3 {
            let from = round * 20;
            fs::create_dir(place.log(&format!("release.{round}"))).unwrap();
            place.append(&format!("release.{round}/app.log"), text(&lines(from, 10)));
            switch(&place, format!("release.{round}"));
            place.once(path, &mut memory).unwrap();
            place.append(
                &format!("release.{round}/app.log"),
                text(&lines(from + 10, 10)),
            );
        }
        place.once(path, &mut memory).unwrap();
        assert_eq!(sorted(memory.messages), lines(0, 60), "{path}");
        assert_eq!(memory.repeated, 0);
    }
}

#[test]
fn the_target_of_a_link_is_followed_into_its_rotated_name() {
    let (place, mut memory) = (Place::new(), Memory::default());
    fs::create_dir(place.log("pod")).unwrap();
    place.append("pod/0.log", text(&lines(0, 10)));
    switch(&place, place.log("pod/0.log"));
    place.once("current", &mut memory).unwrap();
    place.append("pod/0.log", text(&lines(10, 10)));
    place.rename("pod/0.log", "pod/0.log.20260102-030405");
    place.append("pod/0.log", text(&lines(20, 10)));
    place.once("current", &mut memory).unwrap();
    assert_eq!(sorted(memory.messages), lines(0, 30));
    assert_eq!(memory.repeated, 0);
}

#[test]
fn what_is_packed_beside_the_target_of_a_link_is_not_taken_for_its_own() {
    let (place, mut memory) = (Place::new(), Memory::default());
    fs::create_dir(place.log("pod")).unwrap();
    for round in 0..4 {
        // The one before the last is compressed, as container runtimes do: short, so that its content tells nothing.
        if round > 1 {
            let old = format!("pod/0.log.{}", round - 2);
            place.gzip(&old, &format!("{old}.gz"));
        }
        if round > 0 {
            place.rename("pod/0.log", &format!("pod/0.log.{}", round - 1));
        }
        place.append("pod/0.log", text(&lines(round * 10, 10)));
        switch(&place, place.log("pod/0.log"));
        place.once("current", &mut memory).unwrap();
    }
    assert_eq!(sorted(memory.messages), lines(0, 40));
    assert_eq!(memory.repeated, 0);
}

#[test]
fn a_link_is_followed_while_it_is_switched() {
    for path in BOTH {
        let place = Place::new();
        fs::create_dir(place.log("files")).unwrap();
        place.append("files/app.0", text(&lines(0, 3)));
        switch(&place, "files/app.0");
        let follower = Follower::start(place.options(path), Memory::default());
        follower.expect(&lines(0, 3));
        for round in 1..6 {
            let from = round * 10;
            place.append(&format!("files/app.{}", round - 1), text(&lines(from, 2)));
            place.append(&format!("files/app.{round}"), text(&lines(from + 2, 2)));
            switch(&place, format!("files/app.{round}"));
            // The writer has not noticed yet.
            place.append(
                &format!("files/app.{}", round - 1),
                text(&lines(from + 4, 2)),
            );
            follower.expect(&lines(from, 6));
        }
        let (report, memory) = follower.finish();
        assert_eq!(memory.repeated, 0);
        assert_eq!(report.counters.events_acked, 33);
    }
}

//! Rotation in all its forms: nothing lost, nothing sent twice.

use std::fs;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::support::{Follower, Hurried, Memory, Place, Random, collect, lines, sorted, text};
use clew_collect::{Delivery, Event, Mode, NoProgress, Sink, SinkError, StopToken, World};
use clew_platform::RealDisk;

/// Runs over `path` between the steps of a story; every message must come exactly once.
struct Story {
    place: Place,
    path: &'static str,
    memory: Memory,
    written: usize,
}

impl Story {
    fn new(path: &'static str) -> Self {
        Story {
            place: Place::new(),
            path,
            memory: Memory::default(),
            written: 0,
        }
    }

    fn write(&mut self, name: &str, count: usize) {
        self.place.append(name, text(&lines(self.written, count)));
        self.written += count;
    }

    #[track_caller]
    fn run(&mut self) {
        self.place.once(self.path, &mut self.memory).unwrap();
    }

    #[track_caller]
    fn check(mut self, repeated: usize) {
        self.run();
        assert_eq!(sorted(self.memory.messages), lines(0, self.written));
        assert_eq!(self.memory.repeated, repeated, "sent more than once");
    }
}

const BOTH: [&str; 2] = ["app.log*", "app.log"];

#[test]
fn renamed_while_the_collector_was_down() {
    for path in BOTH {
        let mut story = Story::new(path);
        story.write("app.log", 10);
        story.run();
        story.write("app.log", 10);
        story.place.rename("app.log", "app.log.1");
        story.write("app.log", 10);
        story.check(0);
    }
}

#[test]
fn renamed_to_what_nobody_asked_for_while_the_collector_was_down() {
    let mut story = Story::new("*.log");
    story.write("app.log", 10);
    story.run();
    for round in 1..4 {
        story.write("app.log", 10);
        story.place.rename("app.log", &format!("app.log.{round}"));
        story.write("app.log", 10);
        story.run();
    }
    // What was there before was not asked for.
    story.place.append("app.log.9", "other\n");
    story.check(0);
}

#[test]
fn renamed_twice_while_the_collector_was_down() {
    for path in BOTH {
        let mut story = Story::new(path);
        story.write("app.log", 10);
        story.run();
        story.write("app.log", 10);
        story.place.rename("app.log", "app.log.2");
        story.write("app.log", 10);
        story.place.rename("app.log", "app.log.1");
        story.write("app.log", 10);
        story.check(0);
    }
}

#[test]
fn copied_and_truncated_while_the_collector_was_down() {
    for path in BOTH {
        for after in [0, 3, 40] {
            let mut story = Story::new(path);
            story.write("app.log", 10);
            story.run();
            story.write("app.log", 10);
            story.place.copy_truncate("app.log", "app.log.1");
            story.write("app.log", after);
            story.check(0);
        }
    }
}

#[test]
fn a_copy_made_before_the_last_lines_were_read_is_sent_under_known_ids_only() {
    let mut story = Story::new("app.log*");
    story.write("app.log", 10);
    story.place.copy("app.log", "app.log.1");
    fs::rename(
        story.place.log("app.log.1"),
        story.place.folder.path().join("held"),
    )
    .unwrap();
    story.write("app.log", 10);
    story.run();
    fs::rename(
        story.place.folder.path().join("held"),
        story.place.log("app.log.1"),
    )
    .unwrap();
    fs::write(story.place.log("app.log"), "").unwrap();
    story.write("app.log", 5);
    story.check(10);
}

#[test]
fn copied_and_not_yet_truncated_when_the_collector_comes() {
    for is_known in [false, true] {
        let mut story = Story::new("app.log*");
        if is_known {
            story.write("app.log", 10);
            story.run();
            story.place.copy_truncate("app.log", "app.log.2");
        }
        story.write("app.log", 10);
        story.place.copy("app.log", "app.log.1");
        // Between the copy and the truncation the log is written to: it is the newer one of the two.
        story.write("app.log", 1);
        let file = fs::File::options()
            .append(true)
            .open(story.place.log("app.log"))
            .unwrap();
        file.set_modified(SystemTime::now() + Duration::from_millis(100))
            .unwrap();
        // Known again by their ids.
        story.check(10);
    }
}

/// Does something after each delivery, told how many messages have come.
struct Scripted<F> {
    memory: Memory,
    script: F,
}

impl<F: FnMut(usize)> Sink for Scripted<F> {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let delivery = self.memory.deliver(batch)?;
        (self.script)(self.memory.messages.len());
        Ok(delivery)
    }
}

/// A delivery takes so long that the log is rotated, written anew and copied again before the collector looks at it.
#[test]
fn copied_for_the_second_time_before_the_second_content_was_read() {
    let place = Place::new();
    place.append("app.log", text(&lines(0, 14)));
    let clock = Arc::new(Hurried::new());
    let stop = StopToken::new();
    let mut step = 0;
    let script = |sent: usize| match (step, sent) {
        (0, 14..) => {
            step = 1;
            place.copy_truncate("app.log", "app.log.2");
            place.append("app.log", text(&lines(14, 14)));
            place.copy("app.log", "app.log.1");
            clock.hurry(Duration::from_millis(1_500));
        }
        (1, 28..) => {
            step = 2;
            fs::write(place.log("app.log"), text(&lines(28, 7))).unwrap();
        }
        (2, 35..) => stop.stop(),
        _ => {}
    };
    let mut sink = Scripted {
        memory: Memory::default(),
        script,
    };
    let mut options = place.options("app.log*");
    options.mode = Mode::Follow;
    let world = World {
        disk: Arc::new(RealDisk),
        clock: clock.clone(),
        progress: &NoProgress,
        stop: &stop,
    };
    clew_collect::run(&options, world, &mut sink).unwrap();
    let mut memory = sink.memory;
    place.once("app.log*", &mut memory).unwrap();
    assert_eq!(sorted(memory.messages), lines(0, 35));
}

#[test]
fn a_plain_copy_beside_the_original_is_not_sent_again() {
    let mut story = Story::new("app.log*");
    story.write("app.log", 10);
    story.run();
    story.place.copy("app.log", "app.log.1");
    story.run();
    story.write("app.log", 10);
    story.check(0);
}

#[test]
fn compressed_after_it_was_read_partly_or_wholly() {
    for more in [0, 10] {
        let mut story = Story::new("app.log*");
        story.write("app.log", 10);
        story.run();
        story.write("app.log", more);
        story.place.gzip("app.log", "app.log.1.gz");
        story.write("app.log", 10);
        story.check(0);
    }
}

#[test]
fn compressed_under_a_name_that_says_nothing() {
    for name in ["app.log.1.packed", "backup of app", "kept/old.gz"] {
        for more in [0, 10] {
            let mut story = Story::new("");
            fs::create_dir(story.place.log("kept")).unwrap();
            story.write("app.log", 100);
            story.write("other.log", 100);
            story.run();
            story.write("app.log", more);
            story.place.gzip("app.log", name);
            story.write("app.log", 10);
            story.check(0);
        }
    }
}

#[test]
fn compressed_files_never_seen_before_are_read() {
    let mut story = Story::new("");
    story.write("old", 10);
    story.place.gzip("old", "old.gz");
    story.write("app.log", 10);
    story.check(0);
}

#[test]
fn truncated_and_written_again() {
    for count in [1, 10, 50] {
        let mut story = Story::new("app.log");
        story.write("app.log", 10);
        story.run();
        fs::write(story.place.log("app.log"), "").unwrap();
        story.write("app.log", count);
        story.check(0);
    }
}

#[test]
fn truncated_under_a_writer_that_goes_on_where_it_was() {
    // What the writer leaves in front of its next line is shorter than a window, than a line may be, and longer.
    for before in [100, 20_000, 60_000] {
        let (place, mut memory) = (Place::new(), Memory::default());
        let mut options = place.options("app.log*");
        options.batch_lines_max = 1_000;
        options.registry_interval = Duration::from_secs(1);
        let mut run = || collect(&options, &mut memory, &StopToken::new()).unwrap();
        let mut writer = fs::File::create(place.log("app.log")).unwrap();
        writer
            .write_all(text(&lines(0, before)).as_bytes())
            .unwrap();
        run();
        place.copy_truncate("app.log", "app.log.2");
        writer
            .write_all(text(&lines(before, 5)).as_bytes())
            .unwrap();
        run();
        writer
            .write_all(text(&lines(before + 5, 5)).as_bytes())
            .unwrap();
        place.copy_truncate("app.log", "app.log.1");
        writer
            .write_all(text(&lines(before + 10, 5)).as_bytes())
            .unwrap();
        run();
        // One that nobody has seen before begins so, too.
        place.copy("app.log", "new.log");
        place.once("new.log", &mut memory).unwrap();
        let mut expected = lines(0, before + 15);
        expected.extend(lines(before + 10, 5));
        assert_eq!(sorted(memory.messages), sorted(expected), "{before}");
        assert_eq!(memory.repeated, 0);
    }
}

#[test]
fn replaced_by_another_file_with_the_same_name_or_inode() {
    let mut story = Story::new("app.log");
    story.write("app.log", 10);
    story.run();
    for _ in 0..20 {
        // Removing and creating at once is what makes file systems reuse an inode.
        fs::remove_file(story.place.log("app.log")).unwrap();
        story.write("app.log", 10);
        story.run();
    }
    story.check(0);
}

#[test]
fn replaced_by_a_longer_copy_of_itself() {
    for path in BOTH {
        let mut story = Story::new(path);
        story.write("app.log", 200);
        story.run();
        for _ in 0..3 {
            story.place.append("new", text(&lines(0, story.written)));
            story.place.append("new", text(&lines(story.written, 10)));
            story.written += 10;
            story.place.rename("new", "app.log");
            story.run();
        }
        story.check(0);
    }
}

#[test]
fn equal_lines_in_a_new_incarnation_are_new_events() {
    let place = Place::new();
    let mut memory = Memory::default();
    for run in 1..=5 {
        let _ = fs::remove_file(place.log("job.log"));
        place.append("job.log", "backup done\n");
        place.once("job.log", &mut memory).unwrap();
        assert_eq!(memory.documents.len(), run);
    }
}

#[test]
fn an_inode_from_the_registry_with_other_content_is_a_new_file() {
    // As if the inode had been given to a new file on a file system without birth times.
    let place = Place::new();
    place.append("app.log", text(&lines(0, 10)));
    let mut memory = Memory::default();
    place.once("app.log", &mut memory).unwrap();
    fs::write(place.log("app.log"), text(&lines(10, 10))).unwrap();
    place.once("app.log", &mut memory).unwrap();
    assert_eq!(memory.messages, lines(0, 20));
}

#[test]
fn random_rotations_between_random_crashes() {
    for seed in 0..16 {
        let mut random = Random(seed);
        let mut story = Story::new(BOTH[random.below(2)]);
        let exact = story.path == "app.log";
        // What was rotated away before the first run is not what an exact path asks for.
        story.write("app.log", 1);
        story.run();
        for _ in 0..30 {
            match random.below(6) {
                0 if story.place.log("app.log").exists() => {
                    // An exact path can do nothing about a gap in the middle of its past.
                    let keep = if exact { 40 } else { 4 };
                    for n in (1..keep).rev() {
                        for ending in ["", ".gz"] {
                            let from = format!("app.log.{n}{ending}");
                            if story.place.log(&from).exists() {
                                story
                                    .place
                                    .rename(&from, &format!("app.log.{}{ending}", n + 1));
                            }
                        }
                    }
                    if random.below(2) == 0 {
                        story.place.rename("app.log", "app.log.1");
                    } else {
                        story.place.copy_truncate("app.log", "app.log.1");
                    }
                    if !exact && story.place.log("app.log.2").exists() {
                        story.place.gzip("app.log.2", "app.log.2.gz");
                    }
                    // Only files that were read may disappear.
                    story.memory.crash_after = None;
                    story.run();
                    for ending in ["", ".gz"] {
                        let _ = fs::remove_file(story.place.log(&format!("app.log.4{ending}")));
                    }
                }
                1 | 2 => {
                    story.memory.crash_after = Some(random.below(30));
                    let _ = story.place.once(story.path, &mut story.memory);
                    story.memory.crash_after = None;
                }
                _ => {
                    let count = 1 + random.below(12);
                    story.write("app.log", count);
                }
            }
        }
        story.run();
        let expected = lines(0, story.written);
        let found = sorted(story.memory.messages);
        let wrong = (0..found.len().max(expected.len())).find(|&n| found.get(n) != expected.get(n));
        assert_eq!(
            wrong.map(|n| (found.get(n), expected.get(n))),
            None,
            "seed {seed} {exact}"
        );
    }
}

#[test]
fn followed_through_renames() {
    for path in BOTH {
        let place = Place::new();
        place.append("app.log", text(&lines(0, 3)));
        let follower = Follower::start(place.options(path), Memory::default());
        follower.expect(&lines(0, 3));
        for round in 1..6 {
            let from = round * 10;
            place.append("app.log", text(&lines(from, 2)));
            place.rename("app.log", &format!("app.log.{round}"));
            // The writer has not noticed yet.
            place.append(&format!("app.log.{round}"), text(&lines(from + 2, 2)));
            place.append("app.log", text(&lines(from + 4, 2)));
            follower.expect(&lines(from, 6));
        }
        let (report, memory) = follower.finish();
        assert_eq!(memory.repeated, 0);
        assert_eq!(report.counters.events_acked, 33);
    }
}

/// Follows a file whose lines are copied to the name of each round, and cut off.
fn check_followed_through_copies(copy_name: impl Fn(usize) -> String) {
    for path in BOTH {
        let place = Place::new();
        place.append("app.log", text(&lines(0, 3)));
        let follower = Follower::start(place.options(path), Memory::default());
        follower.expect(&lines(0, 3));
        for round in 1..6 {
            let from = round * 10;
            place.append("app.log", text(&lines(from, 4)));
            place.copy_truncate("app.log", &copy_name(round));
            place.append("app.log", text(&lines(from + 4, 2)));
            follower.expect(&lines(from, 6));
        }
        let (_, mut memory) = follower.finish();
        place.once(path, &mut memory).unwrap();
        assert_eq!(memory.messages.len(), 33);
    }
}

#[test]
fn followed_through_copies_and_truncations() {
    check_followed_through_copies(|round| format!("app.log.{round}"));
}

#[test]
fn followed_through_copies_that_are_written_over_the_last_one() {
    check_followed_through_copies(|_| "app.log.1".to_owned());
}

#[test]
fn files_that_appear_later_are_followed() {
    let place = Place::new();
    let follower = Follower::start(place.options(""), Memory::default());
    place.append("a.log", "one\n");
    follower.expect(&["one"]);
    fs::create_dir_all(place.log("deep/er")).unwrap();
    place.append("deep/er/b.log", "two\n");
    follower.expect(&["two"]);
    place.append("a.log", "three\n");
    place.append("deep/er/b.log", "four\n");
    follower.expect(&["three", "four"]);
    let (report, _) = follower.finish();
    assert_eq!(report.counters.files_found, 2);
}

#[test]
fn a_deleted_file_is_read_to_its_end() {
    let place = Place::new();
    place.append("a.log", "one\n");
    let follower = Follower::start(place.options("a.log"), Memory::default());
    follower.expect(&["one"]);
    // The writer keeps it open, as daemons do.
    let mut writer = fs::OpenOptions::new()
        .append(true)
        .open(place.log("a.log"))
        .unwrap();
    fs::remove_file(place.log("a.log")).unwrap();
    writer.write_all(b"two\n").unwrap();
    follower.expect(&["two"]);
    place.append("a.log", "three\n");
    follower.expect(&["three"]);
    follower.finish();
}

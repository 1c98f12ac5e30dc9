use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use clew_platform::{RealDisk, SimDisk};

use super::*;
use crate::dead_letter::Rejection;
use crate::event::EpochMillis;

/// Tells what it is given, takes it when it is let, and refuses documents that say so, having been sent them twice.
struct Gate {
    told: Sender<Vec<String>>,
    let_through: Receiver<Result<(), SinkError>>,
}

impl Sink for Gate {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let ids = batch.iter().map(|event| event.id.clone()).collect();
        let _ = self.told.send(ids);
        // Nobody lets anything through any more: stopped.
        self.let_through.recv().unwrap_or(Err(SinkError::Stopped))?;
        let refused = |(event_index, event): (usize, &Event)| {
            (event.document == b"refused").then(|| Rejection {
                event_index,
                status: 400,
                reason: String::new(),
            })
        };
        let rejected: Vec<Rejection> = batch.iter().enumerate().filter_map(refused).collect();
        Ok(Delivery {
            acked: (batch.len() - rejected.len()) as u64,
            retries: rejected.len() as u64,
            rejected,
            ..Delivery::default()
        })
    }
}

/// The gate is first: when a test fails, it has to be gone before the buffer waits for the thread that may wait for it.
struct Scene {
    gate: Sender<Result<(), SinkError>>,
    told: Receiver<Vec<String>>,
    buffer: BufferSink,
}

impl Scene {
    fn open(folder: &std::path::Path, bytes_max: u64, when_full: WhenFull) -> Scene {
        Scene::with(BufferOptions {
            folder: folder.to_owned(),
            bytes_max,
            when_full,
            only_after: None,
            output: "logs".to_owned(),
            rejected_in: None,
        })
    }

    /// One whose buffer is used while the sink takes longer than this.
    fn only_after(folder: &std::path::Path, only_after: Duration) -> Scene {
        Scene::with(BufferOptions {
            folder: folder.to_owned(),
            bytes_max: 1 << 20,
            when_full: WhenFull::Block,
            only_after: Some(only_after),
            output: "logs".to_owned(),
            rejected_in: None,
        })
    }

    fn with(options: BufferOptions) -> Scene {
        let (out, told) = channel();
        let (gate, let_through) = channel();
        let inner = Box::new(Gate {
            told: out,
            let_through,
        });
        let stop = StopToken::new();
        let buffer = BufferSink::open(Arc::new(RealDisk), options, inner, stop).unwrap();
        Scene { gate, told, buffer }
    }

    fn put(&mut self, id: &str, document: &[u8]) {
        let event = Event {
            id: id.to_owned(),
            timestamp: EpochMillis(7),
            document: document.to_vec(),
            ..Event::default()
        };
        self.buffer.deliver(&[event]).unwrap();
    }

    #[track_caller]
    fn expect(&self, id: &str) {
        let told = self.told.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(told, [id]);
    }

    /// Closes while the sink is away.
    fn close(self) {
        drop(self.gate);
        drop(self.buffer);
    }
}

#[test]
fn events_go_on_in_order_and_those_not_sent_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::open(folder.path(), 1 << 20, WhenFull::Block);
    scene.put("1", b"{}");
    scene.put("2", b"{}");
    scene.expect("1");
    scene.gate.send(Ok(())).unwrap();
    scene.expect("2");
    scene.put("3", b"{}");
    scene.close();
    let mut scene = Scene::open(folder.path(), 1 << 20, WhenFull::Block);
    scene.put("4", b"{}");
    // The first may come again: how far a file was sent is not written down.
    for id in ["1", "2", "3", "4"] {
        scene.expect(id);
        scene.gate.send(Ok(())).unwrap();
    }
    while scene.buffer.counts().delivered < 4 {
        std::thread::yield_now();
    }
    scene.close();
    let scene = Scene::open(folder.path(), 1 << 20, WhenFull::Block);
    assert!(scene.buffer.counts().bytes <= 4 * 64);
    scene.close();
}

#[test]
fn a_full_buffer_blocks_until_something_was_sent() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::open(folder.path(), 20 << 20, WhenFull::Block);
    let document = vec![b'x'; 9 << 20];
    scene.put("1", &document);
    scene.put("2", &document);
    let (done, is_done) = channel();
    let gate = scene.gate.clone();
    let mut buffer = scene.buffer;
    let writer = std::thread::spawn(move || {
        let event = Event {
            id: "3".to_owned(),
            document,
            ..Event::default()
        };
        buffer.deliver(&[event]).unwrap();
        done.send(()).unwrap();
        buffer
    });
    assert!(is_done.try_recv().is_err());
    gate.send(Ok(())).unwrap();
    is_done.recv_timeout(Duration::from_secs(60)).unwrap();
    drop((gate, scene.gate));
    let buffer = writer.join().unwrap();
    assert!(buffer.counts().bytes <= 20 << 20);
}

#[test]
fn a_batch_waits_for_room_on_a_full_disk_and_what_was_taken_stays() {
    let disk = SimDisk::new();
    let waits = Arc::new(AtomicUsize::new(0));
    // Room comes with the eighth look.
    let turn = {
        let (disk, waits) = (disk.clone(), Arc::clone(&waits));
        move |_| {
            if waits.fetch_add(1, Ordering::Relaxed) == 7 {
                disk.limit_bytes(u64::MAX);
            }
        }
    };
    let open = |stop: StopToken| {
        let (told, seen) = channel();
        let (gate, let_through) = channel();
        let options = BufferOptions {
            folder: "/buffer".into(),
            bytes_max: 1 << 20,
            when_full: WhenFull::Block,
            only_after: None,
            output: "logs".to_owned(),
            rejected_in: None,
        };
        let inner = Box::new(Gate { told, let_through });
        let buffer = BufferSink::open(Arc::new(disk.clone()), options, inner, stop).unwrap();
        (gate, seen, buffer)
    };
    let event = |number: usize| Event {
        id: number.to_string(),
        document: vec![b'x'; 200],
        ..Event::default()
    };
    let (gate, _seen, mut buffer) = open(StopToken::simulated(turn));
    disk.limit_bytes(1_000);
    let mut taken = 0;
    while waits.load(Ordering::Relaxed) == 0 {
        buffer.deliver(&[event(taken)]).unwrap();
        taken += 1;
    }
    assert!((3..6).contains(&taken), "{taken}");
    assert_eq!(waits.load(Ordering::Relaxed), 8);
    // No attempt has left a file behind: one that is full, and the one that was begun in its place.
    let files = disk.list(Path::new("/buffer")).unwrap();
    let of_blocks = files
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "buffer"));
    assert_eq!(of_blocks.count(), 2, "{files:?}");
    drop(gate);
    drop(buffer);
    // A stop ends the wait, and nothing of the batch was taken.
    let stop = StopToken::new();
    let (gate, seen, mut buffer) = open(stop.clone());
    disk.limit_bytes(disk.bytes_used() + 100);
    stop.stop();
    let error = buffer.deliver(&[event(taken)]).unwrap_err().to_string();
    assert!(error.contains("its buffer: "), "{error}");
    assert!(error.contains("No space left"), "{error}");
    for number in 0..taken {
        let told = seen.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(told, [number.to_string()]);
        gate.send(Ok(())).unwrap();
    }
    drop(gate);
    drop(buffer);
}

#[test]
fn a_file_whose_name_the_disk_did_not_keep_takes_nothing_of_the_one_before() {
    let (disk, folder) = (SimDisk::new(), Path::new("/buffer"));
    let open = || BufferFiles::open(Arc::new(disk.clone()), folder).unwrap();
    let block_of = |id: &str| {
        let event = Event {
            id: id.to_string(),
            ..Event::default()
        };
        let mut block = Vec::new();
        block::encode(&[event], &mut block);
        block
    };
    open().append(&block_of("1"), 1).unwrap();
    // The file of the process before is read, and not appended to.
    let mut files = open();
    disk.fail_folder_sync(1);
    assert!(files.append(&block_of("2"), 1).is_err());
    files.append(&block_of("3"), 1).unwrap();
    for id in ["1", "3"] {
        let (unread, events) = files.unread().unwrap().unwrap();
        assert_eq!(events[0].id, id);
        files.pass(&unread).unwrap();
    }
    assert!(files.unread().unwrap().is_none());
    assert_eq!(files.damaged_bytes(), 0);
}

#[test]
fn a_full_buffer_drops_its_oldest_events_and_counts_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::open(folder.path(), 20 << 20, WhenFull::DropOldest);
    let document = vec![b'x'; 9 << 20];
    scene.put("1", &document);
    // It is on its way before others make it room.
    scene.expect("1");
    for id in ["2", "3", "4"] {
        scene.put(id, &document);
    }
    assert_eq!(scene.buffer.counts().dropped, 1);
    scene.gate.send(Ok(())).unwrap();
    for id in ["3", "4"] {
        scene.expect(id);
        scene.gate.send(Ok(())).unwrap();
    }
    while scene.buffer.counts().delivered < 3 {
        std::thread::yield_now();
    }
    assert_eq!(scene.buffer.counts().dropped, 1);
    scene.close();
}

#[test]
fn what_made_room_while_it_was_sent_in_vain_is_lost_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::open(folder.path(), 20 << 20, WhenFull::DropOldest);
    let document = vec![b'x'; 9 << 20];
    scene.put("1", &document);
    scene.expect("1");
    for id in ["2", "3"] {
        scene.put(id, &document);
    }
    assert_eq!(scene.buffer.counts().dropped, 0);
    let gone = SinkError::Refused {
        status: 401,
        reason: String::new(),
    };
    scene.gate.send(Err(gone)).unwrap();
    while scene.buffer.counts().dropped == 0 {
        std::thread::yield_now();
    }
    assert_eq!(scene.buffer.counts().dropped, 1);
    scene.close();
}

#[test]
fn refused_events_are_kept_and_a_sink_that_gives_up_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::open(folder.path(), 1 << 20, WhenFull::Block);
    scene.put("1", b"refused");
    scene.gate.send(Ok(())).unwrap();
    while scene.buffer.counts().rejected == 0 {
        std::thread::yield_now();
    }
    let kept = std::fs::read_to_string(folder.path().join("rejected.ndjson")).unwrap();
    assert!(kept.contains("\"id\":\"1\""), "{kept}");
    assert_eq!(scene.buffer.counts().retries, 1);
    let refused = SinkError::Refused {
        status: 401,
        reason: String::new(),
    };
    scene.gate.send(Err(refused.clone())).unwrap();
    scene.put("2", b"{}");
    scene.expect("1");
    scene.expect("2");
    let event = Event::default();
    while scene.buffer.deliver(std::slice::from_ref(&event)).is_ok() {}
    assert_eq!(scene.buffer.deliver(&[event]), Err(refused));
}

#[test]
fn a_torn_or_damaged_file_is_read_up_to_there_and_the_next_ones_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::open(folder.path(), 1 << 20, WhenFull::Block);
    for id in ["1", "2"] {
        scene.put(id, b"{}");
    }
    scene.close();
    let file = folder.path().join("000000000001.buffer");
    let whole = std::fs::read(&file).unwrap();
    let block = whole.len() / 2;
    for (damage, expected) in [
        (whole.len() - 1, 1),
        (block + 3, 1),
        (block, 1),
        (block - 1, 0),
    ] {
        std::fs::write(&file, &whole[..damage]).unwrap();
        let mut scene = Scene::open(folder.path(), 1 << 20, WhenFull::Block);
        scene.put("3", b"{}");
        if expected == 1 {
            scene.expect("1");
            scene.gate.send(Ok(())).unwrap();
        }
        scene.expect("3");
        scene.gate.send(Ok(())).unwrap();
        scene.close();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            std::fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
    for bit in 0..whole.len() * 8 {
        let mut bad = whole.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let head: [u8; 8] = bad[..8].try_into().unwrap();
        let body = block::body_bytes(head).and_then(|bytes| bad.get(8..8 + bytes));
        let read = body.and_then(|body| block::decode(head, body));
        assert_eq!(read.is_some(), bit / 8 >= block, "bit {bit}");
    }
}

#[test]
fn a_damaged_block_is_left_out_and_those_behind_it_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::open(folder.path(), 1 << 20, WhenFull::Block);
    for id in ["1", "2", "3"] {
        scene.put(id, b"{}");
    }
    scene.close();
    let file = folder.path().join("000000000001.buffer");
    let whole = std::fs::read(&file).unwrap();
    let block = whole.len() / 3;
    for (damaged, told) in [(0, ["2", "3"]), (1, ["1", "3"]), (2, ["1", "2"])] {
        let mut bad = whole.clone();
        bad[damaged * block + block - 1] ^= 1;
        std::fs::write(&file, bad).unwrap();
        let seen = Waiting {
            bytes: whole.len() as u64,
            events: 2,
            damaged_bytes: block as u64,
        };
        assert_eq!(waiting(&RealDisk, folder.path()).unwrap(), seen);
        let scene = Scene::open(folder.path(), 1 << 20, WhenFull::Block);
        for id in told {
            scene.expect(id);
            scene.gate.send(Ok(())).unwrap();
        }
        while scene.buffer.counts().delivered < 2 || scene.buffer.counts().damaged_bytes == 0 {
            std::thread::yield_now();
        }
        assert_eq!(scene.buffer.counts().damaged_bytes, block as u64);
        scene.close();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            std::fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
}

#[test]
fn a_sink_that_takes_what_it_is_given_leaves_nothing_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::only_after(folder.path(), Duration::from_secs(600));
    for id in ["1", "2"] {
        scene.gate.send(Ok(())).unwrap();
        scene.put(id, b"{}");
        scene.expect(id);
    }
    assert_eq!(scene.buffer.counts(), BufferCounts::default());
    // What it says comes from it: it is not the buffer's.
    scene.gate.send(Ok(())).unwrap();
    let event = Event {
        document: b"refused".to_vec(),
        ..Event::default()
    };
    let delivery = scene.buffer.deliver(&[event]).unwrap();
    assert_eq!((delivery.acked, delivery.rejected.len()), (0, 1));
    let refused = SinkError::Refused {
        status: 401,
        reason: String::new(),
    };
    scene.gate.send(Err(refused.clone())).unwrap();
    assert_eq!(scene.buffer.deliver(&[Event::default()]), Err(refused));
    scene.close();
}

#[test]
fn what_is_for_a_sink_that_is_away_waits_on_disk_and_is_sent_once_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::only_after(folder.path(), Duration::from_millis(1));
    for id in ["1", "2", "3"] {
        scene.put(id, b"{}");
    }
    for id in ["1", "2", "3"] {
        scene.expect(id);
        scene.gate.send(Ok(())).unwrap();
    }
    while scene.buffer.counts().delivered < 3 {
        std::thread::yield_now();
    }
    // Whenever the process dies from here on, nothing of that is sent again.
    assert_eq!(scene.buffer.counts().bytes, 0);
    scene.put("4", b"{}");
    scene.expect("4");
    scene.close();
    let scene = Scene::only_after(folder.path(), Duration::from_millis(1));
    scene.expect("4");
    scene.close();
}

#[test]
fn the_end_of_a_run_waits_for_what_is_on_disk_and_tells_of_what_stays_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::only_after(folder.path(), Duration::from_millis(1));
    scene.put("1", b"refused");
    scene.gate.send(Ok(())).unwrap();
    scene.buffer.finish().unwrap();
    let buffers = scene.buffer.buffers();
    assert_eq!(buffers[0].counts.rejected, 1);
    let kept = std::fs::read_to_string(&buffers[0].rejected_in).unwrap();
    assert!(kept.contains("\"id\":\"1\""), "{kept}");
    scene.put("2", b"{}");
    let refused = SinkError::Refused {
        status: 401,
        reason: "no".to_owned(),
    };
    scene.gate.send(Err(refused)).unwrap();
    let told = scene.buffer.finish().unwrap_err().to_string();
    for part in [
        "bytes of events for logs stay in",
        "status 401: no",
        &folder.path().display().to_string(),
    ] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn what_a_stop_found_on_its_way_past_the_disk_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::only_after(folder.path(), Duration::from_secs(600));
    scene.gate.send(Err(SinkError::Stopped)).unwrap();
    scene.put("1", b"{}");
    scene.expect("1");
    scene.put("2", b"{}");
    scene.close();
    let scene = Scene::only_after(folder.path(), Duration::from_secs(600));
    for id in ["1", "2"] {
        scene.expect(id);
        scene.gate.send(Ok(())).unwrap();
    }
    scene.close();
}

#[test]
fn a_buffer_that_is_closed_when_all_was_sent_sends_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::open(folder.path(), 1 << 20, WhenFull::Block);
    for id in ["1", "2"] {
        scene.put(id, b"{}");
        scene.expect(id);
        scene.gate.send(Ok(())).unwrap();
    }
    while scene.buffer.counts().delivered < 2 {
        std::thread::yield_now();
    }
    scene.close();
    let mut scene = Scene::open(folder.path(), 1 << 20, WhenFull::Block);
    scene.put("3", b"{}");
    scene.expect("3");
    scene.close();
}

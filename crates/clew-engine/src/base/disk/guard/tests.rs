use clew_platform::SimDisk;

use super::*;
use crate::base::disk::Watermark;

const TOTAL: u64 = 100_000;

/// A disk of 100,000 bytes, a part of which are used by a file that can be made to have any length.
struct Filled {
    disk: SimDisk,
    guard: Arc<DiskGuard>,
}

impl Filled {
    fn new(limits: DiskLimits) -> Self {
        let disk = SimDisk::new();
        disk.create_dir_all(Path::new("/data")).unwrap();
        disk.create_new(Path::new("/data/file")).unwrap();
        disk.set_capacity(TOTAL);
        let guard = DiskGuard::new(Arc::new(disk.clone()), "/data".into(), limits);
        Filled {
            disk,
            guard: Arc::new(guard),
        }
    }

    fn stage(&self, free: u64, buffered: u64) -> DiskStage {
        let mut file = self.disk.open(Path::new("/data/file")).unwrap();
        file.set_len(TOTAL - free).unwrap();
        let unwritten = Unwritten {
            segments: buffered,
            log: 0,
        };
        let state = self.guard.look(Some(unwritten));
        assert_eq!((state.free, state.total), (free, TOTAL));
        assert_eq!(self.guard.is_blocked(), state.is_blocked());
        state.stage
    }
}

#[test]
fn each_mark_is_passed_and_the_block_goes_below_the_high_one() {
    let filled = Filled::new(DiskLimits::default());
    for (free, want) in [
        (15_000, DiskStage::Normal),
        (14_999, DiskStage::Low),
        (9_999, DiskStage::High),
        (5_000, DiskStage::High),
        (4_999, DiskStage::FloodStage),
        (9_999, DiskStage::FloodStage),
        (10_000, DiskStage::Low),
        (9_999, DiskStage::High),
    ] {
        assert_eq!(filled.stage(free, 0), want, "{free}");
    }
}

#[test]
fn what_was_acknowledged_is_kept_room_for() {
    let filled = Filled::new(DiskLimits::default());
    // 5,000 are always kept, buffers come on top.
    for (free, buffered, want) in [
        (45_000, 40_000, DiskStage::Normal),
        (44_999, 40_000, DiskStage::Reserved),
        (47_499, 40_000, DiskStage::Reserved),
        (47_500, 40_000, DiskStage::Normal),
        (44_999, 40_000, DiskStage::Reserved),
        (40_000, 0, DiskStage::Normal),
    ] {
        assert_eq!(filled.stage(free, buffered), want, "{free} {buffered}");
    }
}

#[test]
fn marks_may_be_bytes_and_may_be_turned_off() {
    let bytes = DiskLimits {
        low: Watermark::FreeBytes(60_000),
        high: Watermark::FreeBytes(50_000),
        flood_stage: Watermark::FreeBytes(40_000),
        ..DiskLimits::default()
    };
    let filled = Filled::new(bytes);
    assert_eq!(filled.stage(59_999, 0), DiskStage::Low);
    assert_eq!(filled.stage(49_999, 0), DiskStage::High);
    assert_eq!(filled.stage(39_999, 0), DiskStage::FloodStage);
    filled.guard.set_limits(DiskLimits {
        enabled: false,
        ..bytes
    });
    assert_eq!(filled.stage(1, 0), DiskStage::Normal);
    assert!(filled.guard.has_room(1 << 30) && filled.guard.admits(1 << 20));
}

#[test]
fn a_look_says_how_much_may_pass_unseen() {
    let filled = Filled::new(DiskLimits::default());
    assert!(!filled.guard.admits(1));
    filled.stage(15_000, 0);
    // A quarter of what is above the 5,000 that are kept.
    assert!(filled.guard.admits(2_500) && !filled.guard.admits(2_501));
    filled.guard.spend(2_000);
    assert!(filled.guard.admits(500) && !filled.guard.admits(501));
    assert!(filled.guard.has_room(5_000) && !filled.guard.has_room(5_001));
}

#[test]
fn claims_are_refused_that_would_fill_the_disk() {
    let filled = Filled::new(DiskLimits::default());
    filled.stage(15_000, 0);
    let claim = filled.guard.claim("a merge", 6_000).unwrap();
    let refused = filled.guard.claim("a merge", 4_001).map(drop).unwrap_err();
    assert!(refused.to_string().contains("[4001]"), "{refused}");
    drop(claim);
    assert!(filled.guard.claim("a merge", 10_000).is_ok());
    assert!(filled.guard.claim("a merge", 10_001).is_err());
    let check = |bytes| filled.guard.check_file("a file", Path::new("/data"), bytes);
    assert!(check(10_000).is_ok() && check(10_001).is_err());
}

#[test]
fn relief_is_asked_for_once_when_it_becomes_tight() {
    let filled = Filled::new(DiskLimits::default());
    filled.stage(50_000, 0);
    assert!(!filled.guard.take_relief());
    filled.stage(9_000, 0);
    assert!(filled.guard.take_relief() && !filled.guard.take_relief());
    filled.stage(8_000, 0);
    assert!(!filled.guard.take_relief());
    // Buffers that hold back room are worth a flush at any time.
    filled.stage(8_000, 2_000);
    assert!(filled.guard.take_relief());
    filled.stage(4_000, 0);
    assert!(filled.guard.take_relief());
}

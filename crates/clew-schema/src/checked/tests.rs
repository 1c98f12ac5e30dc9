use std::sync::Mutex;

use tantivy::directory::FileHandle;

use super::*;

/// Counts what it is asked for, and has one bad byte.
#[derive(Debug)]
struct Owner {
    bytes: OwnedBytes,
    bad: usize,
    asked: Mutex<Vec<Range<usize>>>,
}

impl HasLen for Owner {
    fn len(&self) -> usize {
        self.bytes.len()
    }
}

impl FileHandle for Owner {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        self.asked.lock().unwrap().push(range.clone());
        match range.contains(&self.bad) {
            true => Err(io::Error::other("bad")),
            false => Ok(self.bytes.slice(range)),
        }
    }

    fn read_bytes_async<'a, 'f>(
        &'a self,
        range: Range<usize>,
    ) -> std::pin::Pin<Box<dyn Future<Output = io::Result<OwnedBytes>> + Send + 'f>>
    where
        'a: 'f,
        Self: 'f,
    {
        Box::pin(std::future::ready(Ok(self.bytes.slice(range))))
    }
}

#[test]
fn a_short_part_is_checked_at_once_and_damage_shows_where_it_is() {
    for (length, bad, asked_later) in [
        (3 * GRAIN_BYTES, usize::MAX, false),
        (3 * GRAIN_BYTES, 2 * GRAIN_BYTES, true),
        (SHORT_BYTES + 1, usize::MAX, true),
    ] {
        let owner = Arc::new(Owner {
            bytes: OwnedBytes::new(vec![7; length]),
            bad,
            asked: Mutex::default(),
        });
        let bytes = CheckedBytes::open_for_all(FileSlice::new(owner.clone())).unwrap();
        let asked = std::mem::take(&mut *owner.asked.lock().unwrap()).len();
        assert_eq!(asked == 0, length > SHORT_BYTES);
        assert_eq!(bytes.get(10..20).unwrap(), [7; 10]);
        assert_eq!(!owner.asked.lock().unwrap().is_empty(), asked_later);
        let at_bad = bytes.get(2 * GRAIN_BYTES..2 * GRAIN_BYTES + 1);
        assert_eq!(at_bad.is_err(), bad != usize::MAX);
        assert!(bytes.get(length..length + 1).is_err());
    }
}

#[test]
fn the_owner_is_asked_once_for_what_is_sound_and_always_for_what_is_not() {
    let length = 200 * GRAIN_BYTES + 100;
    let owner = Arc::new(Owner {
        bytes: OwnedBytes::new(vec![7; length]),
        bad: 150 * GRAIN_BYTES + 5,
        asked: Mutex::default(),
    });
    let bytes = CheckedBytes::open(FileSlice::new(owner.clone())).unwrap();
    let asked = || std::mem::take(&mut *owner.asked.lock().unwrap());
    assert!(asked().is_empty(), "opening asks for nothing");
    for _ in 0..2 {
        assert_eq!(bytes.get(4000..4200).unwrap(), [7; 200]);
        assert_eq!(bytes.get(length - 3..length).unwrap(), [7; 3]);
        assert!(bytes.get(5..5).unwrap().is_empty());
    }
    assert_eq!(asked(), [0..2 * GRAIN_BYTES, 200 * GRAIN_BYTES..length]);
    // Over several words of bits.
    assert_eq!(
        bytes.get(0..130 * GRAIN_BYTES).unwrap().len(),
        130 * GRAIN_BYTES
    );
    let words = [0..64 * GRAIN_BYTES, 64 * GRAIN_BYTES..128 * GRAIN_BYTES];
    let last = std::iter::once(128 * GRAIN_BYTES..130 * GRAIN_BYTES);
    assert_eq!(asked(), words.into_iter().chain(last).collect::<Vec<_>>());
    for _ in 0..2 {
        assert!(bytes.get(150 * GRAIN_BYTES..150 * GRAIN_BYTES + 1).is_err());
        assert_eq!(asked().len(), 1);
    }
    assert!(bytes.get(length..length + 1).is_err() && bytes.get(length - 1..length).is_ok());
    assert!(asked().is_empty());
}

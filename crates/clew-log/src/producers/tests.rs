use super::*;
use crate::options::Compression;

fn head(id: u64, sequence: u64, glsn: u64) -> Head {
    let (stream, llsn) = (StreamId::new(1), Llsn::new(glsn));
    let place = FramePlace {
        stream,
        glsn: Glsn::new(glsn),
        llsn,
        count: 2,
        time_ms: 5,
    };
    let producer = Some(Producer { id, sequence });
    Head {
        place,
        ends_call: true,
        producer,
        compression: Compression::None,
    }
}

fn check(producers: &Producers, id: u64, sequence: u64) -> Result<Option<FramePlace>, LogError> {
    producers.check(Producer { id, sequence }, StreamId::new(1), 2)
}

#[test]
fn a_retry_within_the_window_finds_its_positions_and_others_are_refused() {
    let mut producers = Producers::default();
    assert!(
        matches!(check(&producers, 7, 500), Ok(None)),
        "a producer may begin anywhere"
    );
    for n in 0..20 {
        producers.note(&head(7, 500 + n, 10 + 2 * n));
    }
    assert!(matches!(check(&producers, 7, 520), Ok(None)));
    assert_eq!(
        check(&producers, 7, 519).unwrap(),
        Some(head(7, 519, 48).place)
    );
    assert_eq!(
        check(&producers, 7, 504).unwrap(),
        Some(head(7, 504, 18).place)
    );
    assert!(matches!(
        check(&producers, 7, 503),
        Err(LogError::SequenceTooOld { oldest: 504, .. })
    ));
    assert!(matches!(
        check(&producers, 7, 521),
        Err(LogError::SequenceGap { expected: 520, .. })
    ));
    let other_count = producers.check(
        Producer {
            id: 7,
            sequence: 519,
        },
        StreamId::new(1),
        3,
    );
    assert!(matches!(other_count, Err(LogError::SequenceReused { .. })));
    let mut bytes = Vec::new();
    producers.encode(&mut bytes);
    assert_eq!(Producers::decode(&mut Fields(&bytes)), Some(producers));
    assert_eq!(
        Producers::decode(&mut Fields(&bytes[..bytes.len() - 1])),
        None
    );
}

#[test]
fn frames_of_one_call_are_one_run() {
    let mut producers = Producers::default();
    producers.note(&head(7, 1, 10));
    producers.note(&head(7, 1, 12));
    let found = producers
        .check(Producer { id: 7, sequence: 1 }, StreamId::new(1), 4)
        .unwrap();
    assert_eq!(
        found.map(|place| (place.glsn.get(), place.count)),
        Some((10, 4))
    );
}

#[test]
fn the_producer_that_was_silent_for_longest_is_forgotten() {
    let mut producers = Producers::default();
    for id in 0..=PRODUCERS_MAX as u64 {
        producers.note(&head(id, 1, 1 + 2 * id));
    }
    assert!(
        matches!(check(&producers, 0, 9), Ok(None)),
        "forgotten, so it may begin anywhere"
    );
    assert!(check(&producers, 1, 9).is_err());
}

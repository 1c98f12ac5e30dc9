use super::*;

fn head(producer: Option<Producer>) -> Head {
    let (stream, glsn, llsn) = (StreamId::new(9), Glsn::new(5), Llsn::new(3));
    let place = FramePlace {
        stream,
        glsn,
        llsn,
        count: 2,
        time_ms: 1_800_000_000_123,
    };
    Head {
        place,
        ends_call: true,
        producer,
        compression: Compression::None,
    }
}

fn encoded(block: &[u8], producer: Option<Producer>) -> Vec<u8> {
    let mut buffer = Vec::new();
    let head = head(producer);
    begin_entries(&mut buffer, &head);
    buffer.extend_from_slice(block);
    finish_entries(&mut buffer, 0, head.place.count);
    assert_eq!(buffer.len(), entries_bytes(block.len(), producer));
    buffer
}

#[test]
fn a_frame_of_entries_reads_back_as_it_was_written() {
    let producers = [
        None,
        Some(Producer {
            id: 77,
            sequence: u64::MAX,
        }),
    ];
    for block in [&b""[..], b"a", b"12345678", b"123456789"] {
        for producer in producers {
            let buffer = encoded(block, producer);
            assert!(buffer.len().is_multiple_of(ALIGNMENT));
            let (frame, bytes) = decode(&buffer).unwrap();
            assert_eq!(bytes, buffer.len());
            assert_eq!((frame.glsn().get(), frame.next().get()), (5, 7));
            let Frame::Entries(found, found_block) = frame else {
                panic!("not entries")
            };
            assert_eq!((found, found_block), (head(producer), block));
        }
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    let buffer = encoded(b"block bytes", Some(Producer { id: 1, sequence: 2 }));
    for bit in 0..buffer.len() * 8 {
        let mut damaged = buffer.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        decode(&damaged).unwrap_err();
    }
    for end in 0..buffer.len() {
        decode(&buffer[..end]).unwrap_err();
    }
}

#[test]
fn zeros_are_no_frame() {
    decode(&[0; 64]).unwrap_err();
}

#[test]
fn a_mark_reads_back_and_looks_like_one() {
    let bytes = mark(Glsn::new(8), 600);
    assert!(may_be_mark(&bytes));
    assert!(!may_be_mark(&encoded(b"x", None)));
    let (Frame::Mark { next, synced }, HEADER_BYTES) = decode(&bytes).unwrap() else {
        panic!("not a mark")
    };
    assert_eq!((next, synced), (Glsn::new(8), 600));
}

#[test]
fn a_control_record_reads_back() {
    let mut buffer = Vec::new();
    push_control(&mut buffer, Glsn::new(8), b"record");
    let (Frame::Control { next, record }, bytes) = decode(&buffer).unwrap() else {
        panic!("not a control record")
    };
    assert_eq!(
        (next, record, bytes),
        (Glsn::new(8), &b"record"[..], buffer.len())
    );
}

use super::*;

const STREAM: StreamId = StreamId::new(1);

fn stored(entries: &[NewEntry<'_>], compression: Compression) -> Vec<(Block, Vec<u8>)> {
    let mut start = 0;
    let blocks = plan(entries, compression, 1 << 20).unwrap();
    let stored = blocks.into_iter().map(|block| {
        let mut bytes = Vec::new();
        block.push(&mut bytes, &entries[start..block.end]);
        assert_eq!(bytes.len(), block.bytes);
        start = block.end;
        (block, bytes)
    });
    stored.collect()
}

#[test]
fn entries_with_and_without_headers_read_back() {
    let headers: [(&str, &[u8]); 2] = [("trace", b"12"), ("", b"")];
    let entries = [
        NewEntry::new(STREAM, &[b"one", b"", b" two"]),
        NewEntry {
            stream: STREAM,
            parts: &[b"payload"],
            headers: &headers,
        },
        NewEntry::new(STREAM, &[]),
    ];
    let blocks = stored(&entries, Compression::None);
    let [(block, bytes)] = &blocks[..] else {
        panic!("one block")
    };
    assert_eq!(block.count, 3);
    let (first, at) = entry_at(bytes, 0).unwrap();
    let (second, at) = entry_at(bytes, at).unwrap();
    let (third, at) = entry_at(bytes, at).unwrap();
    assert_eq!((first.payload, first.headers.count()), (&b"one two"[..], 0));
    assert_eq!(second.payload, b"payload");
    assert_eq!(second.headers.collect::<Vec<_>>(), headers);
    assert_eq!((third.payload, at), (&b""[..], bytes.len()));
    assert!(entry_at(bytes, at).is_none());
}

#[test]
fn a_block_cut_anywhere_gives_no_entry_beyond_the_cut() {
    let headers: [(&str, &[u8]); 1] = [("k", b"v")];
    let entry = NewEntry {
        stream: STREAM,
        parts: &[b"payload"],
        headers: &headers,
    };
    let blocks = stored(&[entry], Compression::None);
    for end in 0..blocks[0].1.len() {
        assert!(entry_at(&blocks[0].1[..end], 0).is_none());
    }
}

#[test]
fn calls_are_cut_by_stream_and_by_size() {
    let big = vec![7; BLOCK_BYTES / 2];
    let parts: [&[u8]; 1] = [&big];
    let other = StreamId::new(2);
    let entries =
        [STREAM, STREAM, STREAM, other, STREAM].map(|stream| NewEntry::new(stream, &parts));
    let blocks = stored(&entries, Compression::None);
    let ends: Vec<usize> = blocks.iter().map(|(block, _)| block.end).collect();
    assert_eq!(ends, [1, 2, 3, 4, 5]);
    let blocks = stored(&entries, Compression::Lz4);
    let ends: Vec<usize> = blocks.iter().map(|(block, _)| block.end).collect();
    assert_eq!(ends, [3, 4, 5], "compressed blocks are larger");
    assert!(
        blocks
            .iter()
            .all(|(block, bytes)| block.compression() == Compression::Lz4 && bytes.len() < 200)
    );
}

#[test]
fn limits_are_checked() {
    let headers: [(&str, &[u8]); 1] = [("k", &[0; HEADERS_BYTES_MAX])];
    let entry = NewEntry {
        stream: STREAM,
        parts: &[],
        headers: &headers,
    };
    let error = plan(&[entry], Compression::None, 10).unwrap_err();
    assert!(matches!(error, LogError::HeadersTooLarge { .. }));
    let error = plan(&[NewEntry::new(STREAM, &[&[0; 11]])], Compression::None, 10).unwrap_err();
    assert!(matches!(
        error,
        LogError::EntryTooLarge { bytes: 11, max: 10 }
    ));
}

use proptest::prelude::*;
use tantivy::directory::FileSlice;

use super::codec::Encoder;
use super::*;

/// Like a log line: the same names, other values.
fn line(n: u64) -> Vec<u8> {
    let hash = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!(
        "{{\"host\":\"web-{}\",\"status\":{},\"message\":\"request {hash:x} took {} ms\"}}",
        n % 7,
        200 + n % 5,
        hash % 977
    )
    .into_bytes()
}

fn dictionary() -> Vec<u8> {
    let lines: Vec<Vec<u8>> = (0..4000).map(line).collect();
    zstd::dict::from_samples(&lines, 4 << 10).expect("the lines are alike")
}

fn parse(bytes: Vec<u8>) -> tantivy::Result<Sources> {
    Sources::parse(CheckedBytes::open(FileSlice::from(bytes))?)
}

fn written(writer: SourceWriter<Vec<u8>>) -> Arc<Sources> {
    let bytes = writer.finish().expect("memory can be written");
    Arc::new(parse(bytes).expect("what was written is whole"))
}

fn encoders() -> [fn() -> Encoder; 3] {
    [
        Encoder::lz4,
        || Encoder::zstd(Vec::new()).expect("a context"),
        || Encoder::zstd(dictionary()).expect("a context"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sources_come_back(
        lengths in proptest::collection::vec(prop_oneof![Just(0_usize), 1..300_usize, Just(9000)], 0..120),
        order in any::<u64>(),
    ) {
        for encoder in encoders() {
            let mut writer = SourceWriter::with(Vec::new(), encoder());
            let all: Vec<Vec<u8>> = (0..).zip(&lengths).map(|(n, length)| line(n).into_iter().cycle().take(*length).collect()).collect();
            for source in &all {
                writer.push(source).expect("memory can be written");
            }
            let sources = written(writer);
            let mut cursor = sources.cursor();
            for (doc, source) in (0..).zip(&all) {
                prop_assert_eq!(cursor.get(doc).expect("it is there"), source.as_slice());
            }
            let count = all.len() as u64;
            for n in 0..count.min(20) {
                let doc = order.wrapping_mul(n + 1) % count;
                let found = cursor.get(u32::try_from(doc).expect("small")).expect("it is there");
                prop_assert_eq!(found, all[usize::try_from(doc).expect("small")].as_slice());
            }
            prop_assert!(cursor.get(u32::try_from(count).expect("small")).is_err());
        }
    }

    #[test]
    fn damage_is_an_error_and_no_panic(at in any::<prop::sample::Index>(), bit in 0..8_u32, cut in any::<prop::sample::Index>()) {
        for encoder in encoders() {
            let mut writer = SourceWriter::with(Vec::new(), encoder());
            for n in 0..40 {
                writer.push(&line(n)).expect("memory can be written");
            }
            let whole = writer.finish().expect("memory can be written");
            let mut flipped = whole.clone();
            flipped[at.index(whole.len())] ^= 1 << bit;
            let short = whole[..cut.index(whole.len())].to_vec();
            for bytes in [flipped, short] {
                if let Ok(sources) = parse(bytes) {
                    let mut cursor = Arc::new(sources).cursor();
                    for doc in 0..45 {
                        // Damage inside the text of a block is for the checksum of the file to find.
                        let _ = cursor.get(doc);
                    }
                }
            }
        }
    }
}

#[test]
fn a_dictionary_makes_up_for_small_blocks() {
    let [_, plain, trained] = encoders().map(|encoder| {
        let mut writer = SourceWriter::with(Vec::new(), encoder());
        for n in 0..20_000 {
            writer.push(&line(n)).expect("memory can be written");
        }
        let sources = written(writer);
        (sources.footer.blocks, sources.bytes.len())
    });
    assert!(trained.0 > plain.0 * 3, "blocks: {trained:?} and {plain:?}");
    assert!(
        trained.1 * 8 < plain.1 * 9,
        "bytes: {trained:?} and {plain:?}"
    );
}

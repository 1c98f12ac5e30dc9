use tantivy::directory::FileSlice;
use tantivy::postings::FieldSerializer;
use tantivy_common::CountingWriter;

use super::*;

/// A term: its documents, how often each has it, and the distances of the occurrences.
type Postings = Vec<(DocId, Vec<u32>)>;

/// Terms in few and in many documents, some of them in a multiple of what a block has.
fn terms() -> Vec<Postings> {
    let mut dice = 7_u32;
    let mut throw = |sides: u32| {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (dice >> 8) % sides
    };
    [1, 2, 127, 300, 128, 129, 1, 256, 5, 1000, 127]
        .map(|docs| {
            let mut doc = 0;
            let document = |_| {
                doc += 1 + throw(3);
                let deltas = (0..1 + throw(4)).map(|_| throw(50)).collect();
                (doc, deltas)
            };
            (0..docs).map(document).collect()
        })
        .into()
}

/// What tantivy writes, but for its automaton: where postings are, postings, positions.
fn written_by_tantivy(
    record: IndexRecordOption,
    terms: &[Postings],
    norms: Option<FieldNormReader>,
) -> [Vec<u8>; 3] {
    let mut parts = [const { Vec::new() }; 3].map(CountingWriter::wrap);
    let [dictionary, postings, positions] = &mut parts;
    let mut out =
        FieldSerializer::create(record, 4_321, dictionary, postings, positions, norms).unwrap();
    for (term, docs) in terms.iter().enumerate() {
        let count = u32::try_from(docs.len()).unwrap();
        let name = u32::try_from(term).unwrap().to_be_bytes();
        out.new_term(&name, count, record.has_freq()).unwrap();
        for (doc, deltas) in docs {
            let (frequency, deltas) = asked(record, deltas);
            out.write_doc(*doc, frequency, deltas);
        }
        out.close_term().unwrap();
    }
    out.close().unwrap();
    parts.map(CountingWriter::finish)
}

/// How often a document has a term, and where, as far as that is written.
fn asked(record: IndexRecordOption, deltas: &[u32]) -> (u32, &[u32]) {
    let frequency = u32::try_from(deltas.len()).unwrap();
    match record {
        IndexRecordOption::Basic => (0, &[]),
        IndexRecordOption::WithFreqs => (frequency, &[]),
        IndexRecordOption::WithFreqsAndPositions => (frequency, deltas),
    }
}

/// What a dictionary has behind its automaton, but for the length of it.
fn infos(dictionary: &[u8]) -> &[u8] {
    let end = dictionary.len() - 2 * size_of::<u32>() - size_of::<u64>();
    let length = u64::from_le_bytes(*dictionary[end..].first_chunk().unwrap());
    &dictionary[end - usize::try_from(length).unwrap()..]
}

#[test]
fn what_is_written_is_what_tantivy_writes() {
    let terms = terms();
    let norms: Vec<u8> = (0..90).cycle().take(4_000).collect();
    let reader = || FieldNormReader::open(FileSlice::from(norms.clone())).unwrap();
    for record in [
        IndexRecordOption::Basic,
        IndexRecordOption::WithFreqs,
        IndexRecordOption::WithFreqsAndPositions,
    ] {
        for has_norms in [false, true] {
            let norms = || has_norms.then(reader);
            let theirs = written_by_tantivy(record, &terms, norms());
            let (mut postings, mut positions) = (Vec::new(), Vec::new());
            let files = (&mut postings, &mut positions);
            let mut out = PostingsWriter::new(record, 4_321, norms(), files).unwrap();
            for docs in &terms {
                let counted = |(doc, deltas): &(DocId, Vec<u32>)| {
                    (*doc, u32::try_from(deltas.len()).unwrap())
                };
                let deltas = docs.iter().flat_map(|(_, deltas)| deltas.iter().copied());
                let counted: Vec<(DocId, u32)> = docs.iter().map(counted).collect();
                out.write(&counted, &deltas.collect::<Vec<u32>>()).unwrap();
            }
            let dictionary = out.close().unwrap();
            assert_eq!(
                infos(&dictionary),
                infos(&theirs[0]),
                "{record:?} {has_norms}"
            );
            assert_eq!(postings, theirs[1], "{record:?} {has_norms}");
            assert_eq!(positions, theirs[2], "{record:?} {has_norms}");
        }
    }
}

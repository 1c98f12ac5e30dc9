//! tantivy's own writer is the oracle: the same documents make the same files, and dictionaries that say the same.

use std::net::Ipv6Addr;

use proptest::prelude::*;
use tantivy::Index;
use tantivy::directory::CompositeFile;
use tantivy::indexer::{AddOperation, SegmentWriter};
use tantivy::postings::TermInfo;
use tantivy::schema::{
    FAST, INDEXED, IndexRecordOption, IpAddrOptions, NumericOptions, STRING, TextFieldIndexing,
    TextOptions,
};
use tantivy::termdict::TermDictionary;
use tantivy::tokenizer::{PreTokenizedString, Token};

use super::*;

/// Text by a field's number, or a number that the field's type makes a value of.
#[derive(Clone, Debug)]
enum Given {
    Text(u32, String),
    Cut(String),
    Number(u64),
}

const WITH_POSITIONS: u32 = 0;
const WITH_FREQUENCIES: u32 = 1;
const BASIC: u32 = 2;
const WHOLE: u32 = 3;
const ID: u32 = 4;
const CUT: u32 = 5;
const NUMBERS: [u32; 4] = [6, 7, 8, 9];
const STANDARD: u32 = 12;

fn schema() -> Schema {
    let mut builder = Schema::builder();
    let text = |record, norms| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("whitespace")
            .set_fieldnorms(norms)
            .set_index_option(record);
        TextOptions::default().set_indexing_options(indexing)
    };
    builder.add_text_field("p", text(IndexRecordOption::WithFreqsAndPositions, true));
    builder.add_text_field("f", text(IndexRecordOption::WithFreqs, true));
    builder.add_text_field("b", text(IndexRecordOption::Basic, false));
    let whole = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::Basic);
    let whole = TextOptions::default().set_indexing_options(whole);
    builder.add_text_field("w", whole.set_fast("raw"));
    builder.add_text_field("i", STRING);
    builder.add_text_field("c", text(IndexRecordOption::WithFreqsAndPositions, false));
    let number = NumericOptions::default() | FAST | INDEXED;
    builder.add_u64_field("u", number.clone());
    builder.add_i64_field("n", number.clone());
    builder.add_f64_field("d", number);
    builder.add_ip_addr_field("a", IpAddrOptions::default().set_fast().set_indexed());
    // Neither of these has postings.
    builder.add_i64_field("columns only", FAST);
    builder.add_text_field("nothing", TextOptions::default());
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("standard")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    builder.add_text_field("s", TextOptions::default().set_indexing_options(indexing));
    builder.build()
}

fn document(values: &[Given]) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    let field = Field::from_field_id;
    for value in values {
        match value {
            Given::Text(number, text) => document.add_text(field(*number), text),
            Given::Cut(text) => {
                let words = text.split(' ').enumerate();
                let tokens = words.map(|(at, word)| Token {
                    // Two words at each place, and gaps between some.
                    position: at / 2 * 3,
                    position_length: 1 + at % 2,
                    text: word.to_string(),
                    ..Token::default()
                });
                let cut = PreTokenizedString {
                    text: text.clone(),
                    tokens: tokens.collect(),
                };
                document.add_pre_tokenized_text(field(CUT), cut);
            }
            Given::Number(number) => {
                let signed = i64::from_ne_bytes(number.to_ne_bytes());
                document.add_u64(field(NUMBERS[0]), *number);
                document.add_i64(field(NUMBERS[1]), signed);
                document.add_f64(field(NUMBERS[2]), signed as f64 / 8.0);
                let address = Ipv6Addr::from(u128::from(*number) << 40);
                document.add_ip_addr(field(NUMBERS[3]), address);
                document.add_i64(field(NUMBERS[3] + 1), signed);
            }
        }
    }
    document
}

fn index() -> Index {
    let mut index = Index::create_in_ram(schema());
    let tokenizers = tantivy::tokenizer::TokenizerManager::default();
    let standard = clew_analysis::analyzers().get("standard").unwrap();
    tokenizers.register("standard", standard);
    index.set_tokenizers(tokenizers);
    index
}

/// What a segment is made of: its files, but of its dictionaries what they say.
#[derive(Debug, PartialEq)]
struct Written {
    files: Vec<Vec<u8>>,
    terms: Vec<(Field, Vec<u8>, TermInfo)>,
}

fn written(segment: &Segment) -> Written {
    let components = [
        SegmentComponent::FieldNorms,
        SegmentComponent::Postings,
        SegmentComponent::Positions,
        SegmentComponent::FastFields,
        SegmentComponent::Store,
    ];
    let read = |component| segment.open_read(component).unwrap().read_bytes().unwrap();
    let files = components
        .map(|component| read(component).to_vec())
        .to_vec();
    let dictionaries = segment.open_read(SegmentComponent::Terms).unwrap();
    let dictionaries = CompositeFile::open(&dictionaries).unwrap();
    let mut terms = Vec::new();
    for (field, _) in segment.schema().fields() {
        if let Some(dictionary) = dictionaries.open_read(field) {
            let dictionary = TermDictionary::open(dictionary).unwrap();
            let mut stream = dictionary.stream().unwrap();
            while stream.advance() {
                assert_eq!(
                    dictionary.get(stream.key()).unwrap().as_ref(),
                    Some(stream.value())
                );
                terms.push((field, stream.key().to_vec(), stream.value().clone()));
            }
        }
    }
    Written { files, terms }
}

fn by_tantivy(documents: &[TantivyDocument]) -> Written {
    let segment = index().new_segment();
    let mut writer = SegmentWriter::for_segment(50_000_000, segment.clone()).unwrap();
    for document in documents {
        let document = document.clone();
        let operation = AddOperation {
            opstamp: 0,
            document,
        };
        writer.add_document(operation).unwrap();
    }
    writer.finalize().unwrap();
    written(&segment)
}

fn by_builder(documents: &[TantivyDocument]) -> Written {
    let segment = index().new_segment();
    let mut builder = SegmentBuilder::new(segment.clone()).unwrap();
    for document in documents {
        builder.add(document).unwrap();
    }
    assert_eq!(builder.doc_count() as usize, documents.len());
    builder.finish().unwrap();
    written(&segment)
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-c]{1,2}",
        2 => "[a-zäß]{1,13}",
        1 => "[a-b]{10,30}",
    ];
    proptest::collection::vec(word, 0..30).prop_map(|words| words.join(" "))
}

fn given() -> impl Strategy<Value = Given> {
    let field = prop_oneof![
        3 => Just(WITH_POSITIONS),
        1 => Just(WITH_FREQUENCIES),
        1 => Just(BASIC),
        1 => Just(WHOLE),
        1 => Just(ID),
        2 => Just(STANDARD),
    ];
    prop_oneof![
        6 => (field, words()).prop_map(|(field, text)| Given::Text(field, text)),
        1 => words().prop_map(Given::Cut),
        1 => prop_oneof![0..5_u64, any::<u64>()].prop_map(Given::Number),
    ]
}

proptest! {
    #[test]
    fn the_files_are_tantivys(
        documents in proptest::collection::vec(proptest::collection::vec(given(), 0..8), 0..60)
    ) {
        let documents: Vec<TantivyDocument> = documents.iter().map(|values| document(values)).collect();
        prop_assert_eq!(by_builder(&documents), by_tantivy(&documents));
    }
}

#[test]
fn long_lists_and_long_terms_are_the_same_too() {
    let long = "x".repeat(70_000);
    let documents: Vec<TantivyDocument> = (0..1_000_u64)
        .map(|number| {
            let text = format!("every {number} {} every", number % 7);
            document(&[
                Given::Text(WITH_POSITIONS, text.clone()),
                Given::Text(WITH_POSITIONS, text.clone()),
                Given::Text(WITH_FREQUENCIES, text.clone()),
                Given::Text(STANDARD, text.clone()),
                Given::Text(STANDARD, text),
                Given::Text(WHOLE, (number % 3).to_string()),
                Given::Text(WHOLE, long.clone()),
                // One of them is longer than a term may be.
                Given::Text(BASIC, format!("{} {}", &long[..65_530], long)),
                Given::Number(number % 10),
            ])
        })
        .collect();
    assert_eq!(by_builder(&documents), by_tantivy(&documents));
}

#[test]
fn a_value_of_another_type_is_told_with_its_field() {
    let mut builder = SegmentBuilder::new(index().new_segment()).unwrap();
    let mut wrong = TantivyDocument::default();
    wrong.add_text(Field::from_field_id(NUMBERS[0]), "seven");
    let error = builder.add(&wrong).unwrap_err();
    assert!(error.to_string().contains("[u]"), "{error}");
}

#[test]
fn memory_is_counted() {
    let mut builder = SegmentBuilder::new(index().new_segment()).unwrap();
    let before = builder.mem_usage();
    for number in 0..1_000_u32 {
        let text = format!("these are words of document {number}");
        builder
            .add(&document(&[Given::Text(WITH_POSITIONS, text)]))
            .unwrap();
    }
    // Six occurrences of eight bytes, and a new word, in each.
    assert!(builder.mem_usage() - before > 1_000 * 56);
    let before = builder.mem_usage();
    let text = " ".repeat(1 << 20);
    let long = document(&[Given::Text(STANDARD, text)]);
    builder.add(&long).unwrap();
    assert!(builder.mem_usage() - before > 5 << 18);
}

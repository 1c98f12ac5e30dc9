//! Sets are found to their end for somebody alone, and of many lists none is kept.

use clew_platform::{CancellationToken, MemoryAccount, MemoryLimits, MemoryPurpose};

use super::*;
use crate::query::Wildcard;
use crate::search::fixture::{Doc, mapping, snapshot};
use crate::snapshot::Snapshot;

const DOCS: usize = 3_000;

/// One segment of documents that have a tag of their own each, and a number every second.
fn different(count: usize) -> Snapshot {
    let doc = |number: usize| Doc {
        id: number.to_string(),
        tags: vec![format!("t{number:05}")],
        body: vec!["word".to_string()],
        count: number.is_multiple_of(2).then_some(7),
        ..Doc::default()
    };
    snapshot(&[(0..count).map(doc).collect()])
}

fn field(path: &str) -> Field {
    mapping().field(path).unwrap().field.unwrap()
}

fn any_tag() -> AnyAccepted<Wildcard> {
    AnyAccepted {
        field: field("tags"),
        automaton: Arc::new(Wildcard::parse("t*", false).unwrap()),
    }
}

#[test]
fn sets_are_found_for_somebody_alone() {
    let all = different(DOCS);
    let tags = (0..DOCS).map(|number| format!("t{number:05}").into_bytes());
    let column = mapping().field("count").unwrap().column();
    let sets: [(Box<dyn DocumentSet>, usize); 5] = [
        (Box::new(any_tag()), DOCS),
        (
            Box::new(AnyTerm {
                field: field("tags"),
                terms: tags.collect(),
            }),
            DOCS,
        ),
        (
            Box::new(AnyWithPrefix {
                field: field("tags"),
                prefix: b"t".to_vec(),
                searched: None,
            }),
            DOCS,
        ),
        (Box::new(HasTokens(field("body"))), DOCS),
        (Box::new(HasColumn(column)), DOCS / 2),
    ];
    for (set, want) in &sets {
        let found = match set.find(&all.readers[0]).unwrap() {
            FoundDocs::Nothing => 0,
            FoundDocs::Everything => DOCS,
            FoundDocs::Bits(bits) => bits.len(),
        };
        assert_eq!(found, *want, "{set:?}");
        let token = CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        assert!(set.find(&all.readers[0]).is_err(), "{set:?}");
    }
}

#[test]
fn no_set_is_begun_for_nobody() {
    let few = different(3);
    let query = ConstantQuery(Arc::new(Everything));
    assert!(query.scorer(&few.readers[0], 1.0).is_ok());
    let token = CancellationToken::new();
    token.cancel("by user request");
    let _entered = token.enter();
    assert!(query.scorer(&few.readers[0], 1.0).is_err());
}

#[test]
fn of_many_lists_none_is_kept() {
    let all = different(DOCS);
    let kept = |most: usize| {
        let places = places(&any_tag(), &all.readers[0], most).unwrap();
        places.map(|places| places.len())
    };
    assert_eq!(kept(DOCS), Some(DOCS));
    assert_eq!(kept(DOCS - 1), None);
    assert_eq!(kept(10), None);
}

#[test]
fn sets_that_are_there_at_once_are_booked() {
    let all = different(DOCS);
    let query = ConstantQuery(Arc::new(any_tag()));
    let account = MemoryAccount::new(MemoryLimits {
        searches: DOCS / 8,
        ..MemoryLimits::none()
    });
    let token = CancellationToken::new().part_with(account.open(MemoryPurpose::Searches));
    let _entered = token.enter();
    for _ in 0..2 {
        assert!(query.scorer(&all.readers[0], 1.0).is_ok());
    }
    let _first = query.scorer(&all.readers[0], 1.0).unwrap();
    assert!(token.failure().is_none());
    assert!(query.scorer(&all.readers[0], 1.0).is_err());
    assert!(token.failure().is_some());
}

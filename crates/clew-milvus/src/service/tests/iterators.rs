//! Pages of iterators.

use super::*;

impl Node {
    fn page(&self, name: &str, more: &[(&str, &str)]) -> Result<SearchResultData, MilvusError> {
        let own = [
            ("topk", "4"),
            ("search_iter_v2", "True"),
            ("search_iter_batch_size", "4"),
        ];
        self.search(name, &[&own, more].concat())
    }

    fn after(
        &self,
        name: &str,
        told: &SearchIteratorV2Results,
    ) -> Result<SearchResultData, MilvusError> {
        let bound = f64::from(told.last_bound).to_string();
        self.page(
            name,
            &[
                ("search_iter_id", &told.token),
                ("search_iter_last_bound", &bound),
            ],
        )
    }
}

fn told(page: &SearchResultData) -> SearchIteratorV2Results {
    page.search_iterator_v2_results.clone().unwrap()
}

#[test]
fn a_page_whose_answer_was_lost_is_given_again() {
    let node = Node::open(&SimDisk::new());
    node.make("c", Vec::new());
    node.make("other", Vec::new());
    // All equally near.
    node.insert("c", 0..10);
    let first = node.page("c", &[]).unwrap();
    let second = node.after("c", &told(&first)).unwrap();
    let again = node.after("c", &told(&first)).unwrap();
    assert_eq!(ids(&second), ids(&again));
    assert_eq!(told(&second), told(&again));
    let third = node.after("c", &told(&second)).unwrap();
    let all = [ids(&first), ids(&second), ids(&third)].concat();
    let distinct: std::collections::BTreeSet<i64> = all.iter().copied().collect();
    assert_eq!((all.len(), distinct.len(), ids(&third).len()), (10, 10, 2));
    for _ in 0..2 {
        let end = node.after("c", &told(&third)).unwrap();
        assert_eq!(ids(&end), Vec::<i64>::new());
    }
    let refused = |name: &str, told: &SearchIteratorV2Results| {
        node.after(name, told).unwrap_err().to_string()
    };
    assert!(refused("c", &told(&first)).contains("last page"));
    assert!(refused("other", &told(&third)).contains("another collection"));
    let unknown = SearchIteratorV2Results {
        token: "nobody's".into(),
        ..told(&third)
    };
    assert!(refused("c", &unknown).contains("is not there"));
    // That somebody sets the wall clock is no waiting.
    for year in [40, 1, 20] {
        node.clock.set(Duration::from_secs(year * 365 * 86_400));
        node.page("c", &[]).unwrap();
        node.after("c", &told(&third)).unwrap();
    }
    // Nobody asks for it any more.
    node.clock.advance(Duration::from_secs(601));
    node.page("c", &[]).unwrap();
    assert!(refused("c", &told(&third)).contains("is not there"));
    for wrong in [
        ("offset", "1"),
        ("search_iter_last_bound", "NaN"),
        ("search_iter_batch_size", "0"),
    ] {
        assert!(node.page("c", &[wrong]).is_err(), "{wrong:?}");
    }
}

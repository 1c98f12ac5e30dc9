use super::*;

fn list(ends: &[(u32, u32)]) -> Vec<Interval> {
    ends.iter()
        .map(|(start, end)| Interval {
            start: *start,
            end: *end,
            gaps: 0,
        })
        .collect()
}

fn ends(list: &[Interval]) -> Vec<(u32, u32)> {
    list.iter().map(|one| (one.start, one.end)).collect()
}

/// Every choice of one interval per list, then the minimal ones: the definition itself.
fn by_definition(lists: &[Vec<Interval>], in_order: bool) -> Vec<(u32, u32)> {
    let mut choices: Vec<Vec<Interval>> = vec![Vec::new()];
    for list in lists {
        choices = choices
            .iter()
            .flat_map(|chosen| {
                list.iter().map(|next| {
                    let mut chosen = chosen.clone();
                    chosen.push(*next);
                    chosen
                })
            })
            .collect();
    }
    let kept: Vec<(u32, u32)> = choices
        .iter()
        .filter(|chosen| !in_order || chosen.windows(2).all(|pair| pair[0].end < pair[1].start))
        .filter_map(|chosen| Interval::around(chosen))
        .map(|one| (one.start, one.end))
        .collect();
    let mut minimal: Vec<(u32, u32)> = kept
        .iter()
        .filter(|one| {
            !kept
                .iter()
                .any(|other| other != *one && one.0 <= other.0 && other.1 <= one.1)
        })
        .copied()
        .collect();
    minimal.sort_unstable();
    minimal.dedup();
    minimal
}

#[test]
fn joins_are_what_the_definition_says() {
    let mut random = crate::search::fixture::Random(11);
    for _ in 0..2_000 {
        let lists: Vec<Vec<Interval>> = (0..1 + random.below(4))
            .map(|_| {
                let raw: Vec<(u32, u32)> = (0..random.below(5))
                    .map(|_| {
                        let start = u32::try_from(random.below(20)).unwrap();
                        (start, start + u32::try_from(random.below(4)).unwrap())
                    })
                    .collect();
                minimal(list(&raw))
            })
            .collect();
        assert_eq!(
            ends(&ordered(&lists)),
            by_definition(&lists, true),
            "ordered {lists:?}"
        );
        assert_eq!(
            ends(&unordered(&lists)),
            by_definition(&lists, false),
            "unordered {lists:?}"
        );
    }
}

#[test]
fn relations_are_what_their_names_say() {
    use IntervalRelation as R;
    let filter = list(&[(2, 4), (8, 9)]);
    let cases = [
        (R::Containing, (1, 5), true),
        (R::Containing, (3, 5), false),
        (R::Containing, (3, 9), true),
        (R::NotContaining, (5, 7), true),
        (R::NotContaining, (3, 5), true),
        (R::NotContaining, (3, 3), false),
        (R::NotContaining, (7, 8), false),
        (R::NotContaining, (1, 5), false),
        (R::ContainedBy, (3, 4), true),
        (R::ContainedBy, (4, 5), false),
        (R::ContainedBy, (8, 8), true),
        (R::NotContainedBy, (4, 5), true),
        (R::Overlapping, (4, 7), true),
        (R::Overlapping, (5, 7), false),
        (R::NotOverlapping, (5, 7), true),
        (R::Before, (5, 7), true),
        (R::Before, (5, 8), false),
        (R::After, (5, 5), true),
        (R::After, (4, 5), false),
    ];
    for (relation, one, wanted) in cases {
        let kept = related(list(&[one]), relation, &filter);
        assert_eq!(!kept.is_empty(), wanted, "{one:?} {relation:?}");
    }
}

#[test]
fn gaps_are_what_no_part_covers() {
    let lists = [list(&[(0, 1)]), list(&[(4, 4)])];
    assert_eq!(ordered(&lists)[0].gaps, 2);
    assert_eq!(unordered(&lists)[0].gaps, 2);
    assert_eq!(repeated(&list(&[(0, 0), (3, 3), (4, 4)]), 2)[1].gaps, 0);
}

//! What parts of one whole are searched through: all of them the same. Those with lists are searched at once, and each with a
//! graph by itself, so that one that chooses otherwise costs more than whichever it chose saves.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{Choice, Point};

/// The choice of the first part that was measured, for those that come after it.
#[derive(Debug, Default)]
pub(crate) struct Agreed {
    first: Mutex<Option<First>>,
}

#[derive(Debug, Clone)]
struct First {
    choice: Choice,
    points: Option<Arc<[Point]>>,
}

impl Agreed {
    /// The choice for a part of so many vectors, and the points of the graph that it was made by; `None` until both are known.
    pub(crate) fn settled(&self, rows: usize) -> Option<(Choice, Arc<[Point]>)> {
        let first = self.first.lock().clone()?;
        let points = first.points?;
        is_alike(&first.choice, rows).then_some((first.choice, points))
    }

    /// Has the parts that come after choose as this one does; but where another, which was measured at the same time, has come
    /// first, that one's choice is returned.
    pub(crate) fn agree(&self, own: Choice) -> Choice {
        let mut first = self.first.lock();
        match &*first {
            Some(First { choice, .. }) if is_alike(choice, own.rows as usize) => *choice,
            _ => {
                *first = Some(First {
                    choice: own,
                    points: None,
                });
                own
            }
        }
    }

    /// Keeps the points of a graph that stood beside what was chosen.
    pub(crate) fn learn(&self, choice: &Choice, points: &[Point]) {
        let mut first = self.first.lock();
        let own = first.as_mut().filter(|first| first.choice == *choice);
        if let Some(own) = own {
            own.points.get_or_insert_with(|| points.into());
        }
    }
}

/// Whether a choice holds for a part of so many vectors, which may be smaller than the one that it was made for as well.
fn is_alike(choice: &Choice, rows: usize) -> bool {
    let other = Choice {
        rows: u32::try_from(rows).unwrap_or(u32::MAX),
        ..*choice
    };
    choice.holds_for(rows) && other.holds_for(choice.rows as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(rows: u32, lists_ns: f32) -> Choice {
        Choice {
            recall: 0.95,
            graph_ns: 10.0,
            lists_ns,
            rows,
        }
    }

    #[test]
    fn the_first_choice_is_that_of_all_parts_of_about_its_size() {
        let agreed = Agreed::default();
        assert!(agreed.settled(1_000).is_none());
        let first = agreed.agree(choice(1_000, 5.0));
        assert_eq!(first, choice(1_000, 5.0));
        assert_eq!(agreed.agree(choice(1_100, 50.0)), first);
        assert!(agreed.settled(1_000).is_none(), "its points are not known");
        let points = [Point {
            k: 10,
            ef: 10,
            recall: 0.9,
        }];
        agreed.learn(&choice(1_100, 50.0), &[]);
        assert!(
            agreed.settled(1_000).is_none(),
            "that is not what was chosen"
        );
        agreed.learn(&first, &points);
        agreed.learn(&first, &[]);
        for rows in [251, 1_000, 3_999] {
            let (choice, known) = agreed.settled(rows).unwrap();
            assert_eq!((choice, &known[..]), (first, &points[..]));
        }
        assert!(agreed.settled(250).is_none() && agreed.settled(4_000).is_none());
        // One that has grown is measured again, for all that grow so.
        let grown = choice(4_000, 50.0);
        assert_eq!(agreed.agree(grown), grown);
        assert!(agreed.settled(4_000).is_none());
    }
}

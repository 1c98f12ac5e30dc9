//! How far over a text one step of an expression may go: where all steps are short, their number tells what they take.

/// Repetitions that still count as one step.
const SHORT_REPEATS_MAX: u32 = 16;

/// Told of the parts of an expression in their order.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// The groups that are open, the innermost last.
    open: Vec<Open>,
    /// Whether the branch ends, so far, with what may take any length of a text.
    is_pending: bool,
    goes_far: bool,
}

#[derive(Debug)]
struct Open {
    /// Whether what it takes is given back, or kept whatever follows.
    looks: bool,
    /// Whether a branch before the present one ends so.
    is_pending: bool,
}

impl Reach {
    /// Whether a step may go over any length of a text, and then have found nothing. What takes a length and ends with that has
    /// found something, and what follows begins behind it.
    pub(super) fn goes_far(&self) -> bool {
        self.goes_far
    }

    /// A group begins.
    pub(super) fn opened(&mut self, looks: bool) {
        self.part();
        let is_pending = false;
        self.open.push(Open { looks, is_pending });
    }

    /// The innermost group ends.
    pub(super) fn closed(&mut self) {
        if let Some(group) = self.open.pop() {
            self.is_pending |= group.is_pending;
        }
    }

    /// Another branch begins.
    pub(super) fn branched(&mut self) {
        if let Some(group) = self.open.last_mut() {
            group.is_pending |= self.is_pending;
        }
        self.is_pending = false;
    }

    /// Something that is no group is to match here.
    pub(super) fn part(&mut self) {
        self.goes_far |= self.is_pending;
        self.is_pending = false;
    }

    /// The last part may come so often; `keeps` says that it gives nothing back.
    pub(super) fn repeated(&mut self, most: u32, keeps: bool) {
        let is_long = most > SHORT_REPEATS_MAX;
        let looks = self.open.iter().any(|group| group.looks);
        self.goes_far |= self.is_pending && most > 1 || is_long && (keeps || looks);
        self.is_pending |= is_long;
    }
}

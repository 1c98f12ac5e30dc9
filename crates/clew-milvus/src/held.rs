//! Memory that a call holds beyond the step that booked it: what was found is told later, and rows that were read are in
//! the answer. The call gives it back at once when its answer is booked by itself, or when it is over.

use std::cell::RefCell;

use clew_platform::Reservation;

tokio::task_local! {
    /// What the call that is being answered holds.
    static HELD: RefCell<Vec<Reservation>>;
}

/// Answers a call, for which memory may be held meanwhile.
pub(crate) async fn answering<F: Future>(call: F) -> F::Output {
    HELD.scope(RefCell::default(), call).await
}

/// Answers a part of a call on another thread, and tells what is held for it: whoever asked is to [`hold`] that.
pub(crate) async fn apart<F: Future>(part: F) -> (F::Output, Vec<Reservation>) {
    let answering = async {
        let output = part.await;
        (output, HELD.try_with(RefCell::take).unwrap_or_default())
    };
    HELD.scope(RefCell::default(), answering).await
}

/// Keeps memory until the call is answered. Outside of a call it is given back at once.
pub(crate) fn hold(memory: Reservation) {
    if memory.bytes() > 0 {
        let _ = HELD.try_with(|held| held.borrow_mut().push(memory));
    }
}

/// Gives back what the call holds.
pub(crate) fn give_back() {
    let _ = HELD.try_with(RefCell::take);
}

#[cfg(test)]
mod tests {
    use clew_platform::{MemoryAccount, MemoryLimits, MemoryPurpose};

    use super::*;

    #[tokio::test]
    async fn what_a_call_holds_is_given_back_when_it_is_over() {
        let account = MemoryAccount::new(MemoryLimits::none());
        let reserve = || account.reserve(MemoryPurpose::Searches, 100).unwrap();
        let used = || account.total().used;
        let call = async {
            hold(reserve());
            hold(reserve());
            assert_eq!(used(), 200);
            give_back();
            assert_eq!(used(), 0);
            hold(reserve());
        };
        answering(call).await;
        assert_eq!(used(), 0);
        let call = async {
            let ((), held) = apart(async { hold(reserve()) }).await;
            assert_eq!(used(), 100);
            held.into_iter().for_each(hold);
            assert_eq!(used(), 100);
        };
        answering(call).await;
        assert_eq!(used(), 0);
        hold(reserve());
        assert_eq!(used(), 0, "nobody would give it back");
    }
}

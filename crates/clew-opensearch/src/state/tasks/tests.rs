use clew_platform::FixedClock;

use super::*;

#[test]
fn a_task_that_breaks_down_has_ended() {
    let tasks = Tasks::new(Arc::new(FixedClock::default()), None);
    let task = || NewTask {
        action: "indices:admin/resize",
        description: String::new(),
        opaque_id: None,
        token: None,
    };
    for _ in 0..=RUNNING_MAX {
        let number = tasks.begin(task()).ok().unwrap();
        let ended = tasks.carry_out(number, || panic!("as it must"));
        assert_eq!(ended.unwrap_err().status(), 500);
        assert!(tasks.find(number).unwrap().ended.is_some());
    }
    let number = tasks.begin(task()).ok().unwrap();
    let ended = tasks.carry_out(number, || Ok(Value::from(7)));
    assert_eq!(ended.ok().unwrap(), 7);
}

#[test]
fn a_task_that_waits_and_breaks_down_has_ended_and_says_why() {
    let tasks = Tasks::new(Arc::new(FixedClock::default()), None);
    let task = NewTask {
        action: "indices:data/write/reindex",
        description: String::new(),
        opaque_id: None,
        token: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async {
        let (held, number) = (Arc::new(()), tasks.begin(task.clone()).ok().unwrap());
        let own = held.clone();
        let work = async move {
            tokio::task::yield_now().await;
            assert!(Arc::strong_count(&own) == 0, "as it must");
            Ok(Value::Null)
        };
        tasks.see_through(number, work).await;
        assert_eq!(Arc::strong_count(&held), 1);
        assert!(tasks.running().is_empty());
        let (_, answer) = tasks.find(number).unwrap().ended.unwrap();
        let reason = answer.unwrap_err()["reason"].to_string();
        assert!(reason.contains("a defect of the program"), "{reason}");
        let number = tasks.begin(task).ok().unwrap();
        tasks
            .see_through(number, async { Ok(Value::from(7)) })
            .await;
        let (_, answer) = tasks.find(number).unwrap().ended.unwrap();
        assert_eq!(answer.unwrap(), 7);
    });
}

#[test]
fn answers_are_remembered_as_long_as_there_is_room_for_them() {
    let tasks = Tasks::new(Arc::new(FixedClock::default()), None);
    let task = |bytes: usize| {
        let task = NewTask {
            action: "indices:data/write/reindex",
            description: String::new(),
            opaque_id: None,
            token: None,
        };
        let number = tasks.begin(task).ok().unwrap();
        let ended = tasks.carry_out(number, || Ok(Value::from("a".repeat(bytes))));
        assert!(ended.is_ok());
        number
    };
    let numbers: Vec<u64> = (0..10).map(|_| task(REMEMBERED_BYTES_MAX / 4)).collect();
    let is_known = |number: &u64| tasks.find(*number).is_some();
    let known: Vec<bool> = numbers.iter().map(is_known).collect();
    assert_eq!(known, [vec![false; 7], vec![true; 3]].concat());
    // One that takes more alone is there for whoever waits for it.
    let large = task(2 * REMEMBERED_BYTES_MAX);
    assert!(is_known(&large) && !numbers.iter().any(is_known));
}

#[test]
fn the_stop_of_the_server_ends_tasks_and_lets_none_begin() {
    let (stop, stopped) = watch::channel(false);
    let tasks = Tasks::new(Arc::new(FixedClock::default()), Some(stopped));
    let task = |token: Option<&CancellationToken>| NewTask {
        action: "indices:data/write/reindex",
        description: String::new(),
        opaque_id: None,
        token: token.cloned(),
    };
    let before = CancellationToken::new();
    tasks.begin(task(Some(&before))).ok().unwrap();
    stop.send_replace(true);
    // Of a request that came before, also once all that were there have been ended.
    for _ in 0..2 {
        let amid = CancellationToken::new();
        let refused = [Some(&amid), None].map(|token| tasks.begin(task(token)).err().unwrap());
        assert!(refused.iter().all(|error| error.status() == 503));
        tasks.stop();
    }
    assert!(before.stopped().is_some());
    assert_eq!(tasks.running().len(), 1);
}

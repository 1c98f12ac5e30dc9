use std::pin::pin;

use super::*;

fn snapshot(name: &str) -> RunningSnapshot {
    RunningSnapshot {
        repository: "repo".into(),
        folder: "/place".into(),
        name: name.into(),
        id: format!("id-{name}"),
        indices: Vec::new(),
        shards: 0,
        started_ms: 0,
    }
}

fn text<T: std::fmt::Debug>(refused: Result<T, ApiError>) -> String {
    String::from_utf8(refused.unwrap_err().body()).unwrap()
}

/// What is not to be had without waiting is `None`.
async fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        done = future => Some(done),
        () = std::future::ready(()) => None,
    }
}

#[tokio::test]
async fn a_deletion_gives_up_what_it_names_and_waits_for_its_end() {
    let all = Arc::new(RunningSnapshots::default());
    let begin = |name| all.begin(snapshot(name)).unwrap();
    let (meant, other) = (begin("a-1"), begin("b-1"));
    let given_up = all.give_up("repo", |name| name.starts_with("a-"));
    assert_eq!(given_up, ["id-a-1"]);
    let mut ended = pin!(all.wait_for_end(&given_up));
    assert!(at_once(&mut ended).await.is_none());
    let documents = || [Ok(1), Ok(2)].into_iter();
    assert_eq!(other.while_wanted(documents()).flatten().count(), 2);
    let failed = meant.while_wanted(documents()).next().unwrap();
    let told = text(failed.map_err(|error| meant.failure(("repo", "a-1"), error)));
    assert!(told.contains("snapshot_exception"), "{told}");
    assert!(
        told.contains("[repo:a-1/id-a-1] Snapshot was aborted by deletion"),
        "{told}"
    );
    drop(meant);
    ended.await;
    assert_eq!(all.ids(), ["id-b-1"]);
    assert!(all.give_up("elsewhere", |_| true).is_empty());
    assert!(other.check_wanted().is_ok());
}

#[tokio::test]
async fn a_cleaning_has_its_folder_to_itself() {
    let all = Arc::new(RunningSnapshots::default());
    let place = Path::new("/place");
    let running = all.begin(snapshot("a")).unwrap();
    let told = text(all.begin_cleanup("repo", place));
    assert!(
        told.contains("a snapshot is currently running in [repo:a/id-a]"),
        "{told}"
    );
    assert!(all.begin_cleanup("other", Path::new("/elsewhere")).is_ok());
    drop(running);
    let cleaning = all.begin_cleanup("repo", place).unwrap();
    let told = text(all.begin(snapshot("a")));
    assert!(
        told.contains("cannot snapshot while a repository cleanup"),
        "{told}"
    );
    // The same folder under another name is the same folder.
    let told = text(all.begin_deletion(("same", "a"), place).await);
    assert!(
        told.contains("cannot delete snapshot while a repository cleanup"),
        "{told}"
    );
    let told = text(all.begin_cleanup("repo", place));
    assert!(
        told.contains("a repository cleanup is already in-progress"),
        "{told}"
    );
    assert!(all.refuse_in("repo").is_err());
    drop(cleaning);
    assert!(all.refuse_in("repo").is_ok());
    let deletion = all.begin_deletion(("repo", "*"), place).await.unwrap();
    let told = text(all.begin_cleanup("repo", place));
    assert!(
        told.contains("a snapshot is currently being deleted"),
        "{told}"
    );
    let mut next = pin!(all.begin_deletion(("repo", "*"), place));
    assert!(at_once(&mut next).await.is_none());
    drop(deletion);
    assert!(next.await.is_ok());
    assert!(all.begin(snapshot("a")).is_ok());
}

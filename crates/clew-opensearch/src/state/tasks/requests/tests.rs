use super::*;

const SEARCH: Action = Action::new("indices:data/read/search", Answers::Refusal);

fn enter(requests: &Requests, number: u64, action: Action) -> Answering<'_> {
    let body = Bytes::from_static(b"{}");
    let asked = RequestDetails {
        expression: "a,b",
        body: &body,
        opaque_id: Some("mine"),
    };
    requests.enter(number, action, &asked, 1_790_000_000_000)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(future)
}

fn kind_and_reason(answer: &Result<(), ApiError>) -> (u16, String) {
    let error = answer.as_ref().unwrap_err();
    (error.status().as_u16(), error.reason())
}

#[test]
fn a_request_is_known_while_it_is_answered() {
    let requests = Requests::default();
    let answering = enter(&requests, 7, SEARCH);
    let shown = requests.shown();
    let [task] = &shown[..] else {
        panic!("one request");
    };
    assert_eq!((task.number, task.action), (7, SEARCH.name));
    assert_eq!(
        task.description,
        "indices[a,b], search_type[QUERY_THEN_FETCH], source[{}]"
    );
    assert_eq!(task.opaque_id.as_deref(), Some("mine"));
    assert!(task.cancellable && !task.cancelled);
    let answer = answering.answer(Box::pin(async { Ok(5) }), None);
    assert_eq!(run(answer).unwrap(), 5);
    assert!(requests.shown().is_empty());
}

#[test]
fn who_waits_is_answered_once_the_request_is_cancelled() {
    let requests = Requests::default();
    let answering = enter(&requests, 7, SEARCH);
    let token = answering.task.token.clone();
    let never = Box::pin(std::future::pending::<Result<(), ApiError>>());
    let cancel = async {
        assert!(requests.cancel(8, "by user request").is_none());
        assert!(requests.cancel(7, "by user request").unwrap().cancelled);
    };
    let (answer, ()) = run(async { tokio::join!(answering.answer(never, None), cancel) });
    let reason = "cancelled task with reason: by user request".to_string();
    assert_eq!(kind_and_reason(&answer), (400, reason));
    assert!(token.stopped().is_some());
}

#[test]
fn a_request_ends_by_itself_after_a_time() {
    let requests = Requests::default();
    let never = Box::pin(std::future::pending::<Result<(), ApiError>>());
    let after = Some(Duration::from_millis(1));
    let answer = run(enter(&requests, 7, SEARCH).answer(never, after));
    let reason = "cancelled task with reason: Cancellation timeout of 1ms is expired";
    assert_eq!(kind_and_reason(&answer), (400, reason.to_string()));
}

#[test]
fn a_write_of_many_documents_ends_for_somebody_and_not_for_a_client_that_has_gone() {
    let ended = |reason| {
        let token = CancellationToken::new();
        token.cancel(reason);
        ended_by_somebody(&token).map(|error| error.to_string())
    };
    assert!(ended_by_somebody(&CancellationToken::new()).is_none());
    assert_eq!(ended(CLIENT_GONE), None);
    assert_eq!(ended(STOPPING), Some(EngineError::Closed.to_string()));
    let reason = "cancelled task with reason: by user request".to_string();
    assert_eq!(ended("by user request"), Some(reason));
}

#[test]
fn work_for_a_client_that_has_gone_is_stopped() {
    let requests = Requests::default();
    let answering = enter(&requests, 7, SEARCH);
    let token = answering.task.token.clone();
    let never = Box::pin(std::future::pending::<Result<(), ApiError>>());
    drop(answering.answer(never, None));
    assert!(token.stopped().is_some() && requests.shown().is_empty());
}

#[test]
fn the_stop_of_the_server_ends_requests_and_those_that_come() {
    let (stop, stopped) = watch::channel(false);
    let requests = Requests::new(Some(stopped));
    let never = || Box::pin(std::future::pending::<Result<(), ApiError>>());
    let before = enter(&requests, 7, SEARCH);
    assert!(before.task.token.stopped().is_none());
    stop.send_replace(true);
    // Also before anybody has ended those that are on their way.
    let amid = enter(&requests, 8, SEARCH);
    assert_eq!(kind_and_reason(&run(amid.answer(never(), None))).0, 503);
    requests.stop();
    assert_eq!(kind_and_reason(&run(before.answer(never(), None))).0, 503);
    // Nobody is left who could say that the server goes on.
    let (stop, stopped) = watch::channel(false);
    let requests = Requests::new(Some(stopped));
    drop(stop);
    let after = enter(&requests, 9, SEARCH);
    assert_eq!(kind_and_reason(&run(after.answer(never(), None))).0, 503);
}

#[test]
fn writes_answer_with_what_they_did() {
    let requests = Requests::default();
    let action = Action::new("indices:data/write/delete/byquery", Answers::Endpoint);
    let answering = enter(&requests, 7, action);
    requests.cancel(7, "by user request");
    let endpoint = Box::pin(async {
        tokio::task::yield_now().await;
        Ok(clew_platform::stopped())
    });
    assert!(run(answering.answer(endpoint, None)).unwrap());
}

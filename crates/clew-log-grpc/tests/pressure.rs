//! What happens when one side is faster than the other, over a real connection.

#![allow(clippy::unwrap_used, reason = "a test's helpers panic like the test")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clew_log::{Log, LogOptions};
use clew_log_grpc::tonic::Code;
use clew_log_grpc::tonic::transport::{Channel, Endpoint};
use clew_log_grpc::{ERROR_KEY, LogClient, ServerOptions, detail_of, proto, serve};
use clew_platform::{MemoryAccount, MemoryLimits, MemoryPurpose, RealClock, SimDisk};
use futures_util::stream;
use proto::append_stream_reply::Outcome;
use tokio::net::TcpListener;
use tokio::sync::watch;

const REPLY_WINDOW_BYTES: u32 = 64 << 10;

/// A server over a log in memory, and a client with a small window.
async fn connect() -> (LogClient<Channel>, watch::Sender<bool>) {
    connect_with(MemoryAccount::new(MemoryLimits::none())).await
}

/// The same, whose messages are booked on an account.
async fn connect_with(memory: Arc<MemoryAccount>) -> (LogClient<Channel>, watch::Sender<bool>) {
    let (disk, clock) = (Arc::new(SimDisk::new()), Arc::new(RealClock::new()));
    let log = Log::open(disk, clock, Path::new("log"), LogOptions::default()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (stop, stopped) = watch::channel(false);
    let options = ServerOptions {
        admission: clew_log_grpc::Admission::default(),
        guard: clew_log_grpc::Guard::default(),
        at_work: clew_log_grpc::CallsAtWork::default(),
        message_bytes_max: 64 << 20,
        connections_max: 10,
        memory,
    };
    tokio::spawn(serve(log, listener, options, None, stopped));
    let endpoint = Endpoint::from_shared(url).unwrap();
    let endpoint = endpoint.initial_stream_window_size(REPLY_WINDOW_BYTES);
    let channel = endpoint.connect().await.unwrap();
    (LogClient::new(channel), stop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_read_answers_is_held_back_and_not_cut_off() {
    const REQUESTS: u64 = 20_000;
    let (mut client, _stop) = connect().await;
    let sent = Arc::new(AtomicU64::new(0));
    let (all_sent, mut all_are_sent) = watch::channel(false);
    // Short requests, each a frame of its own, with long answers: the server soon stops reading.
    let requests = stream::unfold(
        (0, sent.clone(), all_sent),
        |(n, sent, all_sent)| async move {
            tokio::task::yield_now().await;
            if n == REQUESTS {
                all_sent.send_replace(true);
                return None;
            }
            sent.store(n + 1, Ordering::Relaxed);
            let request = proto::AppendRequest {
                stream: "s".into(),
                records: vec![proto::Record::default()],
                ..proto::AppendRequest::default()
            };
            Some((request, (n + 1, sent, all_sent)))
        },
    );
    let replies = client.clone().append_stream(requests).await.unwrap();
    all_are_sent.wait_for(|all| *all).await.unwrap();
    // Others of the same connection go on meanwhile.
    let position = client.position(proto::PositionRequest {}).await.unwrap();
    assert_eq!(position.into_inner().last_glsn, 0);
    let mut replies = replies.into_inner();
    let mut refused = 0;
    while let Some(reply) = replies.message().await.unwrap() {
        match reply.outcome {
            Some(Outcome::Error(error)) => {
                assert_eq!(error.details["clew-error"], "unknown-stream")
            }
            other => panic!("{other:?}"),
        }
        refused += 1;
    }
    assert_eq!(refused, REQUESTS);
    assert_eq!(sent.load(Ordering::Relaxed), REQUESTS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_there_is_no_memory_for_are_refused_both_ways() {
    let account = MemoryAccount::new(MemoryLimits {
        bodies: 4 << 20,
        searches: 2 << 20,
        ..MemoryLimits::none()
    });
    let (mut client, _stop) = connect_with(account.clone()).await;
    let request = |bytes: usize| proto::AppendRequest {
        stream: "s".into(),
        create_stream: true,
        records: vec![proto::Record {
            payload: vec![b'a'; bytes].into(),
            headers: Vec::new(),
        }],
        ..proto::AppendRequest::default()
    };
    client.append(request(1 << 20)).await.unwrap();
    let other = account.reserve(MemoryPurpose::Bodies, 3 << 20).unwrap();
    let refused = client.append(request(1 << 20)).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(detail_of(&refused, ERROR_KEY), Some("memory"));
    let refused = client.append(request(5 << 20)).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    client.append(request(1000)).await.unwrap();
    drop(other);
    client.append(request(1 << 20)).await.unwrap();
    // Answers: what others hold leaves no room for them.
    let other = account.reserve(MemoryPurpose::Searches, 1 << 20).unwrap();
    let scan = proto::ScanRequest::default;
    let mut replies = client.scan(scan()).await.unwrap().into_inner();
    let refused = replies.message().await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(detail_of(&refused, ERROR_KEY), Some("memory"));
    drop(other);
    let mut replies = client.scan(scan()).await.unwrap().into_inner();
    while replies.message().await.unwrap().is_some() {}
    drop(replies);
}

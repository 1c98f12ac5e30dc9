use futures_util::{FutureExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

use super::*;
use crate::present::SILENT_MIN;

#[tokio::test]
async fn the_place_of_a_silent_client_is_given_to_another() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (_sender, stop) = watch::channel(false);
    let incoming = incoming(listener, 1, ends(stop), Duration::ZERO);
    let mut connections = std::pin::pin!(incoming);
    let _first = TcpStream::connect(address).await.unwrap();
    let mut first = connections.next().await.unwrap().unwrap();
    let call = CallsAtWork::default().begin(&first.connect_info());
    let _second = TcpStream::connect(address).await.unwrap();
    // Not while something is done for it.
    assert!(connections.next().now_or_never().is_none());
    drop(call);
    let closed = tokio::spawn(async move {
        let read = first.read(&mut [0]).await;
        read.map_err(|error| error.kind())
    });
    assert!(connections.next().await.unwrap().is_ok());
    let aborted = io::ErrorKind::ConnectionAborted;
    assert_eq!(closed.await.unwrap(), Err(aborted));
}

fn ends(stop: watch::Receiver<bool>) -> (Stop, CallsAtWork) {
    (Stop::new(stop), CallsAtWork::default())
}

#[tokio::test]
async fn a_client_that_moves_nothing_holds_up_a_stop_only_while_the_server_is_at_work() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, stop) = watch::channel(false);
    let ends = ends(stop);
    let calls = ends.1.clone();
    let mut connections = std::pin::pin!(incoming(listener, 1, ends, SILENT_MIN));
    let _client = TcpStream::connect(address).await.unwrap();
    let mut connection = connections.next().await.unwrap().unwrap();
    connection.opening = None;
    let call = calls.begin(&ConnectionCalls::default());
    sender.send_replace(true);
    let mut byte = [0];
    let mut read = std::pin::pin!(connection.read(&mut byte));
    let longer = STALLED_AT_STOP_MAX + Duration::from_millis(500);
    let held = tokio::time::timeout(longer, read.as_mut()).await;
    assert!(held.is_err());
    call.end();
    let ended = tokio::time::timeout(Duration::from_secs(60), read).await;
    let error = ended.unwrap().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

#[tokio::test]
async fn a_connection_waits_for_the_place_of_another() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (_sender, stop) = watch::channel(false);
    let mut connections = std::pin::pin!(incoming(listener, 1, ends(stop), SILENT_MIN));
    let _clients = (
        TcpStream::connect(address).await.unwrap(),
        TcpStream::connect(address).await.unwrap(),
    );
    let first = connections.next().await.unwrap().unwrap();
    assert!(connections.next().now_or_never().is_none());
    drop(first);
    assert!(connections.next().await.unwrap().is_ok());
}

#[tokio::test]
async fn a_client_that_takes_nothing_does_not_hold_up_a_stop() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, stop) = watch::channel(false);
    let mut connections = std::pin::pin!(incoming(listener, 1, ends(stop), SILENT_MIN));
    let _client = TcpStream::connect(address).await.unwrap();
    let mut connection = connections.next().await.unwrap().unwrap();
    let sent = tokio::spawn(async move {
        let all = vec![b'a'; 64 << 20];
        connection.write_all(&all).await
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!sent.is_finished());
    sender.send_replace(true);
    let ended = tokio::time::timeout(Duration::from_secs(60), sent).await;
    let error = ended.unwrap().unwrap().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

#[tokio::test]
async fn a_client_that_says_nothing_loses_its_place() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (_sender, stop) = watch::channel(false);
    let mut connections = std::pin::pin!(incoming(listener, 1, ends(stop), SILENT_MIN));
    for (said, ends) in [(0, true), (OPENING_BYTES - 1, true), (OPENING_BYTES, false)] {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(&vec![b'a'; said]).await.unwrap();
        let mut connection = connections.next().await.unwrap().unwrap();
        connection.read_exact(&mut vec![0; said]).await.unwrap();
        // Only now, as this thread may have been kept waiting.
        if let Some(opening) = &mut connection.opening {
            opening.end = Box::pin(tokio::time::sleep(Duration::from_millis(100)));
        }
        let next = async { connection.read(&mut [0]).await };
        let next = tokio::time::timeout(Duration::from_millis(500), next).await;
        let timed_out = |error: io::Error| error.kind() == io::ErrorKind::TimedOut;
        let ended = next.is_ok_and(|read| read.is_err_and(timed_out));
        assert_eq!(ended, ends, "{said}");
    }
}

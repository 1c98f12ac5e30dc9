use clew_platform::MemoryLimits;

use super::*;

fn account(bodies: usize) -> Arc<MemoryAccount> {
    MemoryAccount::new(MemoryLimits {
        bodies,
        ..MemoryLimits::none()
    })
}

fn message(length: usize) -> Vec<u8> {
    let mut bytes = vec![0];
    bytes.extend(u32::try_from(length).unwrap().to_be_bytes());
    bytes.resize(5 + length, b'x');
    bytes
}

#[test]
fn a_single_request_is_booked_until_it_is_answered() {
    let account = account(1_000_000);
    let mut incoming = Incoming::of(&account, "/clew.log.v1.Log/Append").unwrap();
    for part in message(100_000).chunks(16_384) {
        incoming.wanted();
        incoming.came(part).unwrap();
    }
    incoming.wanted();
    assert_eq!(account.total().used, 200_010);
    drop(incoming);
    assert_eq!(account.total().used, 0);
}

#[test]
fn whole_messages_of_an_endless_call_are_given_back_and_the_begun_one_is_not() {
    let account = account(64 << 20);
    let mut incoming = Incoming::of(&account, STREAM_OF_REQUESTS).unwrap();
    let window = CALL_WINDOW_BYTES as usize;
    assert_eq!(account.total().used, window);
    let mut sent = message(3_000);
    sent.extend(message(0));
    sent.extend(message(100_000));
    // In pieces that cut heads, too.
    for part in sent[..50_000].chunks(3) {
        incoming.wanted();
        incoming.came(part).unwrap();
    }
    incoming.wanted();
    let begun = 50_000 - 3_005 - 5 - 5;
    assert_eq!(account.total().used, window + begun * COPIES);
    incoming.came(&sent[50_000..]).unwrap();
    incoming.wanted();
    assert_eq!(account.total().used, window);
}

#[test]
fn what_does_not_fit_is_exhaustion_with_figures() {
    let account = account(1_600_000);
    let _other = account.reserve(MemoryPurpose::Bodies, 1_000_000).unwrap();
    let mut incoming = Incoming::of(&account, "/clew.log.v1.Log/Append").unwrap();
    let refused = incoming.came(&message(400_000)).unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(crate::detail_of(&refused, crate::ERROR_KEY), Some("memory"));
    for figure in ["800010", "1000000", "1800010", "1500000"] {
        assert!(refused.message().contains(figure), "{refused}");
    }
    let never = incoming.came(&message(900_000)).unwrap_err();
    let word = crate::detail_of(&never, crate::ERROR_KEY);
    assert_eq!(word, Some("message-too-large"));
}

#[tokio::test]
async fn a_message_that_does_not_go_on_ends_its_call() {
    let account = account(1_000_000);
    let mut incoming = Incoming::of(&account, "/clew.log.v1.Log/Append").unwrap();
    incoming.stalled_after = Duration::from_millis(1);
    let begun = stream::iter([Ok::<_, Status>(Frame::data(
        Bytes::from(message(10)).slice(..9),
    ))]);
    let body = Body::new(StreamBody::new(begun.chain(stream::pending())));
    let mut received = Box::pin(received(body, incoming));
    assert!(received.next().await.unwrap().is_ok());
    let ended = received.next().await.unwrap().unwrap_err();
    assert_eq!(ended.code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn what_has_ended_may_be_asked_again() {
    let account = account(64 << 20);
    let whole = || {
        let frames = [Ok::<_, Status>(Frame::data(Bytes::from(message(10))))];
        Body::new(StreamBody::new(stream::iter(frames)))
    };
    let incoming = Incoming::of(&account, STREAM_OF_REQUESTS).unwrap();
    let mut received = Box::pin(received(whole(), incoming));
    let mut sent = Box::pin(sent(whole(), account.open(MemoryPurpose::Searches)));
    assert!(received.next().await.unwrap().is_ok());
    assert!(sent.next().await.unwrap().is_ok());
    for _ in 0..2 {
        assert!(received.next().await.is_none());
        assert!(sent.next().await.is_none());
    }
}

#[test]
fn many_short_records_count_by_what_they_become() {
    assert!(message_bytes(&b"\x12\x00".repeat(1000)) > 1000 * PART_BYTES);
    assert_eq!(message_bytes(&[b'a'; 1000]), 1000 * COPIES);
}

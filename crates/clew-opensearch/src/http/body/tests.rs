use clew_platform::MemoryLimits;

use super::*;

fn gzip_header() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_ENCODING, "gzip".parse().unwrap());
    headers
}

fn limits(bytes_max: usize) -> BodyLimits {
    room(bytes_max, MemoryLimits::none())
}

fn room(bytes_max: usize, memory: MemoryLimits) -> BodyLimits {
    BodyLimits {
        bytes_max,
        memory: MemoryAccount::new(memory),
    }
}

fn of_bodies(bodies: usize) -> MemoryLimits {
    MemoryLimits {
        bodies,
        ..MemoryLimits::none()
    }
}

/// A body in frames of a size, whose length is not said beforehand.
fn chunked(whole: &[u8], frame: usize) -> Body {
    let frames: Vec<_> = whole.chunks(frame).map(Bytes::copy_from_slice).collect();
    let frames = frames.into_iter().map(Ok::<_, std::convert::Infallible>);
    Body::from_stream(futures_util::stream::iter(frames))
}

/// The whole body, inflated on the thread that asks.
async fn read(headers: &HeaderMap, mut body: Body, limits: &BodyLimits) -> Result<Bytes, ApiError> {
    let raw = collect(&mut body, limits).await?;
    match is_packed(headers)? {
        true => inflate(&raw, limits),
        false => Ok(raw),
    }
}

#[tokio::test]
async fn a_body_that_inflates_beyond_the_limit_is_refused() {
    let packed = deflate(&vec![b'a'; 100_000]);
    assert!(packed.len() < 1000);
    let error = read(&gzip_header(), Body::from(packed.clone()), &limits(99_999))
        .await
        .unwrap_err();
    assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let whole = read(&gzip_header(), Body::from(packed), &limits(100_000))
        .await
        .unwrap();
    assert_eq!(whole.len(), 100_000);
}

#[tokio::test]
async fn a_body_at_the_limit_is_read_and_one_byte_more_is_refused() {
    let none = HeaderMap::new();
    let limits = limits(4);
    for frame in [1, 3, 9] {
        let read_it = |text: &'static str| read(&none, chunked(text.as_bytes(), frame), &limits);
        assert_eq!(read_it("abcd").await.unwrap(), "abcd");
        let error = read_it("abcde").await.unwrap_err();
        assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
    assert_eq!(
        read(&none, Body::from("abcd"), &limits).await.unwrap(),
        "abcd"
    );
    let error = read(&none, Body::from("abcde"), &limits).await.unwrap_err();
    assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn truncated_gzip_is_an_error_of_the_client() {
    let packed = deflate(&vec![b'a'; 100_000]);
    let cut = packed.slice(..packed.len() / 2);
    let error = read(&gzip_header(), Body::from(cut), &limits(1 << 20))
        .await
        .unwrap_err();
    assert_eq!(error.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn memory_is_held_until_the_last_slice_is_gone() {
    let none = HeaderMap::new();
    let limits = room(1 << 20, of_bodies(1 << 20));
    let used = || limits.memory.total().used;
    for body in [
        Body::from(vec![b'a'; 100_000]),
        chunked(&[b'a'; 100_000], 10_000),
    ] {
        let bytes = read(&none, body, &limits).await.unwrap();
        assert!(used() >= 100_000, "{}", used());
        let slice = bytes.slice(5..10);
        drop(bytes);
        assert!(used() >= 100_000);
        drop(slice);
        assert_eq!(used(), 0);
    }
    let packed = Body::from(deflate(&vec![b'a'; 100_000]));
    let inflated = read(&gzip_header(), packed, &limits).await.unwrap();
    assert_eq!(used(), 100_000);
    drop(inflated);
    assert_eq!(used(), 0);
}

#[tokio::test]
async fn what_does_not_fit_beside_others_is_refused_in_the_words_of_opensearch() {
    let none = HeaderMap::new();
    let limits = room(1 << 20, of_bodies(1_000_000));
    let taken = limits.memory.reserve(MemoryPurpose::Bodies, 900_000);
    let plain = || Body::from(vec![b'a'; 100_000]);
    let packed = || Body::from(deflate(&vec![b'a'; 100_000]));
    let in_frames = || chunked(&[b'a'; 100_000], 10_000);
    for (headers, body) in [
        (&none, plain()),
        (&gzip_header(), packed()),
        (&none, in_frames()),
    ] {
        let error = read(headers, body, &limits).await.unwrap_err();
        assert_eq!(error.status(), StatusCode::TOO_MANY_REQUESTS);
        let text = String::from_utf8(error.body()).unwrap();
        for part in [
            r#""type":"circuit_breaking_exception""#,
            "[in_flight_requests] Data too large, data for [<http_request>] would be [",
            "which is larger than the limit of [937500/915.5kb]",
            r#""bytes_limit":937500"#,
            r#""durability":"TRANSIENT""#,
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    // Small ones go on.
    assert_eq!(
        read(&none, Body::from("abcd"), &limits).await.unwrap(),
        "abcd"
    );
    drop(taken);
    for (headers, body) in [
        (&none, plain()),
        (&gzip_header(), packed()),
        (&none, in_frames()),
    ] {
        assert_eq!(read(headers, body, &limits).await.unwrap().len(), 100_000);
    }
    assert_eq!(limits.memory.total().used, 0);
}

#[tokio::test]
async fn what_can_never_fit_is_too_long() {
    let limits = room(1 << 30, of_bodies(160_000));
    let body = Body::from(vec![b'a'; 150_001]);
    let error = read(&HeaderMap::new(), body, &limits).await.unwrap_err();
    assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert!(error.reason().contains("[150000]"), "{}", error.reason());
}

#[test]
fn what_another_server_answers_is_read_up_to_the_limit_and_booked() {
    let plain = vec![b'a'; 200_000];
    let packed = deflate(&plain);
    let room = room(200_000, of_bodies(1 << 20));
    for (body, is_packed) in [(&plain[..], false), (&packed[..], true)] {
        let whole = read_answer(body, is_packed, &room).ok().unwrap();
        assert_eq!(whole, plain);
        assert!(room.memory.total().used >= plain.len());
        drop(whole);
        assert_eq!(room.memory.total().used, 0);
        let short = read_answer(body, is_packed, &limits(199_999));
        assert!(matches!(short, Err(Unread::TooLong)));
    }
    let little = BodyLimits {
        memory: MemoryAccount::new(of_bodies(100_000)),
        ..room
    };
    let refused = read_answer(&plain[..], false, &little);
    assert!(matches!(refused, Err(Unread::TooLong | Unread::NoRoom(_))));
    let broken = read_answer(&packed[..packed.len() - 9], true, &limits(1 << 20));
    assert!(matches!(broken, Err(Unread::Broken(_))));
}

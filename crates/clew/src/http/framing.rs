//! Requests whose body is coded in a way that is not known. Hyper reads them, as long as they end in chunks;
//! where a proxy before the server reads them otherwise, one request becomes two. And requests that expect what is not known,
//! which HTTP lets a server refuse: a client that waits for it would wait in vain.

use axum::http::{StatusCode, header, request};

use super::refusal::Refusal;

pub(super) fn check(head: &request::Parts) -> Result<(), Refusal> {
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).iter();
    let known = match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => coding.as_bytes().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    };
    if !known {
        let reason = "only [chunked] is known of transfer codings";
        return Err(unknown(StatusCode::NOT_IMPLEMENTED, reason));
    }
    let mut expectations = head.headers.get_all(header::EXPECT).iter();
    if expectations.all(|one| one.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
        return Ok(());
    }
    let reason = "only [100-continue] is known of expectations";
    Err(unknown(StatusCode::EXPECTATION_FAILED, reason))
}

fn unknown(status: StatusCode, reason: &str) -> Refusal {
    let cause = ("illegal_argument_exception", reason.to_string());
    Refusal::new(status, "framing", cause).and_close()
}

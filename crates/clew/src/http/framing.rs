//! Requests whose body is coded in a way that is not known. Hyper reads them, as long as they end in chunks;
//! where a proxy before the server reads them otherwise, one request becomes two.

use axum::http::{StatusCode, header, request};

use super::refusal::Refusal;

pub(super) fn check(head: &request::Parts) -> Result<(), Refusal> {
    let mut codings = head.headers.get_all(header::TRANSFER_ENCODING).iter();
    let known = match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(coding), None) => coding.as_bytes().eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    };
    if known {
        return Ok(());
    }
    let reason = "only [chunked] is known of transfer codings".to_string();
    let cause = ("illegal_argument_exception", reason);
    let status = StatusCode::NOT_IMPLEMENTED;
    Err(Refusal::new(status, "framing", cause).and_close())
}

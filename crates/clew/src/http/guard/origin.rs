//! Where the page comes from that a request was made by.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Uri, header};

use super::bad_request;
use crate::http::refusal::Refusal;

/// The origin that a browser has told.
#[derive(Debug, PartialEq)]
pub(super) enum Origin {
    /// None: clients that are no browsers, and browsers where it does not matter to them.
    None,
    /// The server's own pages.
    Own,
    /// Other pages, also those whose origin is kept secret (`null`).
    Foreign(HeaderValue),
}

impl Origin {
    pub(super) fn of(headers: &HeaderMap, host: Option<&Authority>) -> Result<Self, Refusal> {
        let mut values = headers.get_all(header::ORIGIN).iter();
        let Some(value) = values.next() else {
            return Ok(Origin::None);
        };
        if values.next().is_some() {
            return Err(bad_request("the request has more than one Origin header"));
        }
        Ok(match is_own(value, host) {
            true => Origin::Own,
            false => Origin::Foreign(value.clone()),
        })
    }
}

/// Whether a page's address is at the place that the client called. Behind a proxy that ends TLS the
/// page's is `https`, and the proxy's is the only server at that place; so schemes may differ.
pub(super) fn is_own(page: &HeaderValue, host: Option<&Authority>) -> bool {
    let (Ok(page), Some(host)) = (Uri::try_from(page.as_bytes()), host) else {
        return false;
    };
    let usual_port = match page.scheme_str() {
        Some("http") => 80,
        Some("https") => 443,
        _ => return false,
    };
    let Some(at) = page.authority() else {
        return false;
    };
    let port = |authority: &Authority| authority.port_u16().unwrap_or(usual_port);
    at.host().eq_ignore_ascii_case(host.host()) && port(at) == port(host)
}

//! Keeps web pages out: a browser sends what any page tells it to, with everything that the user's machine
//! reaches. What a page cannot choose are the headers that say where it comes from, so these decide.
//!
//! There are no users yet, so this is no question of rights: clients that are no browsers pass.

mod cors;
mod host;
mod origin;

use axum::body::Body;
use axum::http::uri::Authority;
use axum::http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header, request,
};

use self::cors::Cors;
use self::host::Hosts;
use self::origin::Origin;
use super::config::HttpConfig;
use super::refusal::Refusal;

/// The rules of one server.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: Hosts,
    cors: Option<Cors>,
}

/// What is to be done with a request.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is handled, and [`Guard::mark`] finishes the answer.
    Pass(Page),
    /// It is a browser's question, and this is the answer.
    Preflight(Response<Body>),
    Refused(Refusal),
}

/// The page of another origin that a request comes from, if any.
#[derive(Debug, PartialEq)]
pub(super) enum Page {
    None,
    Allowed(HeaderValue),
}

impl Guard {
    /// # Errors
    /// When an origin, a host or a header of the configuration cannot be one.
    pub(super) fn new(config: &HttpConfig, machine: &str) -> anyhow::Result<Self> {
        let cors = config.cors.enabled.then(|| Cors::new(&config.cors));
        Ok(Guard {
            hosts: Hosts::new(config, machine)?,
            cors: cors.transpose()?,
        })
    }

    pub(super) fn judge(&self, head: &request::Parts) -> Verdict {
        self.try_judge(head).unwrap_or_else(Verdict::Refused)
    }

    fn try_judge(&self, head: &request::Parts) -> Result<Verdict, Refusal> {
        if !is_of_a_page(&head.headers) && self.hosts.know(head) {
            check_form(head)?;
            return Ok(Verdict::Pass(Page::None));
        }
        let host = self.hosts.check(head)?;
        let origin = Origin::of(&head.headers, host.as_ref())?;
        let page = match origin {
            Origin::None => {
                check_fetch(head, host.as_ref())?;
                Page::None
            }
            Origin::Own => Page::None,
            Origin::Foreign(value) => match &self.cors {
                Some(cors) if cors.allows(&value) => Page::Allowed(value),
                _ => return Err(foreign(&value)),
            },
        };
        if let (Page::Allowed(origin), Some(cors)) = (&page, &self.cors)
            && cors::is_preflight(head)
        {
            return Ok(Verdict::Preflight(cors.preflight(origin)));
        }
        check_form(head)?;
        Ok(Verdict::Pass(page))
    }

    /// Tells the browser what the page may see of the answer.
    pub(super) fn mark(&self, page: &Page, headers: &mut HeaderMap) {
        if let Some(cors) = &self.cors {
            cors.mark(page, headers);
        }
    }
}

fn foreign(origin: &HeaderValue) -> Refusal {
    let origin = String::from_utf8_lossy(origin.as_bytes());
    Refusal::forbidden(
        "origin",
        format!(
            "web pages of the origin [{}] may not use this server; if they should, set \
             [http.cors.enabled] and add it to [http.cors.allow_origin]",
            shortened(&origin)
        ),
    )
}

fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether the request says what page it comes from: clients that are no browsers say nothing.
fn is_of_a_page(headers: &HeaderMap) -> bool {
    headers.contains_key(header::ORIGIN)
        || headers.contains_key(header::REFERER)
        || headers.contains_key(&SEC_FETCH_SITE)
}

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
static SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Browsers leave `Origin` out where a page only shows or follows something. They say whether it was
/// another site's page then, to addresses of the user's own machine at least; older ones tell at least
/// from which page they come.
fn check_fetch(head: &request::Parts, host: Option<&Authority>) -> Result<(), Refusal> {
    let site = head.headers.get(&SEC_FETCH_SITE);
    let refused = |sign: &str| {
        Err(Refusal::forbidden(
            "site",
            format!("a web page of another site may not use this server ([{sign}])"),
        ))
    };
    match site.map(HeaderValue::as_bytes) {
        Some(b"cross-site" | b"same-site") => {
            // A link that the user follows shows its target, and tells the page nothing.
            let followed = head
                .headers
                .get(&SEC_FETCH_MODE)
                .is_some_and(|mode| mode == "navigate");
            match followed && is_reading(&head.method) {
                true => Ok(()),
                false => refused("Sec-Fetch-Site"),
            }
        }
        Some(_) => Ok(()),
        None if is_reading(&head.method) => Ok(()),
        None => match head.headers.get(header::REFERER) {
            Some(page) if !origin::is_own(page, host) => refused("Referer"),
            _ => Ok(()),
        },
    }
}

/// Types that a page can send anywhere unasked, as the body of a form.
const FORMS: [&str; 3] = [
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "text/plain",
];

fn check_form(head: &request::Parts) -> Result<(), Refusal> {
    if is_reading(&head.method) {
        return Ok(());
    }
    for value in head.headers.get_all(header::CONTENT_TYPE) {
        let text = String::from_utf8_lossy(value.as_bytes());
        let media = text.split(';').next().unwrap_or_default().trim();
        if FORMS.iter().any(|form| media.eq_ignore_ascii_case(form)) {
            return Err(Refusal::content_type(&shortened(&text)));
        }
    }
    Ok(())
}

/// Longest piece of a request that an error shows, in bytes.
const SHOWN_BYTES_MAX: usize = 256;

fn shortened(text: &str) -> String {
    match text.len() <= SHOWN_BYTES_MAX {
        true => text.to_string(),
        false => format!("{}...", &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)]),
    }
}

fn bad_request(reason: impl Into<String>) -> Refusal {
    let cause = ("illegal_argument_exception", reason.into());
    Refusal::new(StatusCode::BAD_REQUEST, "host", cause)
}

#[cfg(test)]
mod tests;

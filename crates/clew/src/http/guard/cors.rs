//! Pages of other origins that are let in, by the headers of the Fetch standard. As in OpenSearch, and other
//! than in the layers there are for this, a page that is not allowed gets status 403 and not only an
//! answer that its browser withholds.

use std::time::Duration;

use anyhow::{Context, ensure};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, header, request};
use regex::Regex;

use super::Page;
use crate::http::config::CorsConfig;

/// Which pages may use the server, and the headers that tell them.
#[derive(Debug)]
pub(super) struct Cors {
    any: bool,
    origins: Vec<HeaderValue>,
    patterns: Vec<Regex>,
    credentials: bool,
    methods: HeaderValue,
    headers: HeaderValue,
    exposed: Option<HeaderValue>,
    max_age: HeaderValue,
}

impl Cors {
    /// # Errors
    /// When an origin or a header's name cannot be one.
    pub(super) fn new(config: &CorsConfig) -> anyhow::Result<Self> {
        let (mut any, mut origins, mut patterns) = (false, Vec::new(), Vec::new());
        for origin in &config.allow_origin {
            let inner = origin
                .strip_prefix('/')
                .and_then(|rest| rest.strip_suffix('/'));
            match (origin.as_str(), inner) {
                ("*", _) => any = true,
                (_, Some(pattern)) => patterns.push(whole(pattern)?),
                _ => origins.push(plain(origin)?),
            }
        }
        for method in &config.allow_methods {
            Method::from_bytes(method.as_bytes())
                .with_context(|| format!("[http.cors.allow_methods] has [{method}]"))?;
        }
        for name in config.allow_headers.iter().chain(&config.expose_headers) {
            HeaderName::from_bytes(name.as_bytes())
                .with_context(|| format!("[http.cors] names the header [{name}]"))?;
        }
        let joined = |names: &[String]| HeaderValue::try_from(names.join(","));
        let exposed = &config.expose_headers;
        let max_age = Duration::from_secs(config.max_age_s);
        Ok(Cors {
            any,
            origins,
            patterns,
            credentials: config.allow_credentials,
            methods: joined(&config.allow_methods)?,
            headers: joined(&config.allow_headers)?,
            exposed: (!exposed.is_empty()).then(|| joined(exposed)).transpose()?,
            max_age: HeaderValue::from(max_age.as_secs()),
        })
    }

    pub(super) fn allows(&self, origin: &HeaderValue) -> bool {
        self.any
            || self.origins.contains(origin)
            || origin.to_str().is_ok_and(|origin| {
                let mut patterns = self.patterns.iter();
                patterns.any(|pattern| pattern.is_match(origin))
            })
    }

    pub(super) fn preflight(&self, origin: &HeaderValue) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        let headers = response.headers_mut();
        self.mark(&Page::Allowed(origin.clone()), headers);
        headers.remove(header::ACCESS_CONTROL_EXPOSE_HEADERS);
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, self.methods.clone());
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, self.headers.clone());
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, self.max_age.clone());
        response
    }

    pub(super) fn mark(&self, page: &Page, headers: &mut HeaderMap) {
        let same_for_all = self.any && !self.credentials;
        if !same_for_all {
            headers.append(header::VARY, HeaderValue::from_static("origin"));
        }
        let Page::Allowed(origin) = page else {
            return;
        };
        let allowed = match same_for_all {
            true => HeaderValue::from_static("*"),
            false => origin.clone(),
        };
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        if self.credentials {
            let yes = HeaderValue::from_static("true");
            headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, yes);
        }
        if let Some(exposed) = &self.exposed {
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed.clone());
        }
    }
}

/// Whether a browser asks what a page may do.
pub(super) fn is_preflight(head: &request::Parts) -> bool {
    let asked = header::ACCESS_CONTROL_REQUEST_METHOD;
    head.method == Method::OPTIONS && head.headers.contains_key(asked)
}

/// A pattern that the whole origin has to match, as OpenSearch reads it.
fn whole(pattern: &str) -> anyhow::Result<Regex> {
    Regex::new(&format!("^(?:{pattern})$"))
        .with_context(|| format!("[http.cors.allow_origin] has [/{pattern}/]"))
}

fn plain(origin: &str) -> anyhow::Result<HeaderValue> {
    let has_place = origin
        .split_once("://")
        .is_some_and(|(_, place)| !place.is_empty() && !place.contains('/'));
    ensure!(
        has_place || origin == "null",
        "[http.cors.allow_origin] has [{origin}], which is no origin such as https://name:port"
    );
    Ok(HeaderValue::try_from(origin)?)
}

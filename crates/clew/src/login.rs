//! Who is let in, on both ports: users and roles of the data folder, asked for before anything of a request is read.
//!
//! What a user may do, Milvus' API decides for itself; everything else is for those who may do everything, until roles mean
//! something there, too. `/_health` and gRPC's health service are open.

use std::env::VarError;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Json, Response};
use clew_access::{AccessControl, Credentials, Initial, Principal, Refused};
use clew_log_grpc::tonic::{Code, Status};
use clew_log_grpc::{ERROR_KEY, Guard};
use clew_platform::{RealClock, RealDisk};
use serde_json::json;

use crate::config::Config;

/// The variable with the user and the password that a server may ask for, as `user:password`: not among the arguments, which
/// everybody on the machine sees.
const LOGIN: &str = "CLEW_LOGIN";
/// The file in the data folder.
pub(crate) const FILE: &str = "access.json";
/// The password of `root` where none is configured: what Milvus' clients expect.
const DEFAULT_PASSWORD: &str = "Milvus";
/// What is answered whoever asks.
const HTTP_OPEN: &str = "/_health";
const GRPC_OPEN: &str = "/grpc.health.v1.Health/";

/// Opens the users and roles of a data folder that this process owns, and looks whether the door may stand as it does.
///
/// # Errors
/// When the file is damaged, or the server would listen on other than loopback addresses behind a password that everybody knows.
pub(crate) fn open(config: &Config) -> anyhow::Result<Arc<AccessControl>> {
    let configured = config.access.root_password.0.as_str();
    let initial = Initial {
        root_password: match configured {
            "" => DEFAULT_PASSWORD.to_string(),
            password => password.to_string(),
        },
        public: clew_milvus::public_rights(),
    };
    let path = config.data.join(FILE);
    let clock = Arc::new(RealClock::new());
    let access = AccessControl::open(Arc::new(RealDisk), clock, &path, &initial)
        .context("cannot open the users and roles")?;
    if config.access.authentication && access.is_root_password(DEFAULT_PASSWORD) {
        if let Some(section) = remote(config) {
            bail!(
                "refusing to listen on other than loopback addresses while root has the password that everybody knows; \
                 configure another as access.root_password, or set {section}.allow_remote if that is meant"
            );
        }
        tracing::warn!(
            user = clew_access::ROOT,
            "the default password stands: whoever reaches this server may do everything"
        );
    }
    Ok(Arc::new(access))
}

/// Holds the file of a data folder against its checksum and its rules.
pub(crate) fn verify(data: &Path) -> anyhow::Result<()> {
    Ok(AccessControl::verify(&RealDisk, &data.join(FILE))?)
}

/// A section whose address others reach, although that was not allowed.
pub(crate) fn remote(config: &Config) -> Option<&'static str> {
    let sections = [
        ("http", config.http.address, config.http.allow_remote),
        ("grpc", config.grpc.address, config.grpc.allow_remote),
    ];
    let mut reached = sections
        .into_iter()
        .filter(|(_, address, allowed)| !address.ip().is_loopback() && !allowed);
    reached.next().map(|(section, ..)| section)
}

/// Finds out who asks. Only passwords that are not remembered cost more than a microsecond; those are looked at elsewhere.
async fn known(access: &Arc<AccessControl>, headers: &HeaderMap) -> Result<Principal, Refused> {
    let header = headers.get(AUTHORIZATION).ok_or(Refused::Missing)?;
    let said = Credentials::read(header.as_bytes())?;
    if let Some(known) = access.remembered(&said) {
        return Ok(known);
    }
    let (asked, shown) = (access.clone(), said.clone());
    let looked = tokio::task::spawn_blocking(move || asked.authenticate(&said)).await;
    let known = looked.unwrap_or(Err(Refused::Busy));
    if matches!(known, Err(Refused::Wrong)) {
        tracing::warn!(credentials = ?shown, "a user or a password is wrong");
    }
    known
}

/// What a program that calls a server says of itself, if anything.
pub(crate) fn from_environment() -> anyhow::Result<Option<Credentials>> {
    let said = said_by_environment()?;
    let said = said.as_deref().and_then(|said| said.split_once(':'));
    Ok(said.map(|(user, password)| Credentials::new(user, password)))
}

/// The same as it is written, `user:password`.
pub(crate) fn said_by_environment() -> anyhow::Result<Option<String>> {
    let said = match std::env::var(LOGIN) {
        Ok(said) => said,
        Err(VarError::NotPresent) => return Ok(None),
        // Without a word nobody would be logged in who said who they are.
        Err(VarError::NotUnicode(_)) => bail!("{LOGIN} is not UTF-8"),
    };
    if !said.contains(':') {
        bail!("{LOGIN} is not of the form user:password");
    }
    Ok(Some(said))
}

/// Stands before the gRPC port.
pub(crate) fn guard(access: &Arc<AccessControl>) -> Guard {
    let access = access.clone();
    Guard::by(move |routes| {
        let layer = from_fn_with_state(access.clone(), grpc);
        routes.into_axum_router().layer(layer).into()
    })
}

async fn grpc(
    State(access): State<Arc<AccessControl>>,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    if path.starts_with(GRPC_OPEN) || clew_milvus::is_open(path) {
        return next.run(request).await;
    }
    let is_milvus = clew_milvus::answers(path);
    match known(&access, request.headers()).await {
        Err(refused) if is_milvus => clew_milvus::not_let_in(path, &refused),
        Err(refused) => status(&refused).into_http(),
        Ok(who) if is_milvus || who.may_everything() => {
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        Ok(who) => {
            let said = format!("{} may not: that takes the role admin", who.name());
            worded(Code::PermissionDenied, "not-permitted", said).into_http()
        }
    }
}

fn worded(code: Code, word: &'static str, said: String) -> Status {
    let mut status = Status::new(code, said);
    if let Ok(word) = word.parse() {
        status.metadata_mut().insert(ERROR_KEY, word);
    }
    status
}

fn status(refused: &Refused) -> Status {
    let (code, word) = match refused {
        Refused::Missing | Refused::Malformed | Refused::Wrong => {
            (Code::Unauthenticated, "not-authenticated")
        }
        Refused::TooManyAttempts { .. } | Refused::Busy => {
            (Code::ResourceExhausted, "too-many-attempts")
        }
    };
    worded(code, word, refused.to_string())
}

/// Puts the door before the REST API.
pub(crate) fn before(app: Router, access: &Arc<AccessControl>) -> Router {
    app.layer(from_fn_with_state(access.clone(), http))
}

async fn http(State(access): State<Arc<AccessControl>>, request: Request, next: Next) -> Response {
    if request.uri().path() == HTTP_OPEN {
        return next.run(request).await;
    }
    match known(&access, request.headers()).await {
        Ok(who) if who.may_everything() => next.run(request).await,
        Ok(who) => {
            let reason = format!(
                "no permissions for {}: that takes the role admin",
                who.name()
            );
            refusal(StatusCode::FORBIDDEN, &reason)
        }
        Err(refused @ (Refused::TooManyAttempts { .. } | Refused::Busy)) => {
            refusal(StatusCode::TOO_MANY_REQUESTS, &refused.to_string())
        }
        Err(refused) => {
            let asked = [(WWW_AUTHENTICATE, "Basic realm=\"Clew\", charset=\"UTF-8\"")];
            (
                asked,
                refusal(StatusCode::UNAUTHORIZED, &refused.to_string()),
            )
                .into_response()
        }
    }
}

/// A refusal in the shape of OpenSearch's errors.
fn refusal(status: StatusCode, reason: &str) -> Response<Body> {
    let cause = json!({"type": "security_exception", "reason": reason});
    let mut error = cause.clone();
    error["root_cause"] = json!([cause]);
    let told = json!({"error": error, "status": status.as_u16()});
    (status, Json(told)).into_response()
}

//! `GET /debug/pprof/...`: profiles of this process over HTTP, at the addresses that Go's tools expect. They stand behind the same
//! door as everything else. One capture of a kind runs at a time; one whose client has gone stops.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::SystemTime;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use clew_engine::Engine;
use clew_profile::{Capture, Format, OffCpuCapture, Profile, ProfileError, ProfileKind, SymbolUse};
use tokio::sync::watch;

use super::asked::{AskedCapture, kind_of};
use super::continuous::KeptProfiles;
use crate::http::Refusal;

const INDEX: &str = "\
/debug/pprof/profile?seconds=10  time on the processors
/debug/pprof/offcpu?seconds=10   time off them: blocked, or waiting for one; mode=exact sees every context switch
/debug/pprof/heap                memory, in use and allocated; looks once
/debug/pprof/allocs              the same, which shows what was allocated since the start
DELETE /debug/pprof/profile      ends a capture early: whoever waits for it gets what was seen (offcpu likewise)
/debug/pprof/training            what a build that counts has counted, for the compiler (make pgo-server)
/debug/pprof/profile?from=2026-11-25T14:00:00Z&to=2026-11-25T14:05:00Z  what was kept, with profile.continuous

format=pprof (go tool pprof reads it), collapsed, svg (a flame graph) or html (the same in a page); rate=99; value=NAME of another number
";

/// The header that says how a profile was taken, in whatever format it is: what answers without it is no server of profiles.
pub(super) const HOW_TAKEN: &str = "x-clew-profile";

/// The type of what a build that counts has counted.
const COUNTERS: &str = "application/octet-stream";
/// And how it came about.
const COUNTED: &str = "counted since the process began";

/// What the endpoints share.
#[derive(Clone)]
pub(crate) struct ProfileEndpoints {
    engine: Engine,
    stopped: watch::Receiver<bool>,
    kept: Option<KeptProfiles>,
    turns: Turns,
}

impl ProfileEndpoints {
    /// `kept` is what was kept of the past, if anything is.
    pub(crate) fn new(
        engine: Engine,
        stopped: watch::Receiver<bool>,
        kept: Option<KeptProfiles>,
    ) -> Self {
        ProfileEndpoints {
            engine,
            stopped,
            kept,
            turns: Turns::default(),
        }
    }
}

/// What takes much time or memory.
#[derive(Clone, Copy)]
enum Work {
    Capture(ProfileKind),
    /// Of what was kept.
    Reading,
}

/// Which work is being done: one of each at a time.
#[derive(Clone, Default)]
struct Turns(Arc<[Turn; 4]>);

/// How work stands, in one number: what is told to end early is what is being done, and never what comes after it.
#[derive(Default)]
struct Turn(AtomicU8);

impl Turn {
    const FREE: u8 = 0;
    const TAKEN: u8 = 1;
    /// What was seen until now is enough.
    const CUT_SHORT: u8 = 2;

    /// Whether it stood so, and is another way now.
    fn goes(&self, from: u8, to: u8) -> bool {
        let gone = self
            .0
            .compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed);
        gone.is_ok()
    }

    fn is_cut_short(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Turn::CUT_SHORT
    }
}

impl Turns {
    fn of(&self, work: Work) -> &Turn {
        let [on_cpu, off_cpu, heap, reading] = &*self.0;
        match work {
            Work::Capture(ProfileKind::OnCpu) => on_cpu,
            Work::Capture(ProfileKind::OffCpu) => off_cpu,
            Work::Capture(ProfileKind::Heap) => heap,
            Work::Reading => reading,
        }
    }

    /// Begins work. `what` is what it is called.
    ///
    /// # Errors
    /// 429 while another one of the kind is done.
    fn enter(&self, work: Work, what: &str) -> Result<Running, Refusal> {
        if !self.of(work).goes(Turn::FREE, Turn::TAKEN) {
            return Err(refusal(
                StatusCode::TOO_MANY_REQUESTS,
                "rejected_execution_exception",
                format!("{what} is running: one at a time"),
            ));
        }
        Ok(Running(self.clone(), work))
    }

    /// Has the work of a kind end early; whether any is done.
    fn cut_short(&self, work: Work) -> bool {
        let turn = self.of(work);
        turn.goes(Turn::TAKEN, Turn::CUT_SHORT) || turn.is_cut_short()
    }
}

/// Work that is being done.
struct Running(Turns, Work);

impl Running {
    fn is_cut_short(&self) -> bool {
        let Running(turns, work) = self;
        turns.of(*work).is_cut_short()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Running(turns, work) = self;
        turns.of(*work).0.store(Turn::FREE, Ordering::Release);
    }
}

/// Says so when the client has gone.
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn routes(endpoints: ProfileEndpoints) -> Router {
    Router::new()
        .route("/debug/pprof", get(|| async { INDEX }))
        .route("/debug/pprof/", get(|| async { INDEX }))
        .route(
            "/debug/pprof/training",
            get(training).head(training_headers),
        )
        .route(
            "/debug/pprof/{kind}",
            get(profile).head(headers).delete(cut_short),
        )
        .with_state(endpoints)
}

async fn profile(
    State(endpoints): State<ProfileEndpoints>,
    Path(kind): Path<String>,
    Query(params): Query<HashMap<String, String>>,
) -> Response {
    match answer(&endpoints, &kind, &params).await {
        Ok(answer) => answer,
        Err(refusal) => refusal.response().into_response(),
    }
}

/// What a profile would come with. Nothing is captured for somebody who reads none.
async fn headers(
    Path(kind): Path<String>,
    Query(params): Query<HashMap<String, String>>,
) -> Response {
    let nothing = Written {
        body: Vec::new(),
        how: String::new(),
    };
    match read(&kind, &params) {
        Ok(asked) => shown(&asked, &kind, nothing),
        Err(refusal) => refusal.response().into_response(),
    }
}

/// Ends a capture early: whoever waits for it gets what was seen until then.
async fn cut_short(
    State(endpoints): State<ProfileEndpoints>,
    Path(name): Path<String>,
) -> Response {
    let not_there = |kind, reason| refusal(StatusCode::NOT_FOUND, kind, reason);
    let refused = match kind_of(&name) {
        Ok((kind, _)) if endpoints.turns.cut_short(Work::Capture(kind)) => {
            let json = [(CONTENT_TYPE, "application/json; charset=UTF-8")];
            return (json, r#"{"acknowledged":true}"#).into_response();
        }
        Ok(_) => not_there(
            "resource_not_found_exception",
            format!("no capture of [{name}] is running"),
        ),
        Err(reason) => not_there("illegal_argument_exception", reason),
    };
    refused.response().into_response()
}

/// What a request asks for.
fn read(kind: &str, params: &HashMap<String, String>) -> Result<AskedCapture, Refusal> {
    let bad = |status| move |reason| refusal(status, "illegal_argument_exception", reason);
    let (kind, shown_value) = kind_of(kind).map_err(bad(StatusCode::NOT_FOUND))?;
    AskedCapture::read(kind, shown_value, params).map_err(bad(StatusCode::BAD_REQUEST))
}

fn refusal(status: StatusCode, kind: &'static str, reason: String) -> Refusal {
    Refusal::new(status, "profile", (kind, reason))
}

async fn answer(
    endpoints: &ProfileEndpoints,
    name: &str,
    params: &HashMap<String, String>,
) -> Result<Response, Refusal> {
    let asked = read(name, params)?;
    if let Some(time) = asked.kept {
        return kept(endpoints, asked, time).await;
    }
    let what = format!("a capture of [{name}]");
    let running = endpoints.turns.enter(Work::Capture(asked.kind), &what)?;
    // The symbols are read when the capture is over, and that must not be where it fails.
    let account = endpoints.engine.memory();
    let symbols = SymbolUse::kept(account).map_err(|exceeded| {
        let reason = format!("the symbols of this program do not fit: {exceeded}");
        refusal(
            StatusCode::TOO_MANY_REQUESTS,
            "circuit_breaking_exception",
            reason,
        )
    })?;
    let gone = Arc::new(AtomicBool::new(false));
    let _told_when_gone = Gone(gone.clone());
    let stopped = endpoints.stopped.clone();
    let captured = tokio::task::spawn_blocking(move || {
        let (running, _symbols) = (running, symbols);
        let is_gone = || gone.load(Ordering::Relaxed);
        let stop = || is_gone() || running.is_cut_short() || *stopped.borrow();
        let profile = capture(&asked, &stop, &is_gone)?;
        profile
            .map(|profile| Written::of(&profile, &asked))
            .transpose()
    });
    let captured = captured.await.map_err(|error| failed(error.to_string()))?;
    let written = captured.map_err(|error| not_captured(&error))?;
    // Nobody is there to read this.
    let written = written.ok_or_else(|| failed("the client has gone".to_string()))?;
    Ok(shown(&asked, name, written))
}

/// A profile as it is handed out.
struct Written {
    body: Vec<u8>,
    /// How it was taken.
    how: String,
}

impl Written {
    fn of(profile: &Profile, asked: &AskedCapture) -> Result<Self, ProfileError> {
        let mut body = Vec::new();
        profile.write_value(asked.format, asked.value, &mut body)?;
        let mut how = profile.comments.join("; ");
        if profile.total(asked.value) == 0 {
            how.push_str("; nothing was seen");
        }
        Ok(Written { body, how })
    }
}

fn failed(reason: String) -> Refusal {
    refusal(StatusCode::INTERNAL_SERVER_ERROR, "exception", reason)
}

fn not_there(reason: String) -> Refusal {
    let status = StatusCode::NOT_IMPLEMENTED;
    refusal(status, "unsupported_operation_exception", reason)
}

fn not_captured(error: &ProfileError) -> Refusal {
    match error {
        ProfileError::NotPermitted(_) | ProfileError::Unsupported | ProfileError::NotTraining => {
            not_there(error.to_string())
        }
        ProfileError::NoSampling => {
            not_there("no allocations are sampled: [profile.heap] is off".to_string())
        }
        error => failed(error.to_string()),
    }
}

/// Counters rather than stacks, which only the compiler reads: no formats, no length.
async fn training(Query(params): Query<HashMap<String, String>>) -> Response {
    if let Err(refusal) = may_train(&params) {
        return refusal.response().into_response();
    }
    let counted = tokio::task::spawn_blocking(clew_profile::training).await;
    let answer = match counted {
        Ok(counted) => counted.map_err(|error| not_captured(&error)),
        Err(error) => Err(failed(error.to_string())),
    };
    match answer {
        Ok(bytes) => (headers_of_counters(), bytes).into_response(),
        Err(refusal) => refusal.response().into_response(),
    }
}

/// What counters would come with. They are not written out for somebody who reads none.
async fn training_headers(Query(params): Query<HashMap<String, String>>) -> Response {
    match may_train(&params) {
        Ok(()) => headers_of_counters().into_response(),
        Err(refusal) => refusal.response().into_response(),
    }
}

fn headers_of_counters() -> [(HeaderName, &'static str); 2] {
    let how = HeaderName::from_static(HOW_TAKEN);
    [(CONTENT_TYPE, COUNTERS), (how, COUNTED)]
}

/// Whether there are counters to hand out for what a request says.
fn may_train(params: &HashMap<String, String>) -> Result<(), Refusal> {
    if let Some(unknown) = params.keys().next() {
        let reason = format!("unknown parameter [{unknown}]: there are none");
        return Err(refusal(
            StatusCode::BAD_REQUEST,
            "illegal_argument_exception",
            reason,
        ));
    }
    match clew_profile::is_training() {
        true => Ok(()),
        false => Err(not_captured(&ProfileError::NotTraining)),
    }
}

/// What was kept of a time.
async fn kept(
    endpoints: &ProfileEndpoints,
    asked: AskedCapture,
    (from, to): (SystemTime, SystemTime),
) -> Result<Response, Refusal> {
    let missing = |reason: &str| {
        refusal(
            StatusCode::NOT_FOUND,
            "resource_not_found_exception",
            reason.to_string(),
        )
    };
    let kept = endpoints.kept.clone();
    let none = || {
        missing("no profiles are kept: [profile.continuous] is off, or there was no place for them")
    };
    let kept = kept.ok_or_else(none)?;
    let what = "a reading of what was kept";
    let running = endpoints.turns.enter(Work::Reading, what)?;
    let gone = Arc::new(AtomicBool::new(false));
    let _told_when_gone = Gone(gone.clone());
    let read = tokio::task::spawn_blocking(move || {
        let _running = running;
        let is_gone = || gone.load(Ordering::Relaxed);
        let Some(profile) = kept.read((from, to), &is_gone)? else {
            return Ok(None);
        };
        anyhow::Ok(Some(Written::of(&profile, &asked)?))
    });
    let read = read.await.map_err(|error| failed(error.to_string()))?;
    let written = read.map_err(|error| failed(format!("{error:#}")))?;
    let written = written.ok_or_else(|| missing("no profile of that time is kept"))?;
    Ok(shown(&asked, "profile", written))
}

fn shown(asked: &AskedCapture, name: &str, written: Written) -> Response {
    let kind = [(CONTENT_TYPE, asked.format.content_type())];
    let mut answer = (kind, written.body).into_response();
    // Collapsed stacks have no place for it. Paths in it may have letters that headers have not.
    let shown = |one: char| {
        if one == ' ' || one.is_ascii_graphic() {
            one
        } else {
            '?'
        }
    };
    let how: String = written.how.chars().map(shown).collect();
    if !how.is_empty()
        && let Ok(how) = how.parse()
    {
        answer.headers_mut().insert(HOW_TAKEN, how);
    }
    if asked.format == Format::Pprof
        && let Ok(file) = format!("attachment; filename=\"{name}.pb.gz\"").parse()
    {
        answer.headers_mut().insert(CONTENT_DISPOSITION, file);
    }
    answer
}

/// What was seen; nothing where nobody waits for it any more: names take seconds to find, for which whoever asks next would be
/// refused.
fn capture(
    asked: &AskedCapture,
    stop: &dyn Fn() -> bool,
    is_gone: &dyn Fn() -> bool,
) -> Result<Option<Profile>, ProfileError> {
    match asked.kind {
        ProfileKind::OnCpu => {
            let seen = Capture::take(asked.rate, asked.length, stop)?;
            if is_gone() {
                return Ok(None);
            }
            Ok(Capture::name_all(vec![seen])?.into_iter().next())
        }
        ProfileKind::OffCpu => {
            let seen = OffCpuCapture::take(asked.off_cpu_mode(), asked.length, stop)?;
            match is_gone() {
                true => Ok(None),
                false => seen.name().map(Some),
            }
        }
        ProfileKind::Heap => clew_profile::heap().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_kind_is_done_at_a_time() {
        let turns = Turns::default();
        let all = [
            Work::Capture(ProfileKind::OnCpu),
            Work::Capture(ProfileKind::OffCpu),
            Work::Capture(ProfileKind::Heap),
            Work::Reading,
        ];
        for _ in 0..2 {
            let running: Vec<_> = all.iter().map(|work| turns.enter(*work, "it")).collect();
            assert!(running.iter().all(Result::is_ok));
            assert!(all.iter().all(|work| turns.enter(*work, "it").is_err()));
        }
    }

    #[test]
    fn what_is_done_is_cut_short_and_not_what_comes_after() {
        let (turns, work) = (Turns::default(), Work::Capture(ProfileKind::OffCpu));
        assert!(!turns.cut_short(work));
        let first = turns.enter(work, "it").ok().unwrap();
        assert!(!first.is_cut_short() && turns.cut_short(work) && first.is_cut_short());
        // Whoever says it once more, or too late, ends nothing else, and nobody else comes before it is over.
        assert!(turns.cut_short(work) && turns.enter(work, "it").is_err());
        drop(first);
        assert!(!turns.cut_short(work));
        assert!(!turns.enter(work, "it").ok().unwrap().is_cut_short());
    }

    #[test]
    fn how_a_profile_was_taken_is_told_whatever_is_in_it() {
        let kind = ProfileKind::OnCpu;
        let asked = AskedCapture::read(kind, "cpu", &HashMap::new()).unwrap();
        let written = Written {
            body: Vec::new(),
            how: "no names: /opt/größe\n".to_string(),
        };
        let answer = shown(&asked, "profile", written);
        assert_eq!(answer.headers()[HOW_TAKEN], "no names: /opt/gr??e?");
    }

    #[test]
    fn nothing_is_named_for_nobody() {
        for kind in [ProfileKind::OnCpu, ProfileKind::OffCpu] {
            let values = kind.values();
            let asked = AskedCapture::read(kind, &values[0].name, &HashMap::new()).unwrap();
            let seen = capture(&asked, &|| true, &|| true).unwrap();
            assert!(seen.is_none(), "{kind:?}");
        }
    }
}

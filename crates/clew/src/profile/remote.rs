//! A profile asked of a server.

use std::io::{ErrorKind, IsTerminal};
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use clew_profile::Format;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::asked::SECONDS_MAX;
use super::endpoints::HOW_TAKEN;
use super::{CaptureArguments, Mode};
use crate::login;
use crate::signals::Beside;

/// What a server may take for names and pictures after the capture.
const GRACE: Duration = Duration::from_secs(60);
/// What it may take to end a capture.
const CUT_WITHIN: Duration = Duration::from_secs(10);
/// One that is asked for may not have begun when it is to end: it is told so again after a while, so often.
const CUT_AGAIN_AFTER: Duration = Duration::from_millis(100);
const CUT_TRIES: usize = 20;
/// The longest answer that is taken.
pub(super) const ANSWER_MAX: u64 = 256 << 20;

/// What a server hands out.
pub(super) struct Answer {
    pub(super) bytes: Vec<u8>,
    /// How it was made.
    pub(super) how: String,
}

pub(super) fn capture(arguments: &CaptureArguments, format: Format) -> anyhow::Result<Answer> {
    let (kind, length) = match arguments.mode {
        Mode::On if arguments.from.is_some() => ("profile", 0),
        Mode::On => ("profile", arguments.seconds),
        Mode::Off => ("offcpu", arguments.seconds),
        Mode::Heap => ("heap", 0),
    };
    let format = match format {
        Format::Pprof => "pprof",
        Format::Collapsed => "collapsed",
        Format::Svg => "svg",
        Format::Html => "html",
    };
    // Of more the server says that it is too much.
    let within = Duration::from_secs(length.min(SECONDS_MAX)) + GRACE;
    let mut request = Request::new(&arguments.server.url, kind, within)?;
    request = request.query("format", format);
    if let Some(from) = &arguments.from {
        let now = Zoned::now();
        let from = moment(from, &now)?;
        request = request.query("from", &from.to_string());
        if let Some(to) = &arguments.to {
            request = request.query("to", &end(to, from, &now)?.to_string());
        }
    } else if arguments.mode != Mode::Heap {
        request = request.query("seconds", &arguments.seconds.to_string());
        request = request.query("rate", &arguments.rate.to_string());
    }
    if arguments.exact {
        request = request.query("mode", "exact");
    }
    if let Some(value) = &arguments.value {
        request = request.query("value", value);
    }
    let bar = bar(length);
    let answered = match length {
        0 => request.send(),
        _ => request.send_or_cut_short(),
    };
    bar.finish_and_clear();
    answered
}

/// What a build that counts has counted.
pub(super) fn training(url: &str) -> anyhow::Result<Answer> {
    Request::new(url, "training", GRACE)?.send()
}

/// A question to one of a server's addresses of profiles.
struct Request {
    url: String,
    request: ureq::RequestBuilder<ureq::typestate::WithoutBody>,
}

impl Request {
    fn new(server: &str, kind: &str, within: Duration) -> anyhow::Result<Self> {
        let base = server.trim_end_matches('/');
        ensure!(
            !base.starts_with("https://"),
            "{server} is not understood: profiles are asked for by http:// alone, as clew serves them"
        );
        let url = match base.contains("://") {
            true => format!("{base}/debug/pprof/{kind}"),
            false => format!("http://{base}/debug/pprof/{kind}"),
        };
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(within))
            .http_status_as_error(false)
            .build();
        let request = ureq::Agent::from(agent).get(&url);
        Ok(Request { url, request })
    }

    fn query(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.query(name, value);
        self
    }

    /// Sends it. Once this process is told to stop the server is asked for what it has seen until then; told again, it waits no
    /// longer.
    fn send_or_cut_short(self) -> anyhow::Result<Answer> {
        let url = self.url.clone();
        let mut asked = Beside::begin("clew-profile", move || self.send())?;
        if let Some(answer) = asked.wait()? {
            return answer;
        }
        for _ in 0..CUT_TRIES {
            if cut_short(&url)? {
                break;
            }
            if let Some(answer) = asked.wait_for(CUT_AGAIN_AFTER) {
                return answer;
            }
        }
        match asked.wait()? {
            Some(answer) => answer,
            None => bail!("stopped: nothing is written"),
        }
    }

    fn send(self) -> anyhow::Result<Answer> {
        let Request { url, mut request } = self;
        if let Some(login) = login::from_environment()? {
            request = request.header("authorization", login.base64());
        }
        let mut answer = request.call().map_err(|error| unanswered(error, &url))?;
        let status = answer.status();
        let how = answer.headers().get(HOW_TAKEN);
        let how = how.and_then(|how| Some(how.to_str().ok()?.to_string()));
        let bytes = answer
            .body_mut()
            .with_config()
            .limit(ANSWER_MAX)
            .read_to_vec();
        let bytes = bytes.with_context(|| format!("cannot read the answer of {url}"))?;
        if status.is_success() {
            // Other servers answer whatever is asked with a page of theirs.
            let how = how.with_context(|| {
                format!("what answers at {url} does not say how it took a profile: is it clew?")
            })?;
            return Ok(Answer { bytes, how });
        }
        let told = serde_json::from_slice(&bytes).ok();
        let told: Option<&str> = told
            .as_ref()
            .and_then(|told: &serde_json::Value| told["error"]["reason"].as_str());
        match told {
            Some(reason) => bail!("the server refuses: {reason}"),
            None => Err(anyhow!("the server at {url} answers {status}: is it clew?")),
        }
    }
}

/// Why a question has no answer. A server that stops or is killed amid a capture was asked: what it saw is lost with it.
fn unanswered(error: ureq::Error, url: &str) -> anyhow::Error {
    match error {
        ureq::Error::Io(error)
            if matches!(
                error.kind(),
                ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset
            ) =>
        {
            anyhow!("the server at {url} went away before it answered: nothing is written")
        }
        error => anyhow::Error::new(error).context(format!("cannot ask {url}")),
    }
}

/// Has a server end the capture at an address; whether there is one: it may have just ended, or not begun.
fn cut_short(url: &str) -> anyhow::Result<bool> {
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(CUT_WITHIN))
        .http_status_as_error(false)
        .build();
    let mut request = ureq::Agent::from(agent).delete(url);
    if let Some(login) = login::from_environment()? {
        request = request.header("authorization", login.base64());
    }
    let answer = request
        .call()
        .with_context(|| format!("cannot end what {url} captures"))?;
    let status = answer.status();
    ensure!(
        status.is_success() || status.as_u16() == 404,
        "the server at {url} ends no capture early, it answers {status}: nothing is written"
    );
    Ok(status.is_success())
}

/// A moment, or a date with a time or the last time that it was so late, by this machine's clock.
fn moment(text: &str, now: &Zoned) -> anyhow::Result<Timestamp> {
    if let Ok(moment) = text.parse() {
        return Ok(moment);
    }
    // First, as a time alone is read past a date, too.
    if let Ok(local) = text.parse::<DateTime>() {
        return Ok(local.to_zoned(TimeZone::system())?.timestamp());
    }
    let told = || {
        format!(
            "{text} is neither a time, 14:05, nor a date with one, 2026-11-25 14:05, nor a moment, 2026-11-25T14:05:00Z"
        )
    };
    let time: Time = text.parse().with_context(told)?;
    let today = now.with().time(time).build()?;
    let last = match today.timestamp() <= now.timestamp() {
        true => today,
        false => today.yesterday()?,
    };
    Ok(last.timestamp())
}

/// The end of what began then: a time that has still to come today is not yesterday's where that would be before the beginning.
fn end(text: &str, from: Timestamp, now: &Zoned) -> anyhow::Result<Timestamp> {
    let last = moment(text, now)?;
    let today = now.start_of_day()?.timestamp();
    let has_day = text.parse::<Timestamp>().is_ok() || text.parse::<DateTime>().is_ok();
    if has_day || last > from || last >= today {
        return Ok(last);
    }
    Ok(last.to_zoned(TimeZone::system()).tomorrow()?.timestamp())
}

/// How long the capture takes still, on a terminal.
fn bar(seconds: u64) -> ProgressBar {
    if seconds == 0 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = format!("{{spinner}} capturing, {{elapsed}} of {seconds}s");
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template(&template).expect("the template is valid"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_the_last_ones() {
        let zoned = Zoned::now();
        let now = zoned.timestamp();
        let moment = |text: &str| moment(text, &zoned);
        let end = |text: &str, from: Timestamp| end(text, from, &zoned);
        for text in ["00:00", "12:30", "23:59:59"] {
            let found = moment(text).unwrap();
            let ago = now.as_second() - found.as_second();
            // A day may have an hour more.
            assert!((0..=25 * 3600).contains(&ago), "{text} {found}");
        }
        // A day that is said is not lost.
        for (text, wanted) in [
            ("2001-02-03 14:05", "2001-02-03T14:05"),
            ("2001-02-03T14:05:07", "2001-02-03T14:05:07"),
            ("2001-02-03", "2001-02-03T00:00"),
        ] {
            let local: DateTime = wanted.parse().unwrap();
            let wanted = local.to_zoned(TimeZone::system()).unwrap().timestamp();
            assert_eq!(moment(text).unwrap(), wanted, "{text}");
        }
        let found = moment("2026-11-25T14:05:00Z").unwrap();
        assert_eq!(found.as_second(), 1_795_615_500);
        assert!(moment("noon").unwrap_err().to_string().contains("noon"));
        // A time that is still to come is an end, one that was before the beginning is none.
        let today = zoned.start_of_day().unwrap();
        for text in ["00:00", "12:30", "23:59:59"] {
            let (past, found) = (moment(text).unwrap(), end(text, now).unwrap());
            let is_to_come = past < today.timestamp();
            assert_eq!(found > now, is_to_come, "{text} {found}");
            assert_eq!(found == past, !is_to_come, "{text} {found}");
        }
        assert_eq!(
            end("2001-02-03", now).unwrap(),
            moment("2001-02-03").unwrap()
        );
    }

    #[test]
    fn a_night_is_one_time_although_it_has_two_days() {
        let local: DateTime = "2026-01-15T00:30".parse().unwrap();
        let now = local.to_zoned(TimeZone::system()).unwrap();
        // From midnight on.
        let minutes = |moment: Timestamp| {
            let seconds = moment.as_second() - now.timestamp().as_second();
            seconds / 60 + 30
        };
        for (from, to, wanted) in [
            ("00:10", "00:20", (10, 20)),
            ("22:00", "23:00", (-120, -60)),
            ("23:50", "00:10", (-10, 10)),
            // It has not come yet, and is until now.
            ("23:50", "00:40", (-10, 40)),
            ("2026-01-14 23:50", "00:10", (-10, 10)),
            // Those that go backwards stay so, and the server refuses them.
            ("00:20", "00:10", (20, 10)),
            ("23:50", "2026-01-14 23:00", (-10, -60)),
        ] {
            let begins = moment(from, &now).unwrap();
            let ends = end(to, begins, &now).unwrap();
            assert_eq!((minutes(begins), minutes(ends)), wanted, "{from} {to}");
        }
    }
}

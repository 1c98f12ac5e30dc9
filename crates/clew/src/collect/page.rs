//! The collector's own page of metrics, where its configuration asks for one: `GET /metrics`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::Context;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::figures::Figures;

/// A running page; dropping it ends it.
#[derive(Debug)]
pub(super) struct Page {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Page {
    /// Binds the address and serves the page.
    pub(super) fn open(address: SocketAddr, figures: Arc<Figures>) -> anyhow::Result<Page> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind(address));
        let listener = listener.with_context(|| format!("cannot show metrics at {address}"))?;
        tracing::info!(address = %listener.local_addr()?, "metrics are shown");
        let page = move || {
            let figures = Arc::clone(&figures);
            async move { answer(&figures) }
        };
        let app = Router::new().route("/metrics", get(page));
        let (end, ended) = oneshot::channel::<()>();
        let serve = async move {
            tokio::select! {
                served = axum::serve(listener, app).into_future() => {
                    if let Err(error) = served {
                        tracing::error!(%error, "metrics are no longer shown");
                    }
                }
                _ = ended => {}
            }
        };
        let thread = std::thread::Builder::new()
            .name("collect-metrics".to_string())
            .spawn(move || runtime.block_on(serve))?;
        Ok(Page {
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

fn answer(figures: &Figures) -> Response {
    match figures.page() {
        Ok(page) => {
            let kind = [("content-type", "text/plain; version=0.0.4; charset=utf-8")];
            (kind, page).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}\n")).into_response(),
    }
}

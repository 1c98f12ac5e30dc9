//! The collector in the server's process: `clew serve --collect CONFIG`. An output `clew` without a `url` writes into the server's
//! own engine.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use clew_collect::config::CollectConfig;
use clew_collect::{CollectOptions, Mode, StopToken, World, ensure_unused};
use clew_engine::Engine;
use clew_platform::{RealClock, RealDisk};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::configured::{self, Host};
use super::figures::Figures;
use super::page::Page;
use crate::signals::until_stopped;

/// A collector that is ready to run.
#[derive(Debug)]
pub(crate) struct Within {
    config: CollectConfig,
    options: CollectOptions,
    figures: Arc<Figures>,
}

impl Within {
    /// Reads a configuration, so that a server with a wrong one does not start.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Within> {
        let config = configured::read(file)?;
        let options = config.options(Mode::Follow)?;
        options.validate()?;
        Ok(Within {
            config,
            options,
            figures: Arc::default(),
        })
    }

    /// What it tells of itself while it runs.
    pub(crate) fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// Collects until the server stops. What was taken before is delivered then, as far as the engine takes it at once.
    ///
    /// # Errors
    /// Why it could not go on.
    pub(crate) async fn run(
        self,
        engine: Engine,
        stopped: watch::Receiver<bool>,
    ) -> anyhow::Result<()> {
        let stop = StopToken::new();
        let host = Host {
            engine,
            runtime: Handle::current(),
        };
        let own = stop.clone();
        let mut running = tokio::task::spawn_blocking(move || self.collect(&host, &own));
        let ended = tokio::select! {
            ended = &mut running => Some(ended),
            () = until_stopped(stopped.clone()) => None,
        };
        let ended = match ended {
            // Nothing but standard input, and that has ended.
            Some(Ok(Ok(()))) => {
                until_stopped(stopped).await;
                return Ok(());
            }
            Some(ended) => ended,
            None => {
                stop.stop();
                running.await
            }
        };
        ended?.context("the collector")
    }

    fn collect(self, host: &Host, stop: &StopToken) -> anyhow::Result<()> {
        ensure_unused(&RealDisk, &self.options.registry)?;
        let metrics = self.config.general.metrics.as_ref();
        let page = metrics.map(|metrics| Page::open(metrics.listen, self.figures()));
        let _page = page.transpose()?;
        let mut sink = configured::sinks(&self.config, Some(host), stop)?;
        let world = World {
            disk: Arc::new(RealDisk),
            clock: Arc::new(RealClock::new()),
            progress: &*self.figures,
            stop,
        };
        let report = clew_collect::run(&self.options, world, sink.as_mut())?;
        let counters = report.counters;
        tracing::info!(
            lines = counters.lines_read,
            delivered = counters.events_acked,
            "the collector has ended"
        );
        Ok(())
    }
}

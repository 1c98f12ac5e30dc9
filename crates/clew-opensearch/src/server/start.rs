//! Puts the rooms together: the router that the binary mounts, and what goes on beside requests.

use std::sync::Arc;

use axum::Router;
use clew_engine::Engine;

use crate::indices::filling;
use crate::indices::filling::Filling;
use crate::indices::templates::Planner;
use crate::ism;
use crate::server::dispatch::dispatch;
use crate::state::api::{Api, RestOptions};
use crate::state::cluster_settings::SettingCheck;

/// Settings of the cluster that mean something to a room.
const SETTING_CHECKS: &[SettingCheck] = &[ism::check_settings];

/// What requests are answered with; indexes that were left unfinished are removed.
pub(crate) fn start(engine: Engine, options: RestOptions) -> Arc<Api> {
    engine.set_planner(Arc::new(Planner));
    let api = Api::new(engine, options, SETTING_CHECKS);
    filling::remove_unfinished(&api.engine, &api.parts.get::<Filling>());
    Arc::new(api)
}

/// The REST API as one fallback service, so that it can be merged with routers of fixed paths
/// without any conflict of patterns; and the work that goes on beside requests, which whoever serves
/// the router runs as well. It ends when the server stops.
pub fn router(
    engine: Engine,
    options: RestOptions,
) -> (Router, impl Future<Output = ()> + Send + 'static) {
    let api = start(engine, options);
    let (watched, policies) = (api.clone(), ism::run(api.clone()));
    let background = async move {
        let ending = async {
            watched.stopped().await;
            watched.tasks.stop();
        };
        tokio::join!(policies, ending);
    };
    (Router::new().fallback(dispatch).with_state(api), background)
}

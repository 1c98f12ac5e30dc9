//! Puts the rooms together: the router that the binary mounts, and what goes on beside requests.

use std::sync::Arc;

use axum::Router;
use clew_engine::Engine;
use futures_util::future::join_all;

use crate::indices::filling;
use crate::indices::filling::Filling;
use crate::indices::templates::Planner;
use crate::routes::openapi::Described;
use crate::routes::{RouteTable, Wing, groups_of};
use crate::server::dispatch::dispatch;
use crate::state::api::{Api, RestOptions};
use crate::state::usage::Usage;

/// What requests are answered by and with.
pub(crate) struct Server {
    pub(crate) api: Arc<Api>,
    pub(crate) routes: RouteTable,
}

/// Opens the API for requests; indexes that were left unfinished are removed.
pub(crate) fn start(engine: Engine, options: RestOptions, wings: &'static [Wing]) -> Server {
    engine.set_planner(Arc::new(Planner));
    let checks = wings.iter().filter_map(|wing| wing.check_settings);
    let api = Api::new(engine, options, checks.collect());
    filling::remove_unfinished(&api.engine, &api.parts.get::<Filling>());
    api.parts.get::<Described>().set_wings(wings);
    let routes = RouteTable::new(groups_of(wings));
    api.parts.get::<Usage>().set(routes.asked_counts());
    Server {
        api: Arc::new(api),
        routes,
    }
}

/// The REST API as one fallback service, so that it can be merged with routers of fixed paths
/// without any conflict of patterns; and the work that goes on beside requests, which whoever serves
/// the router runs as well. It ends when the server stops. The parts of the API that stand by
/// themselves are handed in as `wings`.
pub fn router(
    engine: Engine,
    options: RestOptions,
    wings: &'static [Wing],
) -> (Router, impl Future<Output = ()> + Send + 'static) {
    let server = Arc::new(start(engine, options, wings));
    let api = server.api.clone();
    let running = wings.iter().filter_map(|wing| wing.background);
    let running: Vec<_> = running.map(|run| run(api.clone())).collect();
    let background = async move {
        let ending = async {
            api.stopped().await;
            api.tasks.stop();
        };
        tokio::join!(join_all(running), filling::sweep(api.clone()), ending);
    };
    (
        Router::new().fallback(dispatch).with_state(server),
        background,
    )
}

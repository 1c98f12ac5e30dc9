//! Every path of the API in one table: methods, pattern, the class under which metrics count it,
//! the URI parameters and the body it takes, the function that answers. Each area of the API has
//! its file of plain data; the router and the description of the API are made from all of them.

mod action_names;
mod endpoint;
pub(crate) mod openapi;
mod params;
mod table;

mod aliases;
mod cat;
mod cluster;
mod copies;
mod documents;
mod indices;
mod inspection;
mod maintenance;
mod pipelines;
mod search;
mod snapshots;
mod templates;

pub(crate) use endpoint::Answer;
pub use endpoint::{Endpoint, Group, Wing, endpoint};
pub(crate) use params::COMMON_PARAMS;
pub(crate) use table::{FoundRoute, Route, RouteTable};

/// The groups of every area of this crate.
pub(crate) fn own_groups() -> impl Iterator<Item = &'static Group> {
    [
        aliases::GROUPS,
        cat::GROUPS,
        cluster::GROUPS,
        copies::GROUPS,
        documents::GROUPS,
        indices::GROUPS,
        inspection::GROUPS,
        maintenance::GROUPS,
        pipelines::GROUPS,
        search::GROUPS,
        snapshots::GROUPS,
        templates::GROUPS,
    ]
    .into_iter()
    .flatten()
}

/// The groups of this crate and of `wings`.
pub(crate) fn groups_of(wings: &'static [Wing]) -> impl Iterator<Item = &'static Group> {
    own_groups().chain(wings.iter().flat_map(|wing| wing.groups))
}

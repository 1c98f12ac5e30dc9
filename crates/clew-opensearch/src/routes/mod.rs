//! Every path of the API in one table: methods, pattern, the class under which metrics count it,
//! the URI parameters and the body it takes, the function that answers. Each area of the API has
//! its file of plain data; the router and the description of the API are made from all of them.

mod endpoint;
mod params;
mod table;

mod aliases;
mod cat;
mod cluster;
mod copies;
mod documents;
mod indices;
mod inspection;
mod ism;
mod maintenance;
mod pipelines;
mod search;
mod snapshots;
mod sql;
mod templates;

pub(crate) use endpoint::{Answer, Endpoint, Group};
pub(crate) use params::COMMON_PARAMS;
pub(crate) use table::{Found, find};

/// The functions that answer, of every endpoint.
#[cfg(test)]
pub(crate) fn functions() -> impl Iterator<Item = &'static str> {
    areas().flat_map(|group| group.endpoints.iter().map(|endpoint| endpoint.name))
}

/// The groups of every area.
pub(crate) fn areas() -> impl Iterator<Item = &'static Group> {
    [
        aliases::GROUPS,
        cat::GROUPS,
        cluster::GROUPS,
        copies::GROUPS,
        documents::GROUPS,
        indices::GROUPS,
        inspection::GROUPS,
        ism::GROUPS,
        maintenance::GROUPS,
        pipelines::GROUPS,
        search::GROUPS,
        snapshots::GROUPS,
        sql::GROUPS,
        templates::GROUPS,
    ]
    .into_iter()
    .flatten()
}
pub(crate) mod openapi;

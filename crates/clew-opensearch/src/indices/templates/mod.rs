//! Templates: what indexes begin with that match a pattern. Two generations live side by side: an
//! index takes the one composable template of the highest priority, and only without one all
//! matching legacy templates in their order.
//!
//! Templates are kept in the engine's catalog in the shape that [`part`] gives them: settings flat
//! with their prefix, mappings without the type's name, aliases with both routings.

mod component;
mod composable;
mod compose;
mod legacy;
mod listing;
mod mapping_merge;
mod part;
mod patterns;
mod planner;
mod simulate;

pub(crate) use component::{
    delete as component_delete, get as component_get, put as component_put, show as show_component,
};
pub(crate) use composable::{
    delete as index_delete, get as index_get, put as index_put, show as show_composable,
};
pub(crate) use compose::{Request, compose, data_stream_template};
pub(crate) use legacy::{
    delete as legacy_delete, get as legacy_get, put as legacy_put, show as show_legacy,
};
pub(crate) use listing::{ListedTemplate, all as list_all};
pub(crate) use part::aliases as read_aliases;
pub use patterns::{any_overlap, read as read_names};
pub(crate) use planner::{Planner, plan_index};
pub(crate) use simulate::{index as simulate_index, template as simulate_template};

/// Legacy templates in the catalog.
pub(crate) const LEGACY: &str = "template";
/// Composable templates in the catalog.
pub(crate) const COMPOSABLE: &str = "index_template";
/// Component templates in the catalog.
pub(crate) const COMPONENT: &str = "component_template";

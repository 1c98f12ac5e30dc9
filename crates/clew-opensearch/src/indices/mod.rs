//! Indexes and what is said of them: mappings, settings, aliases, templates, streams, snapshots, figures.

pub(crate) mod aliases;
pub(crate) mod analyze;
pub(crate) mod copies;
pub(crate) mod data_streams;
pub(crate) mod field_caps;
pub(crate) mod filling;
pub(crate) mod index_admin;
pub(crate) mod index_mapping;
pub(crate) mod index_recovery;
pub(crate) mod index_settings;
pub(crate) mod index_sort;
pub(crate) mod index_state;
mod kept_values;
pub(crate) mod known_settings;
pub(crate) mod maintenance;
pub(crate) mod mapping_defaults;
pub(crate) mod resize;
pub(crate) mod resolve_index;
pub(crate) mod rollover;
pub(crate) mod segments;
pub(crate) mod settings;
pub(crate) mod shard_stores;
pub(crate) mod snapshots;
pub(crate) mod stats;
pub(crate) mod templates;
mod usual_settings;
pub(crate) mod verify;

//! The node as a cluster: health, state, settings, tasks, and the tables of `_cat`.

pub(crate) mod allocation;
pub(crate) mod cat;
pub(crate) mod cluster_health;
pub(crate) mod cluster_settings_endpoints;
pub(crate) mod cluster_state;
mod cpu;
pub(crate) mod definitions_counted;
mod disk;
pub(crate) mod hot_threads;
pub(crate) mod knn_plugin;
pub(crate) mod machine;
pub(crate) mod node_stats;
pub(crate) mod nodes;
pub(crate) mod root;
pub(crate) mod task_endpoints;
mod usual_settings;
pub(crate) mod voting;
pub(crate) mod whole;

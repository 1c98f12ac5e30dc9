//! What every endpoint shares: the call, the settings of the cluster, tasks, and what rooms keep.

pub(crate) mod api;
pub(crate) mod call;
pub(crate) mod cluster_settings;
pub(crate) mod disk_settings;
pub(crate) mod kept_pipelines;
pub(crate) mod known_cluster_settings;
pub(crate) mod parts;
pub(crate) mod patience;
pub(crate) mod promises;
pub(crate) mod remote_clusters;
pub(crate) mod replicas;
pub(crate) mod slow_log;
pub(crate) mod stored_scripts;
pub(crate) mod tasks;
pub(crate) mod usage;

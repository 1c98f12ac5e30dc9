//! Every path of the API in one table: methods, pattern, the class under which metrics count it,
//! the URI parameters it takes, the endpoint. A literal segment wins over a `{name}`.

use std::pin::Pin;

use axum::http::Method;

use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;
use crate::{
    aliases, allocation, analyze, bulk, by_query, cat, cluster, cluster_health, cluster_settings,
    cluster_state, document, document_write, field_caps, index_admin, index_mapping,
    index_settings, index_state, ingest, knn_plugin, maintenance, mget, nodes, recall,
    resolve_index, root, scripts, search, search_pipeline, search_shards, shard_stores, stats,
    template_routes, term_vectors, validate, voting,
};

/// Parameters that every endpoint takes.
pub(crate) const COMMON_PARAMS: &[&str] = &[
    "pretty",
    "human",
    "error_trace",
    "filter_path",
    "format",
    "request_timeout",
];

const READ: &[&str] = &[
    "wait_for_metadata_version",
    "wait_for_timeout",
    "wait_for_completion",
    "after_glsn",
    "allow_no_indices",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
    "local",
    "flat_settings",
    "include_defaults",
    "include_type_name",
    "timeout",
    "name",
    "features",
    "master_timeout",
    "cluster_manager_timeout",
];
const ADMIN: &[&str] = &[
    "master_timeout",
    "cluster_manager_timeout",
    "timeout",
    "wait_for_active_shards",
    "include_type_name",
    "write_index_only",
    "preserve_existing",
    "allow_no_indices",
    "expand_wildcards",
    "ignore_unavailable",
    "flat_settings",
    "include_defaults",
    "local",
    "wait_for_completion",
    "task_execution_timeout",
];
const SHARDS: &[&str] = &[
    "allow_no_indices",
    "expand_wildcards",
    "ignore_unavailable",
    "local",
    "preference",
    "routing",
    "status",
];
const ALLOCATION: &[&str] = &[
    "local",
    "timeout",
    "master_timeout",
    "cluster_manager_timeout",
    "include_yes_decisions",
    "include_disk_info",
    "dry_run",
    "explain",
    "retry_failed",
    "metric",
    "node_ids",
    "node_names",
    "wait_for_removal",
];
const HEALTH: &[&str] = &[
    "level",
    "local",
    "timeout",
    "master_timeout",
    "cluster_manager_timeout",
    "expand_wildcards",
    "wait_for_active_shards",
    "wait_for_nodes",
    "wait_for_events",
    "wait_for_status",
    "wait_for_no_relocating_shards",
    "wait_for_no_initializing_shards",
    "awareness_attribute",
    "ensure_node_weighed_in",
    "after_glsn",
    "ignore_unavailable",
    "allow_no_indices",
];
const NODES: &[&str] = &[
    "timeout",
    "flat_settings",
    "level",
    "types",
    "groups",
    "fields",
    "completion_fields",
    "fielddata_fields",
    "include_segment_file_sizes",
];
const MAINTENANCE: &[&str] = &[
    "allow_no_indices",
    "expand_wildcards",
    "ignore_unavailable",
    "force",
    "wait_if_ongoing",
    "max_num_segments",
    "only_expunge_deletes",
    "flush",
    "wait_for_completion",
    "primary_only",
    "only_ancient_segments",
    "fielddata",
    "fields",
    "query",
    "request",
    "file",
    "index",
];
const STATS: &[&str] = &[
    "level",
    "groups",
    "fields",
    "completion_fields",
    "fielddata_fields",
    "types",
    "include_segment_file_sizes",
    "include_unloaded_segments",
    "forbid_closed_indices",
    "expand_wildcards",
    "after_glsn",
    "ignore_unavailable",
    "allow_no_indices",
];
const WRITE: &[&str] = &[
    "refresh",
    "routing",
    "timeout",
    "if_seq_no",
    "if_primary_term",
    "op_type",
    "pipeline",
    "require_alias",
    "wait_for_active_shards",
    "version",
    "version_type",
    "_source",
    "_source_includes",
    "_source_excludes",
    "retry_on_conflict",
    "type",
    "lang",
    "batch_size",
    "require_data_stream",
    "include_source_on_error",
];
const GET_DOCUMENT: &[&str] = &[
    "after_glsn",
    "routing",
    "preference",
    "realtime",
    "refresh",
    "stored_fields",
    "version",
    "version_type",
    "_source",
    "_source_includes",
    "_source_excludes",
];
const SEARCH: &[&str] = &[
    "after_glsn",
    "q",
    "df",
    "default_operator",
    "analyzer",
    "analyze_wildcard",
    "lenient",
    "from",
    "size",
    "sort",
    "_source",
    "_source_includes",
    "_source_excludes",
    "stored_fields",
    "docvalue_fields",
    "track_total_hits",
    "track_scores",
    "timeout",
    "terminate_after",
    "explain",
    "version",
    "seq_no_primary_term",
    "search_type",
    "scroll",
    "batched_reduce_size",
    "pre_filter_shard_size",
    "max_concurrent_shard_requests",
    "max_concurrent_searches",
    "ccs_minimize_roundtrips",
    "allow_partial_search_results",
    "preference",
    "routing",
    "request_cache",
    "expand_wildcards",
    "ignore_throttled",
    "ignore_unavailable",
    "allow_no_indices",
    "rest_total_hits_as_int",
    "typed_keys",
    "stats",
    "min_score",
    "search_pipeline",
    "include_named_queries_score",
    "phase_took",
    "cancel_after_time_interval",
];
const FIELD_CAPS: &[&str] = &[
    "fields",
    "include_unmapped",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
    "after_glsn",
];
const EXPLAIN: &[&str] = &[
    "after_glsn",
    "explain",
    "rewrite",
    "all_shards",
    "q",
    "df",
    "default_operator",
    "analyzer",
    "analyze_wildcard",
    "lenient",
    "routing",
    "preference",
    "stored_fields",
    "_source",
    "_source_includes",
    "_source_excludes",
    "expand_wildcards",
    "ignore_unavailable",
    "allow_no_indices",
    "field",
    "text",
];
const TERM_VECTORS: &[&str] = &[
    "ids",
    "fields",
    "offsets",
    "positions",
    "payloads",
    "term_statistics",
    "field_statistics",
    "routing",
    "realtime",
    "preference",
    "version",
    "version_type",
];
const BY_QUERY: &[&str] = &[
    "conflicts",
    "max_docs",
    "scroll_size",
    "scroll",
    "slices",
    "refresh",
    "timeout",
    "wait_for_active_shards",
    "wait_for_completion",
    "requests_per_second",
    "require_alias",
    "q",
    "df",
    "default_operator",
    "analyzer",
    "analyze_wildcard",
    "lenient",
    "routing",
    "preference",
    "pipeline",
    "request_cache",
    "search_type",
    "search_timeout",
    "sort",
    "stats",
    "terminate_after",
    "version",
    "expand_wildcards",
    "ignore_unavailable",
    "allow_no_indices",
];
const SCROLL: &[&str] = &[
    "scroll",
    "scroll_id",
    "rest_total_hits_as_int",
    "typed_keys",
];
const PIT: &[&str] = &[
    "keep_alive",
    "allow_partial_pit_creation",
    "expand_wildcards",
    "ignore_unavailable",
    "allow_no_indices",
    "preference",
    "routing",
];
pub(crate) const CAT: &[&str] = &[
    "v",
    "h",
    "s",
    "help",
    "bytes",
    "time",
    "local",
    "master_timeout",
    "cluster_manager_timeout",
    "pri",
    "health",
    "expand_wildcards",
    "include_unloaded_segments",
    "full_id",
    "ts",
    "timeout",
    "detailed",
    "after_glsn",
];

pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Reply, ApiError>> + Send>>;

/// A line of the table.
pub(crate) struct Route {
    methods: Vec<&'static str>,
    segments: Vec<Segment>,
    pub(crate) class: &'static str,
    pub(crate) params: &'static [&'static str],
    pub(crate) handler: fn(Call) -> Answer,
}

enum Segment {
    Literal(&'static str),
    Value(&'static str),
}

/// The line that a request belongs to, and the values of its pattern.
pub(crate) struct Found {
    pub(crate) route: &'static Route,
    pub(crate) path_values: Vec<(&'static str, String)>,
}

pub(crate) struct RouteTable {
    routes: &'static [Route],
}

/// Whether a value at the place of an index may begin with an underscore. Such names are refused
/// by their endpoint, with a better reason than that there is no route; but only after every
/// pattern with a literal there has had its turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Plausible,
    Any,
}

impl RouteTable {
    pub(crate) fn new() -> Self {
        static TABLE: std::sync::LazyLock<Vec<Route>> = std::sync::LazyLock::new(table);
        RouteTable {
            routes: TABLE.as_slice(),
        }
    }

    /// # Errors
    /// The methods that the path allows; none when there is no such path.
    pub(crate) fn find(
        &self,
        method: &Method,
        path: &[String],
    ) -> Result<Found, Vec<&'static str>> {
        for names in [Names::Plausible, Names::Any] {
            let mut allowed = Vec::new();
            for route in self.routes {
                let Some(path_values) = route.matches(path, names) else {
                    continue;
                };
                if route.methods.contains(&method.as_str()) {
                    return Ok(Found { route, path_values });
                }
                allowed.extend(route.methods.iter().copied());
            }
            if !allowed.is_empty() {
                allowed.sort_unstable();
                allowed.dedup();
                return Err(allowed);
            }
        }
        Err(Vec::new())
    }
}

impl Route {
    fn matches(&self, path: &[String], names: Names) -> Option<Vec<(&'static str, String)>> {
        if self.segments.len() != path.len() {
            return None;
        }
        let mut values = Vec::new();
        for (segment, text) in self.segments.iter().zip(path) {
            match segment {
                Segment::Literal(literal) if literal == text => {}
                Segment::Literal(_) => return None,
                Segment::Value("index")
                    if names == Names::Plausible && text.starts_with('_') && text != "_all" =>
                {
                    return None;
                }
                Segment::Value(name) => values.push((*name, text.clone())),
            }
        }
        Some(values)
    }

    fn literals(&self) -> usize {
        self.segments
            .iter()
            .filter(|segment| matches!(segment, Segment::Literal(_)))
            .count()
    }
}

/// Patterns with more literals come first.
fn table() -> Vec<Route> {
    let mut routes = Vec::new();
    cluster_routes(&mut routes);
    index_routes(&mut routes);
    maintenance_routes(&mut routes);
    document_routes(&mut routes);
    search_routes(&mut routes);
    inspection_routes(&mut routes);
    processing_routes(&mut routes);
    cat_routes(&mut routes);
    template_routes::add(&mut routes);
    routes.sort_by_key(|route: &Route| std::cmp::Reverse(route.literals()));
    routes
}

/// Collects routes of one class; the methods are separated by spaces.
pub(crate) struct Class<'a> {
    routes: &'a mut Vec<Route>,
    class: &'static str,
    params: &'static [&'static str],
}

impl Class<'_> {
    pub(crate) fn add(
        &mut self,
        methods: &'static str,
        patterns: &[&'static str],
        handler: fn(Call) -> Answer,
    ) -> &mut Self {
        for pattern in patterns {
            let segments = pattern.split('/').filter(|segment| !segment.is_empty());
            let segments = segments.map(|segment| {
                let name = segment
                    .strip_prefix('{')
                    .and_then(|rest| rest.strip_suffix('}'));
                name.map_or(Segment::Literal(segment), Segment::Value)
            });
            self.routes.push(Route {
                methods: methods.split(' ').collect(),
                segments: segments.collect(),
                class: self.class,
                params: self.params,
                handler,
            });
        }
        self
    }
}

pub(crate) fn class<'a>(
    routes: &'a mut Vec<Route>,
    class: &'static str,
    params: &'static [&'static str],
) -> Class<'a> {
    Class {
        routes,
        class,
        params,
    }
}

fn cluster_routes(routes: &mut Vec<Route>) {
    class(routes, "cluster", READ)
        .add("GET HEAD", &["/"], |call| Box::pin(root::info(call)))
        .add("GET", &["/_license"], |call| Box::pin(root::license(call)))
        .add("GET", &["/_xpack"], |call| Box::pin(root::xpack(call)))
        .add("GET", &["/_cluster/stats"], |call| {
            Box::pin(cluster::stats(call))
        })
        .add(
            "GET",
            &[
                "/_cluster/state",
                "/_cluster/state/{metric}",
                "/_cluster/state/{metric}/{index}",
            ],
            |call| Box::pin(cluster_state::state(call)),
        );
    allocation_routes(routes);
    class(routes, "cluster", HEALTH).add(
        "GET",
        &["/_cluster/health", "/_cluster/health/{index}"],
        |call| Box::pin(cluster_health::health(call)),
    );
    class(routes, "cluster", ADMIN)
        .add("GET", &["/_cluster/settings"], |call| {
            Box::pin(cluster_settings::get(call))
        })
        .add("PUT", &["/_cluster/settings"], |call| {
            Box::pin(cluster_settings::put(call))
        });
    class(routes, "nodes", NODES)
        .add(
            "GET",
            &[
                "/_nodes/stats",
                "/_nodes/stats/{metric}",
                "/_nodes/stats/{metric}/{index_metric}",
                "/_nodes/{node}/stats",
                "/_nodes/{node}/stats/{metric}",
                "/_nodes/{node}/stats/{metric}/{index_metric}",
            ],
            |call| Box::pin(nodes::stats(call)),
        )
        .add(
            "GET",
            &["/_nodes", "/_nodes/{node}", "/_nodes/{node}/{metric}"],
            |call| Box::pin(nodes::info(call)),
        );
    class(routes, "knn", READ)
        .add("GET POST", &["/_plugins/_knn/warmup/{index}"], |call| {
            Box::pin(knn_plugin::warmup(call))
        })
        .add(
            "GET",
            &[
                "/_plugins/_knn/stats",
                "/_plugins/_knn/stats/{stat}",
                "/_plugins/_knn/{node}/stats",
                "/_plugins/_knn/{node}/stats/{stat}",
            ],
            |call| Box::pin(knn_plugin::stats(call)),
        );
}

fn allocation_routes(routes: &mut Vec<Route>) {
    class(routes, "cluster", ALLOCATION)
        .add("GET POST", &["/_cluster/allocation/explain"], |call| {
            Box::pin(allocation::explain(call))
        })
        .add("POST", &["/_cluster/reroute"], |call| {
            Box::pin(allocation::reroute(call))
        })
        .add("POST", &["/_cluster/voting_config_exclusions"], |call| {
            Box::pin(voting::add(call))
        })
        .add("DELETE", &["/_cluster/voting_config_exclusions"], |call| {
            Box::pin(voting::clear(call))
        })
        .add("GET", &["/_cluster/pending_tasks"], |call| {
            Box::pin(cluster::pending_tasks(call))
        })
        .add("GET", &["/_remote/info"], |call| {
            Box::pin(cluster::remote_info(call))
        });
}

fn index_routes(routes: &mut Vec<Route>) {
    class(routes, "index_admin", ADMIN)
        .add("PUT", &["/{index}"], |call| {
            Box::pin(index_admin::create(call))
        })
        .add("DELETE", &["/{index}"], |call| {
            Box::pin(index_admin::delete(call))
        })
        .add(
            "PUT POST",
            &["/{index}/_mapping", "/{index}/_mappings", "/_mapping"],
            |call| Box::pin(index_mapping::put(call)),
        )
        .add("PUT", &["/{index}/_settings", "/_settings"], |call| {
            Box::pin(index_settings::put(call))
        });
    class(routes, "index_admin", READ)
        .add("GET", &["/{index}"], |call| {
            Box::pin(index_admin::get(call))
        })
        .add("HEAD", &["/{index}"], |call| {
            Box::pin(index_admin::exists(call))
        })
        .add(
            "GET",
            &[
                "/_mapping",
                "/_mappings",
                "/{index}/_mapping",
                "/{index}/_mappings",
            ],
            |call| Box::pin(index_mapping::get(call)),
        )
        .add(
            "GET",
            &[
                "/_mapping/field/{fields}",
                "/{index}/_mapping/field/{fields}",
            ],
            |call| Box::pin(index_mapping::get_fields(call)),
        )
        .add(
            "GET",
            &[
                "/_settings",
                "/_settings/{name}",
                "/{index}/_settings",
                "/{index}/_settings/{name}",
            ],
            |call| Box::pin(index_settings::get(call)),
        );
    alias_routes(routes);
    state_routes(routes);
}

fn alias_routes(routes: &mut Vec<Route>) {
    class(routes, "index_admin", READ).add(
        "GET HEAD",
        &[
            "/_alias",
            "/_aliases",
            "/_alias/{alias}",
            "/{index}/_alias",
            "/{index}/_aliases",
            "/{index}/_alias/{alias}",
        ],
        |call| Box::pin(aliases::get(call)),
    );
    class(routes, "index_admin", ADMIN)
        .add("POST", &["/_aliases"], |call| {
            Box::pin(aliases::update(call))
        })
        .add(
            "PUT POST",
            &[
                "/{index}/_alias/{alias}",
                "/{index}/_aliases/{alias}",
                "/_alias/{alias}",
                "/_aliases/{alias}",
            ],
            |call| Box::pin(aliases::put(call)),
        )
        .add(
            "PUT",
            &["/{index}/_alias", "/{index}/_aliases", "/_alias"],
            |call| Box::pin(aliases::put(call)),
        )
        .add(
            "DELETE",
            &["/{index}/_alias/{alias}", "/{index}/_aliases/{alias}"],
            |call| Box::pin(aliases::delete(call)),
        );
}

fn state_routes(routes: &mut Vec<Route>) {
    class(routes, "index_admin", ADMIN)
        .add("POST", &["/{index}/_open", "/_open"], |call| {
            Box::pin(index_state::open(call))
        })
        .add("POST", &["/{index}/_close", "/_close"], |call| {
            Box::pin(index_state::close(call))
        })
        .add("PUT", &["/{index}/_block/{block}"], |call| {
            Box::pin(index_state::add_block(call))
        });
    class(routes, "index_admin", READ).add("GET", &["/_resolve/index/{name}"], |call| {
        Box::pin(resolve_index::get(call))
    });
    class(routes, "index_admin", SHARDS)
        .add(
            "GET",
            &["/_shard_stores", "/{index}/_shard_stores"],
            |call| Box::pin(shard_stores::get(call)),
        )
        .add(
            "GET POST",
            &["/_search_shards", "/{index}/_search_shards"],
            |call| Box::pin(search_shards::get(call)),
        );
    class(routes, "maintenance", MAINTENANCE)
        .add("POST", &["/_upgrade", "/{index}/_upgrade"], |call| {
            Box::pin(shard_stores::upgrade(call))
        })
        .add("GET", &["/_upgrade", "/{index}/_upgrade"], |call| {
            Box::pin(shard_stores::upgrade_status(call))
        });
}

fn maintenance_routes(routes: &mut Vec<Route>) {
    class(routes, "maintenance", MAINTENANCE)
        .add("GET POST", &["/_refresh", "/{index}/_refresh"], |call| {
            Box::pin(maintenance::refresh(call))
        })
        .add("GET POST", &["/_flush", "/{index}/_flush"], |call| {
            Box::pin(maintenance::flush(call))
        })
        .add(
            "POST",
            &["/_cache/clear", "/{index}/_cache/clear"],
            |call| Box::pin(maintenance::clear_cache(call)),
        )
        .add("POST", &["/_forcemerge", "/{index}/_forcemerge"], |call| {
            Box::pin(maintenance::force_merge(call))
        });
    class(routes, "stats", STATS).add(
        "GET",
        &[
            "/_stats",
            "/_stats/{metric}",
            "/{index}/_stats",
            "/{index}/_stats/{metric}",
        ],
        |call| Box::pin(stats::get(call)),
    );
}

fn document_routes(routes: &mut Vec<Route>) {
    class(routes, "bulk", WRITE).add("POST PUT", &["/_bulk", "/{index}/_bulk"], |call| {
        Box::pin(bulk::bulk(call))
    });
    class(routes, "write", WRITE)
        .add("POST", &["/{index}/_doc"], |call| {
            Box::pin(document_write::index(call))
        })
        .add("PUT POST", &["/{index}/_doc/{id}"], |call| {
            Box::pin(document_write::index(call))
        })
        .add("PUT POST", &["/{index}/_create/{id}"], |call| {
            Box::pin(document_write::create(call))
        })
        .add("DELETE", &["/{index}/_doc/{id}"], |call| {
            Box::pin(document_write::delete(call))
        })
        .add("POST", &["/{index}/_update/{id}"], |call| {
            Box::pin(document_write::update(call))
        });
    class(routes, "get", GET_DOCUMENT)
        .add("GET", &["/{index}/_doc/{id}"], |call| {
            Box::pin(document::get(call))
        })
        .add("HEAD", &["/{index}/_doc/{id}"], |call| {
            Box::pin(document::get(call))
        })
        .add("GET HEAD", &["/{index}/_source/{id}"], |call| {
            Box::pin(document::source(call))
        })
        .add("GET POST", &["/_mget", "/{index}/_mget"], |call| {
            Box::pin(mget::mget(call))
        });
}

fn search_routes(routes: &mut Vec<Route>) {
    class(routes, "search", FIELD_CAPS).add(
        "GET POST",
        &["/_field_caps", "/{index}/_field_caps"],
        |call| Box::pin(field_caps::field_caps(call)),
    );
    class(routes, "search", SEARCH)
        .add("GET POST", &["/_search", "/{index}/_search"], |call| {
            Box::pin(search::search(call))
        })
        .add("GET POST", &["/_msearch", "/{index}/_msearch"], |call| {
            Box::pin(search::msearch(call))
        })
        .add("GET POST", &["/_count", "/{index}/_count"], |call| {
            Box::pin(search::count(call))
        });
    class(routes, "search", SCROLL)
        .add(
            "GET POST",
            &["/_search/scroll", "/_search/scroll/{scroll_id}"],
            |call| Box::pin(search::next_page(call)),
        )
        .add(
            "DELETE",
            &["/_search/scroll", "/_search/scroll/{scroll_id}"],
            |call| Box::pin(search::clear_scroll(call)),
        );
    class(routes, "search", PIT)
        .add("POST", &["/{index}/_search/point_in_time"], |call| {
            Box::pin(search::create_pit(call))
        })
        .add("GET", &["/_search/point_in_time/_all"], |call| {
            Box::pin(search::list_pits(call))
        })
        .add("DELETE", &["/_search/point_in_time/_all"], |call| {
            Box::pin(search::delete_all_pits(call))
        })
        .add("DELETE", &["/_search/point_in_time"], |call| {
            Box::pin(search::delete_pit(call))
        });
    class(routes, "recall", recall::PARAMS).add("GET", &["/{index}/_recall"], |call| {
        Box::pin(recall::measure(call))
    });
}

/// What looks into queries, texts and terms, and searches that are kept as templates.
fn inspection_routes(routes: &mut Vec<Route>) {
    class(routes, "search", EXPLAIN)
        .add(
            "GET POST",
            &["/_validate/query", "/{index}/_validate/query"],
            |call| Box::pin(validate::validate(call)),
        )
        .add("GET POST", &["/{index}/_explain/{id}"], |call| {
            Box::pin(validate::explain_hit(call))
        })
        .add("GET POST", &["/_analyze", "/{index}/_analyze"], |call| {
            Box::pin(analyze::analyze(call))
        });
    class(routes, "search", TERM_VECTORS)
        .add(
            "GET POST",
            &["/{index}/_termvectors", "/{index}/_termvectors/{id}"],
            |call| Box::pin(term_vectors::one(call)),
        )
        .add(
            "GET POST",
            &["/_mtermvectors", "/{index}/_mtermvectors"],
            |call| Box::pin(term_vectors::many(call)),
        );
    class(routes, "search", SEARCH)
        .add(
            "GET POST",
            &["/_search/template", "/{index}/_search/template"],
            |call| Box::pin(search::search_template(call)),
        )
        .add(
            "GET POST",
            &["/_render/template", "/_render/template/{id}"],
            |call| Box::pin(search::render_template(call)),
        );
}

/// Pipelines, scripts, and writes that go through many documents.
fn processing_routes(routes: &mut Vec<Route>) {
    class(routes, "cluster", ADMIN)
        .add("PUT", &["/_search/pipeline/{id}"], |call| {
            Box::pin(search_pipeline::put(call))
        })
        .add(
            "GET",
            &["/_search/pipeline", "/_search/pipeline/{id}"],
            |call| Box::pin(search_pipeline::get(call)),
        )
        .add("DELETE", &["/_search/pipeline/{id}"], |call| {
            Box::pin(search_pipeline::delete(call))
        })
        .add(
            "PUT POST",
            &["/_scripts/{id}", "/_scripts/{id}/{context}"],
            |call| Box::pin(scripts::put(call)),
        )
        .add("GET", &["/_scripts/{id}"], |call| {
            Box::pin(scripts::get(call))
        })
        .add("DELETE", &["/_scripts/{id}"], |call| {
            Box::pin(scripts::delete(call))
        })
        .add("GET", &["/_script_context"], |call| {
            Box::pin(scripts::contexts(call))
        })
        .add("GET", &["/_script_language"], |call| {
            Box::pin(scripts::languages(call))
        })
        .add("PUT", &["/_ingest/pipeline/{id}"], |call| {
            Box::pin(ingest::put(call))
        })
        .add(
            "GET",
            &["/_ingest/pipeline", "/_ingest/pipeline/{id}"],
            |call| Box::pin(ingest::get(call)),
        )
        .add("GET", &["/_ingest/processor/grok"], |call| {
            Box::pin(ingest::patterns(call))
        })
        .add("DELETE", &["/_ingest/pipeline/{id}"], |call| {
            Box::pin(ingest::delete(call))
        });
    class(routes, "cluster", &["verbose"]).add(
        "GET POST",
        &[
            "/_ingest/pipeline/_simulate",
            "/_ingest/pipeline/{id}/_simulate",
        ],
        |call| Box::pin(ingest::simulate(call)),
    );
    class(routes, "write", BY_QUERY)
        .add("POST", &["/{index}/_delete_by_query"], |call| {
            Box::pin(by_query::delete(call))
        })
        .add("POST", &["/{index}/_update_by_query"], |call| {
            Box::pin(by_query::update(call))
        })
        .add("POST", &["/_reindex"], |call| {
            Box::pin(by_query::reindex(call))
        });
}

fn cat_routes(routes: &mut Vec<Route>) {
    class(routes, "cat", CAT)
        .add("GET", &["/_cat"], |call| Box::pin(cat::list(call)))
        .add("GET", &["/_cat/indices", "/_cat/indices/{index}"], |call| {
            Box::pin(cat::indices(call))
        })
        .add("GET", &["/_cat/shards", "/_cat/shards/{index}"], |call| {
            Box::pin(cat::shards(call))
        })
        .add("GET", &["/_cat/count", "/_cat/count/{index}"], |call| {
            Box::pin(cat::count(call))
        })
        .add("GET", &["/_cat/health"], |call| Box::pin(cat::health(call)))
        .add("GET", &["/_cat/nodes"], |call| Box::pin(cat::nodes(call)))
        .add("GET", &["/_cat/nodeattrs"], |call| {
            Box::pin(cat::attributes(call))
        })
        .add("GET", &["/_cat/plugins"], |call| {
            Box::pin(cat::plugins(call))
        })
        .add(
            "GET",
            &["/_cat/allocation", "/_cat/allocation/{node}"],
            |call| Box::pin(cat::allocation(call)),
        )
        .add("GET", &["/_cat/tasks"], |call| Box::pin(cat::tasks(call)))
        .add("GET", &["/_cat/aliases", "/_cat/aliases/{alias}"], |call| {
            Box::pin(cat::aliases(call))
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(method: &str, path: &str) -> Result<(&'static str, Vec<String>), String> {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let path: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(String::from)
            .collect();
        match RouteTable::new().find(&method, &path) {
            Ok(found) => Ok((
                found.route.class,
                found
                    .path_values
                    .into_iter()
                    .map(|(_, value)| value)
                    .collect(),
            )),
            Err(allowed) => Err(allowed.join(" ")),
        }
    }

    fn check(method: &str, path: &str, class: &'static str, values: &[&str]) {
        let values = values.iter().map(ToString::to_string).collect();
        assert_eq!(find(method, path), Ok((class, values)), "{method} {path}");
    }

    #[test]
    fn requests_find_their_endpoint() {
        check("GET", "/", "cluster", &[]);
        check("POST", "/_bulk", "bulk", &[]);
        check("POST", "/i/_bulk", "bulk", &["i"]);
        check("GET", "/_all", "index_admin", &["_all"]);
        check("GET", "/i/_doc/_bulk", "get", &["i", "_bulk"]);
        check("GET", "/_nodes/stats", "nodes", &[]);
        check("GET", "/_nodes/http", "nodes", &["http"]);
        check("GET", "/_plugins/_knn/warmup/i", "knn", &["i"]);
        check("GET", "/i/_recall", "recall", &["i"]);
        // The endpoint says what is wrong with the name.
        check("PUT", "/_x", "index_admin", &["_x"]);
    }

    #[test]
    fn a_wrong_method_is_told_the_right_ones() {
        assert_eq!(find("GET", "/_bulk"), Err("POST PUT".to_string()));
        assert_eq!(find("PUT", "/i/_search"), Err("GET POST".to_string()));
        assert_eq!(find("GET", "/a/b/c/d/e"), Err(String::new()));
    }
}

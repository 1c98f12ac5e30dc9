//! Finds the endpoint of a request. A literal segment wins over a `{name}`.

use std::borrow::Cow;
use std::collections::HashMap;

use axum::http::Method;
use foldhash::fast::FixedState;

use super::action_names::action_name;
use super::endpoint::{Answer, Endpoint, Group};
use crate::http::formats::Content;
use crate::state::call::Call;
use crate::state::tasks::Action;
use crate::state::usage::AskedCount;

/// One path of an endpoint.
pub(crate) struct Route {
    methods: Vec<&'static str>,
    segments: Vec<Segment>,
    /// The path with the names of its values.
    pub(crate) pattern: &'static str,
    pub(crate) class: &'static str,
    pub(crate) params: &'static [&'static [&'static str]],
    /// Whether it is for indexes: they stand in the path, or among the parameters.
    pub(crate) takes_index: bool,
    /// What a request is called while it is answered, where that may take long.
    pub(crate) action: Option<Action>,
    /// What a body is one of.
    pub(crate) content: Content,
    /// What OpenSearch calls it.
    action_name: String,
    /// How often it was asked for.
    pub(crate) asked: AskedCount,
    pub(crate) handler: fn(Call) -> Answer,
}

enum Segment {
    Literal(&'static str),
    Value(&'static str),
}

/// The route that a request belongs to, and the values of its pattern.
pub(crate) struct FoundRoute<'a> {
    pub(crate) route: &'a Route,
    pub(crate) path_values: Vec<(&'static str, String)>,
}

/// Whether a value at the place of an index may begin with an underscore. Such names are refused
/// by their endpoint, with a better reason than that there is no route; but only after every
/// pattern with a literal there has had its turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Plausible,
    Any,
}

/// Every path that is served. Short patterns come first, and of those with as many segments the ones with more literals.
pub(crate) struct RouteTable {
    routes: Vec<Route>,
    /// The places of routes by how they end. A path can only fit those that end with one of its own segments where it has
    /// that, and the few that are all values: of some hundred as long as it one or two.
    by_end: HashMap<End<'static>, Vec<usize>, FixedState>,
}

/// How a pattern ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct End<'a> {
    segments: usize,
    /// Its last literal and where that stands; none where there are only values.
    literal: Option<(usize, &'a str)>,
}

impl End<'static> {
    fn of(route: &Route) -> Self {
        let segments = route.segments.iter().enumerate();
        let mut literals = segments.filter_map(|(at, segment)| match segment {
            Segment::Literal(text) => Some((at, *text)),
            Segment::Value(_) => None,
        });
        End {
            segments: route.segments.len(),
            literal: literals.next_back(),
        }
    }
}

impl RouteTable {
    pub(crate) fn new(groups: impl Iterator<Item = &'static Group>) -> Self {
        let mut routes: Vec<Route> = groups.flat_map(routes_of).collect();
        routes.sort_by_key(|route| (route.segments.len(), std::cmp::Reverse(route.literals())));
        let mut by_end: HashMap<_, Vec<usize>, FixedState> = HashMap::default();
        for (place, route) in routes.iter().enumerate() {
            by_end.entry(End::of(route)).or_default().push(place);
        }
        RouteTable { routes, by_end }
    }

    /// How often each route is asked for, by what OpenSearch calls it.
    pub(crate) fn asked_counts(&self) -> Vec<(String, AskedCount)> {
        let counts = self.routes.iter();
        counts
            .map(|route| (route.action_name.clone(), route.asked.clone()))
            .collect()
    }

    /// Finds the route of a request.
    ///
    /// # Errors
    /// The methods that the path allows; none when there is no such path.
    pub(crate) fn find(
        &self,
        method: &Method,
        path: &[Cow<'_, str>],
    ) -> Result<FoundRoute<'_>, Vec<&'static str>> {
        let literals = path.iter().map(|text| &**text).enumerate().map(Some);
        let ends = literals.chain([None]).map(|literal| End {
            segments: path.len(),
            literal,
        });
        let mut places: Vec<usize> = ends
            .filter_map(|end| self.by_end.get(&end))
            .flatten()
            .copied()
            .collect();
        places.sort_unstable();
        for names in [Names::Plausible, Names::Any] {
            let mut allowed = Vec::new();
            for route in places.iter().filter_map(|place| self.routes.get(*place)) {
                if !route.fits(path, names) {
                    continue;
                }
                if route.methods.contains(&method.as_str()) {
                    let path_values = route.values(path);
                    return Ok(FoundRoute { route, path_values });
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
    /// Whether a path of as many segments as the pattern has fits.
    fn fits(&self, path: &[Cow<'_, str>], names: Names) -> bool {
        let mut both = self.segments.iter().zip(path);
        both.all(|(segment, text)| match segment {
            Segment::Literal(literal) => literal == text,
            Segment::Value("index") => {
                names == Names::Any || !text.starts_with('_') || text == "_all"
            }
            Segment::Value(_) => true,
        })
    }

    /// The values of a path that fits.
    fn values(&self, path: &[Cow<'_, str>]) -> Vec<(&'static str, String)> {
        let both = self.segments.iter().zip(path);
        both.filter_map(|(segment, text)| match segment {
            Segment::Literal(_) => None,
            Segment::Value(name) => Some((*name, text.clone().into_owned())),
        })
        .collect()
    }

    fn literals(&self) -> usize {
        self.segments
            .iter()
            .filter(|segment| matches!(segment, Segment::Literal(_)))
            .count()
    }
}

fn routes_of(group: &'static Group) -> impl Iterator<Item = Route> {
    let of_endpoint = move |endpoint: &'static Endpoint| {
        endpoint.paths.iter().map(move |path| Route {
            methods: endpoint.methods.split(' ').collect(),
            segments: path_segments(path).collect(),
            pattern: path,
            class: group.class,
            params: group.params,
            takes_index: endpoint.takes_index(),
            action: endpoint.action,
            content: endpoint.content,
            action_name: action_name(endpoint.name, path),
            asked: AskedCount::default(),
            handler: endpoint.handler,
        })
    };
    group.endpoints.iter().flat_map(of_endpoint)
}

fn path_segments(path: &'static str) -> impl Iterator<Item = Segment> {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    segments.map(|segment| {
        let name = segment
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        name.map_or(Segment::Literal(segment), Segment::Value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::own_groups;

    fn find(method: &str, path: &str) -> Result<(&'static str, Vec<String>), String> {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let path: Vec<Cow<'_, str>> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(Cow::from)
            .collect();
        match RouteTable::new(own_groups()).find(&method, &path) {
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
        check("POST", "/i/_verify", "verify", &["i"]);
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

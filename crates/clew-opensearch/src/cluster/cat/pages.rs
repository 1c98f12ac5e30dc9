//! `_list`: the tables of `_cat/indices` and `_cat/shards` page by page. Pages follow the order in which indexes were
//! made, so that neither what is made nor what goes meanwhile moves anything from one page to another.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as TOKEN;
use clew_engine::{Index, Purpose, Wildcards};

use super::indices::{index_columns, index_rows};
use super::shards::{columns, rows_of_shard};
use super::table::Table;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::call::Call;

const INDICES_DEFAULT: usize = 500;
const INDICES_MAX: usize = 5_000;
const SHARDS_MIN: usize = 2_000;
const SHARDS_MAX: usize = 20_000;

/// `GET /_list`.
pub(crate) async fn list_help(_call: Call) -> Result<Reply, ApiError> {
    Ok(Reply::text("/_list/indices\n/_list/shards\n".to_string()))
}

/// `GET /_list/indices/{index}`.
pub(crate) async fn list_indices(call: Call) -> Result<Reply, ApiError> {
    let page = Page::of(&call, (INDICES_DEFAULT, 1, INDICES_MAX))?;
    let indices = call.indices_from(Wildcards::SHOWN, Purpose::Watch).await?;
    let mut left = page.left_of(indices).into_iter();
    let shown: Vec<Arc<Index>> = left.by_ref().take(page.size).collect();
    let next = match (shown.last(), left.next()) {
        (Some(last), Some(_)) => Some(Place::of(last, None).token()),
        _ => None,
    };
    let table = Table {
        columns: &index_columns(),
        rows: index_rows(&call, &shown)?,
    };
    table.reply_page(&call, ("indices", next))
}

/// `GET /_list/shards/{index}`. The copies of a shard stand on one page.
pub(crate) async fn list_shards(call: Call) -> Result<Reply, ApiError> {
    let page = Page::of(&call, (SHARDS_MIN, SHARDS_MIN, SHARDS_MAX))?;
    let indices = call.indices_from(Wildcards::ALL, Purpose::Watch).await?;
    let (mut rows, mut last, mut next) = (Vec::new(), None, None);
    'pages: for index in page.left_of(indices) {
        for (number, stats) in (0_u32..).zip(index.shard_stats()) {
            if !page.is_left(&Place::of(&index, Some(number))) {
                continue;
            }
            let more = rows_of_shard(&call, (&index, number), &stats);
            if !rows.is_empty() && rows.len() + more.len() > page.size {
                next = last;
                break 'pages;
            }
            rows.extend(more);
            last = Some(Place::of(&index, Some(number)).token());
        }
    }
    let table = Table {
        columns: &columns(),
        rows,
    };
    table.reply_page(&call, ("shards", next))
}

/// Where a page ends: the index, and the shard where an index may be parted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    created_ms: u64,
    index: String,
    shard: Option<u32>,
}

impl Place {
    fn of(index: &Index, shard: Option<u32>) -> Self {
        Place {
            created_ms: index.created_ms(),
            index: index.name().to_string(),
            shard,
        }
    }

    fn token(&self) -> String {
        let shard = self.shard.map_or(String::new(), |shard| shard.to_string());
        TOKEN.encode(format!("{shard}|{}|{}", self.created_ms, self.index))
    }

    fn read(token: &str) -> Option<Self> {
        let text = String::from_utf8(TOKEN.decode(token).ok()?).ok()?;
        let (shard, rest) = text.split_once('|')?;
        let (created_ms, index) = rest.split_once('|')?;
        Some(Place {
            created_ms: created_ms.parse().ok()?,
            index: index.to_string(),
            shard: match shard {
                "" => None,
                number => Some(number.parse().ok()?),
            },
        })
    }
}

/// Which page is asked for.
struct Page {
    size: usize,
    newest_first: bool,
    after: Option<Place>,
}

impl Page {
    fn of(call: &Call, (default, min, max): (usize, usize, usize)) -> Result<Self, ApiError> {
        let params = &call.params;
        let size = params.unsigned("size")?.map(usize::try_from);
        let size = size.map_or(default, |size| size.unwrap_or(usize::MAX));
        if !(min..=max).contains(&size) {
            let reason = match (size, size > max) {
                (0, _) => "size must be greater than zero".to_string(),
                (_, true) => format!("size should be less than [{max}]"),
                (_, false) => format!("size should at least be [{min}]"),
            };
            return Err(ApiError::illegal_argument(reason));
        }
        let newest_first = match params.get("sort") {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => {
                return Err(ApiError::illegal_argument(
                    "value of sort can either be asc or desc",
                ));
            }
        };
        let after = params.get("next_token").filter(|token| *token != "null");
        let after = after.map(|token| {
            Place::read(token).ok_or_else(|| {
                ApiError::illegal_argument("[next_token] is none that a page has given")
            })
        });
        Ok(Page {
            size,
            newest_first,
            after: after.transpose()?,
        })
    }

    /// The indexes that this page and those behind it are about, in order. One that the page before has parted is
    /// among them.
    fn left_of(&self, mut indices: Vec<Arc<Index>>) -> Vec<Arc<Index>> {
        indices.sort_by_cached_key(|index| (index.created_ms(), index.name().to_string()));
        if self.newest_first {
            indices.reverse();
        }
        let is_left = |index: &Arc<Index>| {
            let parted = self.after.as_ref().is_some_and(|after| {
                after.shard.is_some()
                    && after.index == index.name()
                    && after.created_ms == index.created_ms()
            });
            parted || self.is_left(&Place::of(index, None))
        };
        indices.retain(is_left);
        indices
    }

    /// Whether something comes behind the page before. The shards of an index rise in either order.
    fn is_left(&self, place: &Place) -> bool {
        let Some(after) = &self.after else {
            return true;
        };
        let key = |place: &Place| (place.created_ms, place.index.clone());
        match key(place).cmp(&key(after)) {
            std::cmp::Ordering::Equal => place.shard > after.shard,
            std::cmp::Ordering::Greater => !self.newest_first,
            std::cmp::Ordering::Less => self.newest_first,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_given_and_another_text_is_refused() {
        for shard in [None, Some(0), Some(7)] {
            let place = Place {
                created_ms: 1_790_000_000_000,
                index: "a|b".to_string(),
                shard,
            };
            assert_eq!(Place::read(&place.token()), Some(place));
        }
        for text in ["", "x", "bm90aGluZw", "fHw", "\u{e4}"] {
            assert_eq!(Place::read(text), None, "{text}");
        }
    }
}

//! Orders by fields, as queries and searches ask for them: `price:desc,rating:asc:nulls_first`.

use std::cmp::Ordering;

use clew_query::{Missing, Order};

use crate::collection::{Collection, DataType, Field};
use crate::error::{MilvusError, Result};

/// The parameter that says them.
pub(super) const ORDER_BY: &str = "order_by_fields";

/// A field that rows are brought into an order by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OrderPart {
    /// Its name, or a path into JSON.
    pub(super) name: String,
    pub(super) order: Order,
    /// Where rows without a value go: at the greater end, if nothing else is said.
    pub(super) missing: Missing,
}

impl OrderPart {
    /// Reads the parts of an order; none where nothing is said. `demand` is Milvus' word for what a direction has to be, of
    /// which queries and searches have one each.
    ///
    /// # Errors
    /// For directions, and places of nulls, that there are none of.
    pub(super) fn read(given: Option<&str>, demand: &str) -> Result<Vec<OrderPart>> {
        let parts = given.map_or_else(Vec::new, |given| cut(given, ','));
        let parts = parts.into_iter().map(str::trim);
        parts
            .filter(|part| !part.is_empty())
            .map(|part| Self::read_one(part, demand))
            .collect()
    }

    fn read_one(given: &str, demand: &str) -> Result<OrderPart> {
        let mut words = cut(given, ':').into_iter().map(str::trim);
        let name = words.next().unwrap_or_default().to_string();
        let order = match words
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
            .as_str()
        {
            "" | "asc" | "ascending" => Order::Asc,
            "desc" | "descending" => Order::Desc,
            other => {
                return Err(MilvusError::invalid(format!(
                    "invalid order direction '{other}' for field '{name}', {demand} 'asc' or 'desc'"
                )));
            }
        };
        let missing = match words.next().map(str::to_ascii_lowercase).as_deref() {
            Some("nulls_first") => Missing::First,
            Some("nulls_last") => Missing::Last,
            None if order == Order::Desc => Missing::First,
            None => Missing::Last,
            Some(other) => {
                return Err(MilvusError::invalid(format!(
                    "invalid null ordering '{other}', must be 'nulls_first' or 'nulls_last'"
                )));
            }
        };
        match words.next() {
            None => Ok(OrderPart {
                name,
                order,
                missing,
            }),
            Some(_) => Err(MilvusError::invalid(format!(
                "too many order_by field options in '{given}'"
            ))),
        }
    }

    /// The field that is meant.
    ///
    /// # Errors
    /// When there is none of the name, or none whose values have an order.
    pub(super) fn field<'c>(&self, collection: &'c Collection) -> Result<&'c Field> {
        let name = &self.name;
        let field = collection.field(name).map_err(|_| {
            MilvusError::invalid(format!(
                "order_by field '{name}' does not exist in collection schema"
            ))
        })?;
        match is_sortable(field) {
            true => Ok(field),
            false => Err(MilvusError::invalid(format!(
                "order_by field '{name}' has type {} which is not sortable",
                field.data_type.name()
            ))),
        }
    }

    /// Which of two values comes first, where those that are missing are none.
    pub(super) fn compare<V: PartialOrd>(&self, a: Option<&V>, b: Option<&V>) -> Ordering {
        let nulls_first = self.missing == Missing::First;
        match (a, b) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) if nulls_first => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) if nulls_first => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => {
                let ascending = a.partial_cmp(b).unwrap_or(Ordering::Equal);
                match self.order {
                    Order::Asc => ascending,
                    Order::Desc => ascending.reverse(),
                }
            }
        }
    }
}

/// Whether the values of a field have an order.
pub(super) fn is_sortable(field: &Field) -> bool {
    let data_type = field.data_type;
    !field.is_part()
        && !data_type.is_vector()
        && !matches!(
            data_type,
            DataType::Json | DataType::Array | DataType::Geometry
        )
}

/// Cuts a text at a mark, but for where that stands in brackets or quotes, as in a path into JSON.
fn cut(text: &str, mark: char) -> Vec<&str> {
    let (mut parts, mut from) = (Vec::new(), 0);
    let (mut depth, mut quote) = (0_usize, None);
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (Some(open), _) if open == char => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(char),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            (None, _) if char == mark && depth == 0 => {
                parts.push(&text[from..at]);
                from = at + char.len_utf8();
            }
            (None, _) => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &str) -> Result<Vec<(String, Order, Missing)>> {
        let parts = OrderPart::read(Some(given), "must be")?;
        let told = |part: OrderPart| (part.name, part.order, part.missing);
        Ok(parts.into_iter().map(told).collect())
    }

    #[test]
    fn nulls_stand_at_the_greater_end_unless_it_is_said_otherwise() {
        let part = |name: &str, order, missing| (name.to_string(), order, missing);
        assert_eq!(
            read("price, rating:DESC,a:asc:nulls_first,b:descending:nulls_last,").unwrap(),
            [
                part("price", Order::Asc, Missing::Last),
                part("rating", Order::Desc, Missing::First),
                part("a", Order::Asc, Missing::First),
                part("b", Order::Desc, Missing::Last),
            ]
        );
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn marks_in_a_path_cut_nothing() {
        let names = |given: &str| -> Vec<String> {
            let parts = read(given).unwrap().into_iter();
            parts.map(|part| part.0).collect()
        };
        assert_eq!(
            names(r#"j["a:b,c"]['d']:desc,e"#),
            [r#"j["a:b,c"]['d']"#, "e"]
        );
        assert_eq!(names("j[open:asc"), ["j[open:asc"]);
    }

    #[test]
    fn what_is_no_order_is_refused() {
        for (given, said) in [
            ("price:up", "invalid order direction 'up' for field 'price'"),
            ("price:asc:nulls", "invalid null ordering 'nulls'"),
            (
                "price:asc:nulls_last:x",
                "too many order_by field options in 'price:asc:nulls_last:x'",
            ),
        ] {
            let refused = read(given).unwrap_err();
            assert_eq!(refused.code(), 1100);
            assert!(refused.to_string().contains(said), "{refused}");
        }
    }

    #[test]
    fn values_are_compared_as_the_part_says() {
        let part = |given: &str| OrderPart::read(Some(given), "must be").unwrap().remove(0);
        for (given, a, b, want) in [
            ("n", Some(1), Some(2), Ordering::Less),
            ("n:desc", Some(1), Some(2), Ordering::Greater),
            ("n", None, Some(2), Ordering::Greater),
            ("n:desc", None, Some(2), Ordering::Less),
            ("n:desc:nulls_last", Some(2), None, Ordering::Less),
            ("n", None, None, Ordering::Equal),
        ] {
            assert_eq!(part(given).compare(a.as_ref(), b.as_ref()), want, "{given}");
        }
    }
}

//! What an expression finds in a document. Every node that is looked at counts, so that no expression takes long on any document.

use roxmltree::{Attribute, Node};

use super::path::{Axis, Expression, Function, Operator, Path, PathStep, Test};
use crate::event::Reason;

/// Nodes that are looked at for one expression, and 64 bytes of text each.
const VISITS_MAX: usize = 1_000_000;

/// A node of a document, or an attribute of one.
#[derive(Clone, Copy)]
struct Item<'a, 'i> {
    node: Node<'a, 'i>,
    /// With its number among those of its node.
    attribute: Option<(usize, Attribute<'a, 'i>)>,
}

impl<'a, 'i> Item<'a, 'i> {
    fn of(node: Node<'a, 'i>) -> Self {
        Item {
            node,
            attribute: None,
        }
    }

    /// Its place in the order of the document.
    fn place(&self) -> (u32, usize) {
        let attribute = self.attribute.map_or(0, |(number, _)| number + 1);
        (self.node.id().get(), attribute)
    }

    /// Its name as it is written, with its prefix.
    fn name(&self) -> &'i str {
        let text = self.node.document().input_text();
        let range = match self.attribute {
            Some((_, attribute)) => attribute.range_qname(),
            None if self.node.is_element() => self.node.range().start + 1..self.node.range().end,
            None => return "",
        };
        let written = text.get(range).unwrap_or_default();
        let end =
            written.find(|letter: char| letter.is_ascii_whitespace() || "=/>".contains(letter));
        &written[..end.unwrap_or(written.len())]
    }

    fn local_name(&self) -> &'i str {
        match self.attribute {
            Some((_, attribute)) => attribute.name(),
            None => self.node.tag_name().name(),
        }
    }

    fn namespace(&self) -> Option<&'a str> {
        match self.attribute {
            Some((_, attribute)) => attribute.namespace(),
            None => self.node.tag_name().namespace(),
        }
    }
}

/// What an expression says.
enum Answer<'a, 'i> {
    Items(Vec<Item<'a, 'i>>),
    Text(String),
    Number(f64),
    Truth(bool),
}

impl Answer<'_, '_> {
    fn is_true(&self) -> bool {
        match self {
            Answer::Items(items) => !items.is_empty(),
            Answer::Text(text) => !text.is_empty(),
            Answer::Number(number) => *number != 0.0 && !number.is_nan(),
            Answer::Truth(truth) => *truth,
        }
    }
}

/// Where an expression stands.
#[derive(Clone, Copy)]
struct Place<'a, 'i> {
    item: Item<'a, 'i>,
    /// Counted from 1.
    position: usize,
    last: usize,
}

/// Follows one expression through a document.
struct Selection<'p> {
    /// Prefixes and the namespaces that they stand for.
    prefixes: &'p [(String, String)],
    visits_left: usize,
}

/// The texts that an expression finds, in the order of the document: of elements as they are written, of others what they say.
///
/// # Errors
/// [`Reason::TooLong`] where more nodes would have to be looked at than may be.
pub(super) fn select(
    expression: &Expression,
    root: Node<'_, '_>,
    prefixes: &[(String, String)],
) -> Result<Vec<String>, Reason> {
    let mut selection = Selection {
        prefixes,
        visits_left: VISITS_MAX,
    };
    let place = Place {
        item: Item::of(root),
        position: 1,
        last: 1,
    };
    let found = match selection.answer(expression, place)? {
        Answer::Items(items) => items,
        other => {
            let text = selection.text(&other)?;
            return Ok(Vec::from_iter(Some(text).filter(|text| !text.is_empty())));
        }
    };
    let mut texts = Vec::with_capacity(found.len());
    for item in found {
        if item.attribute.is_none() && item.node.is_element() {
            let written = item.node.document().input_text().get(item.node.range());
            let written = written.unwrap_or_default();
            selection.visit(1 + written.len() / 64)?;
            texts.push(written.to_owned());
        } else {
            texts.push(selection.text_of(item)?);
        }
    }
    Ok(texts)
}

impl Selection<'_> {
    fn visit(&mut self, nodes: usize) -> Result<(), Reason> {
        let left = self.visits_left.checked_sub(nodes);
        self.visits_left = left.ok_or(Reason::TooLong)?;
        Ok(())
    }

    fn answer<'a, 'i>(
        &mut self,
        expression: &Expression,
        place: Place<'a, 'i>,
    ) -> Result<Answer<'a, 'i>, Reason> {
        Ok(match expression {
            Expression::Text(text) => Answer::Text(text.clone()),
            Expression::Number(number) => Answer::Number(*number),
            Expression::Paths(paths) => {
                let mut found = Vec::new();
                for path in paths {
                    found.append(&mut self.follow(path, place.item)?);
                }
                if paths.len() > 1 {
                    in_order(&mut found);
                }
                Answer::Items(found)
            }
            Expression::Call(function, arguments) => self.call(*function, arguments, place)?,
            Expression::Binary(operator, sides) => {
                let [left, right] = &**sides;
                let left = self.answer(left, place)?;
                let truth = match operator {
                    Operator::Or => left.is_true() || self.answer(right, place)?.is_true(),
                    Operator::And => left.is_true() && self.answer(right, place)?.is_true(),
                    operator => {
                        let right = self.answer(right, place)?;
                        self.compare(*operator, &left, &right)?
                    }
                };
                Answer::Truth(truth)
            }
        })
    }

    fn follow<'a, 'i>(
        &mut self,
        path: &Path,
        from: Item<'a, 'i>,
    ) -> Result<Vec<Item<'a, 'i>>, Reason> {
        let mut items = match path.is_absolute {
            true => vec![Item::of(from.node.document().root())],
            false => vec![from],
        };
        for step in &path.steps {
            let mut next = Vec::new();
            for item in &items {
                next.append(&mut self.step(step, *item)?);
            }
            if items.len() > 1 {
                in_order(&mut next);
            }
            items = next;
        }
        Ok(items)
    }

    fn step<'a, 'i>(
        &mut self,
        step: &PathStep,
        from: Item<'a, 'i>,
    ) -> Result<Vec<Item<'a, 'i>>, Reason> {
        let mut found = Vec::new();
        for item in along(step.axis, from) {
            self.visit(1)?;
            if self.fits(&step.test, step.axis, &item) {
                found.push(item);
            }
        }
        for predicate in &step.predicates {
            let mut kept = Vec::new();
            let last = found.len();
            for (at, item) in found.into_iter().enumerate() {
                let position = at + 1;
                let place = Place {
                    item,
                    position,
                    last,
                };
                let is_kept = match self.answer(predicate, place)? {
                    Answer::Number(number) => number == as_number(position),
                    other => other.is_true(),
                };
                if is_kept {
                    kept.push(item);
                }
            }
            found = kept;
        }
        if matches!(step.axis, Axis::Ancestor | Axis::PrecedingSibling) {
            found.reverse();
        }
        Ok(found)
    }

    fn fits(&self, test: &Test, axis: Axis, item: &Item<'_, '_>) -> bool {
        let is_named = match axis {
            Axis::Attribute => item.attribute.is_some(),
            _ => item.attribute.is_none() && item.node.is_element(),
        };
        match test {
            Test::Any => true,
            Test::Text => item.attribute.is_none() && item.node.is_text(),
            Test::Named { prefix, name } => {
                is_named
                    && name.as_ref().is_none_or(|name| item.local_name() == name)
                    && prefix.as_ref().is_none_or(|prefix| {
                        let wanted = self.namespace(prefix, item.node);
                        wanted.is_some() && item.namespace() == wanted
                    })
            }
        }
    }

    /// What a prefix stands for: as the step says, or as the document's first element does.
    fn namespace<'n>(&'n self, prefix: &str, node: Node<'n, '_>) -> Option<&'n str> {
        let given = self.prefixes.iter().find(|(known, _)| known == prefix);
        if let Some((_, uri)) = given {
            return Some(uri);
        }
        let first = node.document().root_element();
        // As those call the default one that have it from there.
        first.lookup_namespace_uri(Some(prefix).filter(|prefix| *prefix != "xmlns"))
    }

    fn call<'a, 'i>(
        &mut self,
        function: Function,
        arguments: &[Expression],
        place: Place<'a, 'i>,
    ) -> Result<Answer<'a, 'i>, Reason> {
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            given.push(self.answer(argument, place)?);
        }
        // Without an argument most are about where the expression stands.
        if given.is_empty() {
            given.push(Answer::Items(vec![place.item]));
        }
        let first_name = |name: fn(&Item<'a, 'i>) -> &'i str| match &given[0] {
            Answer::Items(items) => items.first().map_or("", name).to_owned(),
            _ => String::new(),
        };
        Ok(match function {
            Function::Position => Answer::Number(as_number(place.position)),
            Function::Last => Answer::Number(as_number(place.last)),
            Function::True => Answer::Truth(true),
            Function::False => Answer::Truth(false),
            Function::Not => Answer::Truth(!given[0].is_true()),
            Function::Count => match &given[0] {
                Answer::Items(items) => Answer::Number(as_number(items.len())),
                _ => Answer::Number(f64::NAN),
            },
            Function::Name => Answer::Text(first_name(Item::name)),
            Function::LocalName => Answer::Text(first_name(Item::local_name)),
            Function::Number => Answer::Number(number_of(&self.text(&given[0])?)),
            Function::Text => Answer::Text(self.text(&given[0])?),
            Function::NormalizeSpace => {
                let text = self.text(&given[0])?;
                let words: Vec<&str> = text.split_ascii_whitespace().collect();
                Answer::Text(words.join(" "))
            }
            Function::StringLength => {
                Answer::Number(as_number(self.text(&given[0])?.chars().count()))
            }
            Function::Concat => {
                let mut whole = String::new();
                for part in &given {
                    whole.push_str(&self.text(part)?);
                }
                Answer::Text(whole)
            }
            Function::Contains
            | Function::StartsWith
            | Function::SubstringBefore
            | Function::SubstringAfter => {
                let (text, part) = (self.text(&given[0])?, self.text(&given[1])?);
                let parts = text.split_once(&part);
                match function {
                    Function::Contains => Answer::Truth(parts.is_some()),
                    Function::StartsWith => Answer::Truth(text.starts_with(&part)),
                    Function::SubstringBefore => {
                        Answer::Text(parts.map_or("", |(before, _)| before).to_owned())
                    }
                    _ => Answer::Text(parts.map_or("", |(_, after)| after).to_owned()),
                }
            }
        })
    }

    /// Of nodes it is enough that one is as asked.
    fn compare(
        &mut self,
        operator: Operator,
        left: &Answer<'_, '_>,
        right: &Answer<'_, '_>,
    ) -> Result<bool, Reason> {
        if let (Answer::Truth(truth), other) | (other, Answer::Truth(truth)) = (left, right) {
            return Ok(match operator {
                Operator::Equal => *truth == other.is_true(),
                Operator::Unequal => *truth != other.is_true(),
                _ => false,
            });
        }
        let is_of_numbers = matches!(left, Answer::Number(_))
            || matches!(right, Answer::Number(_))
            || !matches!(operator, Operator::Equal | Operator::Unequal);
        let (left, right) = (self.texts(left)?, self.texts(right)?);
        for left in &left {
            self.visit(right.len())?;
            let is_so = right.iter().any(|right| match is_of_numbers {
                true => holds(operator, &number_of(left), &number_of(right)),
                false => holds(operator, left, right),
            });
            if is_so {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn texts(&mut self, answer: &Answer<'_, '_>) -> Result<Vec<String>, Reason> {
        match answer {
            Answer::Items(items) => items.iter().map(|item| self.text_of(*item)).collect(),
            other => Ok(vec![self.text(other)?]),
        }
    }

    /// An answer as text; of nodes the first one's.
    fn text(&mut self, answer: &Answer<'_, '_>) -> Result<String, Reason> {
        Ok(match answer {
            Answer::Items(items) => match items.first() {
                Some(item) => self.text_of(*item)?,
                None => String::new(),
            },
            Answer::Text(text) => text.clone(),
            Answer::Number(number) => number.to_string(),
            Answer::Truth(truth) => truth.to_string(),
        })
    }

    /// What a node says: of an element all texts in it.
    fn text_of(&mut self, item: Item<'_, '_>) -> Result<String, Reason> {
        if let Some((_, attribute)) = item.attribute {
            self.visit(1 + attribute.value().len() / 64)?;
            return Ok(attribute.value().to_owned());
        }
        let mut said = String::new();
        for node in item.node.descendants() {
            let text = Some(node)
                .filter(Node::is_text)
                .and_then(|node| node.text());
            let text = text.unwrap_or_default();
            self.visit(1 + text.len() / 64)?;
            said.push_str(text);
        }
        Ok(said)
    }
}

/// What an axis has, the nearest first.
fn along<'a, 'i>(axis: Axis, from: Item<'a, 'i>) -> Vec<Item<'a, 'i>> {
    let node = from.node;
    if from.attribute.is_some() {
        return match axis {
            Axis::Itself | Axis::DescendantOrSelf => vec![from],
            Axis::Parent => vec![Item::of(node)],
            Axis::Ancestor => node.ancestors().map(Item::of).collect(),
            Axis::Child
            | Axis::Attribute
            | Axis::Descendant
            | Axis::FollowingSibling
            | Axis::PrecedingSibling => Vec::new(),
        };
    }
    match axis {
        Axis::Itself => vec![from],
        Axis::Child => node.children().map(Item::of).collect(),
        Axis::Attribute => {
            let item = |attribute| Item {
                node,
                attribute: Some(attribute),
            };
            node.attributes().enumerate().map(item).collect()
        }
        Axis::Descendant => node.descendants().skip(1).map(Item::of).collect(),
        Axis::DescendantOrSelf => node.descendants().map(Item::of).collect(),
        Axis::Parent => Vec::from_iter(node.parent().map(Item::of)),
        Axis::Ancestor => node.ancestors().skip(1).map(Item::of).collect(),
        Axis::FollowingSibling => node.next_siblings().skip(1).map(Item::of).collect(),
        Axis::PrecedingSibling => node.prev_siblings().skip(1).map(Item::of).collect(),
    }
}

/// As in the document, each once.
fn in_order(items: &mut Vec<Item<'_, '_>>) {
    items.sort_by_key(Item::place);
    items.dedup_by_key(|item| item.place());
}

#[allow(clippy::cast_precision_loss, reason = "documents have few nodes")]
fn as_number(count: usize) -> f64 {
    count as f64
}

fn number_of(text: &str) -> f64 {
    text.trim().parse().unwrap_or(f64::NAN)
}

fn holds<T: PartialOrd + ?Sized>(operator: Operator, left: &T, right: &T) -> bool {
    match operator {
        Operator::Equal => left == right,
        Operator::Unequal => left != right,
        Operator::Less => left < right,
        Operator::LessOrEqual => left <= right,
        Operator::Greater => left > right,
        Operator::GreaterOrEqual => left >= right,
        Operator::Or | Operator::And => false,
    }
}

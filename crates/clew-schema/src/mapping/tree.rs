//! The mapping as documents are walked: objects with their children, and at the leaves every field
//! that takes a value found there.

use std::collections::BTreeMap;

use super::field::{Dynamic, FieldId};
use super::nested::NestedSettings;
use super::schema::Mapping;

/// An object of the mapping; the document itself is one.
#[derive(Clone, Debug)]
pub struct ObjectNode {
    pub(crate) children: BTreeMap<String, MappingNode>,
    /// What happens to fields it lacks, its parents' word included.
    pub(crate) dynamic: Dynamic,
    pub(crate) enabled: bool,
    /// Set when each of its objects is a document of its own.
    pub(crate) nested: Option<NestedSettings>,
}

/// What a name in a document stands for.
#[derive(Clone, Debug)]
pub enum MappingNode {
    /// An object.
    Object(ObjectNode),
    /// A field with its multi-fields.
    Leaf(FieldLeaf),
    /// A name for a field elsewhere; it takes no values.
    Alias(String),
}

/// The fields that take a value.
#[derive(Clone, Debug)]
pub struct FieldLeaf {
    pub(crate) id: FieldId,
    /// Its multi-fields.
    pub(crate) multi_fields: Vec<FieldId>,
    /// Paths that `copy_to` names and no field has so far.
    pub(crate) unmade: Vec<String>,
    /// Fields that `copy_to` names, and their multi-fields.
    pub(crate) copies: Vec<FieldId>,
}

impl Default for ObjectNode {
    fn default() -> Self {
        ObjectNode {
            children: BTreeMap::new(),
            dynamic: Dynamic::True,
            enabled: true,
            nested: None,
        }
    }
}

impl FieldLeaf {
    /// The field.
    pub fn id(&self) -> FieldId {
        self.id
    }

    /// Its multi-fields.
    pub fn multi_fields(&self) -> &[FieldId] {
        &self.multi_fields
    }
}

impl ObjectNode {
    /// What lies in it, by name.
    pub fn children(&self) -> impl ExactSizeIterator<Item = (&str, &MappingNode)> {
        let children = self.children.iter();
        children.map(|(name, node)| (name.as_str(), node))
    }

    /// Whether each of its objects is a document of its own.
    pub fn is_nested(&self) -> bool {
        self.nested.is_some()
    }

    /// Ignores unknown names here and below.
    pub(super) fn freeze(&mut self) {
        self.dynamic = Dynamic::False;
        for node in self.children.values_mut() {
            if let MappingNode::Object(object) = node {
                object.freeze();
            }
        }
    }

    /// Lays out the fields of a mapping.
    pub(super) fn build(mapping: &Mapping) -> ObjectNode {
        let mut root = ObjectNode {
            dynamic: mapping.dynamic(),
            enabled: mapping.is_enabled(),
            ..ObjectNode::default()
        };
        // In the order of paths an object comes before its children, which take over its word.
        for (path, settings) in &mapping.objects {
            if let Some(object) = root.descend(path.split('.')) {
                object.dynamic = settings.dynamic.unwrap_or(object.dynamic);
                object.enabled = settings.enabled;
                object.nested = settings.nested;
            }
        }
        let mut multi_fields: BTreeMap<FieldId, Vec<FieldId>> = BTreeMap::new();
        for field in mapping.fields.iter().filter(|field| field.multi_field) {
            if let Some(parent) = mapping.source_field(field) {
                multi_fields.entry(parent.id).or_default().push(field.id);
            }
        }
        let of = |id: &FieldId| multi_fields.get(id).cloned().unwrap_or_default();
        for field in mapping.fields.iter().filter(|field| field.is_written()) {
            let (objects, name) = match field.path.rsplit_once('.') {
                Some((objects, name)) => (Some(objects), name),
                None => (None, field.path.as_str()),
            };
            let targets = field.settings.copy_to.iter();
            let copies = targets
                .filter_map(|path| mapping.by_path.get(path))
                .flat_map(|id| std::iter::once(*id).chain(of(id)))
                .collect();
            let targets = field.settings.copy_to.iter();
            let unmade = targets.filter(|path| !mapping.by_path.contains_key(*path));
            let leaf = FieldLeaf {
                id: field.id,
                unmade: unmade.cloned().collect(),
                multi_fields: of(&field.id),
                copies,
            };
            let place = root.descend(objects.into_iter().flat_map(|path| path.split('.')));
            if let Some(object) = place {
                object
                    .children
                    .insert(name.to_string(), MappingNode::Leaf(leaf));
            }
        }
        for (alias, path) in mapping.aliases() {
            let (objects, name) = match alias.rsplit_once('.') {
                Some((objects, name)) => (Some(objects), name),
                None => (None, alias),
            };
            let place = root.descend(objects.into_iter().flat_map(|path| path.split('.')));
            if let Some(object) = place {
                let node = MappingNode::Alias(path.to_string());
                object.children.insert(name.to_string(), node);
            }
        }
        root
    }

    /// The object at a path, made where it is missing; `None` when a field is in the way.
    fn descend<'p>(&mut self, names: impl Iterator<Item = &'p str>) -> Option<&mut ObjectNode> {
        let mut object = self;
        for name in names {
            let inherited = MappingNode::Object(ObjectNode {
                children: BTreeMap::new(),
                dynamic: object.dynamic,
                ..ObjectNode::default()
            });
            let child = object.children.entry(name.to_string()).or_insert(inherited);
            let MappingNode::Object(next) = child else {
                return None;
            };
            object = next;
        }
        Some(object)
    }

    /// What happens to a field at a path that no field has.
    pub(crate) fn dynamic_at(&self, path: &str) -> Dynamic {
        let mut object = self;
        for name in path.split('.') {
            match object.children.get(name) {
                Some(MappingNode::Object(next)) => object = next,
                _ => break,
            }
        }
        object.dynamic
    }

    /// The object at a path.
    pub(super) fn find(&self, path: &str) -> Option<&ObjectNode> {
        let mut object = self;
        for name in path.split('.') {
            match object.children.get(name) {
                Some(MappingNode::Object(next)) => object = next,
                _ => return None,
            }
        }
        Some(object)
    }

    fn objects(&self) -> impl Iterator<Item = (&String, &ObjectNode)> {
        self.children.iter().filter_map(|(name, node)| match node {
            MappingNode::Object(object) => Some((name, object)),
            MappingNode::Leaf(_) | MappingNode::Alias(_) => None,
        })
    }

    /// Objects inside it, at any depth.
    pub(super) fn object_count(&self) -> usize {
        self.objects().map(|(_, o)| 1 + o.object_count()).sum()
    }
}

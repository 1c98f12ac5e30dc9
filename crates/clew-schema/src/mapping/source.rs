//! What the mapping says of documents as a whole: whether `_source` is handed out, and which parts of it, and whether they name their
//! routing. It is said before there is a document.

use serde::{Deserialize, Serialize};

use super::error::{FieldParameter, MappingError, ParameterChange};
use super::schema::Mapping;
use super::spec::{MappingPart, MappingSpec};

/// What of a document is handed out as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceShown {
    /// Whether it is handed out at all.
    pub enabled: bool,
    /// Patterns of paths that are handed out; none means all.
    pub includes: Vec<String>,
    /// Patterns of paths that are left out.
    pub excludes: Vec<String>,
}

impl Default for SourceShown {
    fn default() -> Self {
        SourceShown {
            enabled: true,
            includes: Vec::new(),
            excludes: Vec::new(),
        }
    }
}

impl Mapping {
    /// Whether documents are handed out as they came.
    pub fn is_source_enabled(&self) -> bool {
        self.root.source.enabled
    }

    /// Patterns of paths that are handed out, and of those that are not; an empty first list means
    /// all.
    pub fn source_paths_shown(&self) -> (&[String], &[String]) {
        (&self.root.source.includes, &self.root.source.excludes)
    }

    /// Whether every document must name its routing.
    pub fn is_routing_required(&self) -> bool {
        self.root.routing_required
    }

    /// Refuses to say otherwise what documents were taken with: what is handed out of them, whether they name their routing,
    /// and which objects are looked at. [`Mapping::merge`] lets it be said, for mappings that are made of several parts.
    ///
    /// # Errors
    /// What would change.
    pub fn check_said(&self, spec: &MappingSpec) -> Result<(), MappingError> {
        let (source, said) = (&*self.root.source, spec.source.as_ref());
        let list = |paths: &[String]| format!("[{}]", paths.join(", "));
        let texts = |shown: &SourceShown| {
            [
                (FieldParameter::Enabled, shown.enabled.to_string()),
                (FieldParameter::Includes, list(&shown.includes)),
                (FieldParameter::Excludes, list(&shown.excludes)),
            ]
        };
        let said = said.map(|said| texts(source).into_iter().zip(texts(said)));
        let of_source = said.into_iter().flatten();
        let of_source = of_source.map(|((parameter, from), (_, to))| (parameter, from, to));
        refuse("_source", of_source)?;
        let of_routing = spec.routing_required.map(|said| {
            let was = self.root.routing_required.to_string();
            (FieldParameter::Required, was, said.to_string())
        });
        refuse("_routing", of_routing)?;
        let changed = spec.parts.iter().find_map(|part| match part {
            MappingPart::Object(object) => {
                let known = self.objects.get(&object.path).map(|known| known.enabled);
                let known = known.or_else(|| self.has_object(&object.path).then_some(true));
                let is_other = known.is_some() && object.enabled.is_some();
                (is_other && known != object.enabled).then_some(&object.path)
            }
            MappingPart::Field(_) | MappingPart::Alias { .. } => None,
        });
        match changed {
            None => Ok(()),
            Some(path) => Err(MappingError::ObjectEnabled { path: path.clone() }),
        }
    }

    /// Paths of objects, those that only follow from the paths of fields too.
    pub fn object_paths(&self) -> Vec<String> {
        let mut paths: std::collections::BTreeSet<String> = self.objects.keys().cloned().collect();
        for field in self.fields.iter().filter(|field| !field.multi_field) {
            paths.extend(
                field
                    .path
                    .match_indices('.')
                    .map(|(at, _)| field.path[..at].to_string()),
            );
        }
        paths.into_iter().collect()
    }
}

/// Refuses parameters of a part of the whole that would change.
fn refuse(
    part: &str,
    said: impl IntoIterator<Item = (FieldParameter, String, String)>,
) -> Result<(), MappingError> {
    let changes = said.into_iter().filter(|(_, from, to)| from != to);
    let changes = changes.map(|(parameter, from, to)| ParameterChange {
        parameter,
        from: Some(from),
        to: Some(to),
    });
    let changes: Vec<ParameterChange> = changes.collect();
    if changes.is_empty() {
        return Ok(());
    }
    Err(MappingError::Parameters {
        path: part.to_string(),
        changes,
    })
}

#[cfg(test)]
mod tests {
    use super::super::spec::{NestingSpec, ObjectSpec};
    use super::*;

    fn with_object(enabled: Option<bool>) -> MappingSpec {
        let object = ObjectSpec {
            path: "o".to_string(),
            dynamic: None,
            enabled,
            nesting: NestingSpec::Unsaid,
        };
        MappingSpec {
            parts: vec![MappingPart::Object(object)],
            ..MappingSpec::default()
        }
    }

    #[test]
    fn what_documents_were_taken_with_is_not_said_otherwise() {
        let mapping = Mapping::from_spec(with_object(None)).unwrap();
        let hidden = SourceShown {
            enabled: false,
            excludes: vec!["a".to_string(), "b".to_string()],
            ..SourceShown::default()
        };
        let source = |source: SourceShown| MappingSpec {
            source: Some(source),
            ..MappingSpec::default()
        };
        let routing = |required: bool| MappingSpec {
            routing_required: Some(required),
            ..MappingSpec::default()
        };
        for same in [
            MappingSpec::default(),
            source(SourceShown::default()),
            routing(false),
            with_object(Some(true)),
            with_object(None),
        ] {
            assert_eq!(mapping.check_said(&same), Ok(()));
        }
        let Err(MappingError::Parameters { path, changes }) = mapping.check_said(&source(hidden))
        else {
            panic!("what is handed out may not change");
        };
        assert_eq!(path, "_source");
        let told = changes
            .iter()
            .map(|change| (change.parameter, change.to.as_deref()));
        let expected = [
            (FieldParameter::Enabled, Some("false")),
            (FieldParameter::Excludes, Some("[a, b]")),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        assert!(mapping.check_said(&routing(true)).is_err());
        let refused = mapping.check_said(&with_object(Some(false)));
        let path = "o".to_string();
        assert_eq!(refused, Err(MappingError::ObjectEnabled { path }));
        // An index that is new says what it likes.
        assert_eq!(Mapping::new().check_said(&with_object(Some(false))), Ok(()));
    }
}

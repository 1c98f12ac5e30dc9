//! A field on its way into a mapping: what was said of it, with the names of analyzers resolved by the index, and the
//! fields that follow from it.

use std::sync::Arc;

use clew_analysis::{Analysis, POSITION_GAP, shown_name};

use super::choice::AnalyzerChoice;
use super::error::MappingError;
use super::field::{FieldKind, FieldSettings, MappedField, is_asked_for};
use super::grow::NewField;
use super::names::{PATHS_AND_VALUES, parent_path, words_path};
use super::spec::FieldSpec;
use super::typing;

/// A field to be added, with everything that a mapping can say of it.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) new: NewField,
    pub(crate) settings: FieldSettings,
}

/// All that is said of a field; analyzers under the names that the index's settings give them.
pub(super) fn spec_of(field: &MappedField) -> FieldSpec {
    let settings = field.settings.clone();
    let shown = |name: Option<String>| name.map(|name| shown_name(&name).to_string());
    let mut kind = field.kind.clone();
    let mut position_gap = None;
    if let FieldKind::Text { analyzer, .. } = &mut kind {
        *analyzer = shown_name(analyzer).to_string();
        position_gap = Some(settings.position_gap);
    }
    if let FieldKind::Completion(mapping) = &mut kind {
        mapping.analyzer = shown_name(&mapping.analyzer).to_string();
    }
    FieldSpec {
        path: field.path.clone(),
        multi_field: field.multi_field,
        kind,
        indexed: field.indexed,
        doc_values: settings.doc_values,
        store: settings.store,
        coerce: settings.coerce,
        ignore_malformed: settings.ignore_malformed,
        null_value: settings.null_value,
        copy_to: settings.copy_to,
        search_analyzer: shown(settings.search_analyzer),
        search_quote_analyzer: shown(settings.search_quote_analyzer),
        choice: settings.choice.as_deref().cloned().map(shown_choice),
        count_analyzer: shown(settings.count_analyzer),
        count_gaps: settings.count_gaps,
        normalizer: shown(settings.normalizer),
        split_queries: settings.split_queries,
        position_gap,
        similarity: settings.similarity,
        fielddata: settings.fielddata,
        term_vectors: settings.term_vectors,
        inverse: settings.inverse,
        meta: settings.meta,
        join: settings.join.as_deref().cloned(),
        compression: settings.compression,
        shown: settings.shown,
    }
}

/// A choice of analyzers under the names that the index's settings give them.
fn shown_choice(mut choice: AnalyzerChoice) -> AnalyzerChoice {
    for name in choice.analyzers.values_mut() {
        *name = shown_name(name).to_string();
    }
    choice
}

/// The field of which all this is said.
pub(super) fn definition_of(
    spec: FieldSpec,
    analysis: &Analysis,
) -> Result<Definition, MappingError> {
    let known = |name: String| {
        let found = analysis.analyzer(&name);
        found.ok_or(MappingError::UnknownAnalyzer { name })
    };
    let normalizer = |name: String| match analysis.normalizer(&name) {
        Some(found) => Ok(found),
        None => {
            let path = spec.path.clone();
            Err(MappingError::UnknownNormalizer { path, name })
        }
    };
    let mut kind = spec.kind;
    let mut position_gap = POSITION_GAP;
    if let FieldKind::Text { analyzer, .. } = &mut kind {
        position_gap = analysis.position_gap(analyzer);
        *analyzer = known(std::mem::take(analyzer))?;
    }
    if let FieldKind::Completion(mapping) = &mut kind {
        mapping.analyzer = known(std::mem::take(&mut mapping.analyzer))?;
    }
    if let Some(relations) = &spec.join {
        relations.check(&spec.path)?;
    }
    let settings = FieldSettings {
        hidden: is_asked_for(&spec.path, &kind),
        coerce: spec.coerce,
        ignore_malformed: spec.ignore_malformed,
        null_value: spec.null_value,
        copy_to: spec.copy_to,
        search_analyzer: spec.search_analyzer.map(known).transpose()?,
        search_quote_analyzer: spec.search_quote_analyzer.map(known).transpose()?,
        choice: spec
            .choice
            .map(|choice| choice.renamed(known).map(Arc::new))
            .transpose()?,
        count_analyzer: spec.count_analyzer.map(known).transpose()?,
        count_gaps: spec.count_gaps,
        normalizer: spec.normalizer.map(normalizer).transpose()?,
        split_queries: spec.split_queries,
        store: spec.store,
        doc_values: spec.doc_values,
        position_gap: spec.position_gap.unwrap_or(position_gap),
        similarity: spec.similarity,
        fielddata: spec.fielddata,
        term_vectors: spec.term_vectors,
        inverse: spec.inverse,
        meta: spec.meta,
        join: spec.join.map(Arc::new),
        compression: spec.compression,
        shown: spec.shown,
    };
    Ok(Definition {
        new: NewField {
            path: spec.path,
            kind,
            indexed: spec.indexed,
            multi_field: spec.multi_field,
        },
        settings,
    })
}

/// The fields that come with one of this kind.
pub(super) fn hidden_fields(definition: &Definition) -> Vec<Definition> {
    let hidden = |name: &str, kind: FieldKind| Definition {
        new: NewField {
            path: format!("{}.{name}", definition.new.path),
            kind,
            indexed: true,
            multi_field: true,
        },
        settings: FieldSettings {
            hidden: true,
            ..FieldSettings::default()
        },
    };
    match definition.new.kind {
        FieldKind::Flat => vec![hidden(PATHS_AND_VALUES, FieldKind::keyword(None))],
        FieldKind::Percolator => {
            let mut words = hidden("", FieldKind::keyword(None));
            words.new.path = words_path(&definition.new.path);
            words.new.multi_field = false;
            vec![words]
        }
        _ if definition.settings.join.is_some() => {
            let relations = definition.settings.join.iter();
            let parents = relations.flat_map(|relations| relations.parents());
            let ids = |parent| {
                let mut ids = hidden("", FieldKind::keyword(None));
                ids.new.path = parent_path(&definition.new.path, parent);
                ids.new.multi_field = false;
                ids
            };
            parents.map(ids).collect()
        }
        _ => typing::beside(definition)
            .into_iter()
            .map(|(name, kind, settings)| Definition {
                settings,
                ..hidden(&name, kind)
            })
            .collect(),
    }
}

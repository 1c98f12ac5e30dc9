//! Fields and functions that are dropped: clients no longer see them, and rows are written without them. What rows had by
//! then stays in their documents and in the index, so that no field can be called as one that was dropped before that is
//! taken out of them.

use std::mem;

use super::{Collection, DYNAMIC, Field, RowAnalyzers, TTL_FIELD};
use crate::error::{MilvusError, Result};

impl Collection {
    /// Drops a field, or a field of structs, and its indexes.
    ///
    /// # Errors
    /// In Milvus' words: when there is no such field, and when the collection cannot be without it.
    pub(crate) fn drop_field(&mut self, name: &str) -> Result<()> {
        let (id, dropped) = match self.struct_field(name) {
            Some(one) => {
                let mut vectors = self.vectors();
                if vectors.all(|vector| one.parts.contains(vector)) {
                    return Err(MilvusError::invalid(format!(
                        "cannot drop struct array field {name}: it would leave no vector field in the collection"
                    )));
                }
                let parts = one.parts.iter().map(|part| (part.id, part.name.clone()));
                let (ids, names): (Vec<i64>, Vec<String>) = parts.unzip();
                (ids.into_iter().fold(one.id, i64::max), names)
            }
            None => {
                let mut fields = self.fields.iter();
                let field = fields
                    .find(|field| field.name == name)
                    .ok_or_else(|| MilvusError::invalid(format!("field not found: {name}")))?;
                self.check_droppable(field)?;
                (field.id, vec![field.name.clone()])
            }
        };
        self.fields.retain(|field| field.name != name);
        self.structs.retain(|one| one.name != name);
        self.indexes
            .retain(|index| !dropped.contains(&index.field) && index.field != name);
        self.dropped.insert(name.to_string());
        self.last_dropped = self.last_dropped.max(Some(id));
        Ok(())
    }

    /// Drops the field of a number.
    ///
    /// # Errors
    /// As [`Collection::drop_field`] has them.
    pub(crate) fn drop_field_of(&mut self, id: i64) -> Result<()> {
        let fields = self.fields.iter().map(|field| (field.id, &field.name));
        let structs = self.structs.iter().map(|one| (one.id, &one.name));
        let mut all = fields.chain(structs);
        let name = all
            .find(|(own, _)| *own == id)
            .map(|(_, name)| name.clone());
        match name {
            Some(name) => self.drop_field(&name),
            None => Err(MilvusError::invalid(format!("field not found: {id}"))),
        }
    }

    /// Lets rows have nothing beyond the fields any more: what they have by now is not seen, and its indexes go.
    pub(super) fn drop_dynamic(&mut self) {
        self.dynamic = false;
        self.last_dropped = self.last_dropped.max(self.dynamic_id.take());
        let indexes = mem::take(&mut self.indexes).into_iter();
        let is_of_fields =
            |name: &str| self.field(name).is_ok() || self.struct_field(name).is_some();
        let kept = indexes.filter(|index| is_of_fields(&index.field)).collect();
        self.indexes = kept;
        self.dropped.insert(DYNAMIC.to_string());
    }

    /// Drops a function, the fields that it fills and their indexes. Nothing was kept for those of words, so that their
    /// names are free again.
    ///
    /// # Errors
    /// In Milvus' words: when there is no such function, and when no vector would be left.
    pub(crate) fn drop_function(&mut self, name: &str) -> Result<()> {
        let mut functions = self.functions.iter();
        let outputs = functions
            .find(|function| function.name == name)
            .map(|function| function.outputs.clone())
            .ok_or_else(|| MilvusError::invalid(format!("function not found: {name}")))?;
        if self.vectors().all(|vector| outputs.contains(&vector.name)) {
            return Err(MilvusError::invalid(format!(
                "cannot drop function {name}: it would leave no vector field in the collection"
            )));
        }
        let filled = self.fields.iter();
        let filled = filled.filter(|field| outputs.contains(&field.name));
        let last = filled.clone().map(|field| field.id).max();
        self.last_dropped = self.last_dropped.max(last);
        let kept = filled.filter(|field| !field.is_of_words());
        let kept: Vec<String> = kept.map(|field| field.name.clone()).collect();
        self.dropped.extend(kept);
        self.fields.retain(|field| !outputs.contains(&field.name));
        self.indexes.retain(|index| !outputs.contains(&index.field));
        self.functions.retain(|function| function.name != name);
        Ok(())
    }

    fn check_droppable(&self, field: &Field) -> Result<()> {
        let name = &field.name;
        let refused = if field.is_primary {
            format!("cannot drop primary key field: {name}")
        } else if field.is_partition_key {
            format!("cannot drop partition key field: {name}")
        } else if field.is_clustering_key {
            format!("cannot drop clustering key field: {name}")
        } else if self.field_of_ends() == Some(field) {
            format!(
                "cannot drop field {name} because it is referenced by collection property {TTL_FIELD}, drop the property first"
            )
        } else if let Some((function, part)) = self.part_in_function(name) {
            format!("field is referenced by function {function} as {part}, drop function first")
        } else if let Some(text) = self.analyzed_by(name)? {
            format!("field is referenced by multi_analyzer_params of field {text}: {name}")
        } else if field.data_type.is_vector() && self.vectors().count() == 1 {
            format!("cannot drop the last vector field: {name}")
        } else {
            return Ok(());
        };
        Err(MilvusError::invalid(refused))
    }

    /// The name of a field of texts whose analyzers are chosen by another field.
    fn analyzed_by(&self, chooser: &str) -> Result<Option<&str>> {
        for field in &self.fields {
            if RowAnalyzers::of(field)?.is_some_and(|several| several.go_by(chooser)) {
                return Ok(Some(&field.name));
            }
        }
        Ok(None)
    }

    /// The function that a field belongs to, and what it is there.
    fn part_in_function(&self, field: &str) -> Option<(&str, &'static str)> {
        self.functions.iter().find_map(|function| {
            let has = |names: &[String]| names.iter().any(|name| name == field);
            let part = match (has(&function.inputs), has(&function.outputs)) {
                (true, _) => "input",
                (false, true) => "output",
                (false, false) => return None,
            };
            Some((function.name.as_str(), part))
        })
    }

    /// Refuses a field that is called as one that was dropped, whose values rows may still have.
    pub(super) fn check_not_dropped(&self, name: &str) -> Result<()> {
        match self.dropped.contains(name) {
            false => Ok(()),
            true => Err(MilvusError::Unsupported(format!(
                "another field of the name {name}, which a dropped one had,"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::collection::KeptIndex;
    use crate::proto::KeyValuePair;

    #[test]
    fn what_rows_have_beyond_the_fields_goes_with_its_indexes_and_comes_back_empty() {
        let mut collection = collection();
        (collection.dynamic, collection.dynamic_id) = (true, Some(105));
        let beyond = KeptIndex {
            id: 9,
            name: "$meta/a".to_string(),
            field: "a".to_string(),
            params: BTreeMap::new(),
        };
        collection.indexes.push(beyond);
        let before = collection.indexes.len();
        let mut say = |given: &str| {
            let key = "dynamicfield.enabled".to_string();
            collection.properties.insert(key, given.to_string());
            let part = collection.settle_dynamic().unwrap();
            let is_dropped = collection.dropped.contains(DYNAMIC);
            let told = (collection.dynamic, collection.dynamic_id, is_dropped);
            (part.is_some(), told, collection.indexes.len())
        };
        let gone = (false, (false, None, true), before - 1);
        assert_eq!(say("false"), gone);
        assert_eq!(say("false"), gone);
        assert_eq!(say("true"), (true, (true, Some(106), false), before - 1));
    }

    fn collection() -> Collection {
        let kept = json!({
            "id": 1, "dynamic": false, "consistency_level": 0, "shards": 1,
            "partitions": {"_default": 1}, "loaded": true, "updated_ms": 0,
            "fields": [
                {"id": 100, "name": "id", "data_type": "Int64", "is_primary": true},
                {"id": 101, "name": "v", "data_type": "FloatVector", "params": {"dim": "2"}},
                {"id": 102, "name": "text", "data_type": "VarChar",
                 "params": {"max_length": "100", "enable_analyzer": "true"}},
                {"id": 103, "name": "sparse", "data_type": "SparseFloatVector", "is_function_output": true},
                {"id": 104, "name": "tag", "data_type": "VarChar", "params": {"max_length": "10"}},
            ],
            "functions": [{"id": 100, "name": "bm25", "inputs": ["text"], "outputs": ["sparse"]}],
            "indexes": [
                {"id": 1, "name": "tags", "field": "tag", "params": {}},
                {"id": 2, "name": "sparse", "field": "sparse", "params": {}},
                {"id": 3, "name": "v", "field": "v", "params": {}},
            ],
        });
        serde_json::from_value(kept).unwrap()
    }

    #[test]
    fn what_a_collection_cannot_be_without_stays() {
        let mut own = collection();
        for (name, want) in [
            ("id", "cannot drop primary key field: id"),
            ("missing", "field not found: missing"),
            ("$meta", "field not found: $meta"),
            (
                "text",
                "field is referenced by function bm25 as input, drop function first",
            ),
            (
                "sparse",
                "field is referenced by function bm25 as output, drop function first",
            ),
        ] {
            let error = own.drop_field(name).unwrap_err();
            assert_eq!(error.code(), 1100);
            assert!(error.to_string().starts_with(want), "{error}");
        }
        assert_eq!(own, collection());
        own.properties.insert(TTL_FIELD.into(), "tag".into());
        let error = own.drop_field("tag").unwrap_err().to_string();
        let want = "cannot drop field tag because it is referenced by collection property ttl_field, drop the property first";
        assert!(error.starts_with(want), "{error}");
        own.properties.remove(TTL_FIELD);
        own.drop_field("tag").unwrap();
        own.drop_function("bm25").unwrap();
        let error = own.drop_function("bm25").unwrap_err().to_string();
        assert!(error.starts_with("function not found: bm25"), "{error}");
        let error = own.drop_field("v").unwrap_err().to_string();
        assert!(error.starts_with("cannot drop the last vector field: v"));
    }

    #[test]
    fn what_is_dropped_goes_with_its_indexes_and_its_number_is_not_given_again() {
        let mut own = collection();
        own.drop_field_of(104).unwrap();
        own.drop_function("bm25").unwrap();
        let fields: Vec<&str> = own.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(fields, ["id", "v", "text"]);
        let indexes: Vec<&str> = own
            .indexes
            .iter()
            .map(|index| index.name.as_str())
            .collect();
        assert_eq!(indexes, ["v"]);
        assert!(own.functions.is_empty());
        assert_eq!(own.last_id(), 104);
        let told = own.told_properties();
        let is_greatest = |pair: &&KeyValuePair| pair.key == "max_field_id";
        assert_eq!(told.iter().find(is_greatest).unwrap().value, "104");
        assert_eq!(own.check_not_dropped("tag").unwrap_err().code(), 3000);
        assert!(own.check_not_dropped("sparse").is_ok());
    }
}

//! What of each row is wanted: read from the names that a client sent, and told as columns.

use std::collections::BTreeMap;

use bytes::Bytes;
use clew_engine::{FieldValues, WantedField};
use jiff::tz::TimeZone;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::answer::{filled, key_column, parts_column, scalars, told_column, vector_column};
use super::structs::WantedStruct;
use crate::collection::{Collection, DYNAMIC, DataType, Field, StructField};
use crate::error::{MilvusError, Result};
use crate::expr::inside;
use crate::instant::{InstantPart, PARTS, ZONE, parts_of, zone_of};
use crate::proto::{self, FieldData, scalar_field};

/// What of each row is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) scalars: Vec<Field>,
    pub(crate) vectors: Vec<Field>,
    pub(crate) structs: Vec<WantedStruct>,
    /// Keys of what rows have beyond the fields; all of them where `whole_dynamic` is set.
    pub(crate) dynamic: Vec<String>,
    pub(crate) whole_dynamic: bool,
    /// The names as they were asked for.
    pub(crate) names: Vec<String>,
    /// The zone that instants are told in.
    zone: TimeZone,
    /// What is told of them in the place of texts, if anything.
    parts: Vec<InstantPart>,
}

impl Wanted {
    /// Reads the names of fields that a client wants to see.
    ///
    /// # Errors
    /// For a name that is no field, in a collection without dynamic fields.
    pub(crate) fn read(collection: &Collection, names: &[String]) -> Result<Wanted> {
        let mut wanted = Wanted {
            scalars: Vec::new(),
            vectors: Vec::new(),
            structs: Vec::new(),
            dynamic: Vec::new(),
            whole_dynamic: false,
            names: Vec::new(),
            zone: collection.zone(),
            parts: Vec::new(),
        };
        for name in names {
            match name.trim() {
                "*" => {
                    for field in &collection.fields {
                        wanted.add(field);
                    }
                    for field in &collection.structs {
                        wanted.add_struct(field, &field.parts);
                    }
                    wanted.whole_dynamic |= collection.dynamic;
                }
                DYNAMIC if collection.dynamic => wanted.whole_dynamic = true,
                name if let Some(field) = collection.struct_field(name) => {
                    wanted.add_struct(field, &field.parts);
                }
                name => match collection.field(name) {
                    Ok(part) if part.is_part() => wanted.add_part(collection, part),
                    Ok(field) if field.is_of_words() => {
                        return Err(MilvusError::invalid(format!(
                            "not allowed to retrieve raw data of field {name}"
                        )));
                    }
                    Ok(field) => wanted.add(field),
                    Err(_) if collection.dynamic => {
                        let said = match inside(name, collection) {
                            Ok(Some((member, _))) if member == DYNAMIC => None,
                            Ok(Some(_)) => {
                                Some("not support getting subkeys of json field yet".into())
                            }
                            _ => Some(format!("{name} is no name, and no path of one")),
                        };
                        if let Some(said) = said {
                            return Err(MilvusError::invalid(format!(
                                "parse output field name failed: {said}"
                            )));
                        }
                        wanted.add_dynamic(collection, name);
                    }
                    Err(_) => {
                        return Err(MilvusError::invalid(format!("field {name} not exist")));
                    }
                },
            }
        }
        Ok(wanted)
    }

    fn add(&mut self, field: &Field) {
        if field.is_of_words() || self.names.contains(&field.name) {
            return;
        }
        self.names.push(field.name.clone());
        if field.data_type.is_vector() {
            self.vectors.push(field.clone());
        } else {
            self.scalars.push(field.clone());
        }
    }

    fn add_struct(&mut self, field: &StructField, parts: &[Field]) {
        let mut structs = self.structs.iter_mut();
        let Some(known) = structs.find(|known| known.field.name == field.name) else {
            self.names.push(field.name.clone());
            return self.structs.push(WantedStruct {
                field: field.clone(),
                parts: parts.to_vec(),
            });
        };
        let all = field.parts.iter();
        let wanted = all.filter(|part| known.parts.contains(part) || parts.contains(part));
        known.parts = wanted.cloned().collect();
    }

    fn add_part(&mut self, collection: &Collection, part: &Field) {
        if let Some(around) = collection.struct_of(part) {
            self.add_struct(around, std::slice::from_ref(part));
        }
    }

    fn add_dynamic(&mut self, collection: &Collection, path: &str) {
        // Of a path into the dynamic field its first key is handed out.
        let key = path
            .strip_prefix("$meta[\"")
            .and_then(|rest| rest.split_once("\"]"))
            .map_or(path, |(key, _)| key);
        let key = key.split_once('[').map_or(key, |(key, _)| key);
        if collection.field(key).is_ok() {
            // By this name the field is told: what rows had by it before the field came is not.
            return self.names.push(path.to_string());
        }
        if !self.names.iter().any(|name| name == key) {
            self.names.push(key.to_string());
        }
        self.dynamic.push(key.to_string());
    }

    /// The same with instants told in the zone, and by the parts, that a request names, where it names any.
    ///
    /// # Errors
    /// For a zone that nobody knows, and for parts that instants do not have.
    pub(crate) fn told_by(mut self, params: &BTreeMap<String, String>) -> Result<Self> {
        if let Some(parts) = params.get(PARTS) {
            self.parts = parts_of(parts)?;
        }
        if params.contains_key(ZONE) {
            self.zone = zone_of(params)?;
        }
        Ok(self)
    }

    /// The zone that instants are told in.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Refuses parts of instants, where instants are told by other than rows.
    ///
    /// # Errors
    /// Where a request names any.
    pub(crate) fn check_whole_instants(&self) -> Result<()> {
        match self.parts.is_empty() {
            true => Ok(()),
            false => Err(MilvusError::Unsupported(format!("{PARTS} of groups"))),
        }
    }

    /// The key is always handed out.
    pub(crate) fn with_primary(mut self, collection: &Collection) -> Self {
        self.add(collection.primary());
        self
    }

    /// What has to be read of each row, in the order in which [`Wanted::columns`] takes it.
    pub(crate) fn fields(&self) -> Vec<WantedField> {
        let scalar = |field: &Field| match field.data_type {
            DataType::Json | DataType::Array | DataType::Geometry => {
                WantedField::Json(field.name.clone())
            }
            _ => WantedField::Typed(field.name.clone()),
        };
        let scalars = self
            .scalars
            .iter()
            .filter(|field| !field.is_primary)
            .map(scalar);
        let vectors = self.vectors.iter().map(scalar);
        let structs = self.structs.iter().flat_map(|one| {
            let parts = one.parts.iter().filter(|part| part.data_type.is_vector());
            let vectors = parts.map(|part| WantedField::Typed(part.path().to_string()));
            std::iter::once(WantedField::Json(one.field.name.clone())).chain(vectors)
        });
        let dynamic = self
            .has_dynamic()
            .then(|| WantedField::Json(DYNAMIC.to_string()));
        scalars
            .chain(vectors)
            .chain(structs)
            .chain(dynamic)
            .collect()
    }

    fn has_dynamic(&self) -> bool {
        self.whole_dynamic || !self.dynamic.is_empty()
    }

    /// The columns of rows with these ids, of what was read of them.
    ///
    /// # Errors
    /// When a document does not hold what its field says.
    pub(crate) fn columns(&self, ids: &[&str], read: Vec<FieldValues>) -> Result<Vec<FieldData>> {
        let missing = || MilvusError::Internal("a column was not read".into());
        let mut read = read.into_iter();
        let mut columns = Vec::new();
        for field in &self.scalars {
            if field.is_primary {
                columns.push(key_column(field, ids)?);
                continue;
            }
            let values = read.next().ok_or_else(missing)?;
            let values = match field.added_default() {
                Some(default) => filled(values, default),
                None => values,
            };
            columns.push(match field.data_type {
                DataType::Timestamptz if !self.parts.is_empty() => {
                    parts_column(field, values, (&self.parts, &self.zone))?
                }
                _ => told_column(field, values, &self.zone)?,
            });
        }
        for field in &self.vectors {
            columns.push(vector_column(field, read.next().ok_or_else(missing)?)?);
        }
        for one in &self.structs {
            let lists = read.next().ok_or_else(missing)?;
            let count = one.parts.iter().filter(|part| part.data_type.is_vector());
            let vectors = read.by_ref().take(count.count()).collect();
            columns.push(one.column(lists, vectors)?);
        }
        if self.has_dynamic() {
            columns.push(self.dynamic_column(read.next().ok_or_else(missing)?)?);
        }
        Ok(columns)
    }

    fn dynamic_column(&self, read: FieldValues) -> Result<FieldData> {
        let FieldValues::Json(values) = read else {
            return Err(MilvusError::Internal("the dynamic field is no JSON".into()));
        };
        let shown = |json: Option<Box<RawValue>>| -> Result<Bytes> {
            // Null is what was taken out of a row.
            let Some(json) = json.filter(|json| json.get() != "null") else {
                return Ok(Bytes::from_static(b"{}"));
            };
            if self.whole_dynamic {
                return Ok(Bytes::from(json.get().to_string()));
            }
            let mut own: Map<String, Value> =
                serde_json::from_str(json.get()).map_err(|error| {
                    MilvusError::Internal(format!("the dynamic field of a row: {error}"))
                })?;
            own.retain(|key, _| self.dynamic.contains(key));
            Ok(Bytes::from(Value::Object(own).to_string()))
        };
        let data = values.into_iter().map(shown).collect::<Result<_>>()?;
        Ok(FieldData {
            r#type: DataType::Json.number(),
            field_name: DYNAMIC.to_string(),
            is_dynamic: true,
            field: scalars(scalar_field::Data::JsonData(proto::JsonArray { data })),
            ..FieldData::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_beside_a_field_of_its_name_is_not_told_as_the_field() {
        let collection: Collection = serde_json::from_value(json!({
            "id": 1, "dynamic": true, "consistency_level": 0, "shards": 1, "partitions": {"_default": 1}, "loaded": true,
            "updated_ms": 0,
            "fields": [
                {"id": 1, "name": "id", "data_type": "Int64", "is_primary": true},
                {"id": 2, "name": "t", "data_type": "VarChar", "nullable": true},
            ],
        }))
        .unwrap();
        let names = ["t", "$meta[\"t\"]", "$meta[\"u\"]"].map(str::to_string);
        let wanted = Wanted::read(&collection, &names).unwrap();
        assert_eq!(wanted.names, ["t", "$meta[\"t\"]", "u"]);
        assert_eq!(wanted.dynamic, ["u"]);
    }

    #[test]
    fn parts_of_instants_are_for_rows_alone() {
        let collection: Collection = serde_json::from_value(json!({
            "id": 1, "dynamic": false, "consistency_level": 0, "shards": 1, "partitions": {"_default": 1}, "loaded": true,
            "updated_ms": 0,
            "fields": [
                {"id": 1, "name": "id", "data_type": "Int64", "is_primary": true},
                {"id": 2, "name": "at", "data_type": "Timestamptz", "nullable": true},
            ],
        }))
        .unwrap();
        let told = |parts: &str| {
            let params = BTreeMap::from([(PARTS.to_string(), parts.to_string())]);
            let wanted = Wanted::read(&collection, &["at".to_string()]).unwrap();
            wanted.told_by(&params)
        };
        told("").unwrap().check_whole_instants().unwrap();
        let wanted = told("hour, minute").unwrap();
        assert_eq!(wanted.check_whole_instants().unwrap_err().code(), 3000);
        let read = FieldValues::Integers(vec![Some(3_660_000_000), None]);
        let columns = wanted.columns(&["1", "2"], vec![read]).unwrap();
        let column = columns.first().unwrap();
        assert_eq!(column.r#type, DataType::Array.number());
        assert_eq!(column.valid_data, [true, false]);
        let rows = crate::rows::json::objects(&columns);
        let shown: Vec<&Value> = rows.iter().filter_map(|row| row.get("at")).collect();
        assert_eq!(shown, [&json!([1, 1]), &Value::Null]);
        assert_eq!(told("week").unwrap_err().code(), 1100);
    }
}

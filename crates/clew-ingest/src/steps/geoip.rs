//! `geoip`: where an address is, from a database in MaxMind's format that the user puts into the
//! folder `geoip` of the data folder.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use maxminddb::Reader;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::document::Document;
use crate::error::{DefinitionError, Failure};
use crate::members::{flag, optional, properties, text};

/// The folder of databases, in the data folder.
const FOLDER: &str = "geoip";
/// Databases are read into memory; a larger file is refused.
const DATABASE_BYTES_MAX: u64 = 1 << 30;

/// What is told of an address unless the step says otherwise, by the kind of database.
const CITY: &[&str] = &[
    "continent_name",
    "country_name",
    "country_iso_code",
    "region_iso_code",
    "region_name",
    "city_name",
    "location",
];
const COUNTRY: &[&str] = &["continent_name", "country_name", "country_iso_code"];
const ASN: &[&str] = &["ip", "asn", "organization_name"];

/// Everything that can be told.
const PROPERTIES: [&str; 13] = [
    "ip",
    "country_iso_code",
    "country_name",
    "continent_code",
    "continent_name",
    "region_iso_code",
    "region_name",
    "city_name",
    "timezone",
    "location",
    "asn",
    "organization_name",
    "network",
];

/// A database that was read, and the time of its file.
type Read = (SystemTime, Arc<Reader<Vec<u8>>>);

/// The step.
#[derive(Debug)]
pub(crate) struct GeoIp {
    field: String,
    target: String,
    database: String,
    properties: Option<Vec<String>>,
    first_only: bool,
    ignore_missing: bool,
}

impl GeoIp {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let database =
            optional(config, "database_file")?.unwrap_or_else(|| "GeoLite2-City.mmdb".to_string());
        if database.contains(['/', '\\']) || database.starts_with('.') {
            return Err(DefinitionError::refused(
                "database_file",
                format!(
                    "must be the name of a file in the folder [{FOLDER}] of the data \
                 folder, got [{database}]"
                ),
            ));
        }
        let properties = properties(config, &PROPERTIES)?;
        Ok(GeoIp {
            field: text(config, "field")?,
            target: optional(config, "target_field")?.unwrap_or_else(|| "geoip".to_string()),
            database,
            properties,
            first_only: flag(config, "first_only", true)?,
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    /// Looks addresses up in a database of the data folder, if there is one.
    pub(crate) fn apply(
        &self,
        document: &mut Document,
        data: Option<&Path>,
    ) -> Result<(), Failure> {
        let value = match document.get(&self.field) {
            None | Some(Value::Null) if self.ignore_missing => return Ok(()),
            None | Some(Value::Null) => {
                return Err(Failure::unfit(format!(
                    "field [{}] is null, cannot extract geoip information.",
                    self.field
                )));
            }
            Some(value) => value,
        };
        let data = data.ok_or_else(|| no_database(&self.database))?;
        let database = database(&data.join(FOLDER).join(&self.database))?;
        let told = match &value {
            Value::Array(items) => {
                let found = items.iter().map(|item| self.one(item, &database));
                let mut found = found.filter_map(Result::transpose);
                if self.first_only {
                    found.next().transpose()?.map(Value::Object)
                } else {
                    let all: Vec<Value> = found
                        .map(|one| one.map(Value::Object))
                        .collect::<Result<_, _>>()?;
                    (!all.is_empty()).then_some(Value::Array(all))
                }
            }
            one => self.one(one, &database)?.map(Value::Object),
        };
        match told {
            Some(told) => document.set(&self.target, told),
            None => Ok(()),
        }
    }

    /// What is told of one address; `None` when the database does not know it.
    fn one(
        &self,
        value: &Value,
        database: &Reader<Vec<u8>>,
    ) -> Result<Option<Map<String, Value>>, Failure> {
        let Some(text) = value.as_str() else {
            return Err(Failure::unfit(format!(
                "field [{}] should contain only string or array of strings",
                self.field
            )));
        };
        let address: IpAddr = text
            .parse()
            .map_err(|_| Failure::unfit(format!("'{text}' is not an IP string literal.")))?;
        let damaged = |error: maxminddb::MaxMindDbError| {
            Failure::unfit(format!("database file [{}]: {error}", self.database))
        };
        let found = database.lookup(address).map_err(damaged)?;
        let Some(record) = found.decode::<Value>().map_err(damaged)? else {
            return Ok(None);
        };
        let network = found.network().map_err(damaged)?.to_string();
        let kind = &database.metadata().database_type;
        let usual = match kind {
            kind if kind.ends_with("ASN") => ASN,
            kind if kind.ends_with("Country") => COUNTRY,
            _ => CITY,
        };
        let mut told = Map::new();
        let mut tell = |name: &str| {
            let value = match name {
                "ip" => Some(json!(address.to_string())),
                "network" => Some(json!(network)),
                _ => property(&record, name),
            };
            if let Some(value) = value {
                told.insert(name.to_string(), value);
            }
        };
        match &self.properties {
            Some(names) => names.iter().for_each(|name| tell(&name.to_lowercase())),
            None => usual.iter().for_each(|name| tell(name)),
        }
        Ok(Some(told))
    }
}

/// What a record says under one of our names.
fn property(record: &Value, name: &str) -> Option<Value> {
    let text = |pointer: &str| record.pointer(pointer).cloned();
    match name {
        "country_iso_code" => text("/country/iso_code"),
        "country_name" => text("/country/names/en"),
        "continent_code" => text("/continent/code"),
        "continent_name" => text("/continent/names/en"),
        "region_iso_code" => {
            let country = text("/country/iso_code")?;
            let region = text("/subdivisions/0/iso_code")?;
            Some(json!(format!("{}-{}", country.as_str()?, region.as_str()?)))
        }
        "region_name" => text("/subdivisions/0/names/en"),
        "city_name" => text("/city/names/en"),
        "timezone" => text("/location/time_zone"),
        "location" => Some(json!({
            "lat": text("/location/latitude")?,
            "lon": text("/location/longitude")?,
        })),
        "asn" => text("/autonomous_system_number"),
        "organization_name" => text("/autonomous_system_organization"),
        _ => None,
    }
}

/// A database, read again when its file has changed.
fn database(path: &Path) -> Result<Arc<Reader<Vec<u8>>>, Failure> {
    static READ: LazyLock<Mutex<BTreeMap<PathBuf, Read>>> = LazyLock::new(Mutex::default);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let missing = |_| no_database(&name);
    let file = std::fs::metadata(path).map_err(missing)?;
    if !file.is_file() {
        // A named pipe would be waited for, with all documents behind it.
        return Err(Failure::unfit(format!("database file [{name}] is no file")));
    }
    let changed = file.modified().map_err(missing)?;
    // Others go on with their databases while one is read.
    let known = READ.lock().get(path).cloned();
    if let Some((when, reader)) = known
        && when == changed
    {
        return Ok(reader);
    }
    if file.len() > DATABASE_BYTES_MAX {
        return Err(Failure::unfit(format!(
            "database file [{name}] has more than {DATABASE_BYTES_MAX} bytes"
        )));
    }
    let reader = Reader::open_readfile(path).map_err(|error| {
        Failure::unfit(format!("database file [{name}] cannot be read: {error}"))
    })?;
    let reader = Arc::new(reader);
    READ.lock()
        .insert(path.to_path_buf(), (changed, reader.clone()));
    Ok(reader)
}

fn no_database(name: &str) -> Failure {
    Failure::unfit(format!("database file [{name}] doesn't exist"))
}

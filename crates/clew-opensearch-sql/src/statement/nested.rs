//! `nested(path.field)` where values are shown: one row for each of the objects at the path.

use crate::error::SqlError;
use crate::fields::Fields;
use crate::statement::expr::{Call, Expr};
use crate::statement::plan::{MemberColumn, Output, Stage, Unnest};

/// Behind a path: all fields right below it.
pub(crate) const ALL: &str = ".*";

/// Paths of nested objects that one SELECT shows.
const PATHS_MAX: usize = 5;

/// How the columns begin that show their fields, and those that hold the objects.
const SHOWN: &str = "#nested.";
const OBJECTS: &str = "#objects.";

/// The nested objects that a SELECT shows.
#[derive(Debug, Default)]
pub(crate) struct Nested {
    /// Each path with the fields below it.
    paths: Vec<(String, Vec<String>)>,
}

/// The field and the path that `nested` is called with.
pub(crate) fn field_and_path(call: &Call) -> Result<(&str, &str), SqlError> {
    let wrong =
        || SqlError::semantic("nested function expected a field below a path of nested objects");
    let (field, path) = match call.args.as_slice() {
        [Expr::Column(field)] => (field, field.rsplit_once('.').ok_or_else(wrong)?.0),
        [Expr::Column(field), Expr::Column(path)] => (field, path.as_str()),
        _ => return Err(wrong()),
    };
    let rest = field
        .strip_prefix(path)
        .and_then(|rest| rest.strip_prefix('.'));
    rest.map(|_| (field.as_str(), path)).ok_or_else(wrong)
}

impl Nested {
    /// An expression in which `nested` became columns.
    pub(crate) fn taken(&mut self, expr: Expr) -> Result<Expr, SqlError> {
        let mut failed = Ok(());
        let taken = expr.replaced(&mut |part| match part {
            Expr::Call(call) if call.name == "nested" => match self.column(call) {
                Ok(column) => Some(Expr::Column(column)),
                Err(error) => {
                    failed = Err(error);
                    None
                }
            },
            _ => None,
        });
        failed.map(|()| taken)
    }

    fn column(&mut self, call: &Call) -> Result<String, SqlError> {
        let (field, path) = field_and_path(call)?;
        let have = self.paths.iter().position(|(have, _)| have == path);
        let at = have.unwrap_or_else(|| {
            self.paths.push((path.to_string(), Vec::new()));
            self.paths.len() - 1
        });
        if self.paths.len() > PATHS_MAX {
            return Err(SqlError::too_large(format!(
                "the query shows more than {PATHS_MAX} paths of nested objects"
            )));
        }
        let (_, fields) = &mut self.paths[at];
        if !fields.iter().any(|have| have == field) {
            fields.push(field.to_string());
        }
        Ok(shown(field))
    }

    /// Makes rows of the objects; documents without any stay, as one row.
    pub(crate) fn stages(&self) -> Vec<Stage> {
        let paths = self.paths.iter();
        paths
            .flat_map(|(path, fields)| {
                let fields = fields.iter().map(|field| {
                    let below = field.strip_prefix(path.as_str()).unwrap_or_default();
                    let below = below.trim_start_matches('.');
                    (below.to_string(), shown(field))
                });
                unnested(path, fields.collect(), true)
            })
            .collect()
    }
}

/// The column of a field of nested objects.
fn shown(field: &str) -> String {
    format!("{SHOWN}{field}")
}

/// Puts the fields right below a path in place of its star, now that they are known.
///
/// # Errors
/// A path that there is not.
pub(crate) fn expand_stars(stage: &mut Stage, fields: &Fields) -> Result<(), SqlError> {
    match stage {
        Stage::Eval(new) => {
            let old = std::mem::take(new);
            for (name, expr) in old {
                let path = match &expr {
                    Expr::Column(of) if name.starts_with(OBJECTS) => of.strip_suffix(ALL),
                    _ => None,
                };
                let Some(path) = path.map(str::to_string) else {
                    new.push((name, expr));
                    continue;
                };
                fields.require(&path)?;
                let column = name.strip_suffix(ALL).unwrap_or(&name);
                new.extend(fields.below(&path).map(|below| {
                    let of = Expr::column(format!("{path}.{below}"));
                    (format!("{column}.{below}"), of)
                }));
            }
        }
        Stage::Unnest(unnest) => {
            let path = unnest.column.strip_prefix(OBJECTS).unwrap_or_default();
            let old = std::mem::take(&mut unnest.parts);
            for part in old {
                let (Some(column), Some(name)) =
                    (part.column.strip_suffix(ALL), part.name.strip_suffix(ALL))
                else {
                    unnest.parts.push(part);
                    continue;
                };
                unnest
                    .parts
                    .extend(fields.below(path).map(|below| MemberColumn {
                        column: format!("{column}.{below}"),
                        path: below.to_string(),
                        name: format!("{name}.{below}"),
                    }));
            }
        }
        Stage::Project(outputs) => {
            let old = std::mem::take(outputs);
            for output in old {
                if let Some(path) = starred(&output.expr, OBJECTS) {
                    outputs.extend(fields.below(path).map(|below| {
                        let column = format!("{OBJECTS}{path}.{below}");
                        Output::named(Expr::column(&column), column)
                    }));
                    continue;
                }
                let Some(path) = starred(&output.expr, SHOWN) else {
                    outputs.push(output);
                    continue;
                };
                outputs.extend(fields.below(path).map(|below| {
                    let field = format!("{path}.{below}");
                    Output::named(Expr::Column(shown(&field)), format!("nested({field})"))
                }));
            }
        }
        _ => {}
    }
    Ok(())
}

/// The path of which an expression is all fields, in columns that begin so.
fn starred<'e>(expr: &'e Expr, columns: &str) -> Option<&'e str> {
    let Expr::Column(name) = expr else {
        return None;
    };
    name.strip_prefix(columns)?.strip_suffix(ALL)
}

/// The stages that make rows of the objects at a path, and columns of what is below it; of the objects where nothing is.
pub(crate) fn unnested(path: &str, parts: Vec<(String, String)>, keeps_left: bool) -> Vec<Stage> {
    let column = format!("{OBJECTS}{path}");
    let mut read = vec![(column.clone(), Expr::column(path))];
    let parts = parts.into_iter().map(|(below, name)| {
        if below.is_empty() {
            // The object itself.
            return MemberColumn {
                column: column.clone(),
                path: below,
                name,
            };
        }
        let of = format!("{column}.{below}");
        read.push((of.clone(), Expr::column(format!("{path}.{below}"))));
        MemberColumn {
            column: of,
            path: below,
            name,
        }
    });
    let parts = parts.collect();
    let unnest = Unnest {
        column,
        parts,
        keeps_left,
    };
    vec![Stage::Eval(read), Stage::Unnest(unnest)]
}

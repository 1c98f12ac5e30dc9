//! What a curve gives at a document: its formula with the document's numbers, as OpenSearch writes it.

use clew_query::{Decay, DecayShape, QueryError, ScriptValue, ValueMode};
use clew_schema::fraction_text;

use super::{Explained, Explainer};
use crate::query::{Function, NumberColumn};

impl Explainer<'_> {
    /// The value of a curve at the document.
    pub(super) fn decay(&self, value: f32, decay: &Decay) -> Result<Explained, QueryError> {
        let description = format!("Function for field {}:", decay.field);
        let Function::Decay {
            column,
            origin,
            scale,
            offset,
            decay: share,
            shape,
            mode,
        } = self.context.decay(decay)?
        else {
            return Ok(Explained::new(value, description, Vec::new()));
        };
        let offset = fraction_text(offset);
        let each = column.open(self.reader)?.texts(self.doc).into_iter();
        let (of, each): (_, Vec<String>) = match &column {
            NumberColumn::Points(_, origin) => {
                let origin = ScriptValue::Point(*origin);
                let far = |value: String| {
                    format!(
                        "Math.max(arcDistance({value}(=doc value),{}(=origin)) - {offset}(=offset), 0)",
                        origin.shown()
                    )
                };
                (" of: ", each.map(far).collect())
            }
            NumberColumn::Whole(_) | NumberColumn::Float(_) => {
                let origin = fraction_text(origin);
                let far = |value: String| {
                    format!(
                        "Math.max(Math.abs({value}(=doc value) - {origin}(=origin))) - {offset}(=offset), 0)"
                    )
                };
                ("", each.map(far).collect())
            }
        };
        let each = match each.is_empty() {
            true => fraction_text(0.0),
            false => each.join(", "),
        };
        let distance = format!("{}{of}[{each}]", mode_name(mode));
        let formula = match shape {
            DecayShape::Gauss => {
                let scale = fraction_text(-0.5 * scale.powi(2) / share.ln());
                format!("exp(-0.5*pow({distance},2.0)/{scale})")
            }
            DecayShape::Exp => {
                let scale = fraction_text(-share.ln() / scale);
                format!("exp(- {distance} * {scale})")
            }
            DecayShape::Linear => {
                let scale = fraction_text(scale / (1.0 - share));
                format!("max(0.0, (({scale} - {distance})/{scale})")
            }
        };
        let formula = Explained::new(value, formula, Vec::new());
        Ok(Explained::new(value, description, vec![formula]))
    }
}

fn mode_name(mode: ValueMode) -> &'static str {
    match mode {
        ValueMode::Min => "MIN",
        ValueMode::Max => "MAX",
        ValueMode::Avg => "AVG",
        ValueMode::Sum => "SUM",
    }
}

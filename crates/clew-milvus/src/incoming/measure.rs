//! What a request takes once it is read, told from its bytes before anything is made of them: two bytes can become a
//! structure of several hundred.

/// A message: what it takes itself, and what its fields are by their numbers.
struct Shape {
    name: &'static str,
    bytes: usize,
    parts: &'static [(u32, Part)],
}

/// What a field holds.
#[derive(Clone, Copy)]
enum Part {
    /// A message, by its place in the table.
    Message(usize),
    Text,
    /// They stay where they came.
    Bytes,
    /// Numbers of varying length, each of which becomes so many bytes.
    Varint(usize),
    /// Numbers as long as they are read.
    Fixed,
}

// The table `SHAPES`, from the description of the service.
include!(concat!(env!("OUT_DIR"), "/shapes.rs"));

/// As deep as messages are read.
const DEPTH_MAX: usize = 100;
/// A text or a run of bytes beside what it holds.
const OWNED_BYTES: usize = 32;

/// Memory that a message of this name takes when it is read, in bytes; of one that is not well-formed, of the part that
/// is. Costs one pass over the message, vectors left out.
pub(super) fn message_bytes(name: &str, data: &[u8]) -> usize {
    let shape = SHAPES.iter().find(|shape| shape.name == name);
    shape.map_or(0, |shape| measured(shape, data, 0))
}

fn measured(shape: &Shape, mut data: &[u8], depth: usize) -> usize {
    let mut bytes = shape.bytes;
    if depth > DEPTH_MAX {
        return bytes;
    }
    while let Some(tag) = varint(&mut data) {
        let number = u32::try_from(tag >> 3).unwrap_or_default();
        let part = shape.parts.iter().find(|(own, _)| *own == number);
        let part = part.map(|(_, part)| *part);
        let Some(payload) = payload(&mut data, tag & 7) else {
            break;
        };
        bytes += match (part, payload) {
            // What is not known is passed over.
            (None, _) => 0,
            (Some(_), Payload::Number) => 8,
            (Some(Part::Message(place)), Payload::Run(run)) => {
                measured(&SHAPES[place], run, depth + 1)
            }
            (Some(Part::Text), Payload::Run(run)) => OWNED_BYTES + run.len(),
            (Some(Part::Bytes), Payload::Run(_)) => OWNED_BYTES,
            (Some(Part::Fixed), Payload::Run(run)) => run.len(),
            (Some(Part::Varint(width)), Payload::Run(run)) => {
                width * run.iter().filter(|byte| **byte < 0x80).count()
            }
        };
    }
    bytes
}

/// What stands behind a tag.
enum Payload<'a> {
    Number,
    Run(&'a [u8]),
}

fn payload<'a>(data: &mut &'a [u8], wire_type: u64) -> Option<Payload<'a>> {
    let length = match wire_type {
        0 => {
            varint(data)?;
            return Some(Payload::Number);
        }
        1 => 8,
        5 => 4,
        2 => usize::try_from(varint(data)?).ok()?,
        _ => return None,
    };
    let (run, rest) = data.split_at_checked(length)?;
    *data = rest;
    Some(match wire_type {
        2 => Payload::Run(run),
        _ => Payload::Number,
    })
}

fn varint(data: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = data.split_first()?;
        *data = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests;

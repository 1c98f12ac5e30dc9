//! Reads two-dimensional arrays in NumPy's `.npy` format, versions 1 to 3: little-endian numbers, row
//! after row.

use std::path::Path;

use anyhow::{Context, bail, ensure};

/// A matrix of numbers.
#[derive(Debug)]
pub(in crate::bench) struct Matrix<T> {
    pub(in crate::bench) rows: usize,
    pub(in crate::bench) columns: usize,
    values: Vec<T>,
}

impl<T> Matrix<T> {
    pub(in crate::bench) fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.columns..][..self.columns]
    }
}

/// Stands where numbers of rows are below zero, as some write of queries with fewer neighbours than others.
const NO_ROW: u64 = u64::MAX;

impl Matrix<u64> {
    /// Checks that the numbers are those of so many rows, or none.
    ///
    /// # Errors
    /// With the first that is not.
    pub(in crate::bench) fn check_below(&self, rows: usize) -> anyhow::Result<()> {
        let mut all = self.values.iter();
        match all.find(|number| **number != NO_ROW && **number >= rows as u64) {
            Some(number) => {
                bail!("truth names the vector {number}, and there are {rows} from 0 on")
            }
            None => Ok(()),
        }
    }
}

/// Reads a matrix of `f32`.
pub(in crate::bench) fn floats(path: &Path) -> anyhow::Result<Matrix<f32>> {
    read(path, |descr, bytes| {
        Ok(match descr {
            "<f4" => numbers(bytes, f32::from_le_bytes),
            other => bail!("holds {other}, not <f4"),
        })
    })
}

/// Reads a matrix of row numbers.
pub(in crate::bench) fn indices(path: &Path) -> anyhow::Result<Matrix<u64>> {
    read(path, |descr, bytes| {
        let unsigned = |number: i64| u64::try_from(number).unwrap_or(NO_ROW);
        Ok(match descr {
            "<i4" => numbers(bytes, |b| unsigned(i32::from_le_bytes(b).into())),
            "<u4" => numbers(bytes, |b| u32::from_le_bytes(b).into()),
            "<i8" => numbers(bytes, |b| unsigned(i64::from_le_bytes(b))),
            "<u8" => numbers(bytes, u64::from_le_bytes),
            other => bail!("holds {other}, not whole numbers"),
        })
    })
}

fn numbers<T, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|one| number(*one)).collect()
}

fn read<T>(
    path: &Path,
    decode: impl Fn(&str, &[u8]) -> anyhow::Result<Vec<T>>,
) -> anyhow::Result<Matrix<T>> {
    let file = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    parse(&file, decode).with_context(|| format!("{} is not usable", path.display()))
}

fn parse<T>(
    file: &[u8],
    decode: impl Fn(&str, &[u8]) -> anyhow::Result<Vec<T>>,
) -> anyhow::Result<Matrix<T>> {
    let rest = file
        .strip_prefix(b"\x93NUMPY")
        .context("not an .npy file")?;
    let (version, rest) = rest.split_first_chunk::<2>().context("cut off")?;
    let (len, rest) = if version[0] == 1 {
        let (len, rest) = rest.split_first_chunk().context("cut off")?;
        (usize::from(u16::from_le_bytes(*len)), rest)
    } else {
        let (len, rest) = rest.split_first_chunk().context("cut off")?;
        (usize::try_from(u32::from_le_bytes(*len))?, rest)
    };
    let (header, body) = rest.split_at_checked(len).context("cut off")?;
    let header = std::str::from_utf8(header).context("header is not text")?;
    let descr = field(header, "descr", '\'', '\'').context("no element type")?;
    ensure!(
        !header.contains("'fortran_order': True"),
        "columns come first"
    );
    let shape = field(header, "shape", '(', ')').context("no shape")?;
    let shape: Vec<usize> = shape
        .split(',')
        .filter_map(|part| part.trim().parse().ok())
        .collect();
    let [rows, columns] = shape[..] else {
        bail!("has {} dimensions, not 2", shape.len());
    };
    let values = decode(descr, body)?;
    ensure!(
        rows.checked_mul(columns) == Some(values.len()),
        "has {} numbers, not {rows} x {columns}",
        values.len()
    );
    Ok(Matrix {
        rows,
        columns,
        values,
    })
}

/// The text between two marks behind a key of the header.
fn field<'a>(header: &'a str, key: &str, open: char, close: char) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("'{key}':"))?;
    let (_, rest) = rest.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A file of this header and body.
    pub(in super::super) fn file(header: &str, body: &[u8]) -> Vec<u8> {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(body);
        file
    }

    #[test]
    fn a_matrix_is_read_row_by_row_and_anything_else_is_refused() {
        let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }\n";
        let body: Vec<u8> = [1_i32, 2, 3, 4]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        let decode = |descr: &str, bytes: &[u8]| {
            assert_eq!(descr, "<i4");
            Ok(numbers(bytes, i32::from_le_bytes))
        };
        let matrix = parse(&file(header, &body), decode).unwrap();
        assert_eq!((matrix.row(0), matrix.row(1)), (&[1, 2][..], &[3, 4][..]));
        let refused = |file: Vec<u8>| parse(&file, decode).unwrap_err().to_string();
        assert!(refused(file(header, &body[4..])).contains("has 3 numbers"));
        assert!(refused(file(&header.replace("False", "True"), &body)).contains("columns"));
        assert!(refused(file(&header.replace("(2, 2)", "(4,)"), &body)).contains("1 dimensions"));
        assert!(refused(b"NUMPY".to_vec()).contains("not an .npy file"));
    }
}

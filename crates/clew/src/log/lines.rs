//! Cuts a stream of bytes into lines, and the lines into batches that are appended together.
//!
//! A line is what stands before a `\n`, byte for byte; what follows the last `\n` is a line too,
//! unless it is empty. Memory is bounded by the longest line allowed and one batch.

use std::io::Read;

use anyhow::bail;

/// Room for each read.
const READ_BYTES: usize = 256 << 10;

/// When a batch is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// With what has arrived, so that no line waits for the next.
    AsItArrives,
    /// Only when it is full or the input ends, so that the same input always gives the same batches.
    WhenFull,
}

/// Where batches and lines end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) cut: Cut,
    pub(crate) batch_lines_max: usize,
    /// A batch is full once its lines reach this size.
    pub(crate) batch_bytes: usize,
    pub(crate) line_bytes_max: usize,
}

pub(crate) struct Batches<R> {
    input: R,
    limits: Limits,
    buffer: Vec<u8>,
    /// What is in the buffer; bytes before `taken` were handed out.
    filled: usize,
    taken: usize,
    /// No `\n` lies between the last found one and here.
    searched: usize,
    /// The lines found and not yet handed out, as places in the buffer.
    found: Vec<(usize, usize)>,
    found_bytes: usize,
    /// Lines handed out so far.
    lines: u64,
    ended: bool,
}

impl<R: Read> Batches<R> {
    pub(crate) fn new(input: R, limits: Limits) -> Self {
        Batches {
            input,
            limits,
            buffer: Vec::new(),
            filled: 0,
            taken: 0,
            searched: 0,
            found: Vec::new(),
            found_bytes: 0,
            lines: 0,
            ended: false,
        }
    }

    /// The next batch of lines; `None` at the end.
    pub(crate) fn next(&mut self) -> anyhow::Result<Option<Vec<&[u8]>>> {
        self.forget_handed_out();
        loop {
            self.find_lines()?;
            let complete = match self.limits.cut {
                Cut::AsItArrives => !self.found.is_empty(),
                Cut::WhenFull => self.is_full(),
            };
            if complete || self.ended {
                break;
            }
            self.read_more()?;
        }
        self.lines += self.found.len() as u64;
        let lines = self
            .found
            .iter()
            .map(|(start, end)| &self.buffer[*start..*end]);
        Ok((!self.found.is_empty()).then(|| lines.collect()))
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.limits.batch_lines_max
            || self.found_bytes >= self.limits.batch_bytes
    }

    fn forget_handed_out(&mut self) {
        self.found.clear();
        self.found_bytes = 0;
        // Moving less than a read's worth costs less than the reads do.
        if self.taken >= READ_BYTES || self.taken == self.filled {
            self.buffer.copy_within(self.taken..self.filled, 0);
            self.filled -= self.taken;
            self.taken = 0;
        }
        self.searched = self.taken;
    }

    fn find_lines(&mut self) -> anyhow::Result<()> {
        while !self.is_full() {
            let new = &self.buffer[self.searched..self.filled];
            match memchr::memchr(b'\n', new) {
                Some(length) => {
                    let end = self.searched + length;
                    self.searched = end + 1;
                    self.add_line(end, end + 1)?;
                }
                None => {
                    self.searched = self.filled;
                    if self.ended && self.taken < self.filled {
                        self.add_line(self.filled, self.filled)?;
                    }
                    return self.check_length(self.filled);
                }
            }
        }
        Ok(())
    }

    fn add_line(&mut self, end: usize, next: usize) -> anyhow::Result<()> {
        self.check_length(end)?;
        self.found.push((self.taken, end));
        self.found_bytes += end - self.taken;
        self.taken = next;
        Ok(())
    }

    fn check_length(&self, end: usize) -> anyhow::Result<()> {
        let max = self.limits.line_bytes_max;
        if end - self.taken > max {
            let number = self.lines + self.found.len() as u64 + 1;
            bail!("line {number} is longer than an entry may be ({max} bytes)");
        }
        Ok(())
    }

    fn read_more(&mut self) -> anyhow::Result<()> {
        if self.buffer.len() < self.filled + READ_BYTES {
            let bytes = (self.filled + READ_BYTES).max(2 * self.buffer.len());
            self.buffer.resize(bytes, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(bytes) => self.filled += bytes,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Err(anyhow::Error::new(error).context("cannot read the input"));
                }
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests;

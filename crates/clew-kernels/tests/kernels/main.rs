//! Every kernel, in every instruction set that this machine has, against plain arithmetic.

mod codes;
mod fast_scan;
mod floats;
mod impacts;
mod integers;
mod sorted;
mod words;

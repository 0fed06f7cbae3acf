//! All tests of the crate's interface but the golden vectors, in one program: what the kernels are compiled to is most of each.

mod ccsds;
mod conformance;
mod corpus;
mod properties;
mod wire;

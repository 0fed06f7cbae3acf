//! The speed of packing datatypes: with this project, with the MPIs of this machine, with a plain loop.

pub mod loops;
pub mod measure;
pub mod patterns;

//! How fast datatypes are packed: by this project, by the MPIs of this machine, by a plain loop.

pub mod loops;
pub mod measure;
pub mod patterns;

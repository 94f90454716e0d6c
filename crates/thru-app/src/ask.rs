//! Questions, and the naming of what they are about.

pub mod named;
pub mod pack;

//! Jobs that may run on any number of servers.

mod speedup;

pub use speedup::{Curve, Speedup, SpeedupRecord};

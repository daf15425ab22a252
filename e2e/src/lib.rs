//! What end-to-end checks and benchmarks need besides Thetis itself: a model endpoint that costs nothing, and a runtime with
//! everything real around it.

pub mod mock;
pub mod rig;

//! What end-to-end checks need besides Thetis itself: for now a model endpoint that costs nothing.

pub mod mock;

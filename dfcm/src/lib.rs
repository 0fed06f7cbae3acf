//! dfcm

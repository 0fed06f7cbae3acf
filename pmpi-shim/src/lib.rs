//! pmpi-shim

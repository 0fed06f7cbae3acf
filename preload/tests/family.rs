//! What the shims make of what MPIs say of themselves: the tests of that file. The shims themselves are not built for tests.

#[path = "../../pmpi-shim/src/family.rs"]
#[allow(dead_code, reason = "the shim needs the rest")]
mod family;

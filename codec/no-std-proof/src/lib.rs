//! Proves that the codec crates need no std and no allocator: this links, with its own panic handler.
#![no_std]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

// One use of each crate, so that the linker cannot drop it unseen.
pub use mpress_codec::frame::Header;
pub use mpress_dfcm as dfcm;
pub use mpress_diffpack as diffpack;
pub use mpress_fpc as fpc;
pub use mpress_lzo_compat as lzo_compat;
pub use mpress_rice as rice;
pub use mpress_rle_huffman as rle_huffman;

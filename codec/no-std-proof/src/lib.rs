//! Proves that the codec crates need neither std nor an allocator: this library links with its own panic handler. The feature `alloc` does the same
//! for selector, predictors and datatypes, which need an allocator.
#![no_std]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

// One use of each crate, so that the linker does not drop it.
pub use mpress_codec as codec;
#[cfg(feature = "alloc")]
pub use mpress_datatype as datatype;
pub use mpress_dfcm as dfcm;
pub use mpress_diffpack as diffpack;
pub use mpress_fpc as fpc;
pub use mpress_lzo_compat as lzo_compat;
#[cfg(feature = "alloc")]
pub use mpress_predict as predict;
pub use mpress_rice as rice;
pub use mpress_rle_huffman as rle_huffman;
#[cfg(feature = "alloc")]
pub use mpress_selector as selector;

/// An allocator without memory.
#[cfg(feature = "alloc")]
struct Nothing;

#[cfg(feature = "alloc")]
// SAFETY: a null pointer means that there is no memory, so nothing is ever freed.
unsafe impl core::alloc::GlobalAlloc for Nothing {
    unsafe fn alloc(&self, _: core::alloc::Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: core::alloc::Layout) {}
}

#[cfg(feature = "alloc")]
#[global_allocator]
static NOTHING: Nothing = Nothing;

//! Third-party codecs, each used as well as possible: contexts are kept from message to message if the library supports
//! that.

#[cfg(peer_aec)]
mod aec;
#[cfg(peer_blosc)]
mod blosc;
mod general;
#[cfg(peer_lzo)]
mod lzo;
mod numeric;

use crate::codecs::{Role, Subject, row};

/// The rows of the peers in this build.
pub(crate) const PEERS: &[Subject] = &[
    row("lz4", Role::Peer, |_, _| Ok(Some(Box::new(general::Lz4)))),
    row("snappy", Role::Peer, |_, _| Ok(Some(Box::new(general::Snappy::new())))),
    row("zstd-1", Role::Peer, |_, _| Ok(Some(Box::new(general::Zstd::new(1)?)))),
    row("zstd-3", Role::Peer, |_, _| Ok(Some(Box::new(general::Zstd::new(3)?)))),
    row("pco-4", Role::Peer, |element, _| Ok(numeric::pco(element, 4))),
    row("pco-8", Role::Peer, |element, _| Ok(numeric::pco(element, 8))),
    #[cfg(peer_lzo)]
    row("lzo1x-1", Role::Peer, |_, _| Ok(Some(Box::new(lzo::Lzo::new()?)))),
    #[cfg(peer_blosc)]
    row("bitshuffle-lz4", Role::Peer, |element, _| Ok(Some(Box::new(blosc::Bitshuffle::new(element)?)))),
    #[cfg(peer_aec)]
    row("libaec", Role::Peer, |element, _| Ok(aec::aec(element))),
];

/// The peers not in this build, and the library that each requires.
pub(crate) const MISSING: &[(&str, &str)] = &[
    #[cfg(not(peer_lzo))]
    ("lzo1x-1", "liblzo2"),
    #[cfg(not(peer_blosc))]
    ("bitshuffle-lz4", "libblosc"),
    #[cfg(not(peer_aec))]
    ("libaec", "libaec"),
];

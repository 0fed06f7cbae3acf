//! A codec of the program's own. The argument is rank 1's version of it, or `none`.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpress::{
    CodecId, Codecs, Decode, DecodeError, DecodeErrorKind, Encode, Kind, Out, Prior, Reset, Row, Settings,
};
use mpress_codec::{Codec, EncodeError};
use mpress_rsmpi::{CompressedCommunicator, traits::*};
use std::error::Error;

/// Zeros at the end of a message are not sent.
struct Zeros;

impl Codec for Zeros {
    const ID: CodecId = CodecId(200);
    const NAME: &'static str = "zeros";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder() -> Self {
        Self
    }

    fn decoder() -> Self {
        Self
    }
}

impl Reset for Zeros {}

impl Encode for Zeros {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        Some(raw_len)
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let end = raw.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        out.within(Some(raw.len()), |out| out.extend_from_slice(&raw[..end]))
    }
}

impl Decode for Zeros {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let length = |_| DecodeError::new(DecodeErrorKind::Length, wire.len());
        out.all_or_nothing(|out| {
            out.extend_from_slice(wire).map_err(length)?;
            out.extend_zeroed(out.remaining()).map(drop).map_err(length)
        })
    }
}

const PRIOR: Prior = Prior { ratio: 10.0, encode_gb_s: 10.0, decode_gb_s: 10.0 };
static FIRST: Row = Row::of::<Zeros>(1).for_kinds(&[Kind::F64]).with_prior(PRIOR);
static SECOND: Row = Row::of::<Zeros>(2).for_kinds(&[Kind::F64]).with_prior(PRIOR);

fn main() {
    let Some(universe) = mpi::initialize() else { return };
    let world = universe.world();
    if let Err(error) = run(&world) {
        let line = format!("rank {}: {error}\n", world.rank());
        eprint!("{line}"); // in one write: launchers do not cut it
        world.abort(1); // ends all ranks: otherwise, others wait for this one for ever
    }
}

fn run(world: &SimpleCommunicator) -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let rows: &[&Row] = match (world.rank(), &*argument) {
        (1, "none") => &[],
        (1, "2") => &[&SECOND],
        _ => &[&FIRST],
    };
    let codecs = Codecs::new(rows.iter().copied())?;
    let world = CompressedCommunicator::with_env(world, Settings { codecs, ..Settings::default() })?;

    let field: Vec<f64> = (0..4000).map(|i| if i < 100 { f64::from(i).sin() } else { 0.0 }).collect();
    for _ in 0..20 {
        if world.rank() == 0 {
            world.process_at_rank(1).compressed_send(&field[..])?;
        } else if world.rank() == 1 {
            let (received, _) = world.process_at_rank(0).compressed_receive_vec::<f64>()?;
            assert_eq!(received, field);
        }
    }
    if world.rank() == 0 {
        let is_used = world.stats().lines().any(|(_, codec, line)| codec == "zeros" && line.messages > 0);
        println!("codec zeros: {is_used}");
    }
    Ok(())
}

//! Plan files: docs/format/i-structures.md, version 1. The decoder accepts any bytes.

use crate::{
    bytes::Reader,
    error::{Error, Result},
    plan::{Parameters, Plan, Span},
};

const MAGIC: &[u8; 8] = b"mpISplan";
const VERSION: u32 = 1;

pub(crate) fn encode(plan: &Plan) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    let of = &plan.parameters;
    // The number of structures fits, as `Recorder::new` and `decode` ensure.
    for number in [VERSION, of.ranks, of.rank, of.checks.len() as u32] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    for number in [of.communicator, plan.wanted.len() as u64, plan.served.len() as u64] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    of.checks.iter().for_each(|check| file.extend_from_slice(&check.to_le_bytes()));
    plan.wanted.iter().chain(&plan.served).for_each(|span| span.write(&mut file));
    let crc = crc32fast::hash(&file);
    file.extend_from_slice(&crc.to_le_bytes());
    file
}

pub(crate) fn decode(file: &[u8]) -> Result<Plan> {
    let Some((body, crc)) = file.split_last_chunk() else { return Err(Error::PlanFile("it is too short")) };
    if !body.starts_with(MAGIC) {
        return Err(Error::PlanFile("it is not a plan"));
    }
    if crc32fast::hash(body) != u32::from_le_bytes(*crc) {
        return Err(Error::PlanFile("it is damaged"));
    }
    read(body).ok_or(Error::PlanFile("it is of another version, or its lengths do not add up"))
}

fn read(body: &[u8]) -> Option<Plan> {
    let mut reader = Reader(body);
    reader.take(MAGIC.len())?;
    if reader.u32()? != VERSION {
        return None;
    }
    let (ranks, rank, structures) = (reader.u32()?, reader.u32()?, reader.u32()?);
    let communicator = reader.u64()?;
    let (wanted, served) = (reader.u64()?, reader.u64()?);
    // Each list is cut out of the existing bytes before it is read: no number in the file determines an allocation.
    let checks = reader.take(usize::try_from(structures).ok()?.checked_mul(4)?)?;
    let checks = checks.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let mut spans = |count: u64| {
        let bytes = usize::try_from(count).ok()?.checked_mul(Span::BYTES)?;
        let mut list = Reader(reader.take(bytes)?);
        let mut spans = Vec::new();
        while list.end().is_none() {
            spans.push(Span::read(&mut list)?);
        }
        Span::ascend(&spans).then_some(spans)
    };
    let (wanted, served) = (spans(wanted)?, spans(served)?);
    reader.end()?;
    Some(Plan { parameters: Parameters { ranks, rank, communicator, checks }, wanted, served })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan() -> Plan {
        let span = Span { position: 0, rank: 1, first: 2, count: 3 };
        Plan {
            parameters: Parameters { ranks: 3, rank: 0, communicator: 77, checks: vec![5, 6] },
            wanted: vec![span, Span { first: 9, ..span }, Span { position: 1, rank: 2, ..span }],
            served: vec![span],
        }
    }

    /// The bytes after a change, with a correct CRC.
    fn changed(at: usize, byte: u8) -> Vec<u8> {
        let mut file = plan().to_bytes();
        let end = file.len() - 4;
        file[at % end] = byte;
        let crc = crc32fast::hash(&file[..end]);
        file[end..].copy_from_slice(&crc.to_le_bytes());
        file
    }

    #[test]
    fn a_plan_is_saved_and_loaded() {
        let file = plan().to_bytes();
        assert_eq!(Plan::from_bytes(&file).unwrap(), plan());
        for end in 0..file.len() {
            assert!(Plan::from_bytes(&file[..end]).is_err());
        }
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Plan::from_bytes(&damaged).is_err());
        }
        // Numbers of entries that the file does not contain.
        assert!(Plan::from_bytes(&changed(39, 255)).is_err());
        assert!(Plan::from_bytes(&changed(47, 255)).is_err());
        assert!(Plan::from_bytes(&changed(23, 255)).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_error_or_a_plan(at in any::<usize>(), byte in any::<u8>()) {
            let file = changed(at, byte);
            if let Ok(plan) = Plan::from_bytes(&file) {
                prop_assert_eq!(plan.to_bytes(), file);
            }
        }
    }
}

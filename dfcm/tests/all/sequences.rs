//! Continuing messages: a decoder's behaviour when a sequence does not arrive as it was sent (format, section 6).

use mpress_codec::DecodeErrorKind::{State, Truncated};
use mpress_codec::conformance::{decode, encode, random_bytes};
use mpress_codec::{Decode, DecodeErrorKind, Reset};
use mpress_dfcm::{Decoder, Decoder64, Encoder, Encoder64, Lines, Word};

fn lines(log2: u8) -> Lines {
    Lines::new(log2).unwrap()
}

fn memory() -> Vec<u64> {
    vec![5; Lines::MAX.words::<u64>()]
}

fn continuing() -> Encoder64<Vec<u64>> {
    Encoder::continuing(memory(), lines(10)).unwrap()
}

fn decoder() -> Decoder64<Vec<u64>> {
    Decoder::new(memory()).unwrap()
}

/// Message `i` of a field that changes slowly.
fn message(i: u32) -> Vec<u8> {
    (0..200).flat_map(|x| ((f64::from(x) * 0.1 + f64::from(i)).sin()).to_le_bytes()).collect()
}

/// Decodes a wire and returns the number of its message.
fn receive(decoder: &mut impl Decode, wire: &[u8]) -> Result<u32, DecodeErrorKind> {
    let raw = decode(decoder, wire, LEN)?;
    Ok((0..700)
        .find(|i| f64::from(*i).sin().to_le_bytes() == raw[..8] && message(*i) == raw)
        .expect("a message that was sent"))
}

/// Messages 0, 1, 2... of one sequence.
fn wires(count: u32) -> Vec<Vec<u8>> {
    let mut encoder = continuing();
    (0..count).map(|i| encode(&mut encoder, &message(i))).collect()
}

const LEN: usize = 1600;

#[test]
fn state_that_runs_on_pays() {
    let alone: usize =
        (0..5).map(|i| encode(&mut Encoder64::new(memory()).unwrap(), &message(i)).len()).sum();
    let continued: usize = wires(5).iter().map(Vec::len).sum();
    assert!(continued + 4 * 5 < alone, "{continued} bytes against {alone}");
}

#[test]
fn lost_repeated_and_swapped_messages_are_seen() {
    let wires = wires(5);
    for order in [&[0, 2][..], &[1], &[0, 0], &[0, 1, 0], &[0, 2, 1], &[0, 1, 2, 4]] {
        let mut decoder = decoder();
        let (last, good) = order.split_last().unwrap();
        for i in good {
            let _ = receive(&mut decoder, &wires[*i]);
        }
        assert_eq!(receive(&mut decoder, &wires[*last]), Err(State), "order {order:?}");
        for wire in &wires {
            assert_eq!(receive(&mut decoder, wire), Err(State), "{order:?}: nothing until a reset");
        }
        decoder.reset();
        assert_eq!(receive(&mut decoder, &wires[0]), Ok(0));
        assert_eq!(receive(&mut decoder, &wires[1]), Ok(1));
    }
}

#[test]
fn a_message_of_another_sequence_is_seen() {
    let mut other = continuing();
    encode(&mut other, &message(17));
    let other = encode(&mut other, &message(1));
    let mut decoder = decoder();
    assert_eq!(receive(&mut decoder, &wires(1)[0]), Ok(0));
    assert_eq!(receive(&mut decoder, &other), Err(State), "the second message of another sequence");

    let mut decoder = self::decoder();
    assert_eq!(receive(&mut decoder, &wires(1)[0]), Ok(0));
    let mut smaller = Encoder64::continuing(memory(), lines(9)).unwrap();
    encode(&mut smaller, &message(0));
    let wire = encode(&mut smaller, &message(1));
    assert_eq!(receive(&mut decoder, &wire), Err(State), "a table of another size");
}

#[test]
fn a_sequence_that_differs_in_one_element_is_seen() {
    // With the same lengths, and the same elements at both ends.
    let first = |middle: f64| [1.0, 2.0, middle, 3.0, 2.5].map(f64::to_le_bytes).concat();
    let (mut encoder, mut decoder) = (continuing(), decoder());
    let wire = encode(&mut encoder, &first(2.25));
    assert_eq!(decode(&mut decoder, &wire, 40), Ok(first(2.25)));
    let mut other = continuing();
    assert_eq!(encode(&mut other, &first(2.3125)).len(), wire.len());
    let second = encode(&mut other, &message(1));
    assert_eq!(receive(&mut decoder, &second), Err(State));
}

#[test]
fn a_reset_of_one_side_alone_is_seen() {
    let (mut encoder, mut decoder) = (continuing(), decoder());
    let first = encode(&mut encoder, &message(0));
    assert_eq!(receive(&mut decoder, &first), Ok(0));
    encoder.reset();
    let again = encode(&mut encoder, &message(0));
    assert_eq!(again, first, "a reset starts a new sequence");
    assert_eq!(receive(&mut decoder, &again), Err(State), "the encoder alone was reset");

    decoder.reset();
    assert_eq!(receive(&mut decoder, &again), Ok(0));
    decoder.reset();
    let second = encode(&mut encoder, &message(1));
    assert_eq!(receive(&mut decoder, &second), Err(State), "the decoder alone was reset");
}

#[test]
fn the_sequence_number_starts_over_without_harm() {
    let (mut encoder, mut decoder) = (continuing(), decoder());
    let wires: Vec<_> = (0..600).map(|i| encode(&mut encoder, &message(i))).collect();
    for (i, wire) in (0..).zip(&wires) {
        assert_eq!(receive(&mut decoder, wire), Ok(i), "message {i}");
    }
    assert_eq!(wires[256][2], 0, "the number has started over");
    let mut late = self::decoder();
    assert_eq!(receive(&mut late, &wires[256]), Err(State), "but it is not the first message");
}

#[test]
fn a_failed_decoder_still_decodes_what_needs_no_history() {
    let wires = wires(3);
    let alone = encode(&mut Encoder64::new(memory()).unwrap(), &message(9));
    let mut decoder = decoder();
    assert_eq!(receive(&mut decoder, &wires[0]), Ok(0));
    assert_eq!(receive(&mut decoder, &wires[1][..30]), Err(Truncated));
    assert_eq!(receive(&mut decoder, &wires[1]), Err(State));
    assert_eq!(receive(&mut decoder, &alone), Ok(9));
    assert_eq!(receive(&mut decoder, &wires[1]), Err(State), "its history is still gone");

    decoder.reset();
    assert_eq!(receive(&mut decoder, &wires[0]), Ok(0));
    assert_eq!(receive(&mut decoder, &alone), Ok(9), "takes the table of the sequence");
    assert_eq!(receive(&mut decoder, &wires[1]), Err(State));

    decoder.reset();
    assert_eq!(receive(&mut decoder, &alone), Ok(9));
    assert_eq!(receive(&mut decoder, &wires[0]), Ok(0), "no sequence had begun");
}

#[test]
fn every_error_in_a_sequence_ends_it() {
    let wires = wires(2);
    let (mut longer, mut other_version) = (wires[1].clone(), wires[1].clone());
    longer.push(0);
    other_version[0] = 2;
    for (wire, len) in [
        (&wires[1][..0], LEN),
        (&wires[1][..1], LEN),
        (&wires[1][..4], LEN),
        (&wires[1][..], LEN + 1),
        (&longer[..], LEN),
        (&other_version[..], LEN),
    ] {
        let mut decoder = decoder();
        decode(&mut decoder, wire, len).expect_err("a broken message");
        assert_eq!(receive(&mut decoder, &wires[0]), Err(State), "even if it is the first");
        decoder.reset();
        assert_eq!(receive(&mut decoder, &wires[0]), Ok(0));
        decode(&mut decoder, wire, len).expect_err("a broken message");
        assert_eq!(receive(&mut decoder, &wires[1]), Err(State));
    }
}

/// Any mix of lengths, with resets of both sides in between.
fn long_run<W: Word>() {
    let mut encoder = Encoder::<W, _>::continuing(memory(), lines(11)).unwrap();
    let mut decoder = Decoder::<W, _>::new(memory()).unwrap();
    for i in 0..200_u64 {
        if i % 37 == 36 {
            encoder.reset();
            decoder.reset();
        }
        let mut raw = message(i as u32);
        raw.extend(random_bytes(i, (i * 11 % 50) as usize));
        raw.truncate((i * 397 % 1650) as usize);
        let wire = encode(&mut encoder, &raw);
        assert_eq!(decode(&mut decoder, &wire, raw.len()), Ok(raw), "message {i}");
    }
}

#[test]
fn a_long_run_of_messages_comes_back() {
    long_run::<u64>();
    long_run::<u32>();
}

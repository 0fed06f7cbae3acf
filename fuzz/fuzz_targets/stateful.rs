//! A channel that loses, repeats, swaps and cuts messages and resets its ends. A decoder gives each message as it was sent, or an error; there is no
//! error without a fault of the channel.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress_codec::{Decode, Encode};
use mpress_fuzz::{continuing, decode, encode};

/// A message in transit.
struct Message {
    raw: Vec<u8>,
    wire: Vec<u8>,
    /// The number of resets of the encoder before it.
    epoch: u32,
    /// The number of messages between the last reset and it.
    number: u32,
}

struct Channel {
    encoder: Box<dyn Encode>,
    decoder: Box<dyn Decode>,
    epoch: u32,
    number: u32,
    /// Epoch and number of the message that the decoder expects: any epoch after a reset, none after an error.
    expected: Option<(Option<u32>, u32)>,
}

impl Channel {
    fn send(&mut self, raw: &[u8]) -> Message {
        let wire = encode(&mut *self.encoder, raw);
        self.number += 1;
        Message { raw: raw.to_vec(), wire, epoch: self.epoch, number: self.number - 1 }
    }

    /// Delivers the first `len` bytes of a message's wire.
    fn deliver(&mut self, message: &Message, len: usize) {
        let result = decode(&mut *self.decoder, &message.wire[..len], message.raw.len());
        let right = self.expected.is_some_and(|(epoch, number)| {
            epoch.is_none_or(|epoch| epoch == message.epoch) && number == message.number
        });
        // The right number in another sequence: only a digest of 24 bits detects that, and a fuzzer may well find a collision.
        let doubtful = self.expected.is_some_and(|(_, number)| number == message.number) && !right;
        let whole = len == message.wire.len();
        match &result {
            Ok(raw) => {
                assert!(whole && (doubtful || right && *raw == message.raw), "accepted a wrong message")
            }
            Err(kind) => assert!(!(right && whole), "refused for nothing: {kind:?}"),
        }
        self.expected = result.is_ok().then_some((Some(message.epoch), message.number + 1));
    }
}

fuzz_target!(|data: &[u8]| {
    let Some(([codec, setting], mut rest)) = data.split_first_chunk() else { return };
    let (encoder, decoder) = continuing(*codec, *setting);
    let mut channel = Channel { encoder, decoder, epoch: 0, number: 0, expected: Some((None, 0)) };
    let mut held: Option<Message> = None;
    // Fewer than the 256 messages after which a number recurs.
    for _ in 0..200 {
        let Some(([what, len], next)) = rest.split_first_chunk() else { break };
        let (raw, next) = next.split_at(usize::from(*len).min(next.len()));
        rest = next;
        if *what >= 0xf0 {
            if what & 1 != 0 {
                channel.encoder.reset();
                (channel.epoch, channel.number) = (channel.epoch + 1, 0);
            }
            if what & 2 != 0 {
                channel.decoder.reset();
                channel.expected = Some((None, 0));
            }
            continue;
        }
        let message = channel.send(raw);
        let len = message.wire.len();
        match what % 8 {
            // Lost.
            0 => {}
            // Cut.
            1 => channel.deliver(&message, usize::from(*what) * len / 256),
            // Repeated.
            2 => [0; 2].into_iter().for_each(|_| channel.deliver(&message, len)),
            // Held back and delivered later.
            3 => held = Some(message),
            4 => {
                if let Some(held) = held.take() {
                    channel.deliver(&held, held.wire.len());
                }
                channel.deliver(&message, len);
            }
            _ => channel.deliver(&message, len),
        }
    }
});

//! The walk through a form for a range of the packed stream: whole parts go to the kernels, partial ones are split further.

use super::nest::{Dim, Nest, Plan};
use crate::blocking::block;
use crate::error::PackError;
use crate::kernel::{Axis, Kernel, Listed, Sides, Transpose};
use crate::machine::Machine;
use crate::memory::{Source, Target};
use crate::shape::{Form, List, Parts};
use core::marker::PhantomData;
use core::ops::Range;

type Done = Result<(), PackError>;

/// The direction: whether memory or the packed stream is read.
pub(super) trait Way {
    /// Orders a value for the memory and one for the stream as (from, to).
    fn sides(memory: isize, stream: isize) -> (isize, isize);
    /// The side to which the places of lists refer.
    const LISTED: Listed;
}

/// Memory to stream.
pub(super) struct Pack;
/// Stream to memory.
pub(super) struct Unpack;

impl Way for Pack {
    fn sides(memory: isize, stream: isize) -> (isize, isize) {
        (memory, stream)
    }
    const LISTED: Listed = Listed::From;
}

impl Way for Unpack {
    fn sides(memory: isize, stream: isize) -> (isize, isize) {
        (stream, memory)
    }
    const LISTED: Listed = Listed::To;
}

pub(super) struct Walk<'a, W> {
    kernel: Kernel,
    machine: &'a Machine,
    from: &'a Source<'a>,
    to: &'a Target<'a>,
    way: PhantomData<W>,
}

impl<'a, W: Way> Walk<'a, W> {
    pub(super) fn new(
        kernel: Kernel,
        machine: &'a Machine,
        from: &'a Source<'a>,
        to: &'a Target<'a>,
    ) -> Self {
        Self { kernel, machine, from, to, way: PhantomData }
    }

    /// Copies the packed bytes `range` of a form whose first byte is at `memory`, between there and `stream`.
    pub(super) fn part(&self, form: &Form, memory: isize, range: Range<usize>, stream: isize) -> Done {
        if range.is_empty() {
            return Ok(());
        }
        if range == (0..form.size()) {
            return self.whole(form, memory, stream);
        }
        match form {
            Form::Run(_) => self.run(plus(memory, range.start), range.len(), stream),
            Form::Loop(repeated) => {
                let place = |i: usize| memory.wrapping_add((i as isize).wrapping_mul(repeated.stride));
                let size = repeated.body.size();
                self.parts(
                    range,
                    stream,
                    |at| (at / size, at / size * size, size),
                    |parts, stream| {
                        self.repeat(parts.len(), repeated.stride, &repeated.body, place(parts.start), stream)
                    },
                    |i, range, stream| self.part(&repeated.body, place(i), range, stream),
                )
            }
            Form::List(list) => {
                let find = |at| {
                    let (i, start) = list.part_of(at);
                    (i, start, list.form(i).map_or(0, |form| form.size()))
                };
                self.parts(
                    range,
                    stream,
                    find,
                    |parts, stream| self.list(list, parts, Axis::ONCE, memory, stream),
                    |i, range, stream| match (list.form(i), list.places().get(i)) {
                        (Some(form), Some(place)) => {
                            self.part(&form, memory.wrapping_add(*place), range, stream)
                        }
                        _ => Err(PackError::Range),
                    },
                )
            }
        }
    }

    /// Splits a range of the stream into a partial part, whole parts, and a partial part. `find` returns the part that contains a byte, with its
    /// start and length.
    fn parts(
        &self,
        range: Range<usize>,
        mut stream: isize,
        find: impl Fn(usize) -> (usize, usize, usize),
        whole: impl FnOnce(Range<usize>, isize) -> Done,
        cut: impl Fn(usize, Range<usize>, isize) -> Done,
    ) -> Done {
        let (mut first, start, len) = find(range.start);
        let (last, last_start, last_len) = find(range.end - 1);
        let mut at = range.start;
        if at > start || first == last {
            let end = range.end.min(start + len);
            cut(first, at - start..end - start, stream)?;
            stream = plus(stream, end - at);
            (first, at) = (first + 1, end);
        }
        if at >= range.end {
            return Ok(());
        }
        let ends_whole = range.end == last_start + last_len;
        let (end, whole_end) = if ends_whole { (last + 1, range.end) } else { (last, last_start) };
        if first < end {
            whole(first..end, stream)?;
            stream = plus(stream, whole_end - at);
        }
        if ends_whole { Ok(()) } else { cut(last, 0..range.end - last_start, stream) }
    }

    fn whole(&self, form: &Form, memory: isize, stream: isize) -> Done {
        match form {
            Form::Run(len) => self.run(memory, *len, stream),
            Form::Loop(repeated) => {
                self.repeat(repeated.count, repeated.stride, &repeated.body, memory, stream)
            }
            Form::List(list) => self.list(list, 0..list.places().len(), Axis::ONCE, memory, stream),
        }
    }

    fn run(&self, memory: isize, len: usize, stream: isize) -> Done {
        self.kernel.blocks(self.at(memory, stream), len, Axis::ONCE, Axis::ONCE, 0)
    }

    /// The start of a copy on both sides.
    fn at(&self, memory: isize, stream: isize) -> Sides<'_> {
        let (from_at, to_at) = W::sides(memory, stream);
        Sides { from: self.from, to: self.to, from_at, to_at }
    }

    fn axis(dim: &Dim) -> Axis {
        let (from, to) = W::sides(dim.memory, dim.stream);
        Axis { count: dim.count, from, to }
    }

    /// Copies a whole loop.
    fn repeat(&self, count: usize, stride: isize, body: &Form, memory: isize, stream: isize) -> Done {
        let Some(nest) = Nest::new(count, stride, body) else {
            let step = body.size() as isize;
            let one = [Dim { count, memory: stride, stream: step }];
            return each(&one, memory, stream, &mut |memory, stream| self.whole(body, memory, stream));
        };
        let dims = nest.dims();
        match nest.core {
            Form::Run(run) => match nest.plan(*run, self.machine) {
                Plan::Transpose { across } if W::LISTED == Listed::From || nest.disjoint(*run) => self
                    .across(dims, across, memory, stream, |near, last, at| {
                        self.transpose(near, last, *run, at)
                    }),
                Plan::Blocks { across } if W::LISTED == Listed::From || nest.disjoint(*run) => {
                    self.across(dims, across, memory, stream, |near, last, at| {
                        self.blocks(near, last, *run, at)
                    })
                }
                _ => self.in_order(dims, *run, memory, stream),
            },
            Form::List(list) => match dims {
                [outer @ .., last] => each(outer, memory, stream, &mut |memory, stream| {
                    self.list(list, 0..list.places().len(), Self::axis(last), memory, stream)
                }),
                [] => Ok(()),
            },
            Form::Loop(_) => Ok(()),
        }
    }

    fn in_order(&self, dims: &[Dim], run: usize, memory: isize, stream: isize) -> Done {
        let (outer, middle, inner) = match dims {
            [outer @ .., middle, inner] => (outer, Self::axis(middle), Self::axis(inner)),
            [inner] => (&[][..], Axis::ONCE, Self::axis(inner)),
            [] => (&[][..], Axis::ONCE, Axis::ONCE),
        };
        let ahead = self.ahead(dims, run);
        each(outer, memory, stream, &mut |memory, stream| {
            self.kernel.blocks(self.at(memory, stream), run, middle, inner, ahead)
        })
    }

    /// The prefetch distance, if the CPU does not predict the next blocks itself.
    fn ahead(&self, dims: &[Dim], run: usize) -> isize {
        const BLOCKS: isize = 16;
        let Some(inner) = dims.last() else { return 0 };
        // Stores do not wait for their lines.
        let reads = W::LISTED == Listed::From;
        // If every line is accessed, the hardware prefetcher loads them.
        let lines = inner.memory.unsigned_abs() >= 2 * self.machine.line && run <= 4 * self.machine.line;
        if reads && lines && inner.count >= 4 * BLOCKS as usize {
            inner.memory.saturating_mul(BLOCKS)
        } else {
            0
        }
    }

    /// Runs all loops but `across` and the last one in order; `copy` handles those two.
    fn across(
        &self,
        dims: &[Dim],
        across: usize,
        memory: isize,
        stream: isize,
        copy: impl Fn(&Dim, &Dim, (isize, isize)) -> Done,
    ) -> Done {
        let (Some((outer, [near, between @ ..])), Some(last)) = (dims.split_at_checked(across), dims.last())
        else {
            return Err(PackError::Range);
        };
        let between = between.split_last().map_or(&[][..], |(_, between)| between);
        each(outer, memory, stream, &mut |memory, stream| {
            each(between, memory, stream, &mut |memory, stream| copy(near, last, (memory, stream)))
        })
    }

    fn transpose(&self, near: &Dim, last: &Dim, run: usize, (memory, stream): (isize, isize)) -> Done {
        let bytes = near.count.saturating_mul(last.count).saturating_mul(run);
        let (rows, columns, from, to) = match W::LISTED {
            Listed::From => (last.count, near.count, last.memory, near.stream),
            Listed::To => (near.count, last.count, near.stream, last.memory),
        };
        let transpose = Transpose {
            width: run,
            rows,
            columns,
            from,
            to,
            block: block(self.machine),
            past_caches: bytes > self.machine.l3.bytes / 2,
        };
        self.kernel.transpose(self.at(memory, stream), &transpose)
    }

    /// Runs both loops in blocks that fit in half the TLB.
    fn blocks(&self, near: &Dim, last: &Dim, run: usize, (memory, stream): (isize, isize)) -> Done {
        let side = block(self.machine);
        let pieces = |dim: &Dim| (0..dim.count).step_by(side);
        let part = |dim: &Dim, i: usize| Dim { count: side.min(dim.count - i), ..*dim };
        for i in pieces(near) {
            for j in pieces(last) {
                let place = |i: usize, step: isize| (i as isize).wrapping_mul(step);
                let memory = memory.wrapping_add(place(i, near.memory)).wrapping_add(place(j, last.memory));
                let stream = stream.wrapping_add(place(i, near.stream)).wrapping_add(place(j, last.stream));
                let (near, last) = (part(near, i), part(last, j));
                self.kernel.blocks(self.at(memory, stream), run, Self::axis(&near), Self::axis(&last), 0)?;
            }
        }
        Ok(())
    }

    /// Copies some parts of a list, in a loop around them.
    fn list(&self, list: &List, parts: Range<usize>, outer: Axis, memory: isize, stream: isize) -> Done {
        if let Parts::Runs(_) | Parts::Same(Form::Run(_)) = list.parts() {
            return self.kernel.list(self.at(memory, stream), W::LISTED, list, parts, outer);
        }
        let places = list.places().get(parts.clone()).unwrap_or_default();
        // Maps the axis back to steps in memory and in the stream.
        let (memory_step, stream_step) =
            if W::LISTED == Listed::From { (outer.from, outer.to) } else { (outer.to, outer.from) };
        let (mut memory, mut stream) = (memory, stream);
        for _ in 0..outer.count {
            let mut at = stream;
            for (i, place) in (parts.start..).zip(places) {
                let part = memory.wrapping_add(*place);
                match list.parts() {
                    Parts::Same(form) => {
                        self.whole(form, part, at)?;
                        at = plus(at, form.size());
                    }
                    Parts::Any(forms, _) => {
                        let Some(form) = forms.get(i) else { return Err(PackError::Range) };
                        self.whole(form, part, at)?;
                        at = plus(at, form.size());
                    }
                    Parts::Runs(_) => {}
                }
            }
            memory = memory.wrapping_add(memory_step);
            stream = stream.wrapping_add(stream_step);
        }
        Ok(())
    }
}

/// Calls `copy` for every iteration of some loops with the positions on both sides.
fn each(dims: &[Dim], memory: isize, stream: isize, copy: &mut dyn FnMut(isize, isize) -> Done) -> Done {
    let Some((dim, inner)) = dims.split_first() else { return copy(memory, stream) };
    let (mut memory, mut stream) = (memory, stream);
    for _ in 0..dim.count {
        each(inner, memory, stream, copy)?;
        memory = memory.wrapping_add(dim.memory);
        stream = stream.wrapping_add(dim.stream);
    }
    Ok(())
}

/// `at` plus `bytes`. Both are in the same memory, so the sum is an address; otherwise the kernels refuse it.
fn plus(at: isize, bytes: usize) -> isize {
    at.wrapping_add(bytes as isize)
}

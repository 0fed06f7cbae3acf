//! Loop nests around runs, and the best order to copy them.

use crate::blocking::Inner;
use crate::kernel::LINE;
use crate::machine::Machine;
use crate::shape::Form;

/// A loop: its number of iterations, and its steps in memory and in the packed stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dim {
    pub(super) count: usize,
    pub(super) memory: isize,
    pub(super) stream: isize,
}

/// The maximum number of loops in a nest. The outer loops of deeper nests are walked one by one.
const DEEPEST: usize = 8;

/// Loops, outermost first, around a run or another form.
pub(super) struct Nest<'a> {
    dims: [Dim; DEEPEST],
    depth: usize,
    pub(super) core: &'a Form,
}

/// The order of a nest: which loop becomes the innermost or next to innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// The described order.
    InOrder,
    /// Iterations of the loop `across` are neighbours in memory; those of the last loop are neighbours in the stream.
    Transpose { across: usize },
    /// The loop `across` and the last one, in blocks.
    Blocks { across: usize },
}

impl<'a> Nest<'a> {
    /// The loops at the start of a form, if it is a loop.
    pub(super) fn of(form: &'a Form) -> Option<Self> {
        match form {
            Form::Loop(repeated) => Self::new(repeated.count, repeated.stride, &repeated.body),
            _ => None,
        }
    }

    /// A loop and those inside it, unless there are more than [`DEEPEST`].
    pub(super) fn new(count: usize, stride: isize, body: &'a Form) -> Option<Self> {
        let none = Dim { count: 1, memory: 0, stream: 0 };
        let mut nest = Self { dims: [none; DEEPEST], depth: 0, core: body };
        nest.push(count, stride, body)?;
        while let Form::Loop(repeated) = nest.core {
            nest.push(repeated.count, repeated.stride, &repeated.body)?;
        }
        Some(nest)
    }

    fn push(&mut self, count: usize, memory: isize, body: &'a Form) -> Option<()> {
        let stream = isize::try_from(body.size()).ok()?;
        *self.dims.get_mut(self.depth)? = Dim { count, memory, stream };
        self.depth += 1;
        self.core = body;
        Some(())
    }

    pub(super) fn dims(&self) -> &[Dim] {
        self.dims.get(..self.depth).unwrap_or_default()
    }

    /// The best order to copy runs of `run` bytes.
    pub(super) fn plan(&self, run: usize, machine: &Machine) -> Plan {
        let Some((last, outer)) = self.dims().split_last() else { return Plan::InOrder };
        let nearest = outer.iter().enumerate().min_by_key(|(_, dim)| dim.memory.unsigned_abs());
        let Some((across, near)) =
            nearest.filter(|(_, dim)| dim.memory.unsigned_abs() < last.memory.unsigned_abs())
        else {
            return Plan::InOrder;
        };
        let neighbours = usize::try_from(near.memory) == Ok(run) && matches!(run, 4 | 8 | 16);
        if neighbours && near.count >= LINE / run && last.count >= LINE / run {
            return Plan::Transpose { across };
        }
        let inner = Inner { width: run, stride: last.memory.unsigned_abs(), n: last.count };
        // If blocks are far apart in both loops, neither loop can reuse lines that the other has loaded.
        let shares = near.memory.unsigned_abs() < machine.line && run < machine.line;
        if shares && inner.exhausts(machine) { Plan::Blocks { across } } else { Plan::InOrder }
    }

    /// Whether the nest is around runs that are copied in an order other than that of the stream.
    pub(super) fn reorders(&self, machine: &Machine) -> bool {
        matches!(self.core, Form::Run(run) if self.plan(*run, machine) != Plan::InOrder)
    }

    /// The number of stream bytes in a row of tiles if the nest is a transpose, otherwise 1.
    pub(super) fn rows(&self) -> usize {
        let Form::Run(run) = self.core else { return 1 };
        match self.plan(*run, &Machine::DEFAULT) {
            Plan::Transpose { across } => {
                let row = self.dims().get(across).map_or(1, |dim| dim.stream.unsigned_abs());
                row.saturating_mul(LINE / run)
            }
            _ => 1,
        }
    }

    /// Whether the runs are disjoint, by a sufficient condition.
    pub(super) fn disjoint(&self, run: usize) -> bool {
        let mut dims = self.dims;
        let dims = dims.get_mut(..self.depth).unwrap_or_default();
        dims.sort_unstable_by_key(|dim| dim.memory.unsigned_abs());
        let mut span = run;
        dims.iter().all(|dim| {
            let stride = dim.memory.unsigned_abs();
            let apart = stride >= span;
            span = stride.saturating_mul(dim.count - 1).saturating_add(span);
            apart
        })
    }
}

//! The normal form: the layout of a datatype's bytes as nested loops over runs of bytes, and lists of places where there is no regularity.
//!
//! Every constructor merges what it can, so a type has the same form no matter how it was described: neighbouring runs become one run (unless they
//! are few in a list of runs of one length), a list of equal parts at equal distances becomes a loop, and a loop that continues where its inner loop
//! ends becomes one loop.
//!
//! Every loop and every list has at least two parts, none of them empty. So each level at least doubles the size, and no form is deeper than an
//! address has bits. Parts are shared: a form takes about as much memory as the arguments that described it.

use crate::Error;
use crate::bounds::{add, times};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// A form and the offset of its first byte.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) at: isize,
    pub(crate) form: Form,
}

/// Bytes in packing order. Offsets are relative to the first one.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// This number of consecutive bytes.
    Run(usize),
    Loop(Arc<Loop>),
    List(Arc<List>),
}

#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) count: usize,
    pub(crate) stride: isize,
    pub(crate) body: Form,
    size: usize,
}

/// Parts at irregular places.
pub(crate) struct List {
    places: Box<[isize]>,
    parts: Parts,
    size: usize,
    low: isize,
    high: isize,
}

pub(crate) enum Parts {
    /// The same form at each place.
    Same(Form),
    /// Runs: the start of each in the packed stream, and the end of the last one.
    Runs(Box<[usize]>),
    /// Any forms, and starts as for runs.
    Any(Box<[Form]>, Box<[usize]>),
}

impl Form {
    /// The packed length in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Run(len) => *len,
            Self::Loop(repeated) => repeated.size,
            Self::List(list) => list.size,
        }
    }

    /// The lowest offset of a byte, and the highest plus one.
    fn span(&self) -> Result<(isize, isize), Error> {
        match self {
            Self::Run(len) => Ok((0, isize::try_from(*len).map_err(|_| Error::Overflow)?)),
            Self::Loop(repeated) => {
                let (low, high) = repeated.body.span()?;
                let last = times(repeated.count - 1, repeated.stride)?;
                Ok((add(low, last.min(0))?, add(high, last.max(0))?))
            }
            Self::List(list) => Ok((list.low, list.high)),
        }
    }

    /// Whether both are equal, by a quick check that may miss equal lists.
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Run(one), Self::Run(other)) => one == other,
            (Self::Loop(one), Self::Loop(other)) => {
                Arc::ptr_eq(one, other)
                    || one.count == other.count && one.stride == other.stride && one.body.same(&other.body)
            }
            (Self::List(one), Self::List(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Shape {
    /// A run of `len` bytes at `at`.
    pub(crate) fn run(at: isize, len: usize) -> Option<Self> {
        (len > 0).then_some(Self { at, form: Form::Run(len) })
    }

    /// The shape moved by `by` bytes.
    pub(crate) fn moved(&self, by: isize) -> Result<Self, Error> {
        Ok(Self { at: add(self.at, by)?, form: self.form.clone() })
    }

    /// `count` copies of the shape, `stride` bytes apart.
    pub(crate) fn repeated(&self, count: usize, stride: isize) -> Result<Option<Self>, Error> {
        let size = self.form.size().checked_mul(count).ok_or(Error::Overflow)?;
        let at = self.at;
        let form = match &self.form {
            _ if count == 0 => return Ok(None),
            form if count == 1 => form.clone(),
            Form::Run(len) if isize::try_from(*len) == Ok(stride) => Form::Run(size),
            Form::Loop(inner) if times(inner.count, inner.stride) == Ok(stride) => {
                let count = inner.count.checked_mul(count).ok_or(Error::Overflow)?;
                let (stride, body) = (inner.stride, inner.body.clone());
                Form::Loop(Arc::new(Loop { count, stride, body, size }))
            }
            form => Form::Loop(Arc::new(Loop { count, stride, body: form.clone(), size })),
        };
        Ok(Some(Self { at, form }))
    }

    /// The shapes in order.
    pub(crate) fn joined(
        shapes: impl IntoIterator<Item = Result<Self, Error>>,
    ) -> Result<Option<Self>, Error> {
        let shapes = shapes.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut merged: Vec<Self> = Vec::new();
        for shape in &shapes {
            match (merged.last_mut(), &shape.form) {
                (Some(Self { at, form: Form::Run(before) }), Form::Run(len))
                    if isize::try_from(*before).ok().and_then(|len| at.checked_add(len))
                        == Some(shape.at) =>
                {
                    *before = before.checked_add(*len).ok_or(Error::Overflow)?;
                }
                _ => merged.push(shape.clone()),
            }
        }
        // Runs of one length are copied several times as fast as runs of many lengths, which cause branch mispredictions.
        let of_one_length = shapes.windows(2).all(|pair| pair[0].form.same(&pair[1].form));
        let few_neighbours = merged.len().saturating_mul(4) > shapes.len();
        let regular = stride(&merged)?.is_some();
        let list = of_one_length && few_neighbours && !regular && merged.len() > 1;
        Self::listed(if list { shapes } else { merged })
    }

    /// A loop or a list of these shapes.
    fn listed(mut merged: Vec<Self>) -> Result<Option<Self>, Error> {
        let Some(first) = merged.first() else { return Ok(None) };
        let at = first.at;
        if merged.len() == 1 {
            return Ok(merged.pop());
        }
        if let Some(stride) = stride(&merged)? {
            return first.repeated(merged.len(), stride);
        }
        let same = merged.iter().all(|shape| shape.form.same(&first.form));
        List::new(at, merged, same).map(|list| Some(Self { at, form: Form::List(Arc::new(list)) }))
    }
}

/// The distance between consecutive shapes, if there are at least two, all are the same, and the distances are equal.
fn stride(shapes: &[Shape]) -> Result<Option<isize>, Error> {
    let [first, second, ..] = shapes else { return Ok(None) };
    let stride = second.at.checked_sub(first.at).ok_or(Error::Overflow)?;
    let next = |pair: &[Shape; 2]| {
        pair[0].at.checked_add(stride) == Some(pair[1].at) && pair[0].form.same(&pair[1].form)
    };
    Ok(shapes.array_windows().all(next).then_some(stride))
}

/// Prints the number of a list's parts, not the parts: many lists may share a part, so printing all of them could take space exponential in the
/// memory of the lists.
impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("List");
        text.field("places", &self.places.len());
        match &self.parts {
            Parts::Same(form) => text.field("same", form),
            Parts::Runs(_) => text.field("runs", &self.size),
            Parts::Any(forms, _) => text.field("any", &forms.len()),
        };
        text.field("size", &self.size).field("low", &self.low).field("high", &self.high).finish()
    }
}

impl List {
    fn new(at: isize, shapes: Vec<Shape>, same: bool) -> Result<Self, Error> {
        let (mut size, mut low, mut high) = (0_usize, 0, 0);
        let mut starts = Vec::with_capacity(shapes.len() + 1);
        let mut places = Vec::with_capacity(shapes.len());
        for shape in &shapes {
            starts.push(size);
            size = size.checked_add(shape.form.size()).ok_or(Error::Overflow)?;
            let place = shape.at.checked_sub(at).ok_or(Error::Overflow)?;
            let (first, end) = shape.form.span()?;
            low = low.min(add(place, first)?);
            high = high.max(add(place, end)?);
            places.push(place);
        }
        starts.push(size);
        let starts = starts.into_boxed_slice();
        let mut forms = shapes.into_iter().map(|shape| shape.form);
        let parts = match forms.next() {
            Some(form) if same => Parts::Same(form),
            first => {
                let forms: Box<[Form]> = first.into_iter().chain(forms).collect();
                let runs = forms.iter().all(|form| matches!(form, Form::Run(_)));
                if runs { Parts::Runs(starts) } else { Parts::Any(forms, starts) }
            }
        };
        Ok(Self { places: places.into_boxed_slice(), parts, size, low, high })
    }

    /// The places of the parts.
    pub(crate) fn places(&self) -> &[isize] {
        &self.places
    }

    /// The parts.
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The lowest offset of a byte, and the highest plus one.
    pub(crate) fn span(&self) -> (isize, isize) {
        (self.low, self.high)
    }

    /// The part that contains the packed byte at `at`, and the start of that part.
    pub(crate) fn part_of(&self, at: usize) -> (usize, usize) {
        match &self.parts {
            Parts::Same(form) => {
                let part = at / form.size();
                (part, part * form.size())
            }
            Parts::Runs(starts) | Parts::Any(_, starts) => {
                let part = starts.partition_point(|start| *start <= at).saturating_sub(1);
                (part, starts.get(part).copied().unwrap_or(0))
            }
        }
    }

    /// The form of a part.
    pub(crate) fn form(&self, part: usize) -> Option<Form> {
        match &self.parts {
            Parts::Same(form) => Some(form.clone()),
            Parts::Runs(starts) => {
                let start = starts.get(part)?;
                Some(Form::Run(starts.get(part + 1)? - start))
            }
            Parts::Any(forms, _) => forms.get(part).cloned(),
        }
    }
}

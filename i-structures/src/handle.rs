//! The handles of a program: structures, and pending fetches.

use crate::{
    address::{Address, StructureId},
    distribution::Layout,
    element::{Element, ElementState},
    error::{Error, Result},
    node::Shared,
    options::Shape,
    state::{Found, Known},
    waiter::Waiter,
};
use std::{
    fmt,
    marker::PhantomData,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

/// A structure without the type of its elements, for plans.
#[derive(Clone, Debug)]
pub struct Structure(pub(crate) Rc<Known>);

impl Structure {
    pub(crate) fn shape(&self) -> &Shape {
        &self.0.shape
    }

    pub(crate) fn address(&self, index: u64) -> Address {
        Address { structure: StructureId(self.0.id), index }
    }

    #[inline]
    pub(crate) fn locate(&self, index: u64) -> Result<(u32, u64)> {
        let layout = &self.shape().layout;
        layout.locate(index).ok_or(Error::OutOfRange { address: self.address(index), len: layout.len() })
    }
}

/// A distributed array each of whose elements is stored once. Clones refer to the same array.
pub struct IStructure<T> {
    shared: Rc<Shared>,
    structure: Structure,
    element: PhantomData<T>,
}

impl<T> Clone for IStructure<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone(), self.structure.clone())
    }
}

impl<T> fmt::Debug for IStructure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IStructure").field(&self.structure).finish()
    }
}

impl<T> IStructure<T> {
    pub(crate) fn new(shared: Rc<Shared>, structure: Structure) -> Self {
        Self { shared, structure, element: PhantomData }
    }

    /// The number of the structure.
    pub fn id(&self) -> StructureId {
        StructureId(self.structure.0.id)
    }

    /// The structure without the type of its elements.
    pub fn untyped(&self) -> &Structure {
        &self.structure
    }

    /// The distribution of the elements over the ranks.
    pub fn layout(&self) -> &Layout {
        &self.structure.shape().layout
    }

    /// The indices of the elements of this rank, in ascending order.
    pub fn local(&self) -> impl Iterator<Item = u64> + use<'_, T> {
        let (layout, rank) = (self.layout(), self.shared.rank);
        (0..layout.slots(rank)).filter_map(move |slot| layout.index(rank, slot))
    }

    /// The state of an element of this rank.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::NotOwner`], [`Error::Freed`].
    pub fn state(&self, index: u64) -> Result<ElementState> {
        let slot = self.own_slot(index)?;
        // A slot of this rank fits in `usize`: its elements are in memory.
        Ok(self.structure.0.segment()?.state(slot as usize))
    }

    fn own_slot(&self, index: u64) -> Result<u64> {
        let (owner, slot) = self.structure.locate(index)?;
        if owner != self.shared.rank {
            return Err(Error::NotOwner { address: self.structure.address(index), owner });
        }
        Ok(slot)
    }
}

impl<T: Element> IStructure<T> {
    /// Stores an element of this rank and sends it to the ranks that wait for it.
    ///
    /// # Errors
    /// [`Error::StoredTwice`], [`Error::OutOfRange`], [`Error::NotOwner`], [`Error::Freed`], [`Error::Transport`].
    pub fn store(&self, index: u64, value: T) -> Result<()> {
        let slot = self.own_slot(index)?;
        let (known, address) = (&self.structure.0, self.structure.address(index));
        let mut bytes = std::mem::take(&mut *self.shared.scratch.borrow_mut());
        bytes.clear();
        value.write(&mut bytes);
        if bytes.len() != T::BYTES {
            return Err(unreadable(address));
        }
        // A slot of this rank fits in `usize`: its elements are in memory.
        let released = known.segment()?.store(slot as usize, &bytes).ok_or(Error::StoredTwice(address))?;
        if let Some(released) = released {
            released.local().for_each(|waiter| waiter.resume(Ok(&bytes)));
            self.shared.state.borrow_mut().release(known, slot, &bytes, released)?;
        }
        *self.shared.scratch.borrow_mut() = bytes;
        Ok(())
    }

    /// An element of this rank if it is full; not counted as an access.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::NotOwner`], [`Error::Freed`].
    pub fn get(&self, index: u64) -> Result<Option<T>> {
        let slot = self.own_slot(index)?;
        let segment = self.structure.0.segment()?;
        // A slot of this rank fits in `usize`: its elements are in memory.
        segment.read(slot as usize).map(|bytes| value(self.structure.address(index), bytes)).transpose()
    }

    /// Requests an element. The request, if needed, is sent immediately; the future returns the value or the error.
    pub fn fetch(&self, index: u64) -> Fetch<T> {
        Fetch(match self.find(index) {
            Ok(Found::Value(Ok(value))) => Fetching::Value(value),
            Ok(Found::Waiting(waiter)) => Fetching::Waiting(waiter),
            Ok(Found::Value(Err(error))) | Err(error) => Fetching::Failed(Box::new(error)),
        })
    }

    fn find(&self, index: u64) -> Result<Found<Result<T>>> {
        let (known, address) = (&*self.structure.0, self.structure.address(index));
        let (owner, slot) = self.structure.locate(index)?;
        let read = |bytes: &[u8]| value(address, bytes);
        let mut segment = known.segment()?;
        if owner != self.shared.rank {
            drop(segment);
            return self.shared.state.borrow_mut().fetch(&known.shape, address, owner, slot, read);
        }
        self.shared.local.set(self.shared.local.get() + 1);
        // A slot of this rank fits in `usize`: its elements are in memory.
        let slot = slot as usize;
        Ok(match segment.read(slot) {
            Some(bytes) => Found::Value(read(bytes)),
            None => {
                let waiter = Waiter::new(address);
                segment.wait(slot, waiter.clone());
                Found::Waiting(waiter)
            }
        })
    }
}

/// A pending fetch (split-phase).
#[derive(Debug)]
#[must_use = "the value is that of the future"]
pub struct Fetch<T>(Fetching<T>);

#[derive(Debug)]
enum Fetching<T> {
    Value(T),
    Waiting(Rc<Waiter>),
    Failed(Box<Error>),
}

// It contains no references to itself.
impl<T> Unpin for Fetch<T> {}

impl<T: Element> Future for Fetch<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &self.0 {
            Fetching::Value(value) => Poll::Ready(Ok(*value)),
            Fetching::Failed(error) => Poll::Ready(Err((**error).clone())),
            Fetching::Waiting(waiter) => waiter
                .poll(context.waker(), |bytes| value(waiter.address, bytes))
                .map(|result| result.and_then(|value| value)),
        }
    }
}

/// Fails for a type of the program whose `read` does not accept the output of its `write`.
fn value<T: Element>(address: Address, bytes: &[u8]) -> Result<T> {
    T::read(bytes).ok_or_else(|| unreadable(address))
}

#[cold]
fn unreadable(address: Address) -> Error {
    Error::Program(format!("{address} cannot be read as the type of its structure"))
}

//! The local executor: the tasks of one rank, polled in the order in which they became ready.

use crate::error::Error;
use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

type Program = Pin<Box<dyn Future<Output = Result<(), Error>>>>;

/// The numbers of the tasks to be polled. Wakers may come from other threads; tasks may not.
#[derive(Debug, Default)]
struct Ready(Mutex<Vec<usize>>);

impl Ready {
    fn push(&self, task: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Returns the list and replaces it by an empty one.
    fn swap(&self, empty: &mut Vec<usize>) {
        std::mem::swap(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), empty);
    }

    fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Vec::new();
    }
}

struct TaskWaker {
    task: usize,
    queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.ready.push(self.task);
        }
    }
}

struct Task {
    program: Program,
    own: Arc<TaskWaker>,
    /// The waker passed to the task.
    waker: Waker,
}

/// An entry for a task.
enum Place {
    Free,
    /// Taken out to be polled: nothing is borrowed meanwhile, so the task can spawn others.
    Polled,
    Task(Task),
}

impl Place {
    /// Takes the task out to be polled.
    fn take(&mut self) -> Option<Task> {
        match self {
            Self::Task(_) => match std::mem::replace(self, Self::Polled) {
                Self::Task(task) => Some(task),
                _ => None,
            },
            _ => None,
        }
    }
}

#[derive(Default)]
struct Tasks {
    places: Vec<Place>,
    free: Vec<usize>,
    live: usize,
}

/// The tasks of a rank.
#[derive(Default)]
pub(crate) struct Executor {
    tasks: RefCell<Tasks>,
    ready: Arc<Ready>,
    /// The tasks that are being polled; between two turns, spare memory for the next turn.
    turn: Cell<Vec<usize>>,
}

impl Executor {
    pub(crate) fn spawn(&self, program: Program) {
        let tasks = &mut *self.tasks.borrow_mut();
        let task = tasks.free.pop().unwrap_or_else(|| {
            tasks.places.push(Place::Free);
            tasks.places.len() - 1
        });
        let own = Arc::new(TaskWaker { task, queued: AtomicBool::new(true), ready: self.ready.clone() });
        let waker = Waker::from(own.clone());
        if let Some(place) = tasks.places.get_mut(task) {
            *place = Place::Task(Task { program, own, waker });
            tasks.live += 1;
            self.ready.push(task);
        }
    }

    /// The number of tasks that have not ended.
    pub(crate) fn live(&self) -> usize {
        self.tasks.borrow().live
    }

    pub(crate) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The number of allocated entries.
    pub(crate) fn capacity(&self) -> usize {
        let tasks = self.tasks.borrow();
        tasks.places.capacity() + tasks.free.capacity()
    }

    /// Polls each task that is currently ready once; stops at the first one that fails.
    pub(crate) fn poll(&self) -> Result<(), Error> {
        let mut turn = self.turn.take();
        self.ready.swap(&mut turn);
        let polled = turn.iter().try_for_each(|number| self.poll_task(*number));
        turn.clear();
        // A rank without tasks keeps no memory for them.
        self.turn.set(if self.live() == 0 { Vec::new() } else { turn });
        polled
    }

    fn poll_task(&self, number: usize) -> Result<(), Error> {
        // A waker may outlive its task.
        let task = self.tasks.borrow_mut().places.get_mut(number).and_then(Place::take);
        let Some(mut task) = task else { return Ok(()) };
        task.own.queued.store(false, Ordering::Release);
        let poll = task.program.as_mut().poll(&mut Context::from_waker(&task.waker));
        let tasks = &mut *self.tasks.borrow_mut();
        // `clear` may have been called in the meantime.
        let Some(place) = tasks.places.get_mut(number).filter(|place| matches!(place, Place::Polled)) else {
            return Ok(());
        };
        match poll {
            Poll::Pending => *place = Place::Task(task),
            Poll::Ready(result) => {
                *place = Place::Free;
                tasks.free.push(number);
                tasks.live -= 1;
                if tasks.live == 0 {
                    (tasks.places, tasks.free) = (Vec::new(), Vec::new());
                }
                return result;
            }
        }
        Ok(())
    }

    /// Drops all tasks.
    pub(crate) fn clear(&self) {
        // Dropped after the borrow ends: a task may hold something that calls back.
        let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
        self.ready.clear();
        drop(tasks);
    }
}

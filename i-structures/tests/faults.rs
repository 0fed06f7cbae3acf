//! Every fault gives a specific error on all ranks, and no rank hangs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

use mpress_i_structures::{
    Address, Caching, Content, Deferral, Distribution, ElementState, Error, IStructure, Memory, Node,
    Options, Plan, Refusal, Result, Step, StructureId, Transport, TransportError, Waiting, simulated,
};
use std::{
    cell::RefCell,
    collections::VecDeque,
    rc::Rc,
    task::{Context, Poll, Waker},
};

const ENDED: Result<()> = Ok(());

fn at(structure: u64, index: u64) -> Address {
    Address { structure: StructureId(structure), index }
}

fn create(nodes: &[Node], options: &Options) -> Vec<IStructure<f64>> {
    nodes.iter().map(|node| node.create(options).unwrap()).collect()
}

/// Runs one task on each rank.
fn run(
    nodes: &[Node],
    mut task: impl FnMut(usize) -> std::pin::Pin<Box<dyn Future<Output = Result<()>>>>,
) -> Vec<Result<()>> {
    for (rank, node) in nodes.iter().enumerate() {
        node.begin(task(rank)).unwrap();
    }
    simulated::finish(nodes, 5)
}

#[test]
fn a_second_store_is_an_error_where_it_happens() {
    let nodes = simulated::nodes(3, 1);
    let arrays = create(&nodes, &Options::new(9));
    let results = run(&nodes, |rank| {
        let array = arrays[rank].clone();
        Box::pin(async move {
            for index in array.local() {
                array.store(index, 1.0)?;
            }
            if rank == 1 {
                assert_eq!(array.state(4), Ok(ElementState::Full));
                assert_eq!(array.store(4, 1.0), Err(Error::StoredTwice(at(0, 4))));
                array.store(5, 2.0)?;
            }
            Ok(())
        })
    });
    let twice = Error::StoredTwice(at(0, 5));
    let peer = Error::Peer { rank: 1, why: twice.to_string() };
    assert_eq!(twice.to_string(), "element 5 of structure 0 is stored a second time");
    assert_eq!(results, [Err(peer.clone()), Err(twice), Err(peer)]);
    // The first value is kept, and the ranks can continue.
    let results = run(&nodes, |rank| {
        let array = arrays[rank].clone();
        Box::pin(async move {
            assert_eq!(array.fetch(5).await, Ok(1.0));
            Ok(())
        })
    });
    assert_eq!(results, [ENDED, ENDED, ENDED]);
}

#[test]
fn bad_indices_and_foreign_stores_are_errors() {
    let nodes = simulated::nodes(2, 1);
    let arrays = create(&nodes, &Options::new(10).distribution(Distribution::Cyclic));
    let range = |index| Error::OutOfRange { address: at(0, index), len: 10 };
    for index in [10, u64::MAX] {
        assert_eq!(arrays[0].store(index, 0.0), Err(range(index)));
        assert_eq!(arrays[0].state(index), Err(range(index)));
        let array = arrays[1].clone();
        let results = run(&nodes, |rank| {
            let array = array.clone();
            Box::pin(async move { if rank == 1 { array.fetch(index).await.map(drop) } else { Ok(()) } })
        });
        assert_eq!(results[1], Err(range(index)));
    }
    assert_eq!(arrays[0].store(3, 0.0), Err(Error::NotOwner { address: at(0, 3), owner: 1 }));
}

#[test]
fn options_that_cannot_be_are_errors() {
    let node = &simulated::nodes(1, 1)[0];
    let refused = |options: Options| assert!(matches!(node.create::<f64>(&options), Err(Error::Options(_))));
    refused(Options::new(3).caching(Caching::Blocks(0)));
    refused(Options::new(3).distribution(Distribution::BlockCyclic(0)));
    refused(Options::new(3).distribution(Distribution::Owner(Rc::new(|_| 1))));
    assert!(matches!(node.create::<[f64; 0]>(&Options::new(3)), Err(Error::Options(_))));
    assert!(matches!(node.create::<f64>(&Options::new(u64::MAX / 2)), Err(Error::TooLarge(_))));
    assert!(matches!(node.create::<f64>(&Options::new(1 << 60)), Err(Error::TooLarge(_))));
    node.create::<f64>(&Options::new(0).caching(Caching::Blocks(u64::MAX))).unwrap();
}

#[test]
fn a_deadlock_names_elements() {
    for caching in [Caching::Off, Caching::Blocks(4)] {
        let nodes = simulated::nodes(3, 1);
        let arrays = create(&nodes, &Options::new(30).caching(caching));
        // Each rank waits for an element of the next, and stores its own afterwards.
        let results = run(&nodes, |rank| {
            let array = arrays[rank].clone();
            Box::pin(async move {
                let next = (rank as u64 + 1) % 3;
                array.fetch(next * 10).await?;
                array.store(rank as u64 * 10, 1.0)
            })
        });
        for result in results {
            let Err(Error::Deadlock { waiting: 3, mut names }) = result else { panic!("{result:?}") };
            names.sort_by_key(|name| name.rank);
            let name = |rank, index| Waiting { rank, address: at(0, index) };
            assert_eq!(names, [name(0, 10), name(1, 20), name(2, 0)]);
        }
    }
}

#[test]
fn a_structure_that_the_owner_does_not_have_is_an_error() {
    let nodes = simulated::nodes(2, 1);
    let one = &nodes[1];
    let fetch = |array: &IStructure<f64>| {
        let array = array.clone();
        one.begin(async move { array.fetch(0).await.map(drop) }).unwrap();
        nodes[0].begin(async { Ok(()) }).unwrap();
        simulated::finish(&nodes, 3)
    };
    // Never created there.
    let array: IStructure<f64> = one.create(&Options::new(4)).unwrap();
    for result in fetch(&array) {
        assert_eq!(
            result,
            Err(Error::Deadlock { waiting: 1, names: vec![Waiting { rank: 1, address: at(0, 0) }] })
        );
    }
    // Created there with other parameters; it refuses earlier and later requests.
    nodes[0].create::<f32>(&Options::new(4)).unwrap();
    let refused = |address, reason| Err(Error::Refused { address, owner: 0, reason });
    assert_eq!(fetch(&array)[1], refused(at(0, 0), Refusal::OtherParameters));
    // Freed there.
    let all = create(&nodes, &Options::new(4).caching(Caching::Blocks(2)));
    nodes[0].free(all[0].clone()).unwrap();
    assert_eq!(fetch(&all[1])[1], refused(at(1, 0), Refusal::Freed));
    // Freed here.
    one.free(all[1].clone()).unwrap();
    assert_eq!(one.free(all[1].clone()), Err(Error::Freed(StructureId(1))));
    assert_eq!(fetch(&all[1])[1], Err(Error::Freed(StructureId(1))));
    assert_eq!(all[1].store(2, 0.0), Err(Error::Freed(StructureId(1))));
}

#[test]
fn structures_are_freed_and_made_again_without_growth() {
    let nodes = simulated::nodes(3, 1);
    let options = Options::new(60).caching(Caching::Blocks(4)).deferral(Deferral::Block);
    for round in 0..10_000_u64 {
        let arrays = create(&nodes, &options);
        // Blocks of the cyclic distribution would mix values of two rounds if addresses were not logical.
        let results = run(&nodes, |rank| {
            let (array, node) = (arrays[rank].clone(), nodes[rank].clone());
            Box::pin(async move {
                for index in array.local() {
                    array.store(index, (round * 100 + index) as f64)?;
                }
                for index in [0, 25, 59] {
                    assert_eq!(array.fetch(index).await?, (round * 100 + index) as f64);
                }
                // In every other round, within the run.
                if round % 2 == 0 { node.free(array) } else { Ok(()) }
            })
        });
        assert_eq!(results, [ENDED, ENDED, ENDED]);
        for (node, array) in nodes.iter().zip(arrays) {
            assert_eq!(node.free(array).is_ok(), round % 2 == 1);
            assert_eq!(node.memory(), Memory::default());
        }
    }
}

#[test]
fn a_plan_for_other_parameters_is_refused() {
    let options = Options::new(40).caching(Caching::Blocks(4)).deferral(Deferral::Block);
    let nodes = simulated::nodes(2, 1);
    let arrays = create(&nodes, &options);
    let begun: Vec<_> = nodes
        .iter()
        .zip(&arrays)
        .map(|(node, array)| {
            let mut recorder = node.record(&[array.untyped().clone()]).unwrap();
            assert!(matches!(recorder.fetch(array, 40), Err(Error::OutOfRange { .. })));
            (0..40).for_each(|index| recorder.fetch(array, index).unwrap());
            node.begin_exchange(recorder).unwrap()
        })
        .collect();
    assert_eq!(simulated::finish(&nodes, 2), [ENDED, ENDED]);
    let plans: Vec<Plan> =
        nodes.iter().zip(begun).map(|(node, plan)| node.end_exchange(plan).unwrap()).collect();
    assert_eq!(plans.iter().map(Plan::values).collect::<Vec<_>>(), [5, 5]);

    let bind = |node: &Node, options: &Options, plan: &Plan| {
        let array: IStructure<f64> = node.create(options).unwrap();
        let result = node.bind(plan, &[array.untyped().clone()]);
        node.free(array).unwrap();
        result
    };
    let node = &nodes[0];
    assert_eq!(bind(node, &options, &plans[0]), Ok(()));
    let other = |options: &Options| assert!(matches!(bind(node, options, &plans[0]), Err(Error::Plan(_))));
    other(&Options { len: 41, ..options.clone() });
    other(&options.clone().caching(Caching::Blocks(2)));
    other(&options.clone().deferral(Deferral::Element));
    other(&options.clone().distribution(Distribution::Cyclic));
    assert!(matches!(bind(node, &options, &plans[1]), Err(Error::Plan("another rank"))));
    assert!(matches!(bind(&simulated::nodes(3, 1)[0], &options, &plans[0]), Err(Error::Plan(_))));
    let single: IStructure<f32> = node.create(&options).unwrap();
    assert!(matches!(node.bind(&plans[0], &[single.untyped().clone()]), Err(Error::Plan(_))));
    assert!(matches!(node.bind(&plans[0], &[]), Err(Error::Plan(_))));
    let uncached: IStructure<f32> = node.create(&Options::new(3)).unwrap();
    assert!(matches!(node.record(&[uncached.untyped().clone()]), Err(Error::Options(_))));
}

#[test]
fn ranks_that_record_for_other_parameters_get_an_error() {
    let nodes = simulated::nodes(2, 1);
    for (node, len) in nodes.iter().zip([40, 44]) {
        let array: IStructure<f64> = node.create(&Options::new(len).caching(Caching::Blocks(4))).unwrap();
        let mut recorder = node.record(&[array.untyped().clone()]).unwrap();
        (0..len).for_each(|index| recorder.fetch(&array, index).unwrap());
        node.begin_exchange(recorder).unwrap();
    }
    assert!(simulated::finish(&nodes, 2).iter().all(|result| matches!(result, Err(Error::Plan(_)))));
}

/// The messages that a test delivers to a rank, and those that the rank has sent.
#[derive(Default)]
struct Messages {
    inbox: VecDeque<(u32, Vec<u8>)>,
    sent: Vec<Vec<u8>>,
    /// The other rank answers probes: it has ended, has sent this number of messages, and received one.
    other_has_sent: Option<u64>,
}

/// A transport with messages written by a test.
struct Script(Rc<RefCell<Messages>>);

impl Transport for Script {
    fn rank(&self) -> u32 {
        0
    }

    fn size(&self) -> u32 {
        2
    }

    fn communicator(&self) -> u64 {
        0
    }

    fn send(&mut self, _: u32, message: Vec<u8>, _: Content) -> std::result::Result<(), TransportError> {
        let messages = &mut *self.0.borrow_mut();
        if let (5, Some(sent)) = (message[1], messages.other_has_sent) {
            let numbers = [sent, 1, 0, 1].map(u64::to_le_bytes);
            let mut answer = [&message, numbers.as_flattened()].concat();
            answer[1] = 6;
            messages.inbox.push_back((1, answer));
        }
        messages.sent.push(message);
        Ok(())
    }

    fn receive(&mut self) -> std::result::Result<Option<(u32, Vec<u8>)>, TransportError> {
        Ok(self.0.borrow_mut().inbox.pop_front())
    }

    fn idle(&mut self) -> std::result::Result<bool, TransportError> {
        match self.0.borrow().other_has_sent {
            Some(_) => Ok(false),
            None => Err(TransportError("the link is down".into())),
        }
    }
}

#[test]
fn a_transport_that_fails_ends_the_run() {
    let node = Node::new(Script(Rc::default()));
    assert_eq!(node.run(async { Ok(()) }), Err(Error::Transport(TransportError("the link is down".into()))));
    assert!(matches!(node.step(), Step::Ended(Err(Error::Misuse(_)))));
}

#[test]
fn a_second_part_of_a_plan_is_an_error() {
    for parts in [1, 2] {
        let messages = Rc::new(RefCell::new(Messages::default()));
        let node = Node::new(Script(messages.clone()));
        let array: IStructure<u8> = node.create(&Options::new(12).caching(Caching::Blocks(4))).unwrap();
        let mut recorder = node.record(&[array.untyped().clone()]).unwrap();
        recorder.fetch(&array, 7).unwrap();
        node.begin_exchange(recorder).unwrap();
        // The other rank fetches the same blocks of this one.
        messages.borrow_mut().other_has_sent = Some(parts);
        let part = messages.borrow().sent.iter().find(|message| message[1] == 4).unwrap().clone();
        (0..parts).for_each(|_| messages.borrow_mut().inbox.push_back((1, part.clone())));
        let ended = loop {
            match node.step() {
                Step::Busy | Step::Idle => {}
                ended @ Step::Ended(_) => break ended,
            }
        };
        let second = Error::Protocol { from: 1, what: "a second part of a plan" };
        assert_eq!(ended, Step::Ended(if parts == 1 { Ok(()) } else { Err(second) }));
    }
}

#[test]
fn hostile_messages_are_errors() {
    let random = &mut fastrand::Rng::with_seed(1);
    let (mut resumed, mut served) = (0, 0);
    for _ in 0..100_000 {
        let messages = Rc::new(RefCell::new(Messages::default()));
        let node = Node::new(Script(messages.clone()));
        let cached: IStructure<u8> = node.create(&Options::new(12).caching(Caching::Blocks(4))).unwrap();
        let plain: IStructure<u8> = node.create(&Options::new(12)).unwrap();
        for array in [&cached, &plain] {
            array.store(1, 5).unwrap();
        }
        let fetches = (cached.fetch(7), plain.fetch(7));
        // An almost valid message: the header of a request that the node has sent, followed by numbers of all sizes.
        let mut message = random.choice(&messages.borrow().sent).unwrap().clone();
        message[1] = if random.bool() { 2 } else { random.u8(..9) };
        message.truncate(if random.bool() { 24 } else { 16 });
        // Presence bits, and one or more values.
        if random.bool() {
            message.extend((0..random.usize(1..6)).map(|_| random.u8(..16)));
        }
        for _ in 0..random.usize(..6) * usize::from(random.bool()) {
            let number = random.u64(..) >> random.u32(..64) << random.u32(..8);
            message.extend_from_slice(&number.to_le_bytes());
        }
        if random.bool() {
            message.truncate(message.len() - random.usize(..8));
        }
        if random.u8(..4) == 0 {
            let at = random.usize(..message.len());
            message[at] = random.u8(..);
        }
        let from = if random.bool() { 1 } else { random.u32(..3) };
        messages.borrow_mut().inbox.push_back((from, message));
        messages.borrow_mut().sent.clear();
        let results = Rc::new(RefCell::new(0));
        let task = results.clone();
        node.begin(async move {
            fetches.1.await?;
            *task.borrow_mut() += 1;
            Ok(())
        })
        .unwrap();
        drop(fetches.0);
        while node.step() == Step::Busy {}
        resumed += *results.borrow();
        served += messages.borrow().sent.iter().filter(|message| message[1] == 2).count();
        assert!(node.memory().cache_blocks <= 2);
    }
    // Some of them were valid.
    assert!(resumed > 10 && served > 10, "{resumed} {served}");
}

#[test]
fn what_comes_too_soon_is_bounded() {
    let nodes = simulated::nodes(2, 1);
    let options = Options::new(140_000);
    let array: IStructure<u8> = nodes[1].create(&options).unwrap();
    let fetches = array.clone();
    let results = run(&nodes, |rank| {
        let fetches: Vec<_> = (0..70_000 * rank as u64).map(|index| fetches.fetch(index)).collect();
        Box::pin(async move {
            for fetch in fetches {
                fetch.await?;
            }
            Ok(())
        })
    });
    let early = Error::TooEarly { from: 1 };
    assert_eq!(results, [Err(early.clone()), Err(Error::Peer { rank: 0, why: early.to_string() })]);
    assert_eq!(nodes[0].memory().parked, 1 << 16);
    // Kept messages are handled once the structure exists.
    let late: IStructure<u8> = nodes[0].create(&options).unwrap();
    assert_eq!(run(&nodes, |_| Box::pin(async { Ok(()) })), [ENDED, ENDED]);
    assert_eq!(nodes[0].memory().parked, 0);
    assert_eq!(late.state(0), Ok(ElementState::Deferred));
}

#[test]
fn fetches_from_a_structure_that_is_freed_end() {
    for caching in [Caching::Off, Caching::Blocks(2)] {
        let node = simulated::nodes(2, 1).remove(0);
        let array: IStructure<f64> = node.create(&Options::new(8).caching(caching)).unwrap();
        // An element of this rank, one of another, and further fetches of each.
        let fetches = [array.fetch(0), array.fetch(0), array.fetch(7), array.fetch(7)];
        node.free(array).unwrap();
        for mut fetch in fetches {
            let found = std::pin::Pin::new(&mut fetch).poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(found, Poll::Ready(Err(Error::Freed(StructureId(0)))));
        }
    }
}

#[test]
fn a_task_does_not_run_the_run_it_is_in() {
    let node = simulated::nodes(1, 1).remove(0);
    let own = node.clone();
    let result = node.run(async move {
        assert!(matches!(own.step(), Step::Ended(Err(Error::Misuse(_)))));
        assert!(matches!(own.run(async { Ok(()) }), Err(Error::Misuse(_))));
        Ok(())
    });
    assert_eq!(result, ENDED);
}

#[test]
fn messages_of_the_next_run_are_bounded() {
    let messages = Rc::new(RefCell::new(Messages::default()));
    let node = Node::new(Script(messages.clone()));
    node.begin(async { Ok(()) }).unwrap();
    let probe = [1, 5, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    messages.borrow_mut().inbox = (0..1000).map(|_| (1, probe.to_vec())).collect();
    while node.step() == Step::Busy {}
    assert_eq!(node.memory().parked, 3);
}

#[test]
fn a_program_can_wait_without_tasks() {
    let node = simulated::nodes(1, 1).remove(0);
    let array: IStructure<f64> = node.create(&Options::new(4)).unwrap();
    assert!(matches!(node.wait(array.fetch(0)), Err(Error::Misuse(_))));
    let inner = (node.clone(), array.clone());
    let result = node.run_blocking(move || {
        let (node, array) = inner;
        let task = array.clone();
        node.spawn(async move {
            let value = task.fetch(0).await?;
            task.store(1, value + 1.0)
        });
        assert!(matches!(node.run(async { Ok(()) }), Err(Error::Misuse(_))));
        array.store(0, 1.0)?;
        assert_eq!(node.wait(array.fetch(1)), Ok(2.0));
        node.wait(array.fetch(2)).map(drop)
    });
    let names = vec![Waiting { rank: 0, address: at(0, 2) }];
    assert_eq!(result, Err(Error::Deadlock { waiting: 1, names }));
    assert_eq!(node.run(async { Ok(()) }), Ok(()));
}

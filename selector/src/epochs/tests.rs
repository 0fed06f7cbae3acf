use super::*;
use alloc::vec::Vec;

/// A simulated program that starts at time 0 and sends messages.
struct Program {
    now_ns: f64,
    /// The seed of its noise.
    noise: u64,
}

/// The number of rounds of the early schedule.
const EARLY_ROUNDS: u64 = Schedule::CHANGE_NS / Schedule::EARLY.round_ns();

/// The middle of the epoch with this number in each of the first rounds.
fn middles(epoch: u64, rounds: u64) -> impl Iterator<Item = u64> {
    (0..rounds).map(move |round| {
        let (schedule, since, begin) = match round.checked_sub(EARLY_ROUNDS) {
            None => (Schedule::EARLY, round, 0),
            Some(late) => (Schedule::LATE, late, Schedule::CHANGE_NS),
        };
        begin + since * schedule.round_ns() + epoch * schedule.epoch_ns + schedule.epoch_ns / 2
    })
}

/// The number of iterations, and of those that began with raw messages.
struct Ran {
    all: u32,
    raw: u32,
}

impl Program {
    fn new(seed: u64) -> Self {
        Self { now_ns: 0.0, noise: seed << 40 }
    }

    /// From 0.8 to 1.2, sometimes 3: other load on the machine.
    fn jitter(&mut self) -> f64 {
        self.noise += 1;
        let random = random(self.noise ^ 0xabcd) % 1000;
        if random < 10 { 3.0 } else { 0.8 + 0.4 * random as f64 / 1000.0 }
    }

    fn wait(&mut self, us: f64) {
        self.now_ns += us * 1e3;
    }

    /// Sends a message of 10 kB.
    fn send(&mut self, epochs: &mut Epochs) -> Way {
        let way = epochs.way(10_000, self.now_ns as u64);
        self.wait(1.0);
        way
    }

    /// Runs iterations of eight messages, which take these times, for some seconds.
    fn run(&mut self, epochs: &mut Epochs, seconds: f64, decided_us: f64, raw_us: f64) -> Ran {
        let end = self.now_ns + seconds * 1e9;
        let mut ran = Ran { all: 0, raw: 0 };
        while self.now_ns < end {
            let way = (0..8).map(|_| self.send(epochs)).last().unwrap();
            let us = if way == Way::Raw { raw_us } else { decided_us };
            let us = us * self.jitter();
            self.wait(us);
            ran.all += 1;
            ran.raw += u32::from(way == Way::Raw);
        }
        ran
    }
}

fn is_near(epochs: &Epochs, speedup: f64) {
    let clock = epochs.by_the_clock().unwrap();
    assert!((clock.speedup - speedup).abs() < 3.0 * clock.error, "{clock:?}, not {speedup}");
}

#[test]
fn what_gains_is_kept_and_little_is_given_away() {
    for seed in 0..5 {
        let (mut epochs, mut program) = (Epochs::new(), Program::new(seed));
        let Ran { all, raw } = program.run(&mut epochs, 300.0, 900.0, 1000.0);
        assert!(raw * 25 < all, "{raw} of {all}");
        is_near(&epochs, 1000.0 / 900.0);
        let clock = epochs.by_the_clock().unwrap();
        assert!(clock.tells && clock.error < 0.02, "{clock:?}");
        assert_eq!(epochs.in_use(), Way::Decided);
    }
}

#[test]
fn what_loses_is_found_out_and_given_up() {
    for seed in 0..5 {
        // A loss of 5 %, which no estimate shows, is found within two minutes.
        let (mut epochs, mut program) = (Epochs::new(), Program::new(seed));
        program.run(&mut epochs, 120.0, 1050.0, 1000.0);
        assert_eq!(epochs.in_use(), Way::Raw, "{:?}", epochs.trials);
        let Ran { all, raw } = program.run(&mut epochs, 300.0, 1050.0, 1000.0);
        assert!(f64::from(raw) > 0.95 * f64::from(all), "{raw} of {all}");
        // Compression is used again within three minutes after the network has become slow.
        program.run(&mut epochs, 180.0, 1050.0, 2000.0);
        assert_eq!(epochs.in_use(), Way::Decided, "{:?}", epochs.trials);
    }
}

#[test]
fn a_large_loss_is_given_up_soon() {
    for seed in 0..20 {
        let (mut epochs, mut program) = (Epochs::new(), Program::new(seed));
        program.run(&mut epochs, 32.0, 1300.0, 1000.0);
        assert_eq!(epochs.in_use(), Way::Raw, "seed {seed}: {:?}", epochs.trials);
    }
}

#[test]
fn no_difference_is_no_reason_to_change() {
    for seed in 0..40 {
        let (mut epochs, mut program) = (Epochs::new(), Program::new(seed));
        // Six hours in steps of 20 ms.
        for _ in 0..72 {
            program.run(&mut epochs, 300.0, 20_000.0, 20_000.0);
            assert_eq!(epochs.in_use(), Way::Decided, "seed {seed}: {:?}", epochs.trials);
        }
    }
}

#[test]
fn a_short_job_is_not_experimented_with() {
    let (mut epochs, mut program) = (Epochs::new(), Program::new(0));
    let Ran { raw, .. } = program.run(&mut epochs, 0.99, 900.0, 1000.0);
    assert_eq!((raw, epochs.by_the_clock()), (0, None));
}

#[test]
fn odd_clocks_do_no_harm() {
    let mut epochs = Epochs::new();
    for now in [0, u64::MAX, 5, u64::MAX, 0, 1 << 62] {
        let _ = epochs.way(usize::MAX, now);
        let _ = epochs.are_odd(now);
    }
    for now in 0..1000 {
        let _ = epochs.way(0, now * Schedule::LATE.epoch_ns);
    }
    assert_eq!(epochs.by_the_clock(), None, "nothing was sent");
}

#[test]
fn a_trial_has_both_ways_alike_and_all_ranks_the_same() {
    let (mut losing, mut fresh) = (Epochs::new(), Epochs::new());
    Program::new(0).run(&mut losing, 300.0, 1500.0, 1000.0);
    assert_eq!(losing.in_use(), Way::Raw);
    assert!((0..400).all(|step| !fresh.are_odd(step * Schedule::LATE.epoch_ns / 2)), "it has no messages");
    // Whatever they have learned.
    for step in 0..400_000 {
        let now = 400_000_000_000 + step * 1_000_000;
        let [a, b] = [&mut losing, &mut fresh].map(|epochs| epochs.way(0, now));
        assert_eq!(a == b, on_trial(now).is_some(), "{now}");
        assert_eq!(losing.are_odd(now) || fresh.are_odd(now), a == b, "{now}");
    }
    let trials = |rounds| middles(1, rounds).filter_map(on_trial);
    let time = |way| trials(100_000).filter(|on_trial| *on_trial == (way, true)).count();
    assert!((20..38).contains(&trials(EARLY_ROUNDS).count()));
    assert!((24_500..25_500).contains(&trials(100_000).count()));
    assert!(time(Way::Raw).abs_diff(time(Way::Decided)) < 500);
}

#[test]
fn a_program_in_step_with_the_rounds_is_not_misunderstood() {
    // It sends only when a round has its first epoch on trial, or only when it has the second: then the order decides the winner.
    for at in [1, 5] {
        let mut epochs = Epochs::new();
        for now in middles(at, 1_000_000) {
            let _ = epochs.way(10_000, now);
            if epochs.in_use() == Way::Raw {
                panic!("{at}: {now}");
            }
        }
    }
}

#[test]
fn one_long_stall_changes_nothing() {
    for stalled in [Way::Decided, Way::Raw] {
        let (mut epochs, mut program) = (Epochs::new(), Program::new(0));
        program.run(&mut epochs, 300.0, 900.0, 1000.0);
        // A file system that hangs for a minute, in an epoch on trial.
        while on_trial(program.now_ns as u64) != Some((stalled, true)) {
            program.run(&mut epochs, 0.001, 900.0, 1000.0);
        }
        program.wait(60e6);
        program.run(&mut epochs, 100.0, 900.0, 1000.0);
        assert_eq!(epochs.in_use(), Way::Decided);
        is_near(&epochs, 1000.0 / 900.0);
    }
}

#[test]
fn long_stretches_of_computing_change_nothing() {
    for seed in 0..10 {
        for (decided, raw, speedup) in [(900.0, 1000.0, 1000.0 / 900.0), (1000.0, 1000.0, 1.0)] {
            let (mut epochs, mut program) = (Epochs::new(), Program::new(seed));
            for _ in 0..300 {
                program.run(&mut epochs, 1.0, decided, raw);
                let us = 10e6 * program.jitter();
                program.wait(us);
                assert_eq!(epochs.in_use(), Way::Decided, "{:?}", epochs.trials);
            }
            // The way during computation is random, so there may be no result; but there is no wrong result.
            if epochs.by_the_clock().is_some() {
                is_near(&epochs, speedup);
            }
        }
    }
}

#[test]
fn phases_change_nothing() {
    for seed in 0..10 {
        let (mut epochs, mut program) = (Epochs::new(), Program::new(seed));
        for phase in 0..20 {
            // 100 MB/s, then 20 MB/s.
            let us = [800.0, 4000.0][phase % 2];
            program.run(&mut epochs, 200.0, us, us);
            assert_eq!(epochs.in_use(), Way::Decided, "{:?}", epochs.trials);
        }
        is_near(&epochs, 1.0);
    }
}

#[test]
fn ranks_that_wait_for_each_other_come_to_the_same() {
    // Two ranks that are never an iteration apart; compression gains only if both compress.
    for (decided_us, raw_us, better) in [(900.0, 1000.0, Way::Decided), (1050.0, 1000.0, Way::Raw)] {
        let mut ranks = [Epochs::new(), Epochs::new()];
        ranks[0].in_use = Way::Raw;
        let mut program = Program::new(3);
        while program.now_ns < 300e9 {
            // Clocks that are three milliseconds apart.
            let now = program.now_ns as u64;
            let ways: Vec<_> = ranks
                .iter_mut()
                .zip([0, 3_000_000])
                .map(|(rank, apart)| rank.way(80_000, now + apart))
                .collect();
            let us = |way| if way == Way::Raw { raw_us } else { decided_us };
            let slowest = ways.into_iter().map(us).fold(0.0, f64::max) * program.jitter();
            program.wait(slowest);
        }
        for rank in &ranks {
            assert_eq!(rank.in_use(), better, "{:?}", rank.trials);
            is_near(rank, raw_us / decided_us);
        }
    }
}

/// A program that posts messages without waiting, up to an amount that takes the network this long. Returns the way in use at the end.
fn producer(
    epochs: &mut Epochs,
    seed: u64,
    seconds: f64,
    backlog_ms: f64,
    decided_us: f64,
    raw_us: f64,
) -> Way {
    let mut program = Program::new(seed);
    let mut queue = alloc::collections::VecDeque::new();
    let room = (backlog_ms * 1e3 / raw_us) as usize;
    while program.now_ns < seconds * 1e9 {
        while queue.len() <= room {
            queue.push_back(epochs.way(80_000, program.now_ns as u64));
        }
        let us = if queue.pop_front() == Some(Way::Raw) { raw_us } else { decided_us };
        let us = us * program.jitter();
        program.wait(us);
    }
    epochs.in_use()
}

#[test]
fn what_drains_in_the_next_epoch_is_not_charged_to_it() {
    for backlog_ms in [5.0, 20.0, 50.0, 100.0, 150.0, 200.0, 300.0, 400.0] {
        let mut epochs = Epochs::new();
        let way = producer(&mut epochs, 1, 400.0, backlog_ms, 900.0, 1000.0);
        assert_eq!(way, Way::Decided, "{backlog_ms} ms: {:?}", epochs.trials);
        let mut epochs = Epochs::new();
        let way = producer(&mut epochs, 1, 400.0, backlog_ms, 1000.0, 1000.0);
        assert_eq!(way, Way::Decided, "{backlog_ms} ms: {:?}", epochs.trials);
        if backlog_ms < 100.0 {
            let mut epochs = Epochs::new();
            let way = producer(&mut epochs, 1, 400.0, backlog_ms, 1100.0, 1000.0);
            assert_eq!(way, Way::Raw, "{backlog_ms} ms: {:?}", epochs.trials);
        }
    }
}

#[test]
fn short_epochs_do_not_mislead() {
    for seed in 0..10 {
        for decided in [0.9, 1.0] {
            for backlog_ms in [5.0, 20.0, 50.0, 100.0, 200.0, 400.0] {
                let mut epochs = Epochs::new();
                let way = producer(&mut epochs, seed, 32.0, backlog_ms, 1000.0 * decided, 1000.0);
                assert_eq!(way, Way::Decided, "{backlog_ms} ms: {:?}", epochs.trials);
            }
            for us in [5e3, 20e3, 50e3, 90e3, 180e3, 700e3] {
                let (mut epochs, mut program) = (Epochs::new(), Program::new(seed));
                program.run(&mut epochs, 32.0, decided * us, us);
                assert_eq!(epochs.in_use(), Way::Decided, "{us}: {:?}", epochs.trials);
            }
        }
    }
}

#[test]
fn long_iterations_are_not_misunderstood() {
    // Most epochs have one iteration or none.
    for us in [20e3, 50e3, 90e3, 120e3, 180e3, 300e3, 700e3, 2e6] {
        let (mut epochs, mut program) = (Epochs::new(), Program::new(1));
        program.run(&mut epochs, 2000.0, 0.8 * us, us);
        assert_eq!(epochs.in_use(), Way::Decided, "{us}: {:?}", epochs.trials);
    }
}

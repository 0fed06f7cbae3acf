//! What the selector assumes about the network's bandwidth.

use mpress_selector::{Link, Selector, Transfer};

const GIGABIT: Link = Link { latency_us: 20.0, bandwidth_mb_s: 120.0 };

fn selector() -> Selector {
    Selector::new(&[], &[], GIGABIT, Transfer::Serial)
}

#[test]
fn a_change_shows_and_interruptions_do_not() {
    let mut link = selector();
    let time = |mb_s: f64| 1e6 * 1e3 / mb_s;
    for at in 0..64 {
        link.arrived(1_000_000, (if at % 2 == 0 { time(110.0) } else { time(30.0) }, 0.0), 1e6);
        link.passed(1_000_000, time(110.0), time(110.0));
    }
    assert!((link.link().bandwidth_mb_s - 110.0).abs() < 1e-6, "{:?}", link.link());
    let slower = (1..100).find(|_| {
        link.arrived(1_000_000, (time(11.0), 0.0), 0.0);
        link.link().bandwidth_mb_s < 12.0
    });
    assert!(slower.is_some_and(|samples| samples <= 16), "{slower:?}");
    // Passages before the change are no bound after it.
    link.passed(1_000_000, time(11.0), time(11.0));
    assert!(link.link().bandwidth_mb_s < 12.0, "{:?}", link.link());
    let faster = (1..100).find(|_| {
        link.arrived(1_000_000, (time(110.0), 0.0), 0.0);
        link.link().bandwidth_mb_s > 100.0
    });
    assert_eq!(faster, Some(6));
}

#[test]
fn a_sender_that_takes_its_time_is_no_slow_network() {
    let mut link = selector();
    // The network takes 8.3 ms for bytes that are sent within 100 or 4 ms.
    (0..64).for_each(|_| link.arrived(1_000_000, (100e6, 0.0), 100e6));
    assert_eq!(link.link().bandwidth_mb_s, 120.0);
    (0..64).for_each(|_| link.arrived(1_000_000, (4e6, 0.0), 4e6));
    assert!((link.link().bandwidth_mb_s - 250.0).abs() < 1e-6, "but it is at least this fast");
}

#[test]
fn time_spent_decoding_is_no_slow_network() {
    let mut link = selector();
    // Chunks arrive within 2 ms, of which this rank decodes all but half a millisecond: 500 to 2000 MB/s.
    (0..16).for_each(|_| link.arrived(1_000_000, (2e6, 1.5e6), 0.0));
    assert!((link.link().bandwidth_mb_s - 500.0).abs() < 1e-6, "at least: {:?}", link.link());
    (0..16).for_each(|_| link.arrived(1_000_000, (1e6, 0.0), 0.0));
    (0..16).for_each(|_| link.arrived(1_000_000, (2e6, 1.5e6), 0.0));
    assert!((link.link().bandwidth_mb_s - 1000.0).abs() < 1e-6, "both bounds allow this: {:?}", link.link());
    (0..16).for_each(|_| link.arrived(1_000_000, (8e6, 1e6), 0.0));
    assert!((link.link().bandwidth_mb_s - 1000.0 / 7.0).abs() < 1e-6, "at most: {:?}", link.link());
}

#[test]
fn trains_that_show_little_leave_other_messages_their_say() {
    let mut link = selector();
    // Nearly all of the time is coding: 100 MB/s or more.
    (0..16).for_each(|_| link.arrived(1_000_000, (10e6, 9.99e6), 0.0));
    (0..16).for_each(|_| link.passed(1_000_000, 1e6, 1e6));
    assert!((link.link().bandwidth_mb_s - 1000.0).abs() < 1e-6, "{:?}", link.link());
}

#[test]
fn late_partners_do_not_hide_what_trains_have_shown() {
    let mut link = selector();
    for _ in 0..64 {
        link.arrived(4 << 20, (4.2e6, 0.0), 0.0);
        // The partner was always 100 ms late.
        link.passed(4 << 20, 104e6, 104e6);
    }
    assert!((link.link().bandwidth_mb_s - 998.6).abs() < 1.0, "{:?}", link.link());
    // Without trains only the bound remains.
    (0..16 + 1).for_each(|_| link.passed(4 << 20, 104e6, 104e6));
    assert!(link.link().bandwidth_mb_s < 200.0, "{:?}", link.link());
}

#[test]
fn old_trains_do_not_come_back() {
    let mut link = selector();
    (0..16).for_each(|_| link.arrived(1_000_000, (10e6, 0.0), 0.0));
    assert!((link.link().bandwidth_mb_s - 100.0).abs() < 1e-6);
    (0..16).for_each(|_| link.arrived(1_000_000, (1e6, 0.0), 1e6));
    link.arrived(1_000_000, (2e6, 0.0), 0.0);
    assert!((link.link().bandwidth_mb_s - 1000.0).abs() < 1e-6, "{:?}", link.link());
}

#[test]
fn a_slow_sender_does_not_bring_back_a_network_that_was_faster() {
    let mut link = selector();
    (0..16).for_each(|_| link.arrived(1_000_000, (1e6, 0.0), 1e6));
    assert!((link.link().bandwidth_mb_s - 1000.0).abs() < 1e-6);
    (0..16).for_each(|_| link.arrived(1_000_000, (10e6, 0.0), 0.0));
    assert!((link.link().bandwidth_mb_s - 100.0).abs() < 1e-6);
    link.arrived(1_000_000, (20e6, 0.0), 20e6);
    assert!((link.link().bandwidth_mb_s - 100.0).abs() < 1e-6, "at least 50 is known: {:?}", link.link());
}

#[test]
fn late_partners_do_not_hide_what_busy_senders_have_shown() {
    let mut link = selector();
    for _ in 0..16 {
        link.arrived(1_000_000, (1e6, 0.0), 1e6);
        link.passed(1_000_000, 10e6, 10e6);
    }
    assert!((link.link().bandwidth_mb_s - 1000.0).abs() < 1e-6, "{:?}", link.link());
}

#[test]
fn what_passed_says_what_a_network_has_at_least_and_at_most() {
    let mut link = selector();
    let mut after = |waited: f64, elapsed: f64| {
        (0..16).for_each(|_| link.passed(1_000_000, 1e9 / waited, 1e9 / elapsed));
        link.link().bandwidth_mb_s
    };
    assert_eq!(after(40.0, 10.0), 120.0, "others may have been late");
    assert_eq!(after(20.0, 10.0), 80.0, "but not as late as that");
    assert_eq!(after(1e6, 30.0), 80.0, "what arrives while the rank computes says nothing of its speed");
    assert!((after(1000.0, 1000.0) - 1000.0).abs() < 1e-6);
}

#[test]
fn a_burst_of_messages_that_were_there_already_is_no_bandwidth() {
    let mut link = selector();
    for phase in 0..64 {
        // The first transfer of a phase took the time of the phase, the others only the time of
        // receiving them.
        link.passed(4 << 20, 1e3, if phase % 4 == 0 { 400e6 } else { 10e6 });
    }
    assert_eq!(link.link().bandwidth_mb_s, 120.0);
}

#[test]
fn nonsense_is_not_believed() {
    let mut link = selector();
    for (bytes, ns) in
        [(0, 1e9), (1_000_000, 0.0), (1_000_000, f64::NAN), (1, f64::INFINITY), (usize::MAX, 20_001.0)]
    {
        for _ in 0..20 {
            for coding_ns in [-1e9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, ns] {
                link.arrived(bytes, (ns, coding_ns), 0.0);
                link.arrived(bytes, (1e6, coding_ns), 0.0);
            }
            link.arrived(bytes, (ns, 0.0), 0.0);
            link.arrived(bytes, (ns, 0.0), f64::NAN);
            link.arrived(bytes, (1e3, 0.0), ns);
            link.passed(bytes, ns, ns);
            link.passed(bytes, 0.0, ns);
            assert!(link.link().is_sane(), "{bytes} {ns}");
        }
    }
}

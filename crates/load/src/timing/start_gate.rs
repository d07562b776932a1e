//! The common start of all workers, after their connections are established. All clocks start
//! together, and no clock includes a handshake. A worker unable to start calls off the start of all
//! workers.

use resolab_transport::clock::monotonic_ns;
use std::sync::{Condvar, Mutex, PoisonError};

/// The time for the workers to wake before the clock starts.
const LEAD_NS: u64 = 2_000_000;

/// The start gate shared by all workers.
#[derive(Debug)]
pub struct StartGate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    missing: u32,
    start_ns: Option<u64>,
    called_off: bool,
}

impl StartGate {
    /// Creates a gate for a number of workers.
    pub fn new(workers: u32) -> Self {
        Self {
            state: Mutex::new(State {
                missing: workers,
                start_ns: None,
                called_off: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits for the others. Returns the start of the clock, a moment from now; `None` when called
    /// off.
    pub fn arrive(&self) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.missing = state.missing.saturating_sub(1);
        if state.missing == 0 && !state.called_off {
            state.start_ns = Some(monotonic_ns() + LEAD_NS);
            self.changed.notify_all();
        }
        let state = self
            .changed
            .wait_while(state, |state| state.start_ns.is_none() && !state.called_off)
            .unwrap_or_else(PoisonError::into_inner);
        state.start_ns
    }

    /// Calls off the start: this worker cannot start, or has left. Has no effect after the start.
    pub fn call_off(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.called_off = true;
        self.changed.notify_all();
    }

    /// Returns the start of the clock; `None` before.
    pub fn start_ns(&self) -> Option<u64> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.start_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_get_the_same_start_and_nobody_before_the_last() {
        let gate = StartGate::new(3);
        std::thread::scope(|scope| {
            let early: Vec<_> = (0..2).map(|_| scope.spawn(|| gate.arrive())).collect();
            assert_eq!(gate.start_ns(), None);
            let before = monotonic_ns();
            let start = gate.arrive();
            assert!(start.unwrap() > before);
            for worker in early {
                assert_eq!(worker.join().unwrap(), start);
            }
        });
    }

    #[test]
    fn one_that_cannot_come_frees_the_others() {
        let gate = StartGate::new(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.arrive());
            gate.call_off();
            assert_eq!(waiting.join().unwrap(), None);
        });
        assert_eq!(gate.arrive(), None);
    }

    #[test]
    fn who_leaves_after_the_start_holds_nobody_up() {
        let gate = StartGate::new(1);
        let start = gate.arrive();
        gate.call_off();
        assert_eq!((gate.arrive(), gate.start_ns()), (start, start));
        assert!(start.is_some());
    }
}

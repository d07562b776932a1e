//! A tokio runtime of one thread. After a wake, the runtime may wait a moment before reading
//! answers. The answers then come in batches, and a single wake serves many answers.
//!
//! For: engines on libraries with a need for tokio (QUIC). Not for: the rule (see `rule`), nor
//! timers, rounded to milliseconds by tokio.

use crate::counting::Tally;
use crate::gathering::GatheringState;
use crate::timing::waiting;
use resolab_transport::clock::monotonic_ns;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

/// The state shared by engine and runtime: the answers found, and the waits made. One thread uses
/// the state. The lock exists only because the runtime's hook must be sendable.
#[derive(Debug)]
pub struct WakeAccount {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    gatherer: GatheringState,
    /// The number of answers since the last wake.
    answer_count: u64,
    response_time_sum_ns: u64,
    waited_ns: u64,
    /// The sums over all earlier wakes with answers.
    wake_count: u64,
    woken_answer_count: u64,
    waited_sum_ns: u64,
}

impl WakeAccount {
    fn new(gatherer: GatheringState) -> Self {
        Self {
            state: Mutex::new(State {
                gatherer,
                answer_count: 0,
                response_time_sum_ns: 0,
                waited_ns: 0,
                wake_count: 0,
                woken_answer_count: 0,
                waited_sum_ns: 0,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an answer with the given response time.
    pub fn note_answer(&self, response_time_ns: u64) {
        let mut state = self.state();
        state.answer_count += 1;
        state.response_time_sum_ns += response_time_ns;
    }

    /// Adds the wake counts to a tally.
    pub fn add_to(&self, tally: &mut Tally) {
        let mut state = self.state();
        state.close_wake();
        tally.wake_count += state.wake_count;
        tally.woken_answer_count += state.woken_answer_count;
        tally.gathering_wait_sum_ns += state.waited_sum_ns;
    }

    /// Accounts for the last batch after a wake, and waits for the new batch to grow.
    fn note_wake(&self) {
        let wait_ns = {
            let mut state = self.state();
            state.close_wake();
            state.gatherer.wait_ns()
        };
        if wait_ns == 0 {
            return;
        }
        let now_ns = monotonic_ns();
        waiting::sleep_until(now_ns + wait_ns);
        self.state().waited_ns = monotonic_ns() - now_ns;
    }
}

impl State {
    /// Closes the account of the last wake. Wakes without answers do not belong to the load.
    fn close_wake(&mut self) {
        let waited_ns = std::mem::take(&mut self.waited_ns);
        if self.answer_count == 0 {
            return;
        }
        self.wake_count += 1;
        self.woken_answer_count += self.answer_count;
        self.waited_sum_ns += waited_ns;
        self.gatherer
            .note_wake(self.answer_count, self.response_time_sum_ns);
        (self.answer_count, self.response_time_sum_ns) = (0, 0);
    }
}

/// Builds a runtime for this thread.
pub fn build(gatherer: GatheringState) -> io::Result<(LocalRuntime, Arc<WakeAccount>)> {
    let wakes = Arc::new(WakeAccount::new(gatherer));
    let hook = Arc::clone(&wakes);
    let runtime = Builder::new_current_thread()
        .enable_all()
        // Look for packets only when all that is known has been dealt with: the default of 61
        // tasks would cut batches.
        .event_interval(1_024)
        .on_thread_unpark(move || hook.note_wake())
        .build_local(LocalOptions::default())?;
    Ok((runtime, wakes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gathering::GatheringRule;
    use std::time::Duration;
    use tokio::net::UdpSocket;

    const WAIT: Duration = Duration::from_millis(20);

    fn runtime() -> (LocalRuntime, Arc<WakeAccount>) {
        build(GatheringState::new(GatheringRule::Fixed(WAIT), WAIT, 100)).unwrap()
    }

    async fn woken_by_a_packet() -> u64 {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let other = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let sender = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            let sent_ns = monotonic_ns();
            other.send_to(b"x", address).unwrap();
            sent_ns
        });
        socket.recv(&mut [0; 9]).await.unwrap();
        monotonic_ns() - sender.join().unwrap()
    }

    #[test]
    fn a_wake_waits_for_its_batch() {
        let (runtime, wakes) = runtime();
        let took_ns = runtime.block_on(woken_by_a_packet());
        assert!(took_ns >= WAIT.as_nanos() as u64, "{took_ns}");
        wakes.note_answer(7);
        wakes.note_answer(9);
        let mut tally = Tally::new(false, u64::MAX);
        wakes.add_to(&mut tally);
        assert_eq!((tally.wake_count, tally.woken_answer_count), (1, 2));
        assert!(tally.gathering_wait_sum_ns >= WAIT.as_nanos() as u64);
    }
}

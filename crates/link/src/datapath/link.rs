//! The link from the forwarder's view: both directions, the schedule of changes, and the observer
//! recording every event. Not for: waiting, nor for reading devices (see `forwarder`).

use crate::datapath::direction_queue::DirectionQueue;
use crate::datapath::schedule_run::{LinkState, ScheduleRun};
use crate::datapath::window::Observer;
use crate::devices::offload::Train;
use crate::devices::{arrival::Arrival, device::Device};
use crate::elements::far_servers::FarServers;
use crate::hosts::Host;
use crate::model::DirectionModel;
use resolab_record::FarNetwork;

/// The two directions of a link with the schedule and observer.
#[derive(Debug)]
pub struct Link {
    up: DirectionQueue,
    down: DirectionQueue,
    schedule_run: ScheduleRun,
    /// The observer notified of every packet.
    pub observer: Observer,
}

impl Link {
    /// Makes a fresh link; the schedule is not started.
    pub fn new(schedule_run: ScheduleRun, far: &[FarNetwork], seed: u64, now_ns: u64) -> Self {
        let LinkState { up, down, traces } = schedule_run.first();
        let queue = |sender, profile, trace: &Option<_>, label| {
            let mut model = DirectionModel::with_trace(profile, trace.clone(), label, seed);
            model.far = FarServers::new(far);
            DirectionQueue::new(sender, model)
        };
        Self {
            up: queue(Host::Client, up, &traces.up, "up"),
            down: queue(Host::Server, down, &traces.down, "down"),
            schedule_run,
            observer: Observer::new(now_ns),
        }
    }

    /// Returns the time of the schedule's next change.
    pub fn next_change_ns(&self) -> Option<u64> {
        self.schedule_run.next_ns()
    }

    /// Takes an arrival sent by `sender`.
    pub fn take(&mut self, sender: Host, arrival: &Arrival<'_>) {
        self.carry_out_changes(arrival.at_ns);
        let train = Train::divide_frame(arrival.offload, arrival.frame);
        let queue = match sender {
            Host::Client => &mut self.up,
            Host::Server => &mut self.down,
        };
        queue.take(arrival, &train, &mut self.observer);
    }

    /// Delivers everything due by `now_ns`.
    pub fn deliver_due(&mut self, now_ns: u64, client: &mut Device, server: &mut Device) {
        self.carry_out_changes(now_ns);
        let now_ns = self.up.deliver_due(now_ns, server, &mut self.observer);
        self.down.deliver_due(now_ns, client, &mut self.observer);
    }

    /// Returns the next time to act: a delivery, a settlement or a change.
    pub fn next_due_ns(&self) -> Option<u64> {
        [
            self.up.next_due_ns(),
            self.down.next_due_ns(),
            self.schedule_run.next_ns(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Changes to another profile; without a seed the random streams run on.
    pub fn change(
        &mut self,
        schedule_run: ScheduleRun,
        far: &[FarNetwork],
        seed: Option<u64>,
        now_ns: u64,
    ) {
        self.up.model.far.change(far);
        self.down.model.far.change(far);
        self.schedule_run = schedule_run;
        self.return_to_first(seed, now_ns);
    }

    /// Starts the schedule at `now_ns`, with the schedule's first state in force.
    pub fn start_schedule(&mut self, now_ns: u64) {
        self.return_to_first(None, now_ns);
        self.schedule_run.start(now_ns);
    }

    fn return_to_first(&mut self, seed: Option<u64>, now_ns: u64) {
        let first = self.schedule_run.first();
        for (queue, profile, trace) in [
            (&mut self.up, &first.up, &first.traces.up),
            (&mut self.down, &first.down, &first.traces.down),
        ] {
            queue.settle(now_ns, &mut self.observer);
            queue
                .model
                .change_over(profile, trace.clone(), seed, now_ns);
            queue.model.set_outage(now_ns, 0);
        }
    }

    /// Carries out the changes due by `now_ns`. Changes come into force at their own times instead
    /// of the time of a wake-up. Earlier packets keep the profile of their arrival, if taken before
    /// this call.
    pub fn carry_out_changes(&mut self, now_ns: u64) {
        while let Some(due) = self.schedule_run.take_due(now_ns) {
            self.observer.note_change(due.at_ns, due.index);
            let stretch = due.stretch;
            for (queue, next) in [
                (
                    &mut self.up,
                    stretch.map(|stretch| (&stretch.up, &stretch.traces.up)),
                ),
                (
                    &mut self.down,
                    stretch.map(|stretch| (&stretch.down, &stretch.traces.down)),
                ),
            ] {
                queue.settle(due.at_ns, &mut self.observer);
                if let Some((profile, trace)) = next {
                    queue
                        .model
                        .change_over(profile, trace.clone(), None, due.at_ns);
                }
                queue.model.set_outage(due.at_ns, due.outage_until_ns);
            }
        }
    }
}

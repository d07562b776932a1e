//! A profile's schedule at run time: the changes and their times. Pure: time is an argument.
//! Not for: reading or checking a schedule (see `profile`), nor for the changes' effect.

use crate::elements::delay::to_ns;
use crate::elements::trace::{TraceError, Traces};
use resolab_record::{DirectionProfile, LinkProfile, ScheduledChange};

/// The state of both directions between two changes.
#[derive(Debug, Clone)]
pub struct LinkState {
    /// Profile of the direction client to server.
    pub up: DirectionProfile,
    /// Profile of the direction server to client.
    pub down: DirectionProfile,
    /// The traces of both directions.
    pub traces: Traces,
}

/// A change of the schedule.
#[derive(Debug, Clone)]
struct ScheduleStep {
    after_ns: u64,
    outage_ns: Option<u64>,
    stretch: Option<LinkState>,
}

/// A change due now.
#[derive(Debug)]
pub struct DueChange<'a> {
    /// The time of coming into force, in ns.
    pub at_ns: u64,
    /// The change's position in the schedule, from 0.
    pub index: u32,
    /// End of the outage, in ns: no packet enters the link before. 0 without an outage.
    pub outage_until_ns: u64,
    /// The state in force from then on; `None` keeps the previous state.
    pub stretch: Option<&'a LinkState>,
}

/// A profile with the changes of the schedule.
#[derive(Debug, Clone)]
pub struct ScheduleRun {
    first: LinkState,
    steps: Vec<ScheduleStep>,
    started_ns: Option<u64>,
    next: usize,
}

impl ScheduleRun {
    /// Makes the schedule of a complete profile, not started. Reads the profile's traces.
    pub fn load(profile: &LinkProfile) -> Result<Self, TraceError> {
        let changes = profile.schedule.as_deref().unwrap_or_default();
        Ok(Self {
            first: LinkState::load(&profile.up, &profile.down)?,
            steps: changes
                .iter()
                .map(ScheduleStep::load)
                .collect::<Result<_, _>>()?,
            started_ns: None,
            next: 0,
        })
    }

    /// Returns the state in force before the first change.
    pub fn first(&self) -> &LinkState {
        &self.first
    }

    /// Starts the schedule at `now_ns`, with all changes still to come.
    pub fn start(&mut self, now_ns: u64) {
        self.started_ns = Some(now_ns);
        self.next = 0;
    }

    /// Returns the due time of the next change.
    pub fn next_ns(&self) -> Option<u64> {
        Some(self.started_ns? + self.steps.get(self.next)?.after_ns)
    }

    /// Takes the next change due by `now_ns`.
    pub fn take_due(&mut self, now_ns: u64) -> Option<DueChange<'_>> {
        let at_ns = self.next_ns().filter(|at_ns| *at_ns <= now_ns)?;
        let index = self.next;
        self.next += 1;
        let step = &self.steps[index];
        Some(DueChange {
            at_ns,
            index: index as u32,
            outage_until_ns: step.outage_ns.map_or(0, |outage_ns| at_ns + outage_ns),
            stretch: step.stretch.as_ref(),
        })
    }
}

impl LinkState {
    fn load(up: &DirectionProfile, down: &DirectionProfile) -> Result<Self, TraceError> {
        Ok(Self {
            up: up.clone(),
            down: down.clone(),
            traces: Traces::load(up, down)?,
        })
    }
}

impl ScheduleStep {
    fn load(change: &ScheduledChange) -> Result<Self, TraceError> {
        let directions = change.up.as_ref().zip(change.down.as_ref());
        Ok(Self {
            after_ns: to_ns(change.after_ms),
            outage_ns: change
                .outage_ms
                .map(to_ns)
                .filter(|outage_ns| *outage_ns > 0),
            stretch: directions
                .map(|(up, down)| LinkState::load(up, down))
                .transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn timetable(after_ms: &[f64]) -> ScheduleRun {
        let changes = after_ms.iter().map(|after_ms| ScheduledChange {
            after_ms: *after_ms,
            outage_ms: Some(0.5),
            ..ScheduledChange::default()
        });
        ScheduleRun::load(&LinkProfile {
            name: "x".to_owned(),
            source: "test".to_owned(),
            mtu_bytes: None,
            up: DirectionProfile::default(),
            down: DirectionProfile::default(),
            far: None,
            schedule: Some(changes.collect()),
        })
        .unwrap()
    }

    fn due_until(schedule_run: &mut ScheduleRun, now_ns: u64) -> Vec<(u64, u32, u64)> {
        std::iter::from_fn(|| {
            let due = schedule_run.take_due(now_ns)?;
            Some((due.at_ns, due.index, due.outage_until_ns))
        })
        .collect()
    }

    #[test]
    fn nothing_is_due_before_the_start() {
        let mut held = timetable(&[0.0]);
        assert_eq!(
            (held.next_ns(), due_until(&mut held, u64::MAX)),
            (None, vec![])
        );
    }

    #[test]
    fn changes_come_at_their_times_whenever_asked() {
        let mut running = timetable(&[0.0, 10.0, 10.0, 20.0]);
        running.start(5 * MS);
        assert_eq!(due_until(&mut running, 5 * MS - 1), []);
        assert_eq!(due_until(&mut running, 5 * MS), [(5 * MS, 0, 5_500_000)]);
        assert_eq!(running.next_ns(), Some(15 * MS));
        let late = due_until(&mut running, 99 * MS);
        assert_eq!(
            late.iter().map(|due| due.0).collect::<Vec<_>>(),
            [15 * MS, 15 * MS, 25 * MS]
        );
        assert_eq!(running.next_ns(), None);
    }

    #[test]
    fn a_change_without_an_outage_has_none_that_ends_as_it_comes() {
        let mut running = timetable(&[10.0]);
        for outage_ms in [None, Some(0.0)] {
            running.steps = vec![
                ScheduleStep::load(&ScheduledChange {
                    after_ms: 10.0,
                    outage_ms,
                    ..ScheduledChange::default()
                })
                .unwrap(),
            ];
            running.start(0);
            assert_eq!(due_until(&mut running, 10 * MS), [(10 * MS, 0, 0)]);
        }
    }

    #[test]
    fn a_start_begins_anew() {
        let mut running = timetable(&[10.0]);
        running.start(0);
        assert_eq!(due_until(&mut running, 50 * MS).len(), 1);
        running.start(60 * MS);
        assert_eq!(due_until(&mut running, 99 * MS), [(70 * MS, 0, 70_500_000)]);
    }
}

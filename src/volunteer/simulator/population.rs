//! Hosts drawn from the laws of their groups.

use super::host::{Host, Side};
use crate::law::Size;
use crate::simulation::{Sampler, Stream, Streams};
use crate::volunteer::workload::{Campaign, HostsRecord, Processor};

/// When a host is on and off; none where it always is.
pub(super) struct Turns {
    pub on: Sampler,
    pub off: Sampler,
}

/// What is drawn for each group again and again.
pub(super) struct Group {
    pub turns: Option<Turns>,
    pub delay: Option<Sampler>,
    pub error: f64,
    pub vanish: f64,
}

impl Group {
    fn of(record: &HostsRecord) -> Self {
        let turns = record.availability.as_ref().map(|own| Turns {
            on: Sampler::of(&own.on),
            off: Sampler::of(&own.off),
        });
        Group {
            turns,
            delay: record.delay.as_ref().map(Sampler::of),
            error: record.error.value(),
            vanish: record.vanish.value(),
        }
    }
}

/// A thousandth of the horizon between two requests where nothing is said.
const CONTACTS: f64 = 1000.0;

/// All hosts. Each has streams of its own, so that what one of them does changes nothing for another.
pub(super) fn population(campaign: &Campaign, streams: &Streams) -> (Vec<Group>, Vec<Host>) {
    let record = campaign.record();
    let groups: Vec<Group> = record.hosts.iter().map(Group::of).collect();
    let mut own = streams.service.clone();
    let mut hosts = Vec::new();
    for (group, hosts_record) in record.hosts.iter().enumerate() {
        let contact = hosts_record
            .contact
            .map_or(campaign.horizon() / CONTACTS, |c| c.value());
        let laws = Laws::of(hosts_record);
        for _ in 0..hosts_record.count {
            own.leap();
            let mut life = own.clone();
            own.leap();
            let luck = own.clone();
            hosts.push(laws.draw(group, &groups[group], contact, &mut life, luck));
        }
    }
    (groups, hosts)
}

/// What is drawn once a host.
struct Laws<'a> {
    record: &'a HostsRecord,
    speeds: [Option<Sampler>; 2],
    buffer: Sampler,
}

impl<'a> Laws<'a> {
    fn of(record: &'a HostsRecord) -> Self {
        let speed = |processor| {
            record
                .speed_of(processor)
                .map(|law: &Size| Sampler::of(law))
        };
        Laws {
            record,
            speeds: Processor::ALL.map(speed),
            buffer: Sampler::of(&record.buffer),
        }
    }

    fn draw(
        &self,
        group: usize,
        own: &Group,
        contact: f64,
        life: &mut Stream,
        luck: Stream,
    ) -> Host {
        let mut side = |processor: Processor| match &self.speeds[processor as usize] {
            Some(law) => Side::new(self.record.processors(processor), law.draw(life)),
            None => Side::new(0, 0.0),
        };
        let sides = Processor::ALL.map(&mut side);
        let buffer = self.buffer.draw(life);
        // Hosts do not all ask at once.
        let asks = contact * life.uniform();
        let availability = self.record.on_fraction();
        let on = life.uniform() < availability;
        let switch = match &own.turns {
            None => f64::INFINITY,
            Some(turns) if on => turns.on.draw(life),
            Some(turns) => turns.off.draw(life),
        };
        let state = (availability, on || own.turns.is_none(), switch);
        Host::new(
            group,
            sides,
            state,
            buffer,
            (contact, asks),
            life.clone(),
            luck,
        )
    }
}

//! Hosts drawn from the laws of their groups.

use super::host::{Host, Side};
use crate::simulation::{Sampler, Streams};
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
    let records = &campaign.record().hosts;
    let groups: Vec<Group> = records.iter().map(Group::of).collect();
    let mut stream = streams.service.clone();
    let mut hosts = Vec::new();
    for (n, (record, group)) in records.iter().zip(&groups).enumerate() {
        let usual = campaign.horizon() / CONTACTS;
        let contact = record.contact.map_or(usual, |own| own.value());
        let speeds = Processor::ALL.map(|own| record.speed_of(own).map(Sampler::of));
        let buffer = Sampler::of(&record.buffer);
        for _ in 0..record.count {
            stream.leap();
            let mut life = stream.clone();
            stream.leap();
            let sides = Processor::ALL.map(|own| match &speeds[own as usize] {
                Some(law) => Side::new(record.processors(own), law.draw(&mut life)),
                None => Side::default(),
            });
            let buffer = buffer.draw(&mut life);
            // Hosts do not all ask at once.
            let asks = contact * life.uniform();
            let availability = record.on_fraction();
            let mut on = life.uniform() < availability;
            let switch = match &group.turns {
                None => {
                    on = true;
                    f64::INFINITY
                }
                Some(turns) if on => turns.on.draw(&mut life),
                Some(turns) => turns.off.draw(&mut life),
            };
            hosts.push(Host {
                group: n,
                sides,
                availability,
                buffer,
                contact,
                on,
                switch,
                asks: if on { asks } else { f64::INFINITY },
                asked: asks - contact,
                since: 0.0,
                life,
                luck: stream.clone(),
            });
        }
    }
    (groups, hosts)
}

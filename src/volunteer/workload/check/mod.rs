//! The checks that turn a record into a [`Campaign`].

mod batches;

use std::collections::HashSet;

use super::document::{HostsRecord, Processor, QualityWord, Record};
use super::{Batch, Campaign, Quality, Supply, Version};
use crate::document::{
    Fault, Place, SENSIBLE, check_names, check_unit, place, sensible, suggest, unusable,
};
use crate::law::{Part, Size};
use crate::number::Decimal;

/// More hosts than this are not simulated.
const MOST_HOSTS: u64 = 100_000;

/// What is simulated at most: pairs of hosts and versions, jobs in all, jobs that a host keeps and that hosts of a kind
/// keep together, and times that a host is on or asks.
const MOST_PAIRS: u64 = 10_000_000;
const MOST_DONE: f64 = 1e8;
const MOST_QUEUED: f64 = 1e5;
const MOST_KEPT: f64 = 2e6;
const MOST_TURNS: f64 = 1e6;

/// Processors of one type that a host may have.
const MOST_PROCESSORS: u32 = 1_024;

impl Record {
    /// The campaign, and what to warn of; or all faults, those found so far and its own.
    pub(super) fn checked(
        &self,
        mut faults: Vec<Fault>,
    ) -> Result<(Campaign, Vec<Fault>), Vec<Fault>> {
        let heard = &mut faults;
        check_unit(&self.time_unit, heard);
        sensible(
            place!("horizon"),
            "the horizon",
            self.horizon,
            "write how long the campaign lasts",
            heard,
        );
        self.check_hosts(heard);
        self.check_applications(heard);
        self.check_batches(heard);
        self.check_policy(heard);
        if !faults.is_empty() {
            return Err(faults);
        }
        let campaign = Campaign {
            record: self.clone(),
            batches: self.expanded(),
            versions: self.versions(),
        };
        let mut seen = HashSet::new();
        for batch in &campaign.batches {
            if !seen.insert(&batch.name) {
                let message = format!("a second batch is named `{}`", batch.name);
                let help = "one that is submitted several times has -1, -2, … behind its name";
                faults.push(Fault::new(place!("batches", batch.entry), message, help));
            }
        }
        campaign.check_work(&mut faults);
        if faults.is_empty() {
            Ok((campaign, Vec::new()))
        } else {
            Err(faults)
        }
    }

    fn check_hosts(&self, faults: &mut Vec<Fault>) {
        names(
            "hosts",
            "group of hosts",
            self.hosts.iter().map(|h| &h.name),
            faults,
        );
        let count: u64 = self.hosts.iter().map(|h| u64::from(h.count)).sum();
        if count > MOST_HOSTS {
            let message = format!("there are {count} hosts, expected {MOST_HOSTS} at most");
            let help = "describe a part of the population, and as much of the work";
            faults.push(Fault::new(place!("hosts"), message, help));
        }
        for (i, hosts) in self.hosts.iter().enumerate() {
            self.check_group(hosts, &place!("hosts", i), faults);
        }
    }

    fn check_group(&self, hosts: &HostsRecord, at: &Place, faults: &mut Vec<Fault>) {
        let name = &hosts.name;
        let mut add = |key: &str, message: String, help: &str| {
            faults.push(Fault::new(at.then(key), message, help));
        };
        if hosts.count == 0 {
            let help = "write how many hosts there are, or leave the group out";
            add("count", format!("`{name}` has no hosts"), help);
        }
        if hosts.cores > MOST_PROCESSORS || hosts.gpus > MOST_PROCESSORS {
            let message = format!("a host of `{name}` has more than {MOST_PROCESSORS} processors");
            add("cores", message, "split it into several hosts");
        }
        if hosts.cores == 0 && hosts.gpus == 0 {
            let message = format!("a host of `{name}` has no processor");
            add("cores", message, "write how many cores or GPUs it has");
        }
        if (hosts.gpus > 0) != hosts.gpu_speed.is_some() {
            let message = format!("`{name}` has one of `gpus` and `gpu_speed`, expected both");
            let help = "write both, as in `gpus: 1, gpu_speed: 20`, or none";
            add("gpus", message, help);
        }
        for (key, value) in [("error", hosts.error), ("vanish", hosts.vanish)] {
            if !(0.0..=1.0).contains(&value.value()) {
                let message =
                    format!("`{key}` of `{name}` is {value}, expected a chance from 0 to 1");
                add(key, message, "write .02 for 2 %");
            }
        }
        if let Some(contact) = hosts.contact {
            let help = "write the least time between two requests of a host, or leave it out";
            sensible(at.then("contact"), "contact", contact, help, faults);
        }
        let owner = format!("`{name}`");
        let mut laws = vec![("speed", &hosts.speed), ("buffer", &hosts.buffer)];
        laws.extend(hosts.gpu_speed.as_ref().map(|law| ("gpu_speed", law)));
        laws.extend(hosts.delay.as_ref().map(|law| ("delay", law)));
        for (key, law) in laws {
            self.check_law(law, (key, &owner), &at.then(key), faults);
        }
        if let Some(own) = &hosts.availability {
            let at = at.then("availability");
            self.check_law(&own.on, ("time on", &owner), &at.then("on"), faults);
            self.check_law(&own.off, ("time off", &owner), &at.then("off"), faults);
        }
    }

    /// A law of something that has this name, of an owner.
    fn check_law(
        &self,
        law: &Size,
        (what, owner): (&'static str, &str),
        at: &Place,
        faults: &mut Vec<Fault>,
    ) {
        let unit = match what {
            "size" => "work".into(),
            "speed" | "gpu_speed" => format!("work per {}", self.time_unit),
            _ => self.time_unit.clone(),
        };
        let found = law.faults(Part::Other(what), owner, &unit);
        let sound = found.is_empty();
        faults.extend(found.into_iter().map(|fault| fault.within(at)));
        if sound && !SENSIBLE.contains(&law.mean()) {
            let message = format!(
                "the mean is {}, out of the range of sensible numbers",
                law.mean()
            );
            faults.push(Fault::new(at.clone(), message, "choose other units"));
        }
    }

    /// That an application has this name.
    fn known(&self, name: &str, at: &Place, faults: &mut Vec<Fault>) {
        if !self.applications.iter().any(|own| own.name == name) {
            let names: Vec<&str> = self.applications.iter().map(|a| a.name.as_str()).collect();
            let message = format!("there is no application `{name}`");
            let help = suggest(name, "the applications are", &names);
            faults.push(Fault::new(at.clone(), message, help));
        }
    }

    fn check_applications(&self, faults: &mut Vec<Fault>) {
        let own = self.applications.iter();
        names("applications", "application", own.map(|a| &a.name), faults);
        for (i, application) in self.applications.iter().enumerate() {
            let name = &application.name;
            let at = place!("applications", i);
            let mut add = |key: &str, message: String, help: &str| {
                faults.push(Fault::new(at.then(key), message, help));
            };
            if !(1..=20).contains(&application.quorum) {
                let message = format!(
                    "quorum of `{name}` is {}, expected a whole number from 1 to 20",
                    application.quorum
                );
                add("quorum", message, "write how many results have to agree");
            }
            if let Some(most) = application.instances
                && !(application.quorum..=1000).contains(&most)
            {
                let message = format!(
                    "instances of `{name}` are {most}, expected its quorum at least and 1000 at most"
                );
                add(
                    "instances",
                    message,
                    "write how many instances a job may have",
                );
            }
            if application.versions.is_empty() {
                let message = format!("`{name}` has no version");
                let help = "list one, as in `versions: [{name: v1, processor: cpu}]`";
                add("versions", message, help);
            }
            let mut seen = HashSet::new();
            for (n, version) in application.versions.iter().enumerate() {
                let at = at.then("versions").then(n);
                if let Some(message) = unusable("the name of a version", &version.name) {
                    faults.push(Fault::new(at.clone(), message, "give it a name"));
                } else if !seen.insert(&version.name) {
                    let message =
                        format!("a second version of `{name}` is named `{}`", version.name);
                    faults.push(Fault::new(at.clone(), message, "rename one of them"));
                }
                let help = "write how fast it is beside others, 1 if it is not known";
                let (place, value) = (at.then("efficiency"), version.efficiency);
                sensible(place, "efficiency", value, help, faults);
                if version.released.is_some_and(|time| time < Decimal::ZERO) {
                    let message = format!("`{}` is released before the campaign", version.name);
                    let help = "leave `released` out where it is there from the start";
                    faults.push(Fault::new(at.then("released"), message, help));
                }
            }
        }
    }

    fn check_policy(&self, faults: &mut Vec<Fault>) {
        let own = &self.policy;
        for (key, value) in [
            ("first_percentile", own.first_percentile),
            ("tight_percentile", own.tight_percentile),
        ] {
            let Some(value) = value else { continue };
            if !(0.0..=100.0).contains(&value.value()) {
                let message = format!("{key} is {value}, expected a percentage from 0 to 100");
                let help = "0 is every host, 90 the best tenth";
                faults.push(Fault::new(place!("policy", key), message, help));
            }
        }
        if let Some(q) = own.quantile
            && !(q.value() > 0.0 && q.value() < 1.0)
        {
            let message = format!("quantile is {q}, expected a fraction between 0 and 1");
            let help = "write .8 for the time by which 80 % of the results are there";
            faults.push(Fault::new(place!("policy", "quantile"), message, help));
        }
        for (key, value) in [("patience", own.patience), ("refresh", own.refresh)] {
            if let Some(value) = value {
                sensible(
                    place!("policy", key),
                    key,
                    value,
                    "write a time > 0",
                    faults,
                );
            }
        }
        if let Some(refresh) = own.refresh
            && refresh > Decimal::ZERO
            && refresh.value() * 1e5 < self.horizon.value()
        {
            let message =
                format!("percentiles are computed every {refresh}, too often for this horizon");
            let help = "a sixtieth of the horizon is the default";
            faults.push(Fault::new(place!("policy", "refresh"), message, help));
        }
    }

    fn versions(&self) -> Vec<Version> {
        let all = self.applications.iter().enumerate().flat_map(|(a, own)| {
            own.versions.iter().map(move |version| Version {
                name: version.name.clone(),
                application: a,
                processor: version.processor,
                efficiency: version.efficiency.value(),
                released: version.released.map_or(0.0, Decimal::value),
            })
        });
        all.collect()
    }

    fn expanded(&self) -> Vec<Batch> {
        let mut batches = Vec::new();
        for (entry, own) in self.batches.iter().enumerate() {
            let application = self
                .applications
                .iter()
                .position(|a| a.name == own.application)
                .unwrap_or(0);
            let time = |value: Option<Decimal>| value.map_or(0.0, Decimal::value);
            let quality = match own.quality {
                QualityWord::Afap => Quality::Afap,
                QualityWord::Short => Quality::Short(time(own.deadline)),
                QualityWord::Long => Quality::Long(time(own.deadline)),
                QualityWord::Throughput => Quality::Throughput(time(own.bound)),
            };
            for n in 0..own.times {
                let name = match own.times {
                    1 => own.name.clone(),
                    _ => format!("{}-{}", own.name, n + 1),
                };
                let supply = match (own.jobs, own.arrival_rate) {
                    (Some(count), _) => Supply::Jobs {
                        count,
                        submitted: own.submitted.value() + f64::from(n) * time(own.every),
                    },
                    (None, Some(rate)) => Supply::Rate(rate.value()),
                    (None, None) => Supply::Endless,
                };
                batches.push(Batch {
                    name,
                    entry,
                    application,
                    size: own.size.clone(),
                    supply,
                    quality,
                });
            }
        }
        batches
    }
}

impl Campaign {
    /// That a campaign can be simulated: not too many jobs, at once or in all, and not too many turns.
    fn check_work(&self, faults: &mut Vec<Fault>) {
        let horizon = self.horizon();
        for (i, hosts) in self.record.hosts.iter().enumerate() {
            let at = place!("hosts", i);
            if hosts
                .contact
                .is_some_and(|own| own.value() * MOST_TURNS < horizon)
            {
                let message = "hosts ask more than a million times in the campaign";
                let help = "write a longer time, or leave it out: a thousandth of the horizon";
                faults.push(Fault::new(at.then("contact"), message, help));
            }
            let turns = hosts.availability.as_ref();
            if turns.is_some_and(|own| (own.on.mean() + own.off.mean()) * MOST_TURNS < horizon) {
                let message = "hosts are switched on more than a million times in the campaign";
                let help = "write longer times; what is shorter than a job is part of its speed";
                faults.push(Fault::new(at.then("availability"), message, help));
            }
            for batch in &self.batches {
                let speeds = Processor::ALL.map(|processor| {
                    let speed = hosts.speed_of(processor).map_or(0.0, Size::mean);
                    speed * f64::from(hosts.processors(processor))
                });
                let most = speeds[0].max(speeds[1]) / batch.size.mean();
                let queued = hosts.buffer.mean() * most;
                let count = u64::from(hosts.count) as f64;
                let (kept, each) = (count * queued, count * most * horizon);
                if queued > MOST_QUEUED || kept > MOST_KEPT || each > MOST_DONE {
                    let message = format!(
                        "a host of `{}` keeps {queued:.0} jobs of `{}` queued, all of them {kept:.0}, and they do {each:.0} in the campaign",
                        hosts.name, batch.name
                    );
                    let help =
                        "describe larger jobs, each of several, smaller buffers, or fewer hosts";
                    faults.push(Fault::new(at.then("buffer"), message, help));
                    return;
                }
            }
        }
        let rates = self.batches.iter().filter_map(|batch| match batch.supply {
            Supply::Rate(rate) => Some(rate * horizon),
            _ => None,
        });
        if rates.sum::<f64>() > MOST_DONE {
            let message = "more than a hundred million jobs come in the campaign";
            let help = "describe larger jobs, or a part of the population";
            faults.push(Fault::new(place!("batches"), message, help));
        }
        if self.host_count() * self.versions.len() as u64 > MOST_PAIRS {
            let message = "there are more than ten million pairs of hosts and versions";
            let help = "leave out versions that are hardly used, or describe fewer hosts";
            faults.push(Fault::new(place!("applications"), message, help));
        }
    }
}

/// That there is one at least, and that all have names of their own.
fn names<'a>(
    key: &str,
    what: &str,
    names: impl ExactSizeIterator<Item = &'a String>,
    faults: &mut Vec<Fault>,
) {
    if names.len() == 0 {
        let message = format!("there is no {what}");
        faults.push(Fault::new(place!(key), message, "list one at least"));
    }
    check_names(key, what, names, faults);
}

//! The checks that turn a record into a [`Campaign`].

use std::collections::HashSet;

use super::document::{BatchRecord, HostsRecord, Processor, QualityWord, Record};
use super::{Batch, Campaign, Quality, Supply, Version};
use crate::artifact::written;
use crate::document::{
    Fault, Place, SENSIBLE, check_names, check_unit, place, sensible, suggest, unusable,
};
use crate::law::{Part, Size};
use crate::number::Decimal;

/// The most hosts, processors of one type in a host, jobs of all batches, and batches, each counted as often as it is
/// submitted.
const MOST_HOSTS: u64 = 100_000;
const MOST_PROCESSORS: u32 = 1_024;
const MOST_JOBS: u64 = 2_000_000;
const MOST_BATCHES: usize = 1_000;

/// What is simulated at most: pairs of hosts and versions, jobs in all, jobs that a host has queued and that all hosts of a
/// group have queued, and times that a host is on or asks.
const MOST_PAIRS: u64 = 10_000_000;
const MOST_DONE: f64 = 1e8;
const MOST_QUEUED: f64 = 1e5;
const MOST_QUEUED_IN_GROUP: f64 = 2e6;
const MOST_TURNS: f64 = 1e6;

impl Record {
    /// Returns the campaign, or all its faults.
    ///
    /// # Errors
    /// A list of all faults, at their places in the record.
    pub fn check(&self) -> Result<Campaign, Vec<Fault>> {
        self.checked(Vec::new())
    }

    /// Returns the campaign, or these faults and its own.
    pub(super) fn checked(&self, mut faults: Vec<Fault>) -> Result<Campaign, Vec<Fault>> {
        check_unit(&self.time_unit, &mut faults);
        let help = "write how long the campaign lasts";
        let place = place!("horizon");
        sensible(place, "the horizon", self.horizon, help, &mut faults);
        self.check_hosts(&mut faults);
        self.check_applications(&mut faults);
        self.check_batches(&mut faults);
        self.check_policy(&mut faults);
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
            Ok(campaign)
        } else {
            Err(faults)
        }
    }

    fn check_hosts(&self, faults: &mut Vec<Fault>) {
        let names = self.hosts.iter().map(|own| &own.name);
        check_list("hosts", "group of hosts", names, faults);
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
        let mut laws = vec![("speed", Some(&hosts.speed), at.then("speed"))];
        laws.push(("buffer", Some(&hosts.buffer), at.then("buffer")));
        laws.push(("gpu_speed", hosts.gpu_speed.as_ref(), at.then("gpu_speed")));
        laws.push(("delay", hosts.delay.as_ref(), at.then("delay")));
        if let Some(own) = &hosts.availability {
            let at = at.then("availability");
            laws.push(("time on", Some(&own.on), at.then("on")));
            laws.push(("time off", Some(&own.off), at.then("off")));
        }
        for (what, law, at) in laws {
            if let Some(law) = law {
                self.check_law(law, (what, &format!("`{name}`")), &at, faults);
            }
        }
    }

    /// Checks the law of `what` of an owner.
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
        let own = law.faults(Part::Other(what), owner, &unit);
        let mean = law.mean();
        if own.is_empty() && !SENSIBLE.contains(&mean) {
            let message = format!("the mean is {mean}, out of the range of sensible numbers");
            faults.push(Fault::new(at.clone(), message, "choose other units"));
        }
        faults.extend(own.into_iter().map(|fault| fault.within(at)));
    }

    fn check_applications(&self, faults: &mut Vec<Fault>) {
        let names = self.applications.iter().map(|own| &own.name);
        check_list("applications", "application", names, faults);
        for (i, application) in self.applications.iter().enumerate() {
            let name = &application.name;
            let at = place!("applications", i);
            let mut add = |at: Place, message: String, help: &str| {
                faults.push(Fault::new(at, message, help));
            };
            let quorum = application.quorum;
            if !(1..=20).contains(&quorum) {
                let message =
                    format!("quorum of `{name}` is {quorum}, expected a whole number from 1 to 20");
                let help = "write how many results have to agree";
                add(at.then("quorum"), message, help);
            }
            if let Some(most) = application.instances
                && !(quorum..=1000).contains(&most)
            {
                let message = format!(
                    "instances of `{name}` are {most}, expected its quorum at least and 1000 at most"
                );
                let help = "write how many instances a job may have";
                add(at.then("instances"), message, help);
            }
            if application.versions.is_empty() {
                let message = format!("`{name}` has no version");
                let help = "list one, as in `versions: [{name: v1, processor: cpu}]`";
                add(at.then("versions"), message, help);
            }
            let mut seen = HashSet::new();
            for (n, version) in application.versions.iter().enumerate() {
                let at = at.then("versions").then(n);
                let own = &version.name;
                if let Some(message) = unusable("the name of a version", own) {
                    faults.push(Fault::new(at.clone(), message, "give it a name"));
                } else if !seen.insert(own) {
                    let message = format!("a second version of `{name}` is named `{own}`");
                    faults.push(Fault::new(at.clone(), message, "rename one of them"));
                }
                let help = "write how fast it is beside others, 1 if it is not known";
                let (place, value) = (at.then("efficiency"), version.efficiency);
                sensible(place, "efficiency", value, help, faults);
                if version.released.is_some_and(|time| time < Decimal::ZERO) {
                    let message = format!("`{own}` is released before the campaign");
                    let help = "leave `released` out where it is there from the start";
                    faults.push(Fault::new(at.then("released"), message, help));
                }
            }
        }
    }

    fn check_batches(&self, faults: &mut Vec<Fault>) {
        let names = self.batches.iter().map(|own| &own.name);
        check_list("batches", "batch", names, faults);
        let (mut jobs, mut count) = (0, 0);
        for (i, batch) in self.batches.iter().enumerate() {
            let at = place!("batches", i);
            let owner = format!("batch `{}`", batch.name);
            let name = &batch.application;
            if !self.applications.iter().any(|own| own.name == *name) {
                let names: Vec<&str> = self.applications.iter().map(|a| a.name.as_str()).collect();
                let message = format!("there is no application `{name}`");
                let help = suggest(name, "the applications are", &names);
                faults.push(Fault::new(at.then("application"), message, help));
            }
            self.check_law(&batch.size, ("size", &owner), &at.then("size"), faults);
            batch.check(self.horizon.value(), &owner, &at, faults);
            jobs += u64::from(batch.jobs.unwrap_or(0)) * u64::from(batch.times);
            count += batch.times as usize;
        }
        if jobs > MOST_JOBS {
            let message = format!("the batches have {jobs} jobs, expected {MOST_JOBS} at most");
            let help = "describe a part of the work, and as much of the population";
            faults.push(Fault::new(place!("batches"), message, help));
        }
        if count > MOST_BATCHES {
            let message = format!("there are {count} batches, expected {MOST_BATCHES} at most");
            let help = "describe a shorter campaign";
            faults.push(Fault::new(place!("batches"), message, help));
        }
    }

    fn check_policy(&self, faults: &mut Vec<Fault>) {
        let own = &self.policy;
        let mut add = |key: &str, message: String, help: &str| {
            faults.push(Fault::new(place!("policy", key), message, help));
        };
        for (key, value) in [
            ("first_percentile", own.first_percentile),
            ("tight_percentile", own.tight_percentile),
        ] {
            if let Some(value) = value
                && !(0.0..=100.0).contains(&value.value())
            {
                let message = format!("{key} is {value}, expected a percentage from 0 to 100");
                add(key, message, "0 is every host, 90 the best tenth");
            }
        }
        if let Some(q) = own.quantile
            && !(q.value() > 0.0 && q.value() < 1.0)
        {
            let message = format!("quantile is {q}, expected a fraction between 0 and 1");
            let help = "write .8 for the time by which 80 % of the results are there";
            add("quantile", message, help);
        }
        if let Some(refresh) = own.refresh
            && refresh > Decimal::ZERO
            && refresh.value() * 1e5 < self.horizon.value()
        {
            let message =
                format!("percentiles are computed every {refresh}, too often for this horizon");
            let help = "a sixtieth of the horizon is the default";
            add("refresh", message, help);
        }
        for (key, value) in [("patience", own.patience), ("refresh", own.refresh)] {
            if let Some(value) = value {
                let place = place!("policy", key);
                sensible(place, key, value, "write a time > 0", faults);
            }
        }
    }

    fn versions(&self) -> Vec<Version> {
        let all = self.applications.iter().enumerate().flat_map(|(a, own)| {
            own.versions.iter().map(move |version| Version {
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
        let time = |value: Option<Decimal>| value.map_or(0.0, Decimal::value);
        for (entry, own) in self.batches.iter().enumerate() {
            let mut applications = self.applications.iter();
            let application = applications.position(|a| a.name == own.application);
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
                    application: application.unwrap_or(0),
                    size: own.size.clone(),
                    supply,
                    quality,
                });
            }
        }
        batches
    }
}

impl BatchRecord {
    /// Checks all but its law and its application.
    fn check(&self, horizon: f64, owner: &str, at: &Place, faults: &mut Vec<Fault>) {
        self.check_quality(owner, at, faults);
        let is_stream = self.quality == QualityWord::Throughput;
        let submitted = self.submitted.value();
        let every = self.every.map_or(0.0, Decimal::value);
        let last = submitted + f64::from(self.times.max(1) - 1) * every;
        let mut add = |key: &str, message: String, help: &str| {
            faults.push(Fault::new(at.then(key), message, help));
        };
        if self.jobs == Some(0) {
            let help = "write how many it has, or leave it out";
            add("jobs", format!("{owner} has no jobs"), help);
        }
        if self.times == 0 || is_stream && self.times > 1 {
            let message = format!("{owner} is submitted {} times", self.times);
            let help = "write a whole number ≥ 1; a stream goes on by itself";
            add("times", message, help);
        }
        if (self.times > 1) != self.every.is_some() && self.times > 0 {
            let message = format!("{owner} has one of `times` and `every`, expected both");
            let help = "write both, as in `times: 8, every: 72`";
            add("times", message, help);
        }
        if horizon > 0.0 && !(0.0..horizon).contains(&submitted) {
            let message = format!("{owner} is submitted at {submitted}, outside of the campaign");
            add("submitted", message, "write a time from 0 to the horizon");
        } else if horizon > 0.0 && last >= horizon {
            let message =
                format!("{owner} is submitted for the last time at {last}, after the campaign");
            let help = "make the horizon longer, or submit it less often";
            add("times", message, help);
        }
        if is_stream && submitted > 0.0 {
            let message = format!("{owner} is a stream, and is submitted at {submitted}");
            let help = "leave it out: streams begin with the campaign";
            add("submitted", message, help);
        }
        let after = "it counts from the submission, or from when a job of a stream is created, and is not in the past";
        let rate = "write how many jobs come in a unit of time";
        for (key, value, help) in [
            ("deadline", self.deadline, after),
            ("bound", self.bound, after),
            ("every", self.every, "write a time > 0"),
            ("arrival_rate", self.arrival_rate, rate),
        ] {
            if let Some(value) = value {
                sensible(at.then(key), key, value, help, faults);
            }
        }
    }

    /// Checks that it has what its quality needs, and nothing else. A value that could not be read has a fault already, and is
    /// not missing.
    fn check_quality(&self, owner: &str, at: &Place, faults: &mut Vec<Fault>) {
        let word = written(&self.quality);
        let is_stream = self.quality == QualityWord::Throughput;
        let is_dated = matches!(self.quality, QualityWord::Short | QualityWord::Long);
        for (key, is_there, is_allowed, help) in [
            (
                "jobs",
                self.jobs.is_some(),
                !is_stream,
                "write how many jobs the batch has, as in `jobs: 300`",
            ),
            (
                "bound",
                self.bound.is_some(),
                is_stream,
                "write how long after its creation a job is to be done, as in `bound: 168`",
            ),
            (
                "deadline",
                self.deadline.is_some(),
                is_dated,
                "write how long after its submission the batch is to be done, as in `deadline: 48`",
            ),
            ("arrival_rate", self.arrival_rate.is_some(), is_stream, ""),
        ] {
            let is_needed = is_allowed && !help.is_empty();
            if is_there && !is_allowed {
                let message =
                    format!("{owner} has `{key}`, which does not go with the quality {word}");
                faults.push(Fault::new(at.then(key), message, "leave it out"));
            } else if is_needed && !is_there && !faults.iter().any(|f| f.place == at.then(key)) {
                let message = format!("{owner} has no `{key}`, which the quality {word} needs");
                faults.push(Fault::new(at.then("quality"), message, help));
            }
        }
    }
}

impl Campaign {
    /// Checks that it can be simulated: not too many jobs, at once or in all, and not too many turns.
    fn check_work(&self, faults: &mut Vec<Fault>) {
        let horizon = self.horizon();
        let mut add = |at: Place, message: String, help: &str| {
            faults.push(Fault::new(at, message, help));
        };
        for (i, hosts) in self.record.hosts.iter().enumerate() {
            let at = place!("hosts", i);
            let is_often = |time: f64| time * MOST_TURNS < horizon;
            if hosts.contact.is_some_and(|own| is_often(own.value())) {
                let message = "hosts ask more than a million times in the campaign".into();
                let help = "write a longer time, or leave it out: a thousandth of the horizon";
                add(at.then("contact"), message, help);
            }
            let turns = hosts.availability.as_ref();
            if turns.is_some_and(|own| is_often(own.on.mean() + own.off.mean())) {
                let message = "hosts are switched on more than a million times in the campaign";
                let help = "write longer times; what is shorter than a job is part of its speed";
                add(at.then("availability"), message.into(), help);
            }
            for batch in &self.batches {
                let speeds = Processor::ALL.map(|processor| {
                    let speed = hosts.speed_of(processor).map_or(0.0, Size::mean);
                    speed * f64::from(hosts.processors(processor))
                });
                let most = speeds[0].max(speeds[1]) / batch.size.mean();
                let count = f64::from(hosts.count);
                let queued = hosts.buffer.mean() * most;
                let (all, done) = (count * queued, count * most * horizon);
                if queued > MOST_QUEUED || all > MOST_QUEUED_IN_GROUP || done > MOST_DONE {
                    let message = format!(
                        "a host of `{}` keeps {queued:.0} jobs of `{}` queued, all of them {all:.0}, and they do {done:.0} in the campaign",
                        hosts.name, batch.name
                    );
                    let help =
                        "describe larger jobs, each of several, smaller buffers, or fewer hosts";
                    add(at.then("buffer"), message, help);
                    return;
                }
            }
        }
        let rates = self.batches.iter().filter_map(|batch| match batch.supply {
            Supply::Rate(rate) => Some(rate * horizon),
            _ => None,
        });
        if rates.sum::<f64>() > MOST_DONE {
            let message = "more than a hundred million jobs come in the campaign".into();
            let help = "describe larger jobs, or a part of the population";
            add(place!("batches"), message, help);
        }
        if self.host_count() * self.versions.len() as u64 > MOST_PAIRS {
            let message = "there are more than ten million pairs of hosts and versions".into();
            let help = "leave out versions that are hardly used, or describe fewer hosts";
            add(place!("applications"), message, help);
        }
    }
}

/// Checks that a list has an entry, and that all have names of their own.
fn check_list<'a>(
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

use std::collections::HashSet;

use super::{
    Batch, BatchRecord, Campaign, CampaignDocument, HostsRecord, Processor, Quality, Version,
};
use synth_core::artifact::written;
use synth_core::document::{
    CheckedOrFaults, Fault, FaultsAt, SUPPORTED_RANGE, Spelling, Spellings, WorkloadDocument,
    suggest,
};
use synth_core::number::Decimal;
use synth_queues::distribution::{Part, SizeDistribution};

/// The maximum number of jobs in total, in the queue of a host, and in the queue of a group.
const MOST_DONE: f64 = 1e8;
const MOST_QUEUED: f64 = 1e5;
const MOST_QUEUED_IN_GROUP: f64 = 2e6;

/// The expected values, and the help text after the colon.
const COUNT: &str = "at least 1: write the number of hosts, or leave the group out";
const HOSTS: &str = "at most 100000 hosts: describe a part of them, and the same part of the work";
const PROCESSORS: &str = "0 to 1024: use several hosts instead";
const CHANCE: &str = "a probability from 0 to 1: write .02 for 2 %";
const CONTACT: &str =
    "at least a millionth of the horizon: leave it out for the default, a thousandth";
const TURNS: &str =
    "at least a millionth of the horizon: use a lower speed instead of shorter interruptions";
const QUORUM: &str = "a whole number from 1 to 20: write the number of results that must agree";
const INSTANCES: &str =
    "at least the quorum and at most 1000: write the maximum number of instances per job";
const RELEASED: &str = "a time ≥ 0: leave it out if the version is available from the start";
const JOBS: &str = "at least 1: write the number of jobs";
const TIMES: &str = "at least 1: write how often it is submitted";
const ALL_JOBS: &str =
    "at most 2000000 jobs in total: use only a part of the work and of the hosts";
const ALL_BATCHES: &str = "at most 1000 submissions: use a shorter campaign";
const STREAMS: &str =
    "at most a hundred million stream jobs: use larger jobs, or only a part of the hosts";
const PAIRS: &str =
    "at most ten million pairs of hosts and versions: remove the versions that are not used much";
const PERCENTAGE: &str = "a percentage from 0 to 100: use 0 for all hosts, or 90 for the best 10 %";
const QUANTILE: &str =
    "a fraction between 0 and 1: write .8 for the time by which 80 % of the results have arrived";
const SMALLER: &str =
    "combine several jobs into a larger job, or use smaller buffers or fewer hosts";
const REFRESH: &str = "at least 1e-5 of the horizon: the default is a sixtieth";

fn check_list<'n>(
    key: &str,
    what: &str,
    names: impl ExactSizeIterator<Item = &'n String>,
    at: &mut FaultsAt<'_>,
) {
    if names.len() == 0 {
        at.add(key, format!("there is no {what}"), "list at least one");
    }
    at.names(key, what, names);
}

fn or_nan(value: Option<Decimal>) -> f64 {
    value.map_or(f64::NAN, Decimal::value)
}

impl WorkloadDocument for CampaignDocument {
    const KIND: &'static str = "volunteer";
    const EXAMPLE: &'static str = include_str!("example.txt").trim_ascii_end();
    const SPELLINGS: &'static Spellings = &[
        ("horizon", Spelling::Time),
        ("policy.patience", Spelling::Time),
        ("policy.refresh", Spelling::Time),
        ("hosts[].speed", Spelling::LawOrNumber),
        ("hosts[].gpu_speed", Spelling::LawOrNumber),
        ("hosts[].buffer", Spelling::LawOrTime),
        ("hosts[].delay", Spelling::LawOrTime),
        ("hosts[].contact", Spelling::Time),
        ("hosts[].availability.on", Spelling::LawOrTime),
        ("hosts[].availability.off", Spelling::LawOrTime),
        ("applications[].versions[].released", Spelling::Time),
        ("batches[].size", Spelling::LawOrTime),
        ("batches[].submitted", Spelling::Time),
        ("batches[].every", Spelling::Time),
        ("batches[].deadline", Spelling::Time),
        ("batches[].bound", Spelling::Time),
    ];

    type Checked = Campaign;

    fn checked(self, mut faults: Vec<Fault>) -> CheckedOrFaults<Campaign> {
        let mut at = FaultsAt::document(&mut faults);
        at.unit(&self.time_unit);
        at.positive("horizon", self.horizon, "write the length of the campaign");
        self.check_hosts(&mut at);
        self.check_applications(&mut at);
        self.check_batches(&mut at);
        self.check_policy(&mut at.below("policy"));
        if !at.is_empty() {
            return Err(faults);
        }
        let campaign = Campaign {
            batches: self.expanded(),
            versions: self.versions(),
            record: self,
        };
        let mut seen = HashSet::new();
        for batch in &campaign.batches {
            if !seen.insert(&batch.name) {
                let message = format!("a second batch is named `{}`", batch.name);
                let help = "a batch that is submitted several times gets the suffixes -1, -2, …";
                at.entry("batches", batch.entry).refuse(message, help);
            }
        }
        campaign.check_work(&mut at);
        match faults.is_empty() {
            true => Ok((campaign, Vec::new())),
            false => Err(faults),
        }
    }

    fn record(campaign: &Campaign) -> Self {
        campaign.record.clone()
    }
}

impl CampaignDocument {
    fn check_hosts(&self, at: &mut FaultsAt<'_>) {
        let names = self.hosts.iter().map(|own| &own.name);
        check_list("hosts", "group of hosts", names, at);
        let count: f64 = self.hosts.iter().map(|own| f64::from(own.count)).sum();
        at.number("hosts", count, 0.0..=1e5, HOSTS);
        for (i, hosts) in self.hosts.iter().enumerate() {
            self.check_group(hosts, at.entry("hosts", i));
        }
    }

    fn check_group(&self, hosts: &HostsRecord, mut at: FaultsAt<'_>) {
        let owner = format!("`{}`", hosts.name);
        let least = 1e-6 * self.horizon.value();
        at.number("count", f64::from(hosts.count), 1.0..=f64::MAX, COUNT);
        at.number("cores", f64::from(hosts.cores), 0.0..=1024.0, PROCESSORS);
        at.number("gpus", f64::from(hosts.gpus), 0.0..=1024.0, PROCESSORS);
        at.number("error", hosts.error.value(), 0.0..=1.0, CHANCE);
        at.number("vanish", hosts.vanish.value(), 0.0..=1.0, CHANCE);
        at.number("contact", or_nan(hosts.contact), least..=1e60, CONTACT);
        if hosts.cores == 0 && hosts.gpus == 0 {
            let message = format!("a host of {owner} does not have a processor");
            at.add("cores", message, "write the number of cores or GPUs");
        }
        let has = [hosts.gpus > 0, hosts.gpu_speed.is_some()];
        let help = "write both, as in `gpus: 1, gpu_speed: 20`, or neither";
        at.both(&owner, ["gpus", "gpu_speed"], has, help);
        if let Some(turns) = &hosts.availability {
            let mut at = at.below("availability");
            self.check_law("on", Some(&turns.on), ("time on", &owner), &mut at);
            self.check_law("off", Some(&turns.off), ("time off", &owner), &mut at);
        }
        for (key, law) in [
            ("speed", Some(&hosts.speed)),
            ("gpu_speed", hosts.gpu_speed.as_ref()),
            ("buffer", Some(&hosts.buffer)),
            ("delay", hosts.delay.as_ref()),
        ] {
            self.check_law(key, law, (key, &owner), &mut at);
        }
    }

    fn check_law(
        &self,
        key: &str,
        law: Option<&SizeDistribution>,
        (what, owner): (&'static str, &str),
        at: &mut FaultsAt<'_>,
    ) {
        let unit = match what {
            "size" => "work".into(),
            "speed" | "gpu_speed" => format!("work per {}", self.time_unit),
            _ => self.time_unit.clone(),
        };
        // A delay of 0 is allowed.
        let mean = Decimal::ZERO;
        let none = (what == "delay").then_some(SizeDistribution::Deterministic { mean });
        let Some(law) = law.filter(|law| none.as_ref() != Some(law)) else {
            return;
        };
        let unit = (&*unit, SUPPORTED_RANGE);
        law.check(Part::Other(what), owner, unit, &mut at.below(key));
    }

    fn check_applications(&self, at: &mut FaultsAt<'_>) {
        let names = self.applications.iter().map(|own| &own.name);
        check_list("applications", "application", names, at);
        for (i, application) in self.applications.iter().enumerate() {
            let name = &application.name;
            let mut at = at.entry("applications", i);
            let most = application.instances.map_or(f64::NAN, f64::from);
            let quorum = f64::from(application.quorum);
            at.number("quorum", quorum, 1.0..=20.0, QUORUM);
            at.number("instances", most, quorum..=1000.0, INSTANCES);
            if application.versions.is_empty() {
                let help = "list one, as in `versions: [{name: v1, processor: cpu}]`";
                at.add("versions", format!("`{name}` has no version"), help);
            }
            let names = application.versions.iter().map(|own| &own.name);
            at.names("versions", &format!("version of `{name}`"), names);
            for (n, version) in application.versions.iter().enumerate() {
                let mut at = at.entry("versions", n);
                let help =
                    "write its speed relative to the other versions, or 1 if it is not known";
                at.positive("efficiency", version.efficiency, help);
                let released = or_nan(version.released);
                at.number("released", released, 0.0..=f64::MAX, RELEASED);
            }
        }
    }

    fn check_batches(&self, at: &mut FaultsAt<'_>) {
        let names = self.batches.iter().map(|own| &own.name);
        check_list("batches", "batch", names, at);
        let (mut jobs, mut count) = (0.0, 0.0);
        for (i, batch) in self.batches.iter().enumerate() {
            let mut at = at.entry("batches", i);
            let (owner, name) = (format!("batch `{}`", batch.name), &*batch.application);
            let known: Vec<&str> = self.applications.iter().map(|own| &*own.name).collect();
            if !known.contains(&name) {
                let message = format!("there is no application `{name}`");
                let help = suggest(name, "the applications are", &known);
                at.add("application", message, help);
            }
            self.check_law("size", Some(&batch.size), ("size", &owner), &mut at);
            batch.check(self.horizon.value(), &owner, &mut at);
            jobs += f64::from(batch.jobs.unwrap_or(0)) * f64::from(batch.times);
            count += f64::from(batch.times);
        }
        at.number("batches", jobs, 0.0..=2e6, ALL_JOBS);
        at.number("batches", count, 0.0..=1e3, ALL_BATCHES);
    }

    fn check_policy(&self, at: &mut FaultsAt<'_>) {
        let own = &self.policy;
        let (first, tight) = (or_nan(own.first_percentile), or_nan(own.tight_percentile));
        at.number("first_percentile", first, 0.0..=100.0, PERCENTAGE);
        at.number("tight_percentile", tight, 0.0..=100.0, PERCENTAGE);
        let range = 1e-60..=1.0 - f64::EPSILON;
        at.number("quantile", or_nan(own.quantile), range, QUANTILE);
        at.positive("patience", own.patience, "write a time > 0");
        let least = 1e-5 * self.horizon.value();
        at.number("refresh", or_nan(own.refresh), least..=1e60, REFRESH);
    }

    fn versions(&self) -> Vec<Version> {
        let applications = self.applications.iter().enumerate();
        let versions = applications.flat_map(|(application, own)| {
            own.versions.iter().map(move |version| Version {
                application,
                processor: version.processor,
                efficiency: version.efficiency.value(),
                released: version.released.map_or(0.0, Decimal::value),
            })
        });
        versions.collect()
    }

    fn expanded(&self) -> Vec<Batch> {
        let mut batches = Vec::new();
        for (entry, own) in self.batches.iter().enumerate() {
            let mut applications = self.applications.iter();
            let application = applications.position(|a| a.name == own.application);
            let every = own.every.map_or(0.0, Decimal::value);
            let limit = own.deadline.or(own.bound);
            for n in 0..own.times {
                let name = match own.times {
                    1 => own.name.clone(),
                    _ => format!("{}-{}", own.name, n + 1),
                };
                batches.push(Batch {
                    name,
                    entry,
                    application: application.unwrap_or(0),
                    size: own.size.clone(),
                    jobs: own.jobs,
                    submitted: own.submitted.value() + f64::from(n) * every,
                    arrival_rate: own.arrival_rate.map(Decimal::value),
                    quality: own.quality,
                    limit: limit.map_or(f64::INFINITY, Decimal::value),
                });
            }
        }
        batches
    }
}

impl BatchRecord {
    fn check(&self, horizon: f64, owner: &str, at: &mut FaultsAt<'_>) {
        self.check_quality(owner, at);
        let jobs = self.jobs.map_or(f64::NAN, f64::from);
        at.number("jobs", jobs, 1.0..=f64::MAX, JOBS);
        at.number("times", f64::from(self.times), 1.0..=f64::MAX, TIMES);
        let has = [self.times > 1, self.every.is_some()];
        let help = "write both, as in `times: 8, every: 72`";
        at.both(owner, ["times", "every"], has, help);
        let submitted = self.submitted.value();
        let every = self.every.map_or(0.0, Decimal::value);
        let last = submitted + f64::from(self.times.max(1) - 1) * every;
        if horizon > 0.0 && !(0.0..horizon).contains(&submitted) {
            let message = format!("{owner} is submitted at {submitted}, outside of the campaign");
            at.add("submitted", message, "write a time from 0 to the horizon");
        } else if horizon > 0.0 && last >= horizon {
            let message =
                format!("{owner} is submitted for the last time at {last}, after the campaign");
            let help = "use a larger horizon, or submit it fewer times";
            at.add("times", message, help);
        }
        let help = "it counts from the submission, so it cannot be in the past";
        at.positive("deadline", self.deadline, help);
        at.positive("bound", self.bound, "write a time > 0");
        at.positive("every", self.every, "write a time > 0");
        let help = "write the number of jobs that arrive per unit of time";
        at.positive("arrival_rate", self.arrival_rate, help);
    }

    /// Checks that it has the keys that its quality requires, and no other ones. A key whose value
    /// could not be read is not missing, because this has already been reported.
    fn check_quality(&self, owner: &str, at: &mut FaultsAt<'_>) {
        let word = written(&self.quality);
        let is_stream = self.quality == Quality::Throughput;
        let is_dated = matches!(self.quality, Quality::Short | Quality::Long);
        let is_late = self.submitted > Decimal::ZERO;
        let jobs = "write the number of jobs, as in `jobs: 300`";
        let bound =
            "write the time from the creation of a job until it must be done, as in `bound: 168`";
        let deadline = "write the time from the submission of the batch until it must be done, as in `deadline: 48`";
        for (key, is_there, is_allowed, help) in [
            ("jobs", self.jobs.is_some(), !is_stream, jobs),
            ("bound", self.bound.is_some(), is_stream, bound),
            ("deadline", self.deadline.is_some(), is_dated, deadline),
            ("arrival_rate", self.arrival_rate.is_some(), is_stream, ""),
            ("times", self.times > 1, !is_stream, ""),
            ("submitted", is_late, !is_stream, ""),
        ] {
            let is_needed = is_allowed && !help.is_empty();
            if is_there && !is_allowed {
                let message =
                    format!("{owner} has `{key}`, which does not apply to the quality {word}");
                at.add(key, message, "leave it out");
            } else if is_needed && !is_there && !at.has_fault(key) {
                let message = format!("{owner} has no `{key}`, which the quality {word} requires");
                at.add("quality", message, help);
            }
        }
    }
}

impl Campaign {
    fn check_work(&self, at: &mut FaultsAt<'_>) {
        let horizon = self.horizon();
        for (i, hosts) in self.record.hosts.iter().enumerate() {
            let mut at = at.entry("hosts", i);
            let turns = hosts.availability.as_ref();
            let turn = turns.map_or(f64::NAN, |own| own.on.mean() + own.off.mean());
            at.number("availability", turn, 1e-6 * horizon..=f64::MAX, TURNS);
            for batch in &self.batches {
                let speeds = Processor::ALL.map(|processor| {
                    let speed = hosts.speed_of(processor).map_or(0.0, |own| own.mean());
                    speed * f64::from(hosts.processors(processor))
                });
                let most = speeds[0].max(speeds[1]) / batch.size.mean();
                let count = f64::from(hosts.count);
                let queued = hosts.buffer.mean() * most;
                let (all, done) = (count * queued, count * most * horizon);
                if queued > MOST_QUEUED || all > MOST_QUEUED_IN_GROUP || done > MOST_DONE {
                    let message = format!(
                        "a host of `{}` keeps {queued:.0} jobs of `{}` queued, the whole group {all:.0}, and the group does {done:.0} in the campaign; at most {MOST_QUEUED}, {MOST_QUEUED_IN_GROUP} and {MOST_DONE} are supported",
                        hosts.name, batch.name
                    );
                    at.add("buffer", message, SMALLER);
                    return;
                }
            }
        }
        let rates = self.batches.iter().filter_map(|own| own.arrival_rate);
        let coming = rates.sum::<f64>() * horizon;
        at.number("batches", coming, 0.0..=MOST_DONE, STREAMS);
        let pairs = self.host_count() as f64 * self.versions.len() as f64;
        at.number("applications", pairs, 0.0..=1e7, PAIRS);
    }
}

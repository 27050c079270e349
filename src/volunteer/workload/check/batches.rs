//! The checks of batches and streams.

use super::super::document::{BatchRecord, QualityWord, Record};
use super::names;
use crate::document::{Fault, Place, place, sensible};
use crate::number::Decimal;

/// More jobs than this all batches together do not have.
const MOST_JOBS: u64 = 2_000_000;

/// Batches, each counted as often as it is submitted.
const MOST_BATCHES: usize = 1_000;

impl Record {
    pub(super) fn check_batches(&self, faults: &mut Vec<Fault>) {
        let own = self.batches.iter();
        names("batches", "batch", own.map(|b| &b.name), faults);
        let (mut jobs, mut count) = (0, 0);
        for (i, batch) in self.batches.iter().enumerate() {
            let at = place!("batches", i);
            let owner = format!("batch `{}`", batch.name);
            self.known(&batch.application, &at.then("application"), faults);
            self.check_law(&batch.size, ("size", &owner), &at.then("size"), faults);
            batch.goes_with_quality(&owner, &at, faults);
            batch.counts(&owner, &at, faults);
            if self.horizon > Decimal::ZERO {
                batch.is_submitted_within(self.horizon.value(), &owner, &at, faults);
            }
            batch.lasts(&at, faults);
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
}

impl BatchRecord {
    fn is_stream(&self) -> bool {
        self.quality == QualityWord::Throughput
    }

    /// That it has what its quality needs, and nothing else. What could not be read was told, and is not
    /// missing.
    fn goes_with_quality(&self, owner: &str, at: &Place, faults: &mut Vec<Fault>) {
        let word = self.quality.name();
        let stream = self.is_stream();
        let dated = matches!(self.quality, QualityWord::Short | QualityWord::Long);
        for (key, found, allowed, needed) in [
            (
                "jobs",
                self.jobs.is_some(),
                !stream,
                Some("write how many jobs the batch has, as in `jobs: 300`"),
            ),
            (
                "bound",
                self.bound.is_some(),
                stream,
                Some("write how long after its creation a job is to be done, as in `bound: 168`"),
            ),
            (
                "deadline",
                self.deadline.is_some(),
                dated,
                Some(
                    "write how long after its submission the batch is to be done, as in `deadline: 48`",
                ),
            ),
            ("arrival_rate", self.arrival_rate.is_some(), stream, None),
        ] {
            let told = faults.iter().any(|fault| fault.place == at.then(key));
            match needed {
                Some(help) if allowed && !found && !told => {
                    let message = format!("{owner} has no `{key}`, which the quality {word} needs");
                    faults.push(Fault::new(at.then("quality"), message, help));
                }
                _ if found && !allowed => {
                    let message =
                        format!("{owner} has `{key}`, which does not go with the quality {word}");
                    faults.push(Fault::new(at.then(key), message, "leave it out"));
                }
                _ => {}
            }
        }
    }

    /// How many jobs it has, and how often.
    fn counts(&self, owner: &str, at: &Place, faults: &mut Vec<Fault>) {
        if self.jobs == Some(0) {
            let message = format!("{owner} has no jobs");
            let help = "write how many it has, or leave it out";
            faults.push(Fault::new(at.then("jobs"), message, help));
        }
        if self.times == 0 || self.is_stream() && self.times > 1 {
            let message = format!("{owner} is submitted {} times", self.times);
            let help = "write a whole number ≥ 1; a stream goes on by itself";
            faults.push(Fault::new(at.then("times"), message, help));
        }
        if (self.times > 1) != self.every.is_some() && self.times > 0 {
            let message = format!("{owner} has one of `times` and `every`, expected both");
            let help = "write both, as in `times: 8, every: 72`";
            faults.push(Fault::new(at.then("times"), message, help));
        }
    }

    /// That it is submitted in the campaign, each time.
    fn is_submitted_within(&self, horizon: f64, owner: &str, at: &Place, faults: &mut Vec<Fault>) {
        let submitted = self.submitted.value();
        if submitted < 0.0 || submitted >= horizon {
            let message = format!("{owner} is submitted at {submitted}, outside of the campaign");
            let help = "write a time from 0 to the horizon";
            faults.push(Fault::new(at.then("submitted"), message, help));
        }
        if self.is_stream() && submitted > 0.0 {
            let message = format!("{owner} is a stream, and is submitted at {submitted}");
            let help = "leave it out: streams begin with the campaign";
            faults.push(Fault::new(at.then("submitted"), message, help));
        }
        let every = self.every.map_or(0.0, Decimal::value);
        let last = submitted + f64::from(self.times.max(1) - 1) * every;
        if last >= horizon && submitted < horizon {
            let message =
                format!("{owner} is submitted for the last time at {last}, after the campaign");
            let help = "make the horizon longer, or submit it less often";
            faults.push(Fault::new(at.then("times"), message, help));
        }
    }

    /// Its times.
    fn lasts(&self, at: &Place, faults: &mut Vec<Fault>) {
        for (key, value, help) in [
            (
                "deadline",
                self.deadline,
                "a deadline counts from the submission, and is not in the past",
            ),
            ("bound", self.bound, "write a time > 0"),
            ("every", self.every, "write a time > 0"),
            (
                "arrival_rate",
                self.arrival_rate,
                "write how many jobs come in a unit of time",
            ),
        ] {
            if let Some(value) = value {
                sensible(at.then(key), key, value, help, faults);
            }
        }
    }
}

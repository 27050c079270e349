//! Fleets that no document describes: put together from values that were computed, such as a fit to a trace; or
//! another fleet with other rates, with a start latency, or with more of a resource.

use super::check::{Draft, DraftJob, DraftShape};
use super::fleet::ONE_SERVER;
use super::{Fleet, Workload, WorkloadHeader};
use synth_core::document::{DocumentError, Fault, place};
use synth_core::number::{Decimal, shown};
use synth_queues::law::{ArrivalProcess, Size};

/// What a document says, not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// What holds for all types and servers.
    pub header: WorkloadHeader,
    /// Names of the R resources.
    pub resources: Vec<String>,
    /// Names of the resources that consist of devices.
    pub devices: Vec<String>,
    /// The shapes of servers: how many there are, and the capacity of one (R); 0 where it has none of a resource.
    pub shapes: Vec<(u32, Vec<Decimal>)>,
    /// The types of jobs.
    pub types: Vec<ChangedType>,
}

/// A type of jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedType {
    /// Its name.
    pub name: String,
    /// On how many servers its jobs run at once, ≥ 1.
    pub nodes: u32,
    /// Its demands (R), on each of them.
    pub demand: Vec<Decimal>,
    /// How its jobs arrive.
    pub arrivals: ArrivalProcess,
    /// The law of their sizes.
    pub size: Size,
    /// A time that they promise not to run longer than.
    pub limit: Option<Decimal>,
}

impl Parts {
    /// Returns the fleet without the shapes on which no type fits.
    ///
    /// # Errors
    /// With every fault that a document with these values has.
    pub fn check(&self) -> Result<Fleet, DocumentError> {
        let is_one = matches!(self.shapes[..], [(1, _)]);
        let used = self.shapes.iter();
        let used = used.filter(|(_, capacity)| is_one || self.is_used(capacity));
        let shapes = used.map(|(count, capacity)| DraftShape {
            name: String::new(),
            count: Some(*count),
            capacity: self.amounts(capacity),
        });
        let jobs = self.types.iter().map(|part| DraftJob {
            name: part.name.clone(),
            nodes: Some(part.nodes),
            demand: self.amounts(&part.demand),
            arrivals: Some(part.arrivals.clone()),
            size: Some(part.size.clone()),
            limit: part.limit,
            priority: Decimal::ZERO,
        });
        let mut draft = Draft {
            header: self.header.clone(),
            shapes: shapes.collect(),
            devices: self.devices.clone(),
            jobs: jobs.collect(),
            unserved: Vec::new(),
        };
        draft.order();
        for (h, shape) in draft.shapes.iter_mut().enumerate() {
            shape.name = if is_one {
                ONE_SERVER.to_owned()
            } else {
                format!("shape-{}", h + 1)
            };
        }
        draft.fleet()
    }

    /// Returns whether some type fits on a server of this capacity.
    fn is_used(&self, capacity: &[Decimal]) -> bool {
        let fits = |part: &ChangedType| part.demand.iter().zip(capacity).all(|(d, c)| d <= c);
        self.types.iter().any(fits)
    }

    /// Returns what there is of each resource, by name.
    fn amounts(&self, amounts: &[Decimal]) -> Vec<(String, Option<Decimal>)> {
        let amounts = amounts.iter().map(|amount| Some(*amount));
        let pairs = self.resources.iter().cloned().zip(amounts);
        pairs
            .filter(|(_, amount)| *amount > Some(Decimal::ZERO))
            .collect()
    }
}

impl Fleet {
    /// Returns the same fleet with every arrival rate multiplied by `factor` (in doubles): times between arrivals divided
    /// by it, batches as much more frequent; of a modulated process the rates in the states multiplied, while
    /// the environment stays as it is.
    ///
    /// # Errors
    /// If `factor` is not positive and finite, or a rate or load leaves the range of doubles.
    pub fn scaled(&self, factor: f64) -> Result<Self, DocumentError> {
        if !(factor > 0.0 && factor.is_finite()) {
            let factor = shown(factor);
            let message = format!("the arrival rates cannot be multiplied by {factor}");
            let fault = Fault::new(place!("jobs"), message, "choose a positive, finite factor");
            return Err(DocumentError::without_text(vec![fault]));
        }
        let mut draft = self.record().draft();
        let mut faults = Vec::new();
        for (i, job) in self.types().iter().enumerate() {
            draft.jobs[i].arrivals = job.arrivals().scaled(factor);
            if draft.jobs[i].arrivals.is_none() {
                let (rate, factor) = (job.arrival_rate(), shown(factor));
                let message =
                    format!("arrival rate {rate} times {factor} is out of the range of numbers");
                let at = place!("jobs", i, "arrival_rate");
                faults.push(Fault::new(at, message, "choose a factor nearer to 1"));
            }
        }
        if faults.is_empty() {
            draft.fleet()
        } else {
            Err(DocumentError::without_text(faults))
        }
    }

    /// Returns the fleet with these types alone (in ascending order), without the servers on which none of them fits.
    ///
    /// # Errors
    /// If there is none of them.
    pub fn only(&self, types: &[usize]) -> Result<Self, DocumentError> {
        let mut draft = self.record().draft();
        let mut place = 0..;
        draft
            .jobs
            .retain(|_| place.next().is_some_and(|i| types.contains(&i)));
        let mut place = 0..;
        let is_used = |h: usize| self.shapes[h].types.iter().any(|i| types.contains(i));
        draft.shapes.retain(|_| place.next().is_some_and(is_used));
        draft.fleet()
    }

    /// Returns the same fleet with this latency in place of its own, ≥ 0 \[time\].
    ///
    /// # Errors
    /// When it is negative, or a load leaves the range of doubles.
    pub fn with_start_latency(&self, latency: Decimal) -> Result<Self, DocumentError> {
        let mut draft = self.record().draft();
        draft.header.start_latency = Some(Size::Deterministic { mean: latency });
        draft.fleet()
    }

    /// Returns the same fleet with so much more of resource j (of all R) on each server of shape h, which has some. `None`
    /// where the sum is no decimal of a double.
    ///
    /// # Panics
    /// If h or j is no index of a shape or of a resource.
    pub fn with_more(&self, h: usize, j: usize, more: Decimal) -> Option<Self> {
        let has = Some(self.shapes()[h].capacity()[j]).filter(|has| !has.is_zero())?;
        self.with_amount(h, j, sum(has, more)?).ok()
    }

    /// Returns the same fleet with this amount of resource j (of all R) on each server of shape h, which has some.
    ///
    /// # Errors
    /// When a type no longer has room.
    ///
    /// # Panics
    /// If h or j is no index of a shape or of a resource.
    pub fn with_amount(&self, h: usize, j: usize, amount: Decimal) -> Result<Self, DocumentError> {
        let mut draft = self.record().draft();
        draft.shapes[h].capacity[j].1 = Some(amount);
        draft.fleet()
    }

    /// Returns the same fleet with so many servers of shape h.
    ///
    /// # Errors
    /// When a type no longer has room, and where a shape may not have that many.
    ///
    /// # Panics
    /// If h is not the index of a shape.
    pub fn with_servers(&self, h: usize, count: u32) -> Result<Self, DocumentError> {
        let mut draft = self.record().draft();
        draft.shapes[h].count = Some(count);
        draft.fleet()
    }
}

impl Workload {
    /// Returns the same workload as [`Fleet::scaled`] does.
    ///
    /// # Errors
    /// As that.
    pub fn scaled(&self, factor: f64) -> Result<Self, DocumentError> {
        Ok(Fleet::from(self.clone()).scaled(factor)?.envelope)
    }
}

/// Returns the sum, where it is a decimal of a double and not rounded away.
fn sum(a: Decimal, b: Decimal) -> Option<Decimal> {
    let sum = Decimal::nearest(&(a.exact() + b.exact()))?;
    (sum > a && b > Decimal::ZERO).then_some(sum)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn decimals<const N: usize>(values: [f64; N]) -> Vec<Decimal> {
        values.map(|v| Decimal::new(v).unwrap()).to_vec()
    }

    #[test]
    fn what_was_counted_is_a_workload_of_one_server_or_of_a_fleet() {
        let mut parts = Parts {
            header: WorkloadHeader {
                time_unit: "s".into(),
                ..WorkloadHeader::default()
            },
            resources: vec!["cpu".into(), "gpu".into()],
            devices: Vec::new(),
            shapes: vec![(1, decimals([8.0, 2.0]))],
            types: vec![ChangedType {
                nodes: 1,
                name: "a".into(),
                demand: decimals([2.0, 0.0]),
                arrivals: ArrivalProcess::Poisson { rate: Decimal::ONE },
                size: Size::Exponential { mean: Decimal::ONE },
                limit: None,
            }],
        };
        let fleet = parts.check().unwrap();
        assert_eq!(fleet.one_server().unwrap().most_alone(0), 4);
        parts.shapes = vec![(3, decimals([4.0, 1.0])), (2, decimals([1.0, 1.0]))];
        let fleet = parts.check().unwrap();
        assert_eq!(fleet.servers(), 3, "the small ones serve no type");
        parts.shapes = vec![(3, decimals([4.0, 1.0])), (2, decimals([2.0, 1.0]))];
        let fleet = parts.check().unwrap();
        parts.shapes.reverse();
        assert_eq!(parts.check().unwrap(), fleet);
    }
}

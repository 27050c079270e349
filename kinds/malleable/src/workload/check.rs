//! The checks that turn a record into a [`Pool`].

use super::{
    Curve, Job, Objective, Pool, Record, SizesRecord, Speedup, SpeedupRecord, Stream, Workload,
};
use synth_core::document::{
    CheckedOrFaults, Fault, Place, SENSIBLE, check_names, check_unit, has_fault, place, sensible,
    within,
};
use synth_core::number::Decimal;
use synth_queues::law::Part;
use synth_simulation::Streams;

/// For more jobs than this no plan is computed.
const MOST_JOBS: usize = 100_000;

/// The same where the recursion has no closed form, and where jobs differ: what is done there grows with the square of the
/// number, and more.
const MOST_CURVED: usize = 5_000;
const MOST_UNLIKE: usize = 400;

/// How far sizes may be apart, so that sums of doubles still distinguish them.
const MOST_APART: f64 = 1e12;

/// The logarithm of how far numbers of servers may be apart.
const MOST_LOGARITHM: f64 = 60.0;

impl Record {
    /// Returns the workload, and what to warn of; or all faults, those found so far and its own.
    pub(super) fn checked(&self, mut faults: Vec<Fault>) -> CheckedOrFaults<Workload> {
        let mut warnings = Vec::new();
        self.check_scalars(&mut faults);
        self.check_jobs(&mut faults);
        self.check_sizes(&mut faults);
        self.check_arrivals(&mut faults);
        let mut curves = Vec::new();
        let jobs = self.build(&mut curves, &mut faults, &mut warnings);
        self.check_work(&curves, jobs.len(), &mut faults);
        self.check_range(&curves, &jobs, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        let record = self.clone();
        if self.arrivals.is_some() {
            let curve = curves.pop().expect("arrivals have a speedup");
            return Ok((Workload::Stream(Stream { record, curve }), warnings));
        }
        let pool = Pool {
            record,
            curves,
            jobs,
        };
        Ok((Workload::Pool(pool), warnings))
    }

    fn check_scalars(&self, faults: &mut Vec<Fault>) {
        check_unit(&self.time_unit, faults);
        let help = "write how many servers there are, for instance `servers: 64`";
        sensible(place!("servers"), "servers", self.servers, help, faults);
        let servers = self.servers.value();
        if self.whole_servers && servers.fract() != 0.0 {
            let message = format!("jobs hold whole servers, but there are {servers}");
            let help = "write a whole number, or leave `whole_servers` out";
            faults.push(Fault::new(place!("servers"), message, help));
        }
        self.check_cap(self.cap, &place!("cap"), faults);
    }

    fn check_cap(&self, cap: Option<Decimal>, at: &Place, faults: &mut Vec<Fault>) {
        let Some(cap) = cap else { return };
        let help = "write the most servers that a job can use, or leave it out";
        sensible(at.clone(), "cap", cap, help, faults);
        if self.whole_servers && cap.value().fract() != 0.0 {
            let message = format!("jobs hold whole servers, but the cap is {cap}");
            faults.push(Fault::new(at.clone(), message, help));
        }
    }

    fn check_jobs(&self, faults: &mut Vec<Fault>) {
        let names = self.jobs.iter().map(|job| &job.name);
        check_names("jobs", "job", names, faults);
        for (i, job) in self.jobs.iter().enumerate() {
            let name = &job.name;
            let help = "write how long the job runs on one server";
            sensible(place!("jobs", i, "size"), "size", job.size, help, faults);
            if let Some(weight) = job.weight {
                let help = "write what a unit of the job's time costs, or leave it out";
                sensible(place!("jobs", i, "weight"), "weight", weight, help, faults);
                if self.objective != Objective::WeightedFlowTime {
                    let message =
                        format!("job `{name}` has a weight, which this objective does not know");
                    let help = "choose `objective: weighted-flow-time`, or leave the weights out";
                    faults.push(Fault::new(place!("jobs", i, "weight"), message, help));
                }
            }
            self.check_cap(job.cap, &place!("jobs", i, "cap"), faults);
        }
    }

    fn check_sizes(&self, faults: &mut Vec<Fault>) {
        let (count, at, help) = match &self.sizes {
            Some(SizesRecord::Pareto { shape, count, .. }) => {
                if shape.value() < 0.05 {
                    let message = format!("shape is {shape}, expected a number of at least 0.05");
                    let help =
                        "the chance that a size is above x is x to the power of -shape, for x ≥ 1";
                    let place = place!("sizes", "pareto", "shape");
                    faults.push(Fault::new(place, message, help));
                }
                let at = place!("sizes", "pareto", "count");
                (*count as usize, at, "draw from 1 to 100 000 jobs")
            }
            None => (self.jobs.len(), place!("jobs"), "plan them in parts"),
        };
        if count > MOST_JOBS || count == 0 && self.sizes.is_some() {
            faults.push(Fault::new(at, format!("there are {count} jobs"), help));
        }
    }

    /// Checks that a plan takes minutes at most.
    fn check_work(&self, curves: &[Curve], count: usize, faults: &mut Vec<Fault>) {
        let (most, what) = match curves {
            [] => return,
            [one] if one.smooth_power(self.servers.value()).is_some() => return,
            [_] => (MOST_CURVED, "a speedup that is no power without limits"),
            _ => (MOST_UNLIKE, "different speedups or caps"),
        };
        if count > most && self.objective != Objective::Makespan {
            let message = format!("there are {count} jobs with {what}, expected at most {most}");
            let help = "plan them in parts: what this takes grows with the square of their number";
            faults.push(Fault::new(place!("jobs"), message, help));
        }
    }

    /// Checks that numbers are near enough to each other for what is computed of them.
    fn check_range(&self, curves: &[Curve], jobs: &[Job], faults: &mut Vec<Fault>) {
        let sizes = || jobs.iter().map(|job| job.size);
        let least = sizes().fold(f64::INFINITY, f64::min);
        let most = sizes().fold(0.0, f64::max);
        // All jobs end at once on servers that are as x^(1/p).
        let powers = curves.iter().filter_map(|curve| match curve.speedup {
            Speedup::Power(p) => Some(p),
            _ => None,
        });
        let flattest = powers.fold(1.0, f64::min);
        let makespan = self.objective == Objective::Makespan && !jobs.is_empty();
        if most / least > MOST_APART {
            let message = format!(
                "sizes are from {least} to {most}, more than a factor of {MOST_APART:e} apart"
            );
            let help = "leave out the jobs that are nothing beside the others";
            faults.push(Fault::new(place!("jobs"), message, help));
        } else if makespan && (most / least).ln() / flattest > MOST_LOGARITHM {
            let message = format!(
                "under k^{flattest} jobs of sizes {least} and {most} would need numbers of servers that no number can hold beside each other"
            );
            let help =
                "for such speedups more servers are of no use: give the jobs one of k^.1 or more";
            faults.push(Fault::new(place!("jobs"), message, help));
        }
    }

    fn check_arrivals(&self, faults: &mut Vec<Fault>) {
        let Some(arrivals) = &self.arrivals else {
            return;
        };
        let help = "write how many jobs arrive in a unit of time";
        let at = place!("arrivals", "rate");
        sensible(at, "rate", arrivals.rate, help, faults);
        let here = place!("arrivals", "size");
        let mut unsound = arrivals.size.faults(Part::Size, "the workload", "work");
        let sound = || arrivals.size.in_range() && SENSIBLE.contains(&arrivals.size.mean());
        if unsound.is_empty() && !sound() {
            let message = "the law of sizes is out of the range of numbers";
            let help = "check its numbers, or choose another unit of work";
            unsound.push(Fault::new(Place::DOCUMENT, message, help));
        }
        faults.extend(within(unsound, &here));
        if self.objective != Objective::FlowTime {
            let message = "of jobs that arrive only the flow time can be made small";
            let help = "leave `objective` out, or list the jobs: `jobs: [{name: a, size: 3}]`";
            faults.push(Fault::new(place!("objective"), message, help));
        }
    }

    /// Returns the place of a curve among those so far; the curve is added if it is new.
    fn curve(
        &self,
        (speedup, at): (Option<&SpeedupRecord>, Place),
        cap: Option<Decimal>,
        curves: &mut Vec<Curve>,
        warnings: &mut Vec<Fault>,
    ) -> Result<usize, Fault> {
        let help = "name the speedup of all jobs, for instance `speedup: {power: {p: .5}}`";
        let missing = || Fault::new(at.clone(), "there is no speedup", help);
        let mut own = Vec::new();
        let speedup = speedup.ok_or_else(missing)?.check(&mut own);
        let curve = Curve {
            speedup: speedup.map_err(|fault| fault.within(&at))?,
            cap: cap.map_or(f64::INFINITY, Decimal::value),
            whole: self.whole_servers,
        };
        let known = curves.iter().position(|known| *known == curve);
        Ok(known.unwrap_or_else(|| {
            warnings.extend(within(own, &at));
            curves.push(curve);
            curves.len() - 1
        }))
    }

    /// Returns the jobs; meaningless where there are faults.
    fn build(
        &self,
        curves: &mut Vec<Curve>,
        faults: &mut Vec<Fault>,
        warnings: &mut Vec<Fault>,
    ) -> Vec<Job> {
        let shared = (self.speedup.as_ref(), place!("speedup"));
        let mut jobs = Vec::new();
        if self.arrivals.is_some() || self.sizes.is_some() {
            let curve = self.curve(shared, self.cap, curves, warnings);
            let curve = curve.map_err(|fault| refuse(fault, faults)).ok();
            let (Some(SizesRecord::Pareto { shape, count, seed }), true) =
                (self.sizes, faults.is_empty())
            else {
                return jobs;
            };
            let mut stream = Streams::new(seed, 0).sizes;
            for n in 1..=count {
                let size = (1.0 - stream.uniform()).powf(-1.0 / shape.value());
                jobs.push(self.job(n.to_string(), size, 1.0, curve.unwrap_or(0)));
            }
            return jobs;
        }
        for (i, job) in self.jobs.iter().enumerate() {
            let own = job.speedup.as_ref();
            let speedup = own.map_or(shared.clone(), |own| {
                (Some(own), place!("jobs", i, "speedup"))
            });
            match self.curve(speedup, job.cap.or(self.cap), curves, warnings) {
                Ok(curve) => {
                    let weight = job.weight.map_or(1.0, Decimal::value);
                    jobs.push(self.job(job.name.clone(), job.size.value(), weight, curve));
                }
                // The speedup of the job could not be read.
                Err(_) if has_fault(faults, &place!("jobs", i, "speedup")) => {}
                Err(fault) => {
                    refuse(fault, faults);
                    // What is wrong with the shared one is said once.
                    if own.is_none() {
                        break;
                    }
                }
            }
        }
        jobs
    }

    fn job(&self, name: String, size: f64, weight: f64, curve: usize) -> Job {
        let weight = match self.objective {
            Objective::WeightedFlowTime => weight,
            Objective::Slowdown => 1.0 / size,
            Objective::FlowTime | Objective::Makespan => 1.0,
        };
        Job {
            name,
            size,
            weight,
            curve,
        }
    }
}

/// Adds the fault of a speedup, unless it is only missing because it could not be read.
fn refuse(fault: Fault, faults: &mut Vec<Fault>) {
    if !has_fault(faults, &fault.place) {
        faults.push(fault);
    }
}

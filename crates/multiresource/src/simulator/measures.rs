use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::Counters;
use crate::workload::{Fleet, JobType, Workload};
use synth_queues::distribution::CommonModulation;
use synth_simulation::{self as simulation, EndedRuns, Estimate, JobClass, Sample, Stretch};

/// The results of a simulation.
pub type Run = simulation::Run<Measures, TypeMeasures>;

/// The results for one of the job types.
pub type TypeResult = simulation::ClassResult<TypeMeasures>;

/// Additional measurements that are made for the whole run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Measures {
    /// The fraction of each resource that is in use.
    pub utilization: Vec<f64>,
    /// The fraction of each resource that is free while there is a waiting job.
    pub wastage: Vec<f64>,
    /// Switches per unit of time.
    pub switching_frequency: Option<Estimate>,
    /// The fraction of time under the guard, or the mean number of such servers for a fleet.
    #[serde(default)]
    pub guarded: f64,
    /// Event counters, including the warm-up.
    pub counters: Counters,
    /// A recorded stretch of a short run with the same seed, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stretch: Option<Stretch>,
}

/// Additional measurements that are made for each of the types.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TypeMeasures {
    /// The mean number of slots that are offered by the policy, if it reports it.
    pub mean_offered: Option<Estimate>,
}

/// Returns the job types of a workload, in its order, for the statistics.
pub fn classes(workload: &Workload) -> Vec<JobClass> {
    let types = workload.types().iter().zip(workload.load_shares());
    let modulation = workload.modulation();
    let common = modulation.map_or(0.0, CommonModulation::excess_dispersion);
    let common = workload.total_arrival_rate() * common;
    let class = types.map(|(job_type, weight)| JobClass {
        name: job_type.name().into(),
        arrival_rate: job_type.arrival_rate(),
        mean_size: job_type.mean_size(),
        scv: job_type.holding_time().scv(),
        higher: [3, 4]
            .map(|n| job_type.holding_time().moment(n) / job_type.mean_size().powi(n as i32)),
        dispersion: dispersion(job_type) + common,
        demands: Vec::new(),
        weight,
    });
    class.collect()
}

pub(super) fn classes_of_fleet(fleet: &Fleet) -> Vec<JobClass> {
    let capacity = fleet.capacity();
    let classes = classes(fleet.envelope()).into_iter().zip(fleet.types());
    classes
        .map(|(class, own)| {
            let pairs = own.demand().iter().zip(&capacity);
            let part = pairs.map(|(d, all)| f64::from(own.nodes()) * d.value() / all);
            JobClass {
                demands: part.collect(),
                ..class
            }
        })
        .collect()
}

/// Returns `lim Var W(t) / (t λ E[S]²) − c²`, where W is the arriving work. For independent sizes,
/// this is the index of dispersion I of the number of arrivals. If the sizes in a batch have a
/// correlation of r, it is larger by `r c² (I − 1)`. Start latencies are always independent.
fn dispersion(job_type: &JobType) -> f64 {
    let (arrivals, held) = (job_type.arrivals(), job_type.holding_time());
    let counts = arrivals.dispersion();
    match arrivals.equal_size_fraction() {
        0.0 => counts,
        alike => counts + alike * held.run_variance_share() * held.scv() * (counts - 1.0),
    }
}

#[derive(Clone, Copy)]
pub(super) struct Columns {
    types: usize,
    pub resources: usize,
}

impl Columns {
    pub(super) const SWITCHES: usize = 0;

    pub(super) const GUARDED: usize = 1;

    pub(super) fn of(workload: &Workload) -> Self {
        Columns {
            types: workload.types().len(),
            resources: workload.resources().len(),
        }
    }

    /// The integral of the free capacity while there is a waiting job, sampled at each tick.
    pub(super) fn wasted(self, j: usize) -> usize {
        2 + j
    }

    pub(super) fn offered(self, i: usize) -> usize {
        2 + self.resources + i
    }

    pub(super) fn width(self) -> usize {
        self.offered(self.types)
    }
}

pub(super) fn run(workload: &Workload, results: &EndedRuns<'_>, counters: Counters) -> Run {
    let own = Columns::of(workload);
    let of_run = |sample: Option<&Sample>| Measures {
        utilization: sample.map_or(Vec::new(), |s| utilization(workload, s)),
        wastage: sample.map_or(Vec::new(), |s| wastage(workload, own, s)),
        switching_frequency: sample.and_then(|s| {
            let switches = s.columns.extra(Columns::SWITCHES);
            s.time_average(|row| row[switches])
        }),
        guarded: sample.map_or(0.0, |s| {
            let (guarded, c) = (s.columns.extra(Columns::GUARDED), s.columns);
            s.total(|row| row[guarded]) / s.total(|row| row[c.time()])
        }),
        counters,
        stretch: None,
    };
    let of_type = |sample: Option<&Sample>, i: usize| {
        let offered = sample.and_then(|s| {
            let column = s.columns.extra(own.offered(i));
            s.time_average(|row| row[column])
        });
        TypeMeasures {
            mean_offered: offered.filter(|offered| offered.mean > 0.0),
        }
    };
    results.run(of_run, of_type)
}

fn utilization(workload: &Workload, sample: &Sample) -> Vec<f64> {
    let c = sample.columns;
    let time = sample.total(|row| row[c.time()]);
    let used = |j: usize| -> f64 {
        let types = workload.types().iter().enumerate();
        let used = types.map(|(i, t)| {
            let servers = f64::from(t.nodes()) * sample.total(|row| row[c.busy(i)]);
            servers * t.demand()[j].value()
        });
        used.sum::<f64>() / time / workload.resources()[j].capacity().value()
    };
    (0..workload.resources().len()).map(used).collect()
}

fn wastage(workload: &Workload, own: Columns, sample: &Sample) -> Vec<f64> {
    let c = sample.columns;
    let time = sample.total(|row| row[c.time()]);
    let resources = workload.resources().iter().enumerate();
    let wasted = resources.map(|(j, resource)| match resource.units() {
        0 => 0.0,
        units => sample.total(|row| row[c.extra(own.wasted(j))]) / time / units as f64,
    });
    wasted.collect()
}

/// Converts fractions of the envelope to fractions of all servers.
pub(super) fn of_all_servers(run: &mut Run, fleet: &Fleet) {
    let own = &mut run.own;
    let resources = fleet.envelope().resources().iter().enumerate();
    for ((j, resource), all) in resources.zip(fleet.capacity()) {
        let units = |h: usize| f64::from(fleet.shapes()[h].count()) * fleet.units(h)[j] as f64;
        let units: f64 = (0..fleet.shapes().len()).map(units).sum();
        if let Some(used) = own.utilization.get_mut(j) {
            *used *= resource.capacity().value() / all;
        }
        if let Some(wasted) = own.wastage.get_mut(j).filter(|_| units > 0.0) {
            *wasted *= resource.units() as f64 / units;
        }
    }
}

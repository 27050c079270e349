use synth_multiresource::schedule::{Packing, Schedule, fluid_bound, index_of_largest};
use synth_multiresource::workload::{Fleet, JobType, Shape, Workload};

pub(super) struct Problem {
    pub sites: Vec<Site>,
    pub offered: Vec<f64>,
    /// The offered loads, scaled such that `t` is about 1 and `u_i / scaled_i` is in the range of
    /// HiGHS, which ignores coefficients below 1e-9 and does not support values above 1e15. A type
    /// counts as at least 1e-13 of the time.
    pub scaled_loads: Vec<f64>,
}

pub(super) struct Site {
    pub count: f64,
    pub packing: Packing,
    pub types: Vec<usize>,
}

/// A shape, and a schedule on one of its servers over the types that fit on that shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Column(pub usize, pub Schedule);

impl Problem {
    pub(super) fn new(fleet: &Fleet) -> Self {
        let site = |shape: &Shape| Site {
            count: f64::from(shape.count()),
            packing: Packing::new(shape.server()),
            types: shape.types().to_vec(),
        };
        let sites: Vec<Site> = fleet.shapes().iter().map(site).collect();
        let offered: Vec<f64> = fleet.types().iter().map(JobType::offered_tasks).collect();
        let scaled_loads = match fleet.one_server() {
            Some(workload) => scaled_loads(workload),
            None => scaled_over(&sites, &offered),
        };
        Problem {
            sites,
            offered,
            scaled_loads,
        }
    }

    /// Returns the schedule of a column as a schedule of all types (K).
    pub(super) fn over_all(&self, Column(site, schedule): &Column) -> Schedule {
        let mut all = vec![0; self.offered.len()];
        for (&i, jobs) in self.sites[*site].types.iter().zip(schedule) {
            all[i] = *jobs;
        }
        all
    }

    /// Restricts values of all types (K) to the types that fit on a site.
    pub(super) fn local(&self, site: usize, values: &[f64]) -> Vec<f64> {
        self.sites[site].types.iter().map(|&i| values[i]).collect()
    }

    /// Returns the initial values (K), with `Σ_i b_i v_i = 1`, in proportion to the shares of the
    /// bottleneck resources. For a single shape, these are the prices of the fluid bound.
    pub(super) fn fluid_values(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.offered.len()];
        for site in &self.sites {
            // The bottleneck has the highest utilization if this shape served all types that fit.
            let utilization = |j: usize| {
                let types = site.types.iter().enumerate();
                let used = types.map(|(place, &i)| self.offered[i] * site.packing.share(place, j));
                used.sum()
            };
            let resources = 0..site.packing.capacity().len();
            let scarce = index_of_largest(&resources.map(utilization).collect::<Vec<f64>>());
            for (place, &i) in site.types.iter().enumerate() {
                values[i] += site.count * site.packing.share(place, scarce);
            }
        }
        let total: f64 = values.iter().zip(&self.offered).map(|(v, b)| v * b).sum();
        values.iter().map(|v| v / total).collect()
    }
}

/// Counts each job on the shape of which it uses the smallest share; all servers count the same.
fn scaled_over(sites: &[Site], offered: &[f64]) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; offered.len()];
    let mut most = vec![0.0; offered.len()];
    for site in sites {
        let capacity = site.packing.capacity();
        for (place, &i) in site.types.iter().enumerate() {
            least[i] = site.packing.dominant_share(place).min(least[i]);
            most[i] += site.count * f64::from(site.packing.max_jobs_in(place, capacity));
        }
    }
    let servers: f64 = sites.iter().map(|site| site.count).sum();
    let work: f64 = offered.iter().zip(&least).map(|(b, share)| b * share).sum();
    let unit = work / servers;
    let scaled = |(b, most): (&f64, f64)| (b / unit).max(1e-13 * most);
    offered.iter().zip(most).map(scaled).collect()
}

pub(super) fn scaled_loads(workload: &Workload) -> Vec<f64> {
    let fluid = fluid_bound(workload);
    let scaled = |(i, job_type): (usize, &JobType)| {
        (job_type.offered_load() / fluid).max(1e-13 * f64::from(workload.most_alone(i)))
    };
    workload.types().iter().enumerate().map(scaled).collect()
}

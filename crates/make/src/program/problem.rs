//! The program's data: the servers of one or of several shapes, and the offered loads.

use synth_multiresource::schedule::{Fluid, Packing, Schedule, largest};
use synth_multiresource::workload::{Fleet, JobType, Workload};

/// The servers that the columns are schedules of, and what they have to serve.
pub(super) struct Problem {
    /// One entry a shape (H).
    pub sites: Vec<Site>,
    /// b (K).
    pub offered: Vec<f64>,
    /// Offered loads in units of about the optimal load, so that t is about 1 and the
    /// coefficients `u_i / scaled_i` are in the range of HiGHS: it drops those below 1e-9 and
    /// refuses those above 1e15. A type so rare that it would need less than 1e-13 of the time is
    /// given that much.
    pub scaled: Vec<f64>,
}

/// The servers of one shape.
pub(super) struct Site {
    /// How many there are.
    pub count: f64,
    /// What fits on one, over its own types.
    pub packing: Packing,
    /// Which of the K types fit on it.
    pub types: Vec<usize>,
}

/// A shape, and a schedule on a server of it, over the types of that shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Column(pub usize, pub Schedule);

impl Problem {
    /// Returns the servers of a fleet.
    pub(super) fn new(fleet: &Fleet) -> Self {
        let sites = fleet.shapes().iter().map(|shape| Site {
            count: f64::from(shape.count()),
            packing: Packing::new(shape.server()),
            types: shape.types().to_vec(),
        });
        let sites: Vec<Site> = sites.collect();
        let offered: Vec<f64> = fleet.types().iter().map(JobType::offered_pieces).collect();
        let scaled = match fleet.one_server() {
            Some(workload) => scaled_loads(workload),
            None => scaled_over(&sites, &offered),
        };
        Problem {
            sites,
            offered,
            scaled,
        }
    }

    /// Returns the schedule of a column over all types (K).
    pub(super) fn over_all(&self, Column(site, schedule): &Column) -> Schedule {
        let mut all = vec![0; self.offered.len()];
        for (&i, jobs) in self.sites[*site].types.iter().zip(schedule) {
            all[i] = *jobs;
        }
        all
    }

    /// Values of the types (K) to a column's site, in the order of its own types.
    pub(super) fn local(&self, site: usize, values: &[f64]) -> Vec<f64> {
        self.sites[site].types.iter().map(|&i| values[i]).collect()
    }

    /// What a type's job takes of the scarcest resource of the servers that it fits on: prices to start
    /// with, those of the fluid bound where there is one shape. In the scale of
    /// `Σ_i b_i v_i = 1` (K).
    pub(super) fn fluid_values(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.offered.len()];
        for site in &self.sites {
            // The resource with the largest utilization if all offered load of the types that fit came here.
            let utilization = |j: usize| {
                let types = site.types.iter().enumerate();
                let used = types.map(|(place, &i)| self.offered[i] * site.packing.share(place, j));
                used.sum()
            };
            let resources = 0..site.packing.capacity().len();
            let scarce = largest(&resources.map(utilization).collect::<Vec<f64>>());
            for (place, &i) in site.types.iter().enumerate() {
                values[i] += site.count * site.packing.share(place, scarce);
            }
        }
        let total: f64 = values.iter().zip(&self.offered).map(|(v, b)| v * b).sum();
        values.iter().map(|v| v / total).collect()
    }
}

/// See [`Problem::scaled`]: each job on the server that it takes least of; all servers of all shapes alike.
fn scaled_over(sites: &[Site], offered: &[f64]) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; offered.len()];
    let mut most = vec![0.0; offered.len()];
    for site in sites {
        let capacity = site.packing.capacity();
        for (place, &i) in site.types.iter().enumerate() {
            least[i] = site.packing.largest_share(place).min(least[i]);
            most[i] += site.count * f64::from(site.packing.most(place, capacity));
        }
    }
    let servers: f64 = sites.iter().map(|site| site.count).sum();
    let work: f64 = offered.iter().zip(&least).map(|(b, share)| b * share).sum();
    let unit = work / servers;
    let scaled = |(b, most): (&f64, f64)| (b / unit).max(1e-13 * most);
    offered.iter().zip(most).map(scaled).collect()
}

/// See [`Problem::scaled`], for one server.
pub(super) fn scaled_loads(workload: &Workload) -> Vec<f64> {
    let fluid = Fluid::new(workload).bound();
    let scaled = |(i, job_type): (usize, &JobType)| {
        (job_type.offered_load() / fluid).max(1e-13 * f64::from(workload.most_alone(i)))
    };
    workload.types().iter().enumerate().map(scaled).collect()
}

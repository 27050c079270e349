use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::{JobType, Resource, Workload};
use synth_core::document::WorkloadDocument as _;
use synth_core::number::Decimal;

/// A valid fleet with K ≥ 1 job types and H ≥ 1 shapes. Every type arrives and fits on a shape, and
/// a type fits on every shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    pub(super) envelope: Workload,
    pub(super) shapes: Vec<Shape>,
}

/// Identical servers.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub(super) name: String,
    pub(super) count: u32,
    pub(super) capacity: Vec<Decimal>,
    pub(super) server: Workload,
    pub(super) types: Vec<usize>,
}

impl From<Workload> for Fleet {
    fn from(server: Workload) -> Self {
        let shape = Shape {
            name: ONE_SERVER.to_owned(),
            count: 1,
            capacity: server.resources().iter().map(Resource::capacity).collect(),
            types: (0..server.types().len()).collect(),
            server: server.clone(),
        };
        Fleet {
            envelope: server,
            shapes: vec![shape],
        }
    }
}

pub(super) const ONE_SERVER: &str = "server";

impl Shape {
    /// Returns the unique name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of servers n_h ≥ 1.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the capacity for each of the fleet's R resources, 0 if the shape lacks it.
    pub fn capacity(&self) -> &[Decimal] {
        &self.capacity
    }

    /// Returns one such server with its resources and the types that fit (K_h), at the fleet's
    /// rates.
    pub fn server(&self) -> &Workload {
        &self.server
    }

    /// Returns the indices in the fleet of the types of [`Shape::server`], ascending (K_h).
    pub fn types(&self) -> &[usize] {
        &self.types
    }
}

impl Fleet {
    /// Returns whether the fleet is one server without devices.
    pub fn is_one_server(&self) -> bool {
        self.one_server().is_some()
    }

    /// Returns the workload of the only server, if it has no devices. With devices, a server is
    /// treated like a fleet, because whether a job fits depends on the devices that others use.
    pub fn one_server(&self) -> Option<&Workload> {
        let is_one = self.servers() == 1 && self.devices().is_empty();
        is_one.then_some(&self.envelope)
    }

    /// Returns the names of the resources that consist of devices ([`Resource::device`]).
    pub fn devices(&self) -> Vec<String> {
        let resources = self.envelope.resources.iter();
        let devices = resources.filter(|resource| resource.device.is_some());
        devices.map(|resource| resource.name.clone()).collect()
    }

    /// Returns an error with an explanation if a resource consists of devices.
    pub fn require_no_devices(&self) -> Result<(), String> {
        let why = |name: &String| {
            Err(format!(
                "`{name}` consists of devices. Only simulations and replays (`synth simulate`, `compare`, `judge`) place jobs on devices; synthesis, policy files, proofs and bounds count amounts. To count `{name}` as an amount, write its number without `devices`; a fraction may then span devices"
            ))
        };
        self.devices().first().map_or(Ok(()), why)
    }

    /// Returns the shapes in the order of the policy file, or else in the order in which rules fill
    /// them: the shapes with the fewest types first, and then the smaller ones.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Returns the job types that arrive (K), in the document's order.
    pub fn types(&self) -> &[JobType] {
        self.envelope.types()
    }

    /// Returns the workload on a server with the largest capacity of any shape per resource.
    pub fn envelope(&self) -> &Workload {
        &self.envelope
    }

    /// Returns the unit of all times and rates.
    pub fn time_unit(&self) -> &str {
        self.envelope.time_unit()
    }

    /// Returns the number of servers of all shapes, Σ n_h.
    pub fn servers(&self) -> usize {
        self.shapes.iter().map(|shape| shape.count as usize).sum()
    }

    /// Returns the capacity (R) of one server of shape h in the units of [`JobType::units`].
    pub fn units(&self, h: usize) -> Vec<u64> {
        let of = |(j, capacity): (usize, &Decimal)| {
            if let Some(device) = self.envelope.resources[j].device {
                return device * capacity.value() as u64;
            }
            let demanding = self.types().iter().find(|job| job.units[j] > 0);
            demanding.map_or(0, |job| {
                let units = capacity.exact() * BigInt::from(job.units[j]) / job.demand[j].exact();
                let most = "at most the units of the envelope, which are below 2^53";
                units.to_integer().to_u64().expect(most)
            })
        };
        self.shapes[h].capacity.iter().enumerate().map(of).collect()
    }

    /// Returns the types of the jobs that need more than one server.
    pub fn gangs(&self) -> impl Iterator<Item = &JobType> {
        self.types().iter().filter(|kind| kind.nodes() > 1)
    }

    /// Returns the total capacity for each resource (R), Σ n_h P_hj > 0.
    pub fn capacity(&self) -> Vec<f64> {
        let of = |j: usize| {
            let shapes = self.shapes.iter();
            let parts = shapes.map(|shape| f64::from(shape.count) * shape.capacity[j].value());
            parts.sum()
        };
        (0..self.envelope.resources().len()).map(of).collect()
    }

    /// Returns the digest of the [record](Fleet::record) without its source and idle types.
    pub fn digest(&self) -> String {
        self.record().digest()
    }
}

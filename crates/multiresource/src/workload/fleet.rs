//! A fleet: servers of several shapes that share what arrives.

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::{JobType, Resource, Workload};
use synth_core::document::WorkloadDocument as _;
use synth_core::number::Decimal;

/// A checked fleet: K ≥ 1 job types on servers of H ≥ 1 shapes. Each type arrives, and
/// fits on a server of one shape at least; on a server of each shape some type fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    pub(super) envelope: Workload,
    pub(super) shapes: Vec<Shape>,
}

/// Servers that are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub(super) name: String,
    pub(super) count: u32,
    pub(super) capacity: Vec<Decimal>,
    pub(super) server: Workload,
    pub(super) types: Vec<usize>,
}

/// One server is a fleet of one, named `server`.
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

/// The name of the server that a document has under `server`.
pub(super) const ONE_SERVER: &str = "server";

impl Shape {
    /// Its name, unique among the shapes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how many servers have it, n_h ≥ 1.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Capacity for each of the fleet's R resources, ≥ 0: 0 where the shape lacks one.
    pub fn capacity(&self) -> &[Decimal] {
        &self.capacity
    }

    /// One such server with the types that fit on it (K_h of them), at the rates of the whole
    /// fleet; its resources are those that the shape has.
    pub fn server(&self) -> &Workload {
        &self.server
    }

    /// Returns the place in the fleet of each of the types of [`Shape::server`], ascending (K_h).
    pub fn types(&self) -> &[usize] {
        &self.types
    }
}

impl Fleet {
    /// Returns whether there is one server.
    pub fn is_one_server(&self) -> bool {
        self.one_server().is_some()
    }

    /// Returns what the one server has to do, where there is one. A server with devices is treated as a fleet, since
    /// whether a job fits there depends on the devices that the others use.
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

    /// Checks that no resource consists of devices, for all that counts amounts alone.
    ///
    /// # Errors
    /// Which resource does, and what to do.
    pub fn counts_amounts(&self) -> Result<(), String> {
        let why = |name: &String| {
            Err(format!(
                "`{name}` consists of devices. Only simulations and replays (`synth simulate`, `compare`, `judge`) place jobs on devices; synthesis, policy files, proofs and bounds count amounts. To count `{name}` as an amount, write its number without `devices`; a fraction may then span devices"
            ))
        };
        self.devices().first().map_or(Ok(()), why)
    }

    /// The shapes in the order in which rules fill them, whatever that of the document: first those on which fewest
    /// types fit, and of these the smaller ones. A policy file has an order of its own, which its vectors follow.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Returns the K types that arrive, in the document's order.
    pub fn types(&self) -> &[JobType] {
        self.envelope.types()
    }

    /// Returns the workload on a server that no shape needs to be: with as much of each resource as the
    /// shape that has most of it. It stands for what is said of types and resources, whatever the
    /// shape.
    pub fn envelope(&self) -> &Workload {
        &self.envelope
    }

    /// Returns the one unit of time of all rates and sizes.
    pub fn time_unit(&self) -> &str {
        self.envelope.time_unit()
    }

    /// Servers of all shapes, Σ n_h.
    pub fn servers(&self) -> usize {
        self.shapes.iter().map(|shape| shape.count as usize).sum()
    }

    /// Capacity of one server of shape h in the whole units in which demands are counted
    /// ([`JobType::units`]), for each of the R resources.
    ///
    /// # Panics
    /// If h is not the index of a shape.
    pub fn units(&self, h: usize) -> Vec<u64> {
        let of = |(j, capacity): (usize, &Decimal)| {
            if let Some(device) = self.envelope.resources[j].device {
                return device * capacity.value() as u64;
            }
            let demanding = self.types().iter().find(|job| job.units[j] > 0);
            demanding.map_or(0, |job| {
                let units = capacity.exact() * BigInt::from(job.units[j]) / job.demand[j].exact();
                let most = "no more than the envelope has, which is below 2^53";
                units.to_integer().to_u64().expect(most)
            })
        };
        self.shapes[h].capacity.iter().enumerate().map(of).collect()
    }

    /// Returns the types whose jobs take several servers at once.
    pub fn gangs(&self) -> impl Iterator<Item = &JobType> {
        self.types().iter().filter(|kind| kind.nodes() > 1)
    }

    /// Returns how much of each of the R resources all servers have together, Σ n_h P_hj > 0.
    pub fn capacity(&self) -> Vec<f64> {
        let of = |j: usize| {
            let shapes = self.shapes.iter();
            let parts = shapes.map(|shape| f64::from(shape.count) * shape.capacity[j].value());
            parts.sum()
        };
        (0..self.envelope.resources().len()).map(of).collect()
    }

    /// Returns the digest that identifies the fleet: of its [record](Fleet::record), but for where its figures come
    /// from. Types that do not arrive are not recorded.
    pub fn digest(&self) -> String {
        self.record().digest()
    }
}

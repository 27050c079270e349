use super::Alike;
use crate::multiresource::workload::{Resource, Workload};

/// How the types and resources of a fleet are numbered on its servers.
pub(super) struct Numbering {
    /// By shape and the fleet's type, the type's number on such a server.
    of_server: Vec<Vec<Option<usize>>>,
    /// By shape and its own type, the fleet's.
    of_fleet: Vec<Vec<usize>>,
    /// By shape and the fleet's resource, its number there, and what one unit of it counts for.
    units: Vec<Vec<Option<(usize, f64)>>>,
    /// How much of each of the fleet's resources all servers have together.
    capacity: Vec<f64>,
}

impl Numbering {
    /// Types and resources are the same where they have the same name.
    pub fn new(arriving: &Workload, shapes: &[Alike<'_>]) -> Self {
        let of_server = |shape: &Alike<'_>| -> Vec<Option<usize>> {
            let types = arriving.types().iter();
            types.map(|t| place(shape.workload, t.name())).collect()
        };
        let of_fleet = |shape: &Alike<'_>| -> Vec<usize> {
            let types = shape.workload.types().iter();
            types.filter_map(|t| place(arriving, t.name())).collect()
        };
        let resources = arriving.resources();
        let all = |resource: &Resource| capacity(shapes, resource.name());
        let capacity: Vec<f64> = resources.iter().map(all).collect();
        let units = |shape: &Alike<'_>| -> Vec<Option<(usize, f64)>> {
            let pairs = resources.iter().zip(&capacity);
            pairs.map(|(r, all)| unit(r, *all, shape)).collect()
        };
        Numbering {
            of_server: shapes.iter().map(of_server).collect(),
            of_fleet: shapes.iter().map(of_fleet).collect(),
            units: shapes.iter().map(units).collect(),
            capacity,
        }
    }

    /// Types that arrive.
    pub fn types(&self) -> usize {
        self.of_server.first().map_or(0, Vec::len)
    }

    /// How much of each of the fleet's resources all servers have together.
    pub fn capacity(&self) -> &[f64] {
        &self.capacity
    }

    /// What a server of shape h calls the fleet's type i, if it serves it.
    pub fn of_server(&self, h: usize, i: usize) -> Option<usize> {
        self.of_server[h][i]
    }

    /// What the fleet calls type k of a server of shape h.
    pub fn of_fleet(&self, h: usize, k: usize) -> usize {
        self.of_fleet[h][k]
    }

    /// What a server of shape h calls the fleet's resource j; and which part of all that the fleet
    /// has one of its units there is, in units of the fleet's.
    pub fn unit(&self, h: usize, j: usize) -> Option<(usize, f64)> {
        self.units[h][j]
    }
}

fn place(workload: &Workload, name: &str) -> Option<usize> {
    workload.types().iter().position(|t| t.name() == name)
}

/// How much of a resource all servers have together.
fn capacity(shapes: &[Alike<'_>], name: &str) -> f64 {
    let of_shape = |shape: &Alike<'_>| {
        let mut resources = shape.workload.resources().iter();
        let own = resources.find(|r| r.name() == name)?;
        Some(f64::from(shape.count) * own.capacity().value())
    };
    shapes.iter().filter_map(of_shape).sum()
}

fn unit(resource: &Resource, all: f64, shape: &Alike<'_>) -> Option<(usize, f64)> {
    let mut own = shape.workload.resources().iter().enumerate();
    let (j, own) = own.find(|(_, r)| r.name() == resource.name())?;
    let capacity = own.capacity().value() * resource.units() as f64;
    // What no job demands has no units, and is not wasted.
    (own.units() > 0).then(|| (j, capacity / (all * own.units() as f64)))
}

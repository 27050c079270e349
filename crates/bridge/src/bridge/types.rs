//! Which type a job belongs to.

use std::path::Path;

use super::document::TypesFile;
use super::resources::Resources;
use super::rule::Rule;
use super::servers::Servers;
use synth_cluster::artifact::Checked;
use synth_cluster::workload::{Dominating, Fleet, JobType};
use synth_core::document::text_of;
use synth_core::number::{Decimal, seconds_in};
use synth_slurm::commands::{Node, Row};

/// The jobs and nodes of a cluster as a policy counts them.
///
/// A job belongs to the cheapest type, by the prices of the policy's certificate, that holds at least what the job has
/// of each resource, so that every schedule of types is one of jobs; or to the first type of a file of which it meets
/// a condition, if that type holds it. Of types with one demand it belongs to the one of the least `limit` that is not
/// below its time limit, or of the largest. A job that takes several nodes has no type.
#[derive(Clone, Debug)]
pub struct TypeMap {
    pub(super) resources: Resources,
    pub(super) servers: Servers,
    /// Demand of each of the K types in whole units (R).
    demands: Vec<Vec<u64>>,
    by: By,
}

#[derive(Clone, Debug)]
enum By {
    Demand {
        dominating: Dominating,
        /// The types that take part, as they are counted there.
        places: Vec<usize>,
        /// By type, the limit of its jobs \[s\].
        limits: Vec<f64>,
    },
    Rules(Vec<Rule>),
}

impl TypeMap {
    /// For a policy, and a file that says more (`--types`).
    ///
    /// # Errors
    /// When the file cannot be read or has faults, when it is not known what Slurm calls a resource or which nodes are the
    /// servers of a fleet, or when demand alone does not tell types apart.
    pub fn new(policy: &Checked, file: Option<&Path>) -> Result<Self, String> {
        let fleet = policy.workload();
        let written = match file {
            None => TypesFile::default(),
            Some(path) => {
                let name = path.display().to_string();
                let unread = |why| {
                    format!(
                        "cannot read the types {name}: {why}: check the path that --types names"
                    )
                };
                let text = text_of(path).map_err(unread)?;
                TypesFile::parse(&text, &name, fleet).map_err(|why| why.to_string())?
            }
        };
        let evidence = &policy.artifact().evidence;
        let prices = match &evidence.servers[..] {
            [server] if fleet.is_one_server() => &server.resource_prices[..],
            _ => &[],
        };
        TypeMap::of(fleet, prices, written)
    }

    /// Returns the same for a fleet, with prices of whole units of its resources, or none.
    pub(super) fn of(fleet: &Fleet, prices: &[f64], written: TypesFile) -> Result<Self, String> {
        let named = |name: &str| written.resources.get(name).cloned();
        let resources = Resources::new(fleet.envelope(), named)?;
        let demands = fleet.types().iter().map(|job| {
            let units = job.units().iter().enumerate();
            // What Slurm does not count, every job may have.
            let counted = |(j, units)| u64::from(resources.is_counted(j)) * units;
            units.map(counted).collect()
        });
        let demands: Vec<Vec<u64>> = demands.collect();
        let by = match written.rules {
            Some(rules) => By::Rules(rules),
            None => By::demand(fleet, prices, &demands)?,
        };
        Ok(TypeMap {
            servers: Servers::new(fleet, written.servers)?,
            resources,
            demands,
            by,
        })
    }

    /// Returns the type of a job; `None` where it has none.
    pub fn type_of(&self, row: &Row) -> Option<usize> {
        let is_whole = row.nodes == 1 && !row.key.id.is_component();
        if !is_whole || (row.has_unknown_gres && self.resources.have_gres()) {
            return None;
        }
        let units = self.resources.units(&row.amounts);
        match &self.by {
            By::Demand {
                dominating,
                places,
                limits,
            } => {
                let units: Vec<f64> = units.iter().map(|units| *units as f64).collect();
                let alike = dominating.types_of(&units);
                let promised = row.time_limit.map_or(f64::INFINITY, |s| s as f64);
                let alike = alike.into_iter().map(|(_, place)| places[place]);
                let mut alike: Vec<usize> = alike.collect();
                alike.sort_by(|a, b| limits[*a].total_cmp(&limits[*b]));
                let own = alike.iter().find(|i| promised <= limits[**i]);
                own.or(alike.last()).copied()
            }
            By::Rules(rules) => {
                let holds = |rule: &&Rule| {
                    let mut pairs = units.iter().zip(&self.demands[rule.place]);
                    pairs.all(|(job, own)| job <= own)
                };
                let rule = rules.iter().filter(holds).find(|rule| rule.is_of(row));
                rule.map(|rule| rule.place)
            }
        }
    }

    /// Checks that the nodes of the partition have what the policy's servers have; `is_pooled` takes all of them for
    /// one server.
    ///
    /// # Errors
    /// When a node is missing or has less, or when there are several for one server; says what to do.
    pub fn check_nodes(&self, nodes: &[Node], is_pooled: bool) -> Result<(), String> {
        self.servers.check(nodes, is_pooled, &self.resources)
    }
}

impl By {
    /// Demand decides, and of types with one demand their limits.
    fn demand(fleet: &Fleet, prices: &[f64], demands: &[Vec<u64>]) -> Result<Self, String> {
        if let Some([first, second]) = alike(fleet, demands) {
            return Err(format!(
                "the types `{first}` and `{second}` have one demand, so that demand does not tell their jobs apart: write a file with `types:` that says which jobs are which (`match:` of partition, qos, account, user, name, time_limit or comment), and name it by --types"
            ));
        }
        let limits = limits(fleet);
        let places = singles(fleet);
        let own = |i: &usize| demands[*i].iter().map(|units| *units as f64).collect();
        let own: Vec<Vec<f64>> = places.iter().map(own).collect();
        Ok(By::Demand {
            dominating: Dominating::of(&own, &worths(fleet, prices)),
            places,
            limits,
        })
    }
}

/// Returns the types of jobs on one server.
fn singles(fleet: &Fleet) -> Vec<usize> {
    let types = 0..fleet.types().len();
    types.filter(|i| fleet.types()[*i].nodes() == 1).collect()
}

/// By type, the limit of its jobs \[s\]; infinite where it has none, or its unit of time is not known.
fn limits(fleet: &Fleet) -> Vec<f64> {
    let second = seconds_in(fleet.time_unit());
    let limit = |job: &JobType| {
        let seconds = job.limit().map(Decimal::value).zip(second);
        seconds.map_or(f64::INFINITY, |(limit, second)| limit * second)
    };
    fleet.types().iter().map(limit).collect()
}

/// Two types that neither these demands (K × R) nor limits tell apart, by name.
pub(super) fn alike<'a>(fleet: &'a Fleet, demands: &[Vec<u64>]) -> Option<[&'a str; 2]> {
    let (places, limits) = (singles(fleet), limits(fleet));
    let own = |i: usize| (&demands[i], limits[i]);
    places.iter().enumerate().find_map(|(n, first)| {
        let mut later = places[n + 1..].iter();
        let second = later.find(|second| own(**second) == own(*first))?;
        Some([*first, *second].map(|i| fleet.types()[i].name()))
    })
}

/// How many whole units of each resource are worth as much as one of the others: the inverse of its price. A millionth of
/// what a unit is of all capacity decides where the certificate gives nothing for a resource that is never scarce.
fn worths(fleet: &Fleet, prices: &[f64]) -> Vec<f64> {
    let resources = fleet.envelope().resources();
    let units = |j: usize| -> f64 {
        let shapes = fleet.shapes().iter().enumerate();
        let units = shapes.map(|(h, shape)| f64::from(shape.count()) * fleet.units(h)[j] as f64);
        units.sum()
    };
    let capacity: Vec<f64> = (0..resources.len()).map(units).collect();
    let pairs = capacity.iter().zip(prices);
    let all: f64 = pairs.map(|(c, price)| c * price).sum();
    let of = |(j, capacity): (usize, &f64)| match prices.get(j) {
        Some(price) if all > 0.0 => 1.0 / (price / all + 1e-6 / capacity.max(1.0)),
        _ => *capacity,
    };
    capacity.iter().enumerate().map(of).collect()
}

//! Jobs and servers as a policy counts them: in whole units, from the amounts of a scheduler.

use num_rational::BigRational;
use num_traits::ToPrimitive;

use synth_core::document::{Fault, Place, suggest};

use synth_multiresource::workload::{ByDemand, Fleet, JobType, Resource, Workload};

/// Amounts by the names that a scheduler has for resources.
pub trait AmountOf<S> {
    /// Returns the amount of a resource.
    fn amount_of(&self, source: &S) -> u128;
}

/// The R resources of a policy, each with its name in a scheduler.
#[derive(Clone, Debug)]
pub struct Resources<S>(Vec<CountedResource<S>>);

#[derive(Clone, Debug)]
struct CountedResource<S> {
    name: String,
    source: S,
    /// One of the policy's amounts in those of the scheduler.
    scale: u128,
    /// A whole unit in the amounts of the scheduler, as a fraction; `None` if no type demands the resource.
    unit: Option<[u128; 2]>,
}

impl<S> Resources<S> {
    /// Returns the resources of a workload; `source` returns the name of a resource in the scheduler, and how much of the
    /// scheduler's amounts is one of the policy's.
    ///
    /// # Errors
    /// When `source` fails.
    pub fn new(
        workload: &Workload,
        source: impl Fn(&str) -> Result<(S, u128), String>,
    ) -> Result<Self, String> {
        let of = |(j, own): (usize, &Resource)| {
            let (source, scale) = source(own.name())?;
            let demanding = workload.types().iter().find(|job| job.units()[j] > 0);
            let unit = demanding.and_then(|job| {
                let scale = BigRational::new(scale.into(), job.units()[j].into());
                let unit = job.demand()[j].exact() * scale;
                Some([unit.numer().to_u128()?, unit.denom().to_u128()?])
            });
            Ok(CountedResource {
                name: own.name().into(),
                source,
                scale,
                unit,
            })
        };
        let own = workload.resources().iter().enumerate().map(of);
        own.collect::<Result<_, String>>().map(Resources)
    }

    /// Returns the names in the policy and in the scheduler.
    pub fn names(&self) -> impl ExactSizeIterator<Item = (&str, &S)> {
        self.0.iter().map(|own| (&*own.name, &own.source))
    }

    /// Returns these amounts in whole units (R), rounded up: the demand.
    pub fn units(&self, amounts: &impl AmountOf<S>) -> Vec<u64> {
        self.divided(amounts, u128::div_ceil)
    }

    /// Returns these amounts in whole units (R), rounded down: the capacity.
    pub fn units_within(&self, amounts: &impl AmountOf<S>) -> Vec<u64> {
        self.divided(amounts, |amount, unit| amount / unit)
    }

    fn divided(&self, amounts: &impl AmountOf<S>, divide: fn(u128, u128) -> u128) -> Vec<u64> {
        let of = |own: &CountedResource<S>| {
            let Some([numerator, denominator]) = own.unit else {
                return 0;
            };
            let amount = amounts.amount_of(&own.source).checked_mul(denominator);
            let units = amount.map(|amount| divide(amount, numerator).try_into());
            units.and_then(Result::ok).unwrap_or(u64::MAX)
        };
        self.0.iter().map(of).collect()
    }

    /// Returns whole units of resource j in the policy's amounts.
    pub fn amount(&self, j: usize, units: u64) -> f64 {
        let own = &self.0[j];
        let [numerator, denominator] = own.unit.unwrap_or([0, 1]).map(|part| part as f64);
        units as f64 * (numerator / denominator / own.scale as f64)
    }
}

/// The types of a policy, to which jobs belong by demand, or by conditions of a file.
#[derive(Clone, Debug)]
pub struct JobTypes<C> {
    /// Demand of each of the K types in whole units (R), on each of its servers.
    demands: Vec<Vec<u64>>,
    nodes: Vec<u32>,
    by: By<C>,
}

#[derive(Clone, Debug)]
enum By<C> {
    Demand(ByDemand),
    Conditions(Vec<(usize, Vec<C>)>),
}

impl<C> JobTypes<C> {
    /// Returns the types of a fleet. `rules` has types with conditions, one of which their jobs meet if there are any; without
    /// them demand decides, by these prices. `fields` names the fields of conditions in a file.
    ///
    /// # Errors
    /// When there are no rules, and two types have one demand.
    pub fn new(
        fleet: &Fleet,
        prices: &[f64],
        demands: Vec<Vec<u64>>,
        rules: Option<Vec<(usize, Vec<C>)>>,
        fields: &str,
    ) -> Result<Self, String> {
        let by_demand = || {
            ByDemand::new(fleet, prices, &demands).map_err(|[first, second]| {
                format!(
                    "the types `{first}` and `{second}` have one demand, so that demand does not tell their jobs apart: write a file with `types:` that says which jobs are which (`match:` of {fields}), and name it by --types"
                )
            })
        };
        let by = match rules {
            Some(rules) => By::Conditions(rules),
            None => By::Demand(by_demand()?),
        };
        Ok(JobTypes {
            nodes: fleet.types().iter().map(JobType::nodes).collect(),
            demands,
            by,
        })
    }

    /// Returns the type of a job with this demand on each of its servers, and this time limit \[s\].
    pub fn find(
        &self,
        units: &[u64],
        nodes: u32,
        limit: f64,
        is_met: impl Fn(&C) -> bool,
    ) -> Option<usize> {
        match &self.by {
            By::Demand(types) => types.find(units, nodes, limit),
            By::Conditions(rules) => {
                let is_of =
                    |conditions: &[C]| conditions.is_empty() || conditions.iter().any(&is_met);
                let mut rules = rules.iter();
                let rule = rules.find(|(i, own)| self.holds(*i, units, nodes) && is_of(own));
                rule.map(|rule| rule.0)
            }
        }
    }

    /// Whether type i holds a job with this demand on each of its servers: one server for one server, else enough of them.
    pub fn holds(&self, i: usize, units: &[u64], nodes: u32) -> bool {
        let mut pairs = units.iter().zip(&self.demands[i]);
        (nodes > 1) == (self.nodes[i] > 1)
            && nodes <= self.nodes[i]
            && pairs.all(|(job, own)| job <= own)
    }

    /// Returns the largest number of servers that a type has.
    pub fn most_nodes(&self) -> u32 {
        self.nodes.iter().copied().max().unwrap_or(1)
    }
}

/// Returns the type of a fleet that a document names at this place, or adds a fault.
pub fn type_named(fleet: &Fleet, name: &str, at: &Place, faults: &mut Vec<Fault>) -> Option<usize> {
    let names: Vec<&str> = fleet.types().iter().map(JobType::name).collect();
    let found = names.iter().position(|own| *own == name);
    if found.is_none() {
        let message = format!("the policy has no type `{name}`");
        let help = suggest(name, "type", &names);
        faults.push(Fault::new(at.clone(), message, help));
    }
    found
}

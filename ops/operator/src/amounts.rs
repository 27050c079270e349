use std::collections::BTreeMap;

use num_rational::BigRational;
use num_traits::ToPrimitive;

use synth_multiresource::workload::{Resource, Workload};

/// The amount of each resource by its name in a scheduler. A missing resource has the amount 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Amounts(pub BTreeMap<String, u128>);

impl Amounts {
    /// Returns the amount of a resource.
    pub fn get(&self, name: &str) -> u128 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Sets the amount of a resource.
    pub fn set(&mut self, name: impl Into<String>, amount: impl Into<u128>) {
        self.0.insert(name.into(), amount.into());
    }

    /// Adds the other amounts.
    pub fn add(&mut self, other: &Amounts) {
        *self = std::mem::take(self).plus(other);
    }

    /// Returns the sum of the amounts.
    pub fn plus(self, other: &Amounts) -> Self {
        self.with(other, u128::saturating_add)
    }

    /// Returns the difference of the amounts, or 0 if it would be negative.
    pub fn less(self, other: &Amounts) -> Self {
        self.with(other, u128::saturating_sub)
    }

    /// Returns the minimum for each resource.
    pub fn least(self, other: &Amounts) -> Self {
        self.with(other, u128::min)
    }

    /// Returns the maximum for each resource.
    pub fn most(self, other: &Amounts) -> Self {
        self.with(other, u128::max)
    }

    fn with(mut self, other: &Amounts, combine: fn(u128, u128) -> u128) -> Self {
        for name in other.0.keys() {
            self.0.entry(name.clone()).or_default();
        }
        for (name, amount) in &mut self.0 {
            *amount = combine(*amount, other.get(name));
        }
        self
    }

    /// Returns the amounts multiplied by `count`.
    pub fn times(&self, count: u64) -> Self {
        self.each(|amount| amount.saturating_mul(count.into()))
    }

    /// Returns the amounts divided by `parts`, rounded up.
    pub fn part(&self, parts: u32) -> Self {
        self.each(|amount| amount.div_ceil(parts.max(1).into()))
    }

    fn each(&self, of: impl Fn(u128) -> u128) -> Self {
        let amounts = self.0.iter().map(|(name, own)| (name.clone(), of(*own)));
        Amounts(amounts.collect())
    }
}

/// The R resources of a policy with their names in a scheduler.
#[derive(Clone, Debug)]
pub struct Resources(Vec<CountedResource>);

/// A resource as it is counted by a scheduler.
#[derive(Clone, Debug)]
pub struct CountedResource {
    /// The name in the policy.
    pub name: String,
    /// The name in the scheduler.
    pub source: String,
    /// The amount in the scheduler that is equal to one unit of the policy.
    pub scale: u128,
    /// A whole unit as a fraction of the scheduler's amounts, or `None` if no type has any demand.
    unit: Option<[u128; 2]>,
}

impl Resources {
    /// Returns the resources of a workload; `source` returns the name and scale in the scheduler.
    pub fn new(
        workload: &Workload,
        source: impl Fn(&str) -> Result<(String, u128), String>,
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

    /// Returns the resources in the order of the policy (R).
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &CountedResource> {
        self.0.iter()
    }

    /// Converts a demand to whole units (R), rounded up.
    pub fn units(&self, amounts: &Amounts) -> Vec<u64> {
        self.divided(amounts, u128::div_ceil)
    }

    /// Converts a capacity to whole units (R), rounded down.
    pub fn units_within(&self, amounts: &Amounts) -> Vec<u64> {
        self.divided(amounts, |amount, unit| amount / unit)
    }

    fn divided(&self, amounts: &Amounts, divide: fn(u128, u128) -> u128) -> Vec<u64> {
        let of = |own: &CountedResource| {
            own.unit.map_or(0, |[numerator, denominator]| {
                let amount = amounts.get(&own.source).checked_mul(denominator);
                let units = amount.and_then(|amount| divide(amount, numerator).try_into().ok());
                units.unwrap_or(u64::MAX)
            })
        };
        self.0.iter().map(of).collect()
    }

    /// Converts whole units of resource `j` to an amount of the policy.
    pub fn amount(&self, j: usize, units: u64) -> f64 {
        let own = &self.0[j];
        let [numerator, denominator] = own.unit.unwrap_or([0, 1]).map(|part| part as f64);
        units as f64 * (numerator / denominator / own.scale as f64)
    }
}

/// Converts a name such as `cpus`, `memory` (GiB) or `memory_gb` to one of the three names and the
/// amount of one unit (for memory, in bytes). Returns `None` for other names.
pub fn common_resource<'a>(name: &str, [cpu, memory, gpu]: [&'a str; 3]) -> Option<(&'a str, u64)> {
    let name = name.to_lowercase();
    Some(match &*name {
        "cpu" | "cpus" | "core" | "cores" | "vcpu" | "vcpus" => (cpu, 1),
        "gpu" | "gpus" => (gpu, 1),
        "memory" | "mem" => (memory, 1 << 30),
        name => {
            let unit = name.strip_prefix("memory_").or(name.strip_prefix("mem_"))?;
            (memory, bytes(unit)?)
        }
    })
}

fn bytes(unit: &str) -> Option<u64> {
    let unit = unit.strip_suffix('b')?;
    let (prefix, base) = unit
        .strip_suffix('i')
        .map_or((unit, 1000), |own| (own, 1024));
    let place = ["k", "m", "g", "t"].iter().position(|own| *own == prefix)?;
    Some(u64::pow(base, place as u32 + 1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn recognizes_only_complete_common_names() {
        for (name, expected) in [
            ("vCPUs", Some(("C", 1))),
            ("gpu", Some(("G", 1))),
            ("mem", Some(("M", 1 << 30))),
            ("memory_gb", Some(("M", 1_000_000_000))),
            ("memory_tib", Some(("M", 1 << 40))),
            ("gpu_slots", None),
            ("cpu_gib", None),
            ("memory_pages", None),
        ] {
            assert_eq!(common_resource(name, ["C", "M", "G"]), expected, "{name}");
        }
    }

    #[test]
    fn rounds_demand_up_and_capacity_down() {
        let text = "{kind: multiresource, time_unit: s, server: {capacity: {cpu: 20, memory: 15, gpus: 2}}, jobs: [
            {name: a, demand: {cpu: 3, memory: 1.5}, arrival_rate: .1, mean_size: 1},
            {name: b, demand: {cpu: 6, memory: 1, gpus: 1}, arrival_rate: .1, mean_size: 1}]}";
        let workload = Workload::parse(text, "t").unwrap().workload;
        let source = |name: &str| {
            let (source, scale) = common_resource(name, ["cpu", "mem", "gpu"]).unwrap();
            Ok((source.to_owned(), scale.into()))
        };
        let resources = Resources::new(&workload, source).unwrap();
        let mut amounts = Amounts::default();
        amounts.set("cpu", 4_u64);
        amounts.set("mem", (3_u64 << 29) + 1);
        amounts.set("gpu", 1_u64);
        assert_eq!(resources.units(&amounts), [2, 4, 1]);
        assert_eq!(resources.units_within(&amounts), [1, 3, 1]);
        assert_eq!(resources.amount(1, 3), 1.5);
        amounts.set("mem", u64::MAX);
        assert_eq!(resources.units(&amounts)[1], 1 << 35);
    }
}

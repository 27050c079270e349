//! What Kubernetes calls the resources of a policy, and whole units of them.

use num_rational::BigRational;
use num_traits::ToPrimitive;

use crate::amounts::{Amounts, NANO, nano};
use synth_cluster::live::Usual;
use synth_cluster::workload::Workload;

/// The R resources of a policy.
#[derive(Clone, Debug)]
pub struct Resources(Vec<Resource>);

#[derive(Clone, Debug)]
struct Resource {
    /// In the policy, and in Kubernetes.
    name: String,
    source: String,
    /// How many billionths a whole unit of the policy is, as a fraction; `None` where no type demands it.
    unit: Option<[u128; 2]>,
}

impl Resources {
    /// Returns those of a policy's workload; `named` is what options say: `gpu=nvidia.com/gpu`, `memory=memory:M`.
    ///
    /// # Errors
    /// When an option names no resource of the policy, or it is not known what Kubernetes calls one.
    pub fn new(workload: &Workload, named: &[String]) -> Result<Self, String> {
        let names: Vec<&str> = workload.resources().iter().map(|own| own.name()).collect();
        let mut sources: Vec<Option<(String, u128)>> =
            names.iter().map(|name| by_name(name)).collect();
        for option in named {
            let (name, source) = option.split_once('=').ok_or_else(|| {
                format!("--resource {option}: write it as gpu=nvidia.com/gpu, or memory=memory:M")
            })?;
            let place = names.iter().position(|own| *own == name).ok_or_else(|| {
                format!(
                    "--resource {option}: the policy has no resource `{name}`; it has {}",
                    names.join(", ")
                )
            })?;
            let (source, unit) = source.rsplit_once(':').unwrap_or((source, ""));
            let scale = nano(&format!("1{unit}")).ok_or_else(|| {
                format!("--resource {option}: `{unit}` is no unit of Kubernetes such as M or Gi")
            })?;
            sources[place] = Some((source.into(), scale));
        }
        let of = |(j, source): (usize, Option<(String, u128)>)| {
            let name = names[j];
            let (source, scale) = source.ok_or_else(|| {
                format!("it is not known what Kubernetes calls the policy's resource `{name}`: name it by --resource {name}=NAME, as in gpu=nvidia.com/gpu (`kubectl describe node` lists the names under Allocatable)")
            })?;
            let demanding = workload.types().iter().find(|job| job.units()[j] > 0);
            let unit = demanding.map(|job| {
                let unit =
                    job.demand()[j].exact() / BigRational::from_integer(job.units()[j].into());
                unit * BigRational::from_integer(scale.into())
            });
            let unit =
                unit.and_then(|unit| Some([unit.numer().to_u128()?, unit.denom().to_u128()?]));
            Ok(Resource {
                name: name.into(),
                source,
                unit,
            })
        };
        let own = sources.into_iter().enumerate().map(of);
        own.collect::<Result<_, String>>().map(Resources)
    }

    /// Returns the names in the policy and in Kubernetes.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|own| (&*own.name, &*own.source))
    }

    /// Returns what is demanded, in whole units of the policy, rounded up (R).
    pub fn units(&self, amounts: &Amounts) -> Vec<u64> {
        let of = |own: &Resource| own.units(amounts, u128::div_ceil);
        self.0.iter().map(of).collect()
    }

    /// Returns the same rounded down: what fits.
    pub fn units_within(&self, amounts: &Amounts) -> Vec<u64> {
        let of = |own: &Resource| own.units(amounts, |amount, unit| amount / unit);
        self.0.iter().map(of).collect()
    }
}

impl Resource {
    fn units(&self, amounts: &Amounts, divide: impl Fn(u128, u128) -> u128) -> u64 {
        let Some([numerator, denominator]) = self.unit else {
            return 0;
        };
        let amount = amounts.get(&self.source).checked_mul(denominator);
        let units = amount.map(|amount| divide(amount, numerator).try_into());
        units.and_then(Result::ok).unwrap_or(u64::MAX)
    }
}

/// Returns what a resource is called, and how much one of it is \[billionths\], by its name in the policy.
fn by_name(name: &str) -> Option<(String, u128)> {
    let (source, one) = match Usual::named(name)? {
        Usual::Cpu => ("cpu", 1),
        Usual::Gpu => ("nvidia.com/gpu", 1),
        Usual::Memory(bytes) => ("memory", bytes),
    };
    Some((source.into(), u128::from(one) * NANO))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn workload(memory: &str) -> Workload {
        let text = format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 20, {memory}: 15, gpus: 2}}}}\njobs:
  - {{name: a, demand: {{cpu: 3, {memory}: 1.5}}, arrival_rate: .1, mean_size: 1}}
  - {{name: b, demand: {{cpu: 6, {memory}: 1, gpus: 1}}, arrival_rate: .1, mean_size: 1}}\n"
        );
        Workload::parse(&text, "t").unwrap().workload
    }

    #[test]
    fn demand_is_rounded_up_to_units_and_room_down() {
        let resources = Resources::new(&workload("memory"), &[]).unwrap();
        let written = json!({"cpu": "3001m", "memory": "1537Mi", "nvidia.com/gpu": 1});
        let amounts = Amounts::of(&serde_json::from_value(written).unwrap());
        // Units: 3 CPUs, half a GiB, a GPU.
        assert_eq!(resources.units(&amounts), [2, 4, 1]);
        assert_eq!(resources.units_within(&amounts), [1, 3, 1]);
    }

    #[test]
    fn options_name_resources() {
        let refused = |memory: &str, option: &str| {
            let options: Vec<String> = [option]
                .iter()
                .filter(|own| !own.is_empty())
                .map(|own| (*own).into())
                .collect();
            Resources::new(&workload(memory), &options).unwrap_err()
        };
        assert!(refused("network", "").contains("--resource network=NAME"));
        assert!(refused("memory", "disk=x").contains("it has cpu, memory, gpus"));
        assert!(refused("memory", "gpus").contains("gpu=nvidia.com/gpu"));
        assert!(refused("memory", "memory=memory:X").contains("`X` is no unit"));
        let options = ["gpus=amd.com/gpu".to_owned(), "memory=memory:M".to_owned()];
        let resources = Resources::new(&workload("memory"), &options).unwrap();
        let amounts = Amounts::of(
            &serde_json::from_value(json!({"memory": "3M", "amd.com/gpu": "2"})).unwrap(),
        );
        assert_eq!(resources.units(&amounts), [0, 6, 2]);
    }
}

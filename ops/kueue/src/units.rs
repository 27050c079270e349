//! The names of a policy's resources in Kubernetes.

use crate::amounts::{Amounts, NANO, nano};
use synth_multiresource::workload::Workload;
use synth_operator::{AmountOf, Usual};

/// The R resources of a policy.
pub type Resources = synth_operator::Resources<String>;

impl AmountOf<String> for Amounts {
    fn amount_of(&self, source: &String) -> u128 {
        self.get(source)
    }
}

/// Returns the resources of a policy's workload; `named` has options such as `gpu=nvidia.com/gpu` and `memory=memory:M`.
///
/// # Errors
/// When an option names no resource of the policy, or it is not known what Kubernetes calls one.
pub fn resources(workload: &Workload, named: &[String]) -> Result<Resources, String> {
    let names: Vec<&str> = workload.resources().iter().map(|own| own.name()).collect();
    let mut options = Vec::new();
    for option in named {
        let (name, source) = option.split_once('=').ok_or_else(|| {
            format!("--resource {option}: write it as gpu=nvidia.com/gpu, or memory=memory:M")
        })?;
        if !names.contains(&name) {
            let known = names.join(", ");
            return Err(format!(
                "--resource {option}: the policy has no resource `{name}`; it has {known}"
            ));
        }
        let (source, unit) = source.rsplit_once(':').unwrap_or((source, ""));
        let scale = nano(&format!("1{unit}")).ok_or_else(|| {
            format!("--resource {option}: `{unit}` is no unit of Kubernetes such as M or Gi")
        })?;
        options.push((name, (source.to_owned(), scale)));
    }
    Resources::new(workload, |name| {
        let option = options.iter().rev().find(|own| own.0 == name);
        let found = option.map(|own| own.1.clone()).or_else(|| by_name(name));
        found.ok_or_else(|| {
            format!("it is not known what Kubernetes calls the policy's resource `{name}`: name it by --resource {name}=NAME, as in gpu=nvidia.com/gpu (`kubectl describe node` lists the names under Allocatable)")
        })
    })
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
        let resources = resources(&workload("memory"), &[]).unwrap();
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
            resources(&workload(memory), &options).unwrap_err()
        };
        assert!(refused("network", "").contains("--resource network=NAME"));
        assert!(refused("memory", "disk=x").contains("it has cpu, memory, gpus"));
        assert!(refused("memory", "gpus").contains("gpu=nvidia.com/gpu"));
        assert!(refused("memory", "memory=memory:X").contains("`X` is no unit"));
        let options = ["gpus=amd.com/gpu".to_owned(), "memory=memory:M".to_owned()];
        let resources = resources(&workload("memory"), &options).unwrap();
        let amounts = Amounts::of(
            &serde_json::from_value(json!({"memory": "3M", "amd.com/gpu": "2"})).unwrap(),
        );
        assert_eq!(resources.units(&amounts), [0, 6, 2]);
    }
}

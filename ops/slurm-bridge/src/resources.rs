//! What Slurm calls the resources of a policy, and how much of them a job or a node has.

use synth_multiresource::workload::Workload;
use synth_operator::{AmountOf, Usual};
use synth_slurm::commands::Amounts;

/// A name in Slurm.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    /// CPUs.
    Cpus,
    /// Memory, counted by the policy in so many bytes.
    Memory(u64),
    /// A generic resource.
    Gres(String),
    /// Slurm does not count it.
    Nothing,
}

impl Source {
    /// Reads what a file says: `cpu`, `mem:G`, `gres/net`, `none`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "cpu" => Some(Source::Cpus),
            "none" => Some(Source::Nothing),
            text => match (text.strip_prefix("mem:"), text.strip_prefix("gres/")) {
                (Some(unit), _) => bytes_of(unit).map(Source::Memory),
                (_, Some(name)) if !name.is_empty() => Some(Source::Gres(name.to_owned())),
                _ => None,
            },
        }
    }

    /// Of a resource of which no file says it, by its name.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match Usual::named(name)? {
            Usual::Cpu => Source::Cpus,
            Usual::Memory(bytes) => Source::Memory(bytes),
            Usual::Gpu => Source::Gres("gpu".into()),
        })
    }

    /// Returns how a file says it.
    pub fn written(&self) -> String {
        match self {
            Source::Cpus => "cpu".into(),
            Source::Memory(bytes) => {
                let unit = UNITS.iter().find(|(_, n)| bytes.trailing_zeros() >= *n);
                let (unit, steps) = unit.unwrap_or(&("B", 0));
                format!("mem:{}{unit}", bytes >> steps)
            }
            Source::Gres(name) => format!("gres/{name}"),
            Source::Nothing => "none".into(),
        }
    }
}

impl AmountOf<Source> for Amounts {
    fn amount_of(&self, source: &Source) -> u128 {
        u128::from(match source {
            Source::Cpus => self.cpus,
            Source::Memory(_) => self.memory,
            Source::Gres(name) => self.gres(name),
            Source::Nothing => 0,
        })
    }
}

/// Units of memory as powers of 2 bytes, the largest first.
const UNITS: [(&str, u32); 5] = [("T", 40), ("G", 30), ("M", 20), ("K", 10), ("B", 0)];

/// `G`, `GiB`, `1000M` or `4096B`, in Slurm's steps of 1024.
fn bytes_of(unit: &str) -> Option<u64> {
    let letters = unit.find(|c: char| !c.is_ascii_digit())?;
    let (digits, letters) = unit.split_at(letters);
    let count: u64 = match digits {
        "" => 1,
        digits => digits.parse().ok()?,
    };
    let letters = letters.strip_suffix("iB").unwrap_or(letters);
    let (_, step) = UNITS.iter().find(|(unit, _)| *unit == letters)?;
    (count > 0).then(|| 1_u64 << step)?.checked_mul(count)
}

/// The R resources of a policy.
pub(super) type Resources = synth_operator::Resources<Source>;

/// Returns the resources of this workload; `named` returns what a file says of a resource.
pub(super) fn resources(
    workload: &Workload,
    named: impl Fn(&str) -> Option<Source>,
) -> Result<Resources, String> {
    Resources::new(workload, |name| {
        let source = named(name).or_else(|| Source::by_name(name)).ok_or_else(|| {
            format!("it is not known what Slurm calls the policy's resource `{name}`: write a file with `resources: {{{name}: gres/{name}}}`, and name it by --types (`cpu`, `mem:G` for memory counted in GiB, `gres/NAME`, or `none` where Slurm does not count it)")
        })?;
        let scale = match source {
            Source::Memory(bytes) => bytes,
            _ => 1,
        };
        Ok((source, scale.into()))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn workload(memory: &str) -> Workload {
        let text = format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 20, {memory}: 15, gpus: 2}}}}\njobs:
  - {{name: a, demand: {{cpu: 3, {memory}: 1.5}}, arrival_rate: .1, mean_size: 1}}
  - {{name: b, demand: {{cpu: 6, {memory}: 1, gpus: 1}}, arrival_rate: .1, mean_size: 1}}\n"
        );
        Workload::parse(&text, "t").unwrap().workload
    }

    #[test]
    fn amounts_are_rounded_up_to_units() {
        let resources = resources(&workload("memory"), |_| None).unwrap();
        let mut amounts = Amounts {
            cpus: 4,
            memory: (3 << 29) + 1,
            ..Amounts::default()
        };
        amounts.gres.insert("gpu".into(), 1);
        // Units: 3 CPUs, half a GiB, a GPU.
        assert_eq!(resources.units(&amounts), [2, 4, 1]);
        assert_eq!(resources.units_within(&amounts), [1, 3, 1]);
        assert_eq!(resources.amount(1, 3), 1.5);
        assert_eq!(
            resources.units(&Amounts {
                memory: u64::MAX,
                ..amounts
            })[1],
            1 << 35
        );
    }

    #[test]
    fn names_tell_sources_and_units() {
        let found = |memory: &str| {
            let resources = resources(&workload(memory), |_| None);
            resources.map(|own| own.names().nth(1).unwrap().1.clone())
        };
        assert_eq!(found("memory").unwrap(), Source::Memory(1 << 30));
        assert_eq!(found("mem_gb").unwrap(), Source::Memory(1_000_000_000));
        let refused = found("network").unwrap_err();
        assert!(
            refused.contains("resources: {network: gres/network}"),
            "{refused}"
        );
        let named = |name: &str| (name == "network").then(|| Source::parse("gres/net").unwrap());
        assert!(resources(&workload("network"), named).is_ok());
        for text in [
            "cpu",
            "none",
            "gres/net",
            "gres/gpu:a100",
            "mem:1G",
            "mem:1000M",
            "mem:7B",
            "mem:2T",
        ] {
            assert_eq!(Source::parse(text).unwrap().written(), text);
        }
        for text in [
            "cpus", "mem", "mem:", "mem:0G", "mem:1X", "gres/", "mem:-1G", "",
        ] {
            assert_eq!(Source::parse(text), None, "{text}");
        }
    }
}

//! What Slurm calls the resources of a policy, and how much of them a job or a node has.

use num_rational::BigRational;
use num_traits::ToPrimitive;

use synth_cluster::live::Usual;
use synth_cluster::workload::{Resource, Workload};
use synth_core::number::Decimal;
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

    fn of(&self, amounts: &Amounts) -> u64 {
        match self {
            Source::Cpus => amounts.cpus,
            Source::Memory(_) => amounts.memory,
            Source::Gres(name) => amounts.gres(name),
            Source::Nothing => 0,
        }
    }

    /// Returns how much of Slurm's amounts makes one of the policy's.
    fn scale(&self) -> u64 {
        match self {
            Source::Memory(bytes) => *bytes,
            _ => 1,
        }
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
#[derive(Clone, Debug)]
pub(super) struct Resources {
    own: Vec<CountedResource>,
}

#[derive(Clone, Debug)]
struct CountedResource {
    name: String,
    source: Source,
    /// How much of Slurm's amounts a whole unit of the policy is, as a fraction; `None` where no type demands it.
    unit: Option<[u128; 2]>,
    /// A whole unit in the policy's own amounts.
    amount: f64,
}

impl Resources {
    /// Returns those of this workload; `named` is what a file says of a resource.
    pub fn new(
        workload: &Workload,
        named: impl Fn(&str) -> Option<Source>,
    ) -> Result<Self, String> {
        let of = |(j, resource): (usize, &Resource)| {
            let name = resource.name();
            let source = named(name).or_else(|| Source::by_name(name));
            let source = source.ok_or_else(|| {
                format!("it is not known what Slurm calls the policy's resource `{name}`: write a file with `resources: {{{name}: gres/{name}}}`, and name it by --types (`cpu`, `mem:G` for memory counted in GiB, `gres/NAME`, or `none` where Slurm does not count it)")
            })?;
            let demanding = workload.types().iter().find(|job| job.units()[j] > 0);
            let unit = demanding.map(|job| {
                job.demand()[j].exact() / BigRational::from_integer(job.units()[j].into())
            });
            let scaled = unit
                .as_ref()
                .map(|unit| unit * BigRational::from_integer(source.scale().into()));
            Ok(CountedResource {
                name: name.into(),
                unit: scaled
                    .and_then(|unit| Some([unit.numer().to_u128()?, unit.denom().to_u128()?])),
                amount: unit.and_then(|unit| unit.to_f64()).unwrap_or(0.0),
                source,
            })
        };
        let own = workload.resources().iter().enumerate().map(of);
        Ok(Resources {
            own: own.collect::<Result<_, String>>()?,
        })
    }

    /// Name of resource j, and its name in Slurm.
    pub fn names(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.own.iter().map(|own| (&*own.name, &own.source))
    }

    /// Returns which one is CPUs.
    pub fn cpus(&self) -> Option<usize> {
        self.own.iter().position(|own| own.source == Source::Cpus)
    }

    /// Returns whether some are generic resources.
    pub fn have_gres(&self) -> bool {
        let mut sources = self.own.iter().map(|own| &own.source);
        sources.any(|source| matches!(source, Source::Gres(_)))
    }

    /// Returns what is had, in whole units of the policy, rounded up (R).
    pub fn units(&self, amounts: &Amounts) -> Vec<u64> {
        let of = |own: &CountedResource| own.units(amounts, u128::div_ceil);
        self.own.iter().map(of).collect()
    }

    /// Returns the same rounded down: what fits.
    pub fn units_within(&self, amounts: &Amounts) -> Vec<u64> {
        let of = |own: &CountedResource| own.units(amounts, |amount, unit| amount / unit);
        self.own.iter().map(of).collect()
    }

    /// Returns whether Slurm counts resource j.
    pub fn is_counted(&self, j: usize) -> bool {
        self.own[j].source != Source::Nothing
    }

    /// So many whole units of resource j in the policy's own amounts, for messages.
    pub fn amount(&self, j: usize, units: u64) -> String {
        let amount = units as f64 * self.own[j].amount;
        Decimal::new(amount).map_or_else(|| amount.to_string(), |amount| amount.to_string())
    }
}

impl CountedResource {
    fn units(&self, amounts: &Amounts, divide: impl Fn(u128, u128) -> u128) -> u64 {
        let Some([numerator, denominator]) = self.unit else {
            return 0;
        };
        let amount = u128::from(self.source.of(amounts)).checked_mul(denominator);
        let units = amount.map(|amount| divide(amount, numerator).try_into());
        units.and_then(Result::ok).unwrap_or(u64::MAX)
    }
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
        let resources = Resources::new(&workload("memory"), |_| None).unwrap();
        let mut amounts = Amounts {
            cpus: 4,
            memory: (3 << 29) + 1,
            ..Amounts::default()
        };
        amounts.gres.insert("gpu".into(), 1);
        // Units: 3 CPUs, half a GiB, a GPU.
        assert_eq!(resources.units(&amounts), [2, 4, 1]);
        assert_eq!(resources.units_within(&amounts), [1, 3, 1]);
        assert_eq!(resources.amount(1, 3), "1.5");
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
            let resources = Resources::new(&workload(memory), |_| None);
            resources.map(|resources| resources.own[1].source.clone())
        };
        assert_eq!(found("memory").unwrap(), Source::Memory(1 << 30));
        assert_eq!(found("mem_gb").unwrap(), Source::Memory(1_000_000_000));
        let refused = found("network").unwrap_err();
        assert!(
            refused.contains("resources: {network: gres/network}"),
            "{refused}"
        );
        let named = |name: &str| (name == "network").then(|| Source::parse("gres/net").unwrap());
        assert!(Resources::new(&workload("network"), named).is_ok());
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

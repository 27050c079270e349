//! Amounts of resources, times and limits, as Slurm writes them.

use std::collections::BTreeMap;
use std::str::FromStr;

use synth_core::number;

/// How much of what nodes have. Memory is in bytes; where Slurm does not manage it, it is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Amounts {
    /// CPUs.
    pub cpus: u64,
    /// Memory \[bytes\].
    pub memory: u64,
    /// Generic resources by name, with and without the model: `gpu` and `gpu:a100`. None is 0.
    pub gres: BTreeMap<String, u64>,
}

impl Amounts {
    /// Returns how much of this generic resource.
    pub fn gres(&self, name: &str) -> u64 {
        self.gres.get(name).copied().unwrap_or(0)
    }

    /// Both together.
    pub fn plus(self, more: &Amounts) -> Amounts {
        self.with(more, u64::saturating_add)
    }

    /// Without these, no less than nothing.
    pub fn less(self, less: &Amounts) -> Amounts {
        self.with(less, u64::saturating_sub)
    }

    /// Of each the lesser.
    pub fn least(self, other: &Amounts) -> Amounts {
        self.with(other, u64::min)
    }

    /// Of each the greater.
    pub fn most(self, other: &Amounts) -> Amounts {
        self.with(other, u64::max)
    }

    fn with(mut self, other: &Amounts, of: fn(u64, u64) -> u64) -> Amounts {
        self.cpus = of(self.cpus, other.cpus);
        self.memory = of(self.memory, other.memory);
        for name in other.gres.keys() {
            self.gres.entry(name.clone()).or_default();
        }
        for (name, count) in &mut self.gres {
            *count = of(*count, other.gres(name));
        }
        self
    }

    /// One of so many equal parts, rounded up.
    pub fn part(&self, parts: u32) -> Amounts {
        let of = |amount: u64| amount.div_ceil(u64::from(parts.max(1)));
        let gres = self.gres.iter();
        Amounts {
            cpus: of(self.cpus),
            memory: of(self.memory),
            gres: gres.map(|(name, n)| (name.clone(), of(*n))).collect(),
        }
    }

    /// Reads `cpu=3,mem=150M,node=1,billing=3,gres/gpu=2`; without CPUs there is no such job.
    pub(super) fn of_tres(text: &str) -> Option<Self> {
        let (mut cpus, mut memory, mut gres) = (None, 0, BTreeMap::new());
        for part in text.split(',') {
            let (name, amount) = part.split_once('=')?;
            match (name, name.strip_prefix("gres/")) {
                ("cpu", _) => cpus = Some(count(amount)?),
                ("mem", _) => memory = bytes(amount)?,
                (_, Some(name)) => {
                    gres.insert(name.to_owned(), count(amount)?);
                }
                _ => {}
            }
        }
        Some(Amounts {
            cpus: cpus?,
            memory,
            gres: with_totals(gres),
        })
    }

    /// Adds generic resources as they are requested by node or job, each so many times: `gres:gpu:a100:2`,
    /// `gres/gpu:a100=2`, `gpu`, several with commas. `None` where it reads otherwise.
    pub(super) fn add_gres(&mut self, text: &str, times: u64) -> Option<()> {
        for part in text.split(',').filter(|part| !part.is_empty()) {
            // Other resources of a task, such as cpu=2, are counted already.
            if part.contains('=') && !part.starts_with("gres/") {
                continue;
            }
            let (name, amount) = gres_of(part)?;
            let amount = amount.checked_mul(times)?;
            let entry = self.gres.entry(name.to_owned()).or_default();
            *entry = entry.checked_add(amount)?;
        }
        self.gres = with_totals(std::mem::take(&mut self.gres));
        Some(())
    }

    /// Reads the generic resources of a node: `gpu:a100:4(S:0-1),net:2`, and used ones `gpu:a100:1(IDX:0)`.
    pub(crate) fn gres_of_node(text: &str) -> Option<BTreeMap<String, u64>> {
        let mut gres = BTreeMap::new();
        if matches!(text, "" | "(null)" | "N/A") {
            return Some(gres);
        }
        let mut depth = 0_u32;
        let bare: String = text
            .chars()
            .filter(|c| {
                depth += u32::from(*c == '(');
                let is_outside = depth == 0;
                depth = depth.saturating_sub(u32::from(*c == ')'));
                is_outside
            })
            .collect();
        for part in bare.split(',') {
            let (name, amount) = gres_of(part)?;
            let entry: &mut u64 = gres.entry(name.to_owned()).or_default();
            *entry = entry.saturating_add(amount);
        }
        Some(with_totals(gres))
    }
}

/// With the sums over models, where the resource without its model is not named.
fn with_totals(mut gres: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut totals: BTreeMap<String, u64> = BTreeMap::new();
    for (name, amount) in &gres {
        if let Some((resource, _)) = name.split_once(':') {
            let total = totals.entry(resource.to_owned()).or_default();
            *total = total.saturating_add(*amount);
        }
    }
    for (resource, total) in totals {
        gres.entry(resource).or_insert(total);
    }
    gres
}

/// Name and amount of one generic resource; without an amount it is one.
fn gres_of(part: &str) -> Option<(&str, u64)> {
    let bare = part.strip_prefix("gres:").or(part.strip_prefix("gres/"));
    let part = bare.unwrap_or(part);
    let (name, amount) = match part.rsplit_once(['=', ':']) {
        Some((name, amount)) if amount.starts_with(|c: char| c.is_ascii_digit()) => {
            (name, count(amount)?)
        }
        _ => (part, 1),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, amount))
}

/// Returns the factor of a suffix K, M, G, T or P, and the text before it.
fn scaled(text: &str) -> Option<(&str, Option<u32>)> {
    let last = text.chars().last()?;
    match "KMGTP".find(last) {
        Some(place) => Some((&text[..text.len() - 1], Some(place as u32 + 1))),
        None => Some((text, None)),
    }
}

/// Reads a count such as `3`, `24K` or `1.50K`.
pub(crate) fn count(text: &str) -> Option<u64> {
    let (digits, scale) = scaled(text)?;
    scale.map_or_else(|| whole(digits), |scale| times(digits, 1 << (10 * scale)))
}

/// Memory such as `150M`, `1.50G` or `0`; without a unit it is MiB.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let (digits, scale) = scaled(text)?;
    times(digits, 1 << (10 * scale.unwrap_or(2)))
}

/// Returns a decimal number times a factor, rounded up: the two digits behind the point are all that Slurm writes.
fn times(text: &str, factor: u64) -> Option<u64> {
    let (whole_part, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 6 {
        return None;
    }
    let denominator = 10_u128.pow(fraction.len() as u32);
    let part: u64 = whole(&format!("0{fraction}"))?;
    let numerator = u128::from(whole::<u64>(whole_part)?) * denominator + u128::from(part);
    u64::try_from((numerator * u128::from(factor)).div_ceil(denominator)).ok()
}

/// Reads a whole number, which is digits only.
pub(crate) fn whole<T: FromStr>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Reads a time limit such as `30:00`, `2:00:00` or `1-02:04:00` \[s\]; `Some(None)` where there is none.
pub(super) fn time_limit(text: &str) -> Option<Option<u64>> {
    if matches!(text, "UNLIMITED" | "NOT_SET" | "Partition_Limit") {
        return Some(None);
    }
    let (days, clock) = text.split_once('-').unwrap_or(("0", text));
    let mut seconds = 0;
    let parts: Vec<&str> = clock.split(':').collect();
    if !(2..=3).contains(&parts.len()) {
        return None;
    }
    for part in parts {
        seconds = seconds * 60 + whole::<u64>(part).filter(|part| *part < 100_000)?;
    }
    Some(Some(
        whole::<u64>(days).filter(|days| *days < 100_000_000)? * 86_400 + seconds,
    ))
}

/// Reads an instant such as `2026-11-25T17:35:39` \[s since 1970, UTC\].
pub(super) fn instant(text: &str) -> Option<i64> {
    // As Slurm writes it, and in no other way.
    let is_slurms = text.len() == 19 && text.as_bytes()[10] == b'T';
    let instant = number::instant(text.as_bytes())?;
    (is_slurms && instant >= 0.0).then_some(instant as i64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn amounts_of_jobs() {
        let of = |text| Amounts::of_tres(text).unwrap();
        assert_eq!(of("cpu=3,mem=150M,node=1,billing=3").cpus, 3);
        assert_eq!(of("cpu=2,mem=1.50G,node=1,billing=2").memory, 3 << 29);
        assert_eq!(of("cpu=2,node=1").memory, 0);
        let gpus = of("cpu=2,mem=2T,gres/gpu:a100=2,gres/gpu:h100=1,gres/net=4");
        assert_eq!(
            [gpus.gres("gpu"), gpus.gres("gpu:h100"), gpus.gres("net")],
            [3, 1, 4]
        );
        let named = of("cpu=2,gres/gpu=2,gres/gpu:a100=2");
        assert_eq!(named.gres("gpu"), 2);
        for wrong in [
            "",
            "N/A",
            "mem=3M",
            "cpu=x",
            "cpu=-1",
            "cpu=3,mem",
            "cpu=3,mem=1.2.3G",
            "cpu=3,mem=99999999P",
        ] {
            assert_eq!(Amounts::of_tres(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn generic_resources_by_node_and_job() {
        for text in [
            "gres:gpu:2",
            "gres/gpu:2",
            "gres/gpu=2",
            "gpu:2",
            "cpu=7,gres/gpu:2",
            "gres:gpu,gres:gpu:1",
        ] {
            let mut amounts = Amounts::default();
            amounts.add_gres(text, 3).unwrap();
            assert_eq!(amounts.gres("gpu"), 6, "{text}");
        }
        let mut typed = Amounts::default();
        typed.add_gres("gres:gpu:a100:2,gres:net:1", 1).unwrap();
        assert_eq!(
            [typed.gres("gpu"), typed.gres("gpu:a100"), typed.gres("net")],
            [2, 2, 1]
        );
        assert_eq!(
            Amounts::default().add_gres("gres:gpu:99999999999999999999", 1),
            None
        );
        assert_eq!(Amounts::default().add_gres("what is this", 1), None);
        let node = Amounts::gres_of_node("gpu:a100:4(S:0-1),net:2(S:0,1)").unwrap();
        assert_eq!((node["gpu"], node["gpu:a100"], node["net"]), (4, 4, 2));
        assert_eq!(
            Amounts::gres_of_node("gpu:a100:1(IDX:0,2)").unwrap()["gpu"],
            1
        );
        assert!(Amounts::gres_of_node("(null)").unwrap().is_empty());
    }

    #[test]
    fn limits_and_instants() {
        let limits = [
            ("10:00", Some(Some(600))),
            ("30", None),
            ("1:30:00", Some(Some(5400))),
            ("1-02:04:00", Some(Some(93_840))),
            ("365-00:00:00", Some(Some(31_536_000))),
            ("UNLIMITED", Some(None)),
            ("INVALID", None),
            ("-1:00", None),
            ("", None),
        ];
        for (text, seconds) in limits {
            assert_eq!(time_limit(text), seconds, "{text}");
        }
        assert_eq!(instant("1970-01-01T00:00:00"), Some(0));
        assert_eq!(instant("2026-11-25T17:35:39"), Some(1_795_628_139));
        assert_eq!(instant("2024-02-29T12:00:00"), Some(1_709_208_000));
        for wrong in [
            "N/A",
            "Unknown",
            "2026-11-25 17:35:39",
            "2026-13-25T17:35:39",
            "26-11-25T17:35:39",
            "2026-11-25T17:35:39Z",
        ] {
            assert_eq!(instant(wrong), None, "{wrong}");
        }
    }
}

use synth_multiresource::workload::Workload;
use synth_operator::{Resources, common_resource};

pub(super) const UNCOUNTED: &str = "none";

/// Parses `cpu`, `mem:G`, `gres/net` or `none`. Returns the name and the amount of one unit.
pub(super) fn source_of(text: &str) -> Option<(String, u128)> {
    if let Some(unit) = text.strip_prefix("mem:") {
        return Some(("mem".into(), bytes_of(unit)?.into()));
    }
    let gres = text.strip_prefix("gres/");
    let is_gres = gres.is_some_and(|name| !name.is_empty());
    (is_gres || matches!(text, "cpu" | UNCOUNTED)).then(|| (text.to_owned(), 1))
}

pub(super) fn usual_source(name: &str) -> Option<(String, u128)> {
    let (source, scale) = common_resource(name, ["cpu", "mem", "gres/gpu"])?;
    Some((source.to_owned(), scale.into()))
}

/// Formats a name and an amount. This is the inverse of [`source_of`].
pub(super) fn written(source: &str, scale: u128) -> String {
    if source != "mem" {
        return source.to_owned();
    }
    let unit = UNITS.iter().find(|(_, n)| scale.trailing_zeros() >= *n);
    let (unit, steps) = unit.unwrap_or(&("B", 0));
    format!("mem:{}{unit}", scale >> steps)
}

/// The units of memory, each as a power of 2 bytes, in descending order.
const UNITS: [(&str, u32); 5] = [("T", 40), ("G", 30), ("M", 20), ("K", 10), ("B", 0)];

/// Parses `G`, `GiB`, `1000M` or `4096B`. As in Slurm, each factor is 1024.
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

/// Returns the resources of a workload. The names in the file of `--types` are given by `named`.
pub(super) fn resources(
    workload: &Workload,
    named: impl Fn(&str) -> Option<(String, u128)>,
) -> Result<Resources, String> {
    Resources::new(workload, |name| {
        named(name).or_else(|| usual_source(name)).ok_or_else(|| {
            format!("the name of the policy's resource `{name}` in Slurm is unknown: write a file with `resources: {{{name}: gres/{name}}}`, and pass it with --types (`cpu`, `mem:G` for memory counted in GiB, `gres/NAME`, or `none` if Slurm does not count it)")
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parses_sources_and_units() {
        let found = |memory: &str, named: &str| {
            let text = format!(
                "{{kind: multiresource, time_unit: s, server: {{capacity: {{cpu: 20, {memory}: 15}}}}, jobs: [
                {{name: a, demand: {{cpu: 3, {memory}: 1.5}}, arrival_rate: .1, mean_size: 1}}]}}"
            );
            let workload = Workload::parse(&text, "t").unwrap().workload;
            let resources = resources(&workload, |own| {
                (own == memory).then(|| source_of(named))?
            });
            resources.map(|own| {
                let memory = own.iter().nth(1).unwrap();
                written(&memory.source, memory.scale)
            })
        };
        for (memory, named, expected) in [
            ("memory", "", "mem:1G"),
            ("mem_gb", "", "mem:1000000000B"),
            ("network", "gres/net", "gres/net"),
        ] {
            assert_eq!(found(memory, named).unwrap(), expected);
        }
        let refused = found("network", "").unwrap_err();
        assert!(
            refused.contains("resources: {network: gres/network}"),
            "{refused}"
        );
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
            let (source, scale) = source_of(text).unwrap();
            assert_eq!(written(&source, scale), text);
        }
        for text in [
            "cpus", "mem", "mem:", "mem:0G", "mem:1X", "gres/", "mem:-1G", "",
        ] {
            assert_eq!(source_of(text), None, "{text}");
        }
    }
}

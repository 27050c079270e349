use serde_json::Value;

use synth_multiresource::workload::Workload;
use synth_operator::{Amounts, Resources, common_resource};

/// All amounts are in billionths, which is the smallest unit in Kubernetes.
pub const NANO: u128 = 1_000_000_000;

/// Parses quantities in billionths. They are valid, because the API server has checked them.
pub fn amounts(written: &Value) -> Amounts {
    let amounts = written.as_object().into_iter().flatten();
    let amounts = amounts.map(|(name, value)| {
        let amount = match value {
            Value::String(text) => nano(text),
            other => nano(&other.to_string()),
        };
        (name.clone(), amount.unwrap_or(0))
    });
    Amounts(amounts.collect())
}

/// Parses a quantity such as `100m`, `1.5Gi` or `1e3` in billionths, rounded up. Returns `None` if
/// it is not valid or is negative.
pub fn nano(text: &str) -> Option<u128> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part}");
    if digits.is_empty() || part.len() > 18 || digits.len() > 30 {
        return None;
    }
    let (factor, divisor) = scale(suffix)?;
    let divisor = 10_u128.pow(part.len() as u32).checked_mul(divisor)?;
    let amount: u128 = digits.parse().ok()?;
    Some(amount.checked_mul(factor)?.div_ceil(divisor))
}

/// Returns the factor of a suffix in billionths, as a fraction.
fn scale(suffix: &str) -> Option<(u128, u128)> {
    let place = |units: &[&str]| units.iter().position(|own| *own == suffix);
    if let Some(n) = place(&["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]) {
        return Some((NANO << (10 * (n + 1)), 1));
    }
    if let Some(n) = place(&["n", "u", "m", "", "k", "M", "G", "T", "P", "E"]) {
        return Some((1000_u128.pow(n as u32), 1));
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    match exponent {
        0..=20 => Some((NANO * 10_u128.pow(exponent.unsigned_abs()), 1)),
        -20..0 => Some((NANO, 10_u128.pow(exponent.unsigned_abs()))),
        _ => None,
    }
}

/// Returns the resources of a workload. The options in `named` have the form `memory=memory:M`.
pub fn resources(workload: &Workload, named: &[String]) -> Result<Resources, String> {
    let names: Vec<&str> = workload.resources().iter().map(|own| own.name()).collect();
    let mut options = Vec::new();
    for option in named {
        let (name, source) = option.split_once('=').ok_or_else(|| {
            format!("--resource {option}: use the form gpu=nvidia.com/gpu or memory=memory:M")
        })?;
        if !names.contains(&name) {
            let known = names.join(", ");
            return Err(format!(
                "--resource {option}: the policy has no resource `{name}`; it has {known}"
            ));
        }
        let (source, unit) = source.rsplit_once(':').unwrap_or((source, ""));
        let scale = nano(&format!("1{unit}")).ok_or_else(|| {
            format!("--resource {option}: `{unit}` is not a unit of Kubernetes such as M or Gi")
        })?;
        options.push((name, (source.to_owned(), scale)));
    }
    Resources::new(workload, |name| {
        let option = options.iter().rev().find(|own| own.0 == name);
        let usual = || {
            let (source, one) = common_resource(name, ["cpu", "memory", "nvidia.com/gpu"])?;
            Some((source.to_owned(), u128::from(one) * NANO))
        };
        option.map(|own| own.1.clone()).or_else(usual).ok_or_else(|| {
            format!("the name of the policy's resource `{name}` in Kubernetes is unknown: set it with --resource {name}=NAME, as in gpu=nvidia.com/gpu (`kubectl describe node` lists the names under Allocatable)")
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn parses_quantities() {
        let read = [
            ("1", 1_000_000_000),
            ("100m", 100_000_000),
            ("1.5", 1_500_000_000),
            (".5", 500_000_000),
            ("2k", 2_000_000_000_000),
            ("1Ki", 1_024_000_000_000),
            ("1.5Gi", (3 << 29) * 1_000_000_000),
            ("1e3", 1_000_000_000_000),
            ("12E-1", 1_200_000_000),
            ("1E", 1_000_000_000_000_000_000_000_000_000),
            ("5n", 5),
            ("0.1n", 1),
            ("0", 0),
        ];
        for (text, amount) in read {
            assert_eq!(nano(text), Some(amount), "{text}");
        }
        for text in ["", "-1", "x", "1x", "1 Gi", "1e99", "1.2.3", "m"] {
            assert_eq!(nano(text), None, "{text}");
        }
    }

    fn units(memory: &str, options: &[&str], written: Value) -> Result<[Vec<u64>; 2], String> {
        let text = format!(
            "{{kind: multiresource, time_unit: s, server: {{capacity: {{cpu: 20, {memory}: 15, gpus: 2}}}}, jobs: [
            {{name: a, demand: {{cpu: 3, {memory}: 1.5}}, arrival_rate: .1, mean_size: 1}},
            {{name: b, demand: {{cpu: 6, {memory}: 1, gpus: 1}}, arrival_rate: .1, mean_size: 1}}]}}"
        );
        let workload = Workload::parse(&text, "t").unwrap().workload;
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        let resources = resources(&workload, &options)?;
        let amounts = amounts(&written);
        Ok([resources.units(&amounts), resources.units_within(&amounts)])
    }

    #[test]
    fn options_map_resources() {
        let written = json!({"cpu": "3001m", "memory": "1537Mi", "nvidia.com/gpu": 1});
        let found = units("memory", &[], written).unwrap();
        assert_eq!(found, [[2, 4, 1], [1, 3, 1]]);
        let options = ["gpus=amd.com/gpu", "memory=memory:M"];
        let written = json!({"memory": "3M", "amd.com/gpu": "2"});
        assert_eq!(units("memory", &options, written).unwrap()[0], [0, 6, 2]);
        for (memory, options, why) in [
            ("network", &[][..], "--resource network=NAME"),
            ("memory", &["disk=x"], "it has cpu, memory, gpus"),
            ("memory", &["gpus"], "gpu=nvidia.com/gpu"),
            ("memory", &["memory=memory:X"], "`X` is not a unit"),
        ] {
            let refused = units(memory, options, json!({})).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }
}

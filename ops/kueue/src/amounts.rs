//! Amounts of resources as Kubernetes writes them.

use std::collections::BTreeMap;

use serde_json::Value;

/// Billionths in one: no amount is written more exactly.
pub const NANO: u128 = 1_000_000_000;

/// Amounts of resources by their names in Kubernetes, in billionths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts(BTreeMap<String, u128>);

impl Amounts {
    /// Reads a list of quantities; one that is none counts as 0, since the API server has checked them.
    pub fn of(written: &BTreeMap<String, Value>) -> Self {
        let amounts = written.iter().map(|(name, value)| {
            let amount = match value {
                Value::String(text) => nano(text),
                other => nano(&other.to_string()),
            };
            (name.clone(), amount.unwrap_or(0))
        });
        Amounts(amounts.collect())
    }

    /// Returns how much there is of a resource \[billionths\].
    pub fn get(&self, name: &str) -> u128 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Combines both, resource by resource.
    fn with(mut self, other: &Amounts, combine: impl Fn(u128, u128) -> u128) -> Self {
        for (name, amount) in &other.0 {
            let own = self.0.entry(name.clone()).or_default();
            *own = combine(*own, *amount);
        }
        self
    }

    /// Returns both together.
    pub fn plus(self, other: &Amounts) -> Self {
        self.with(other, u128::saturating_add)
    }

    /// Returns what is left of it, and nothing where the other is more.
    pub fn less(self, other: &Amounts) -> Self {
        self.with(other, u128::saturating_sub)
    }

    /// Returns the greater of both, resource by resource.
    pub fn most(self, other: &Amounts) -> Self {
        self.with(other, u128::max)
    }

    /// Returns so many times as much.
    pub fn times(mut self, count: u64) -> Self {
        let amounts = self.0.values_mut();
        amounts.for_each(|amount| *amount = amount.saturating_mul(count.into()));
        self
    }
}

/// Reads a quantity such as `100m`, `1.5Gi` or `1e3` in billionths, rounded up; `None` where it is none, or below 0.
pub fn nano(text: &str) -> Option<u128> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part}");
    if digits.is_empty() || part.len() > 18 || digits.len() > 30 {
        return None;
    }
    // The amount is digits × factor / divisor.
    let (factor, divisor) = scale(suffix)?;
    let divisor = 10_u128.pow(part.len() as u32).checked_mul(divisor)?;
    let amount: u128 = digits.parse().ok()?;
    Some(amount.checked_mul(factor)?.div_ceil(divisor))
}

/// Returns what a suffix stands for, in billionths, as a fraction.
fn scale(suffix: &str) -> Option<(u128, u128)> {
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if let Some(n) = binary.iter().position(|own| *own == suffix) {
        return Some((NANO << (10 * (n + 1)), 1));
    }
    let decimal = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    if let Some(n) = decimal.iter().position(|own| *own == suffix) {
        return Some((1000_u128.pow(n as u32), 1));
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    match exponent {
        0..=20 => Some((NANO * 10_u128.pow(exponent.unsigned_abs()), 1)),
        -20..0 => Some((NANO, 10_u128.pow(exponent.unsigned_abs()))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::nano;

    #[test]
    fn quantities_are_read_as_kubernetes_writes_them() {
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
}

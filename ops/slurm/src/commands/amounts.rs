//! This module parses Slurm's notation of resources (`cpu`, `mem` \[bytes\], `gres/gpu`,
//! `gres/gpu:a100`), of times and of limits. If Slurm does not manage memory, `mem` is 0.

use std::str::FromStr;

use itertools::Itertools as _;
use synth_core::number;
use synth_operator::Amounts;

/// Parses `cpu=3,mem=150M,node=1,billing=3,gres/gpu=2`. Returns `None` if there are no CPUs.
pub(super) fn tres(text: &str) -> Option<Amounts> {
    let mut amounts = Amounts::default();
    for part in text.split(',') {
        let (name, amount) = part.split_once('=')?;
        if name == "mem" {
            amounts.set(name, bytes(amount)?);
        } else if name == "cpu" || name.starts_with("gres/") {
            amounts.set(name, count(amount)?);
        }
    }
    add_totals(&mut amounts);
    amounts.0.contains_key("cpu").then_some(amounts)
}

/// Adds `times` requests in a list such as `gres:gpu:a100:2,gres/gpu:a100=2,gpu`.
pub(super) fn add_gres(amounts: &mut Amounts, text: &str, times: u64) -> Option<()> {
    for part in text.split(',').filter(|part| !part.is_empty()) {
        // Other resources of a task, such as `cpu=2`, have already been counted.
        if !part.contains('=') || part.starts_with("gres/") {
            add_part(amounts, part, times)?;
        }
    }
    add_totals(amounts);
    Some(())
}

/// Parses the generic resources of a node such as `gpu:a100:4(S:0-1),net:2`, also those in use.
pub(crate) fn gres_of_node(text: &str) -> Option<Amounts> {
    let mut amounts = Amounts::default();
    if matches!(text, "" | "(null)" | "N/A") {
        return Some(amounts);
    }
    let mut depth = 0_u32;
    let bare = text.chars().filter(|c| {
        depth += u32::from(*c == '(');
        let is_outside = depth == 0;
        depth = depth.saturating_sub(u32::from(*c == ')'));
        is_outside
    });
    for part in bare.collect::<String>().split(',') {
        add_part(&mut amounts, part, 1)?;
    }
    add_totals(&mut amounts);
    Some(amounts)
}

/// Adds the total of all models of a resource, if the resource is not listed without a model.
fn add_totals(amounts: &mut Amounts) {
    let resource = |name: &str| Some(name.split_once(':')?.0.to_owned());
    let models = amounts.0.iter();
    let models = models.filter_map(|(name, amount)| Some((resource(name)?, *amount)));
    for (resource, total) in models.into_grouping_map().sum() {
        amounts.0.entry(resource).or_insert(total);
    }
}

/// Adds `times` the amount of a generic resource, which is 1 by default.
fn add_part(amounts: &mut Amounts, part: &str, times: u64) -> Option<()> {
    let bare = part.strip_prefix("gres:").or(part.strip_prefix("gres/"));
    let part = bare.unwrap_or(part);
    let (name, amount) = match part.rsplit_once(['=', ':']) {
        Some((name, amount)) if amount.starts_with(|c: char| c.is_ascii_digit()) => {
            (name, count(amount)?)
        }
        _ => (part, 1),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let name = format!("gres/{name}");
    let amount = amounts.get(&name) + u128::from(amount.checked_mul(times)?);
    amounts.set(name, amount);
    Some(())
}

/// Splits off a suffix K, M, G, T or P, and returns it as a power of 1024.
fn scaled(text: &str) -> (&str, Option<u64>) {
    let place = text.chars().last().and_then(|last| "KMGTP".find(last));
    let digits = &text[..text.len() - usize::from(place.is_some())];
    (digits, place.map(|place| 1 << (10 * (place + 1))))
}

/// Parses a count such as `3`, `24K` or `1.50K`.
pub(crate) fn count(text: &str) -> Option<u64> {
    let (digits, scale) = scaled(text);
    scale.map_or_else(|| whole(digits), |scale| times(digits, scale))
}

/// Parses an amount of memory such as `150M`, `1.50G` or `0`. The default unit is MiB.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let (digits, scale) = scaled(text);
    times(digits, scale.unwrap_or(1 << 20))
}

/// Returns the product of a number with at most six decimal places and a factor, rounded up.
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

pub(crate) fn whole<T: FromStr>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Parses a time limit such as `30:00` or `1-02:04:00` \[s\]. `Some(None)` is unlimited.
pub(super) fn time_limit(text: &str) -> Option<Option<u64>> {
    match text {
        "UNLIMITED" | "NOT_SET" | "Partition_Limit" => Some(None),
        // Slurm does not print a limit as a number of minutes alone.
        text => seconds(text).filter(|_| text.contains(':')).map(Some),
    }
}

/// Parses `minutes[:seconds]`, `hours:minutes:seconds` or `days-hours[:minutes[:seconds]]` \[s\].
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(whole::<u64>(days)?), clock),
        None => (None, text),
    };
    let parts: Vec<u64> = clock.split(':').map(whole).collect::<Option<_>>()?;
    let units: &[u64] = match (days, parts.len()) {
        (Some(_), 1..=3) | (None, 3) => &[3600, 60, 1],
        (None, 1..=2) => &[60, 1],
        _ => return None,
    };
    let mut seconds = days.unwrap_or(0).checked_mul(86_400)?;
    for (part, unit) in parts.iter().zip(units) {
        seconds = seconds.checked_add(part.checked_mul(*unit)?)?;
    }
    Some(seconds)
}

/// Parses a time such as `2026-11-25T17:35:39` \[s since 1970, UTC\].
pub(super) fn instant(text: &str) -> Option<i64> {
    let is_slurms = text.len() == 19 && text.as_bytes()[10] == b'T';
    let instant = number::instant(text.as_bytes())?;
    (is_slurms && instant >= 0.0).then_some(instant as i64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parses_tres() {
        let models = "cpu=2,mem=2T,gres/gpu:a100=2,gres/gpu:h100=1,gres/net=4";
        for (text, name, amount) in [
            ("cpu=3,mem=150M,node=1,billing=3", "cpu", 3),
            ("cpu=2,mem=1.50G,node=1,billing=2", "mem", 3 << 29),
            ("cpu=2,node=1", "mem", 0),
            (models, "gres/gpu", 3),
            (models, "gres/gpu:h100", 1),
            (models, "gres/net", 4),
            ("cpu=2,gres/gpu=2,gres/gpu:a100=2", "gres/gpu", 2),
        ] {
            assert_eq!(tres(text).unwrap().get(name), amount, "{text}");
        }
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
            assert_eq!(tres(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn parses_generic_resources() {
        let requested = |text, times| {
            let mut amounts = Amounts::default();
            add_gres(&mut amounts, text, times).map(|()| amounts)
        };
        for text in [
            "gres:gpu:2",
            "gres/gpu:2",
            "gres/gpu=2",
            "gpu:2",
            "cpu=7,gres/gpu:2",
            "gres:gpu,gres:gpu:1",
        ] {
            assert_eq!(requested(text, 3).unwrap().get("gres/gpu"), 6, "{text}");
        }
        let typed = requested("gres:gpu:a100:2,gres:net:1", 1).unwrap();
        let amounts = ["gres/gpu", "gres/gpu:a100", "gres/net"].map(|name| typed.get(name));
        assert_eq!(amounts, [2, 2, 1]);
        for wrong in ["gres:gpu:99999999999999999999", "what is this"] {
            assert_eq!(requested(wrong, 1), None, "{wrong}");
        }
        for (text, name, amount) in [
            ("gpu:a100:4(S:0-1),net:2(S:0,1)", "gres/gpu", 4),
            ("gpu:a100:4(S:0-1),net:2(S:0,1)", "gres/gpu:a100", 4),
            ("gpu:a100:4(S:0-1),net:2(S:0,1)", "gres/net", 2),
            ("gpu:a100:1(IDX:0,2)", "gres/gpu", 1),
        ] {
            assert_eq!(gres_of_node(text).unwrap().get(name), amount, "{text}");
        }
        assert_eq!(gres_of_node("(null)"), Some(Amounts::default()));
    }

    #[test]
    fn parses_limits_and_instants() {
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

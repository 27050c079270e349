use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use synth_core::document::suggest;

use super::text::{Pair, Record, SiteError, TIME, is_one_of, short, time, words};
use super::{PrioritySettings, SchedulerSettings, SlurmSite, factor};

const OPTIONS: &str = include_str!("options.txt");

type SetNumber = fn(&mut SchedulerSettings, i64);

macro_rules! numbers {
    ($($name:literal $range:expr => $set:expr;)*) => {
        [$(($name, $range, $set)),*]
    };
}

/// The numbers in `SchedulerParameters`, with the ranges that Slurm accepts (`_load_config` in
/// `src/plugins/sched/backfill/backfill.c`, `schedule` in `src/slurmctld/job_scheduler.c`).
const NUMBERS: [(&str, RangeInclusive<i64>, SetNumber); 18] = numbers! {
    "bf_interval" -1..=10_800 => |own, n| if n > 0 { own.bf_interval = n as f64 } else { own.backfills &= n == 0 };
    "bf_window" 1..=43_200 => |own, n| own.bf_window = n as f64 * 60.0;
    "bf_resolution" 1..=3600 => |own, n| own.bf_resolution = n as f64;
    "bf_max_job_test" 1..=1_000_000 => |own, n| own.bf_max_job_test = n as u32;
    "max_job_bf" 1..=1_000_000 => |own, n| own.bf_max_job_test = n as u32;
    "bf_max_job_user" 0..=1_000_000 => |own, n| own.bf_max_job_user = n as u32;
    "bf_max_job_part" 0..=1_000_000 => |own, n| own.bf_max_job_part = n as u32;
    "bf_max_job_user_part" 0..=1_000_000 => |own, n| own.bf_max_job_user_part = n as u32;
    "bf_max_job_start" 0..=10_000 => |own, n| own.bf_max_job_start = n as u32;
    "bf_max_job_array_resv" 0..=1000 => |_, _| ();
    "bf_min_prio_reserve" 0..=u32::MAX as i64 => |own, n| own.bf_min_prio_reserve = n as u64;
    "bf_min_age_reserve" 0..=2_592_000 => |own, n| own.bf_min_age_reserve = n as f64;
    "bf_job_part_count_reserve" 0..=100_000 => |own, n| own.bf_job_part_count_reserve = n as u32;
    "default_queue_depth" 0..=i32::MAX as i64 => |own, n| own.default_queue_depth = n as u32;
    "partition_job_depth" 0..=i32::MAX as i64 => |own, n| own.partition_job_depth = n as u32;
    "sched_interval" -1..=i32::MAX as i64 => |own, n| own.sched_interval = (n >= 0).then_some(n as f64);
    "sched_min_interval" 0..=i32::MAX as i64 => |_, _| ();
    "batch_sched_delay" 0..=i32::MAX as i64 => |own, n| own.batch_sched_delay = n as f64;
};

const PARAMETERS: &str = include_str!("parameters.txt");

const UNMODELED: &str = include_str!("unfollowed.txt");

/// Returns each setting that is not modeled, with the values that have an effect, the assumption
/// that is made instead, and whether it is reported first.
fn unfollowed<'a>(
    record: &'a Record,
    of: &'static str,
) -> impl Iterator<Item = (&'a Pair, String, &'static str, bool)> {
    const NEUTRAL: [&str; 5] = ["NO", "NONE", "UNLIMITED", "INFINITE", "0"];
    UNMODELED.lines().filter_map(move |line| {
        let mut parts = line.trim_start_matches('!').split('|');
        let [kind, key, neutral, instead] = [(); 4].map(|()| parts.next().unwrap_or_default());
        let pair = record.pair(&[key]).filter(|_| kind == of)?;
        let neutral = neutral.split(',').chain(NEUTRAL);
        let counts = |word: &&str| !is_one_of(word, neutral.clone());
        let words: Vec<&str> = words(Some(&pair.value)).filter(counts).collect();
        let value = short(&words.join(","));
        (!words.is_empty()).then_some((pair, value, instead, line.starts_with('!')))
    })
}

pub(super) fn of_partitions(records: &[Record], site: &mut SlurmSite) {
    let mut found: BTreeMap<(bool, String), Vec<&str>> = BTreeMap::new();
    for record in records {
        for (pair, value, instead, is_first) in unfollowed(record, "partition") {
            site.not_modeled.push(format!("{}={value}", pair.key));
            let what = format!("{}={value} is not modeled: {instead}", pair.key);
            let names = found.entry((is_first, what)).or_default();
            names.push(&record.0[0].value);
        }
    }
    for ((is_first, what), names) in found {
        site.tell(is_first, format!("partition {}: {what}", names.join(", ")));
    }
}

pub(super) fn scheduler(options: &Record, remarks: &mut Vec<String>) -> SchedulerSettings {
    let mut own = SchedulerSettings::default();
    let kind = options.text(&["SchedulerType"]);
    own.backfills = kind.is_none_or(|kind| kind.to_ascii_lowercase().ends_with("backfill"));
    let select = options.text(&["SelectTypeParameters"]).unwrap_or_default();
    // The default of `select/cons_tres` is CR_Core_Memory.
    let says_nothing = !select.to_ascii_uppercase().contains("CR_") && !gives_whole_nodes(options);
    own.counts_memory = says_nothing || select.to_ascii_uppercase().contains("MEMORY");
    own.defers = options.text(&["Epilog"]).is_none();
    let (mut not_followed, mut seen) = (Vec::new(), Vec::new());
    let Some(pair) = options.pair(&["SchedulerParameters"]) else {
        return own;
    };
    let mut tell = |what: String| remarks.push(remark(pair, &what));
    for part in words(Some(&pair.value)) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let (lower, shown) = (name.to_ascii_lowercase(), short(part));
        let is_it = |line: &&str| line.trim_start_matches('!') == lower;
        // Slurm uses the first `name=`, and `max_job_bf` only if there is no `bf_max_job_test`.
        let is_old = lower == "max_job_bf" && pair.value.contains("bf_max_job_test=");
        if is_old || part.contains('=') && seen.contains(&lower) {
            let why = "is ignored, as in Slurm, because another value takes precedence: remove it";
            tell(format!("`{shown}` {why}"));
            continue;
        }
        seen.push(lower.clone());
        if let Some((_, range, set)) = NUMBERS.iter().find(|(known, ..)| *known == lower) {
            // Slurm reads the number at the beginning (`atoi`), and ignores a unit after it.
            let is_sign = |c: char| c == '-' || c.is_ascii_digit();
            let rest = value.trim_start_matches(is_sign);
            let n = value[..value.len() - rest.len()].parse::<i64>().ok();
            let Some(n) = n.filter(|n| range.contains(n)) else {
                let (from, to) = (range.start(), range.end());
                let help = format!("write {name}=N with N from {from} to {to}");
                tell(format!("`{shown}` is ignored, as in Slurm: {help}"));
                continue;
            };
            if !rest.is_empty() {
                tell(format!("`{shown}` is read as {name}={n}, as in Slurm"));
            }
            set(&mut own, n);
            continue;
        }
        match (lower.as_str(), PARAMETERS.lines().find(is_it)) {
            ("defer" | "defer_batch", _) => own.defers = true,
            ("assoc_limit_stop", _) => own.assoc_limit_stop = true,
            (_, Some(line)) if line.starts_with('!') => not_followed.push(name),
            (_, Some(_)) => {}
            (_, None) => tell(format!(
                "`{shown}` is not a parameter of Slurm 22.05 to 26.05 and is ignored"
            )),
        }
    }
    if !not_followed.is_empty() {
        tell(format!("not modeled: {}", not_followed.join(", ")));
    }
    own
}

/// Returns `true` if jobs get whole nodes, which is the default up to 23.02.
pub(super) fn gives_whole_nodes(options: &Record) -> bool {
    let kind = options.text(&["SelectType"]).unwrap_or("select/linear");
    kind.eq_ignore_ascii_case("select/linear")
}

pub(super) fn priority(options: &Record) -> Result<PrioritySettings, SiteError> {
    let span = |key: &str, without: f64| {
        let span = options.read(&[key], TIME, time)?;
        Ok(span.map_or(without, |span| span.unwrap_or(f64::INFINITY)))
    };
    let plain = PrioritySettings::default();
    let flags = options.text(&["PriorityFlags"]);
    let has = |flag: &str| words(flags).any(|own| own.eq_ignore_ascii_case(flag));
    let kind = options.text(&["PriorityType"]);
    let half_life = span("PriorityDecayHalfLife", 7.0 * 86_400.0)?;
    let mut weights = plain.weights;
    for (weight, name) in weights.iter_mut().zip(factor::NAMES) {
        *weight = options.number(&[&format!("PriorityWeight{name}")], 0)? as f64;
    }
    Ok(PrioritySettings {
        is_multifactor: kind.is_some_and(|kind| kind.to_ascii_lowercase().ends_with("multifactor")),
        weights,
        max_age: span("PriorityMaxAge", plain.max_age)?,
        calc_period: span("PriorityCalcPeriod", plain.calc_period)?,
        decay_half_life: Some(half_life).filter(|life| *life > 0.0 && life.is_finite()),
        favors_small: options.says(&["PriorityFavorSmall"], &["yes", "true"]),
        small_relative_to_time: has("SMALL_RELATIVE_TO_TIME"),
        is_fair_tree: !has("NO_FAIR_TREE") && !has("DEPTH_OBLIVIOUS"),
        dampening: options.number(&["FairShareDampeningFactor"], 1)?.max(1) as f64,
    })
}

pub(super) fn others(options: &Record, is_shown: bool, site: &mut SlurmSite) {
    for (pair, value, instead, is_first) in unfollowed(options, "cluster") {
        site.not_modeled.push(format!("{}={value}", pair.key));
        let what = remark(pair, &format!("`{value}` is not modeled: {instead}"));
        site.tell(is_first, what);
    }
    if is_shown {
        return;
    }
    let remarks = &mut site.remarks;
    for (key, old, new) in [
        ("PriorityType", "priority/basic", "priority/multifactor"),
        ("SelectType", "select/linear", "select/cons_tres"),
    ] {
        if options.text(&[key]).is_none() {
            remarks.push(format!(
                "{key} is not set: {old} is assumed, the default up to 23.02. If the cluster runs 23.11 or later, set {key}={new}, the default since then"
            ));
        }
    }
    for (n, pair) in options.0.iter().enumerate() {
        let key = pair.key.to_ascii_lowercase();
        let starts = ["priority", "sched", "select", "jobsub"];
        let is_read = starts.iter().any(|own| key.starts_with(own));
        let mut before = options.0[..n].iter();
        if is_read && before.any(|own| own.key.eq_ignore_ascii_case(&key)) {
            let what = "it overrides an earlier line with this name, as in Slurm: remove one";
            remarks.push(remark(pair, what));
        }
    }
    let known = OPTIONS.lines().filter(|line| !line.starts_with('#'));
    let known: Vec<&str> = known.collect();
    for pair in &options.0 {
        if !is_one_of(&pair.key, &known) {
            let mut what = "not an option of Slurm 22.05 to 26.05; it is ignored".to_owned();
            let near = suggest(&pair.key, "option", &known);
            if near.starts_with("did") {
                what += &format!(": {near}");
            }
            remarks.push(remark(pair, &what));
        }
    }
}

fn remark(pair: &Pair, what: &str) -> String {
    let what = format!("{}: {what}", short(&pair.key));
    pair.place.wrong(what).to_string()
}

use std::fmt::Write as _;

use super::{Table, estimate, number, synthesis, within, wrap};
use crate::multiresource::artifact::{Candidate, Choice, Interval, Objective, Steadiness};
use crate::multiresource::synthesis::{Chosen, MsfqOutlook};
use crate::multiresource::verbs::Stability;
use crate::multiresource::workload::Workload;

/// The summary of a policy that was chosen by simulation.
pub(super) fn choice(
    workload: &Workload,
    chosen: &Chosen,
    stability: Stability,
    width: usize,
) -> String {
    let mut text = String::new();
    if let Some(record) = &chosen.server().making.choice {
        text += &compared(workload, record, width);
        text += &wrap(&verdict(record), width);
    }
    for why in &chosen.skipped {
        let _ = writeln!(text, "not considered: {why}");
    }
    let _ = writeln!(text, "{}", told(stability));
    let of_policy = match &chosen.made {
        Some(analysed) => synthesis::of_loop(workload, analysed, width),
        None => format!("\n{}", by_type(workload, chosen, width)),
    };
    text += &of_policy;
    text
}

/// What was simulated, the policy taken first.
fn compared(workload: &Workload, record: &Choice, width: usize) -> String {
    let what = match record.objective {
        Objective::Mean => "E[T]",
        Objective::Weighted => "weighted E[T]",
    };
    let value = format!("{what} [{}]", workload.time_unit());
    let header = [
        "policy",
        &value,
        "times",
        "Jain",
        "slowdowns",
        "tried",
        "knobs",
    ];
    let mut rows = Table::new(header).words(6).wrapping(6);
    let shown = |interval: Option<Interval>| {
        interval.map_or("–".into(), |i| within(i.mean, i.half_width))
    };
    let plain = |value: Option<f64>| value.map_or("–".into(), number);
    for candidate in &record.candidates {
        rows.row([
            candidate.name.clone(),
            match candidate.outcome {
                Steadiness::Steady => shown(candidate.value),
                Steadiness::Unsettled => "unsettled".into(),
                Steadiness::Unstable => "unstable".into(),
            },
            shown(candidate.ratio),
            plain(candidate.fairness),
            plain(candidate.slowdown_ratio),
            candidate.tried.to_string(),
            candidate.knobs.clone().unwrap_or_default(),
        ]);
    }
    format!(
        "{}\nsimulated: {:.2e} events of {:.2e} allowed, {} replications, seed {}; 95 % intervals.\ntimes: as long as the first, in runs of the same length on the same arrivals and sizes; the means are each of\nits longest run. Jain: fairness of the types' E[T], 1 is equal. slowdowns: the largest E[T_i]/E[S_i]\nover the smallest.\n\n",
        rows.within(width),
        record.events as f64,
        record.budget as f64,
        record.replications,
        record.seed
    )
}

/// Which policy is best, and by how much.
pub(super) fn verdict(record: &Choice) -> String {
    let [taken, others @ ..] = record.candidates.as_slice() else {
        return String::new();
    };
    let named = |which: fn(&Candidate) -> bool| -> Vec<&str> {
        let found = others.iter().filter(|c| which(c));
        found.map(|c| c.name.as_str()).collect()
    };
    let (open, better) = (named(Candidate::is_open), named(Candidate::is_better));
    let mut text = match (open.is_empty(), better.is_empty()) {
        (true, true) => format!("nothing here is better than {} by 1 %", taken.name),
        (true, false) => format!("{} is taken", taken.name),
        (false, _) => format!(
            "{} is taken, not told apart from {}",
            taken.name,
            open.join(", ")
        ),
    };
    let won: Vec<String> = others.iter().filter_map(over).collect();
    if !won.is_empty() {
        let _ = write!(text, ": {}", won.join(", "));
    }
    text += ".\n";
    for other in others.iter().filter(|c| c.is_better()) {
        let less = other.ratio.map_or(0.0, |r| 1.0 - r.mean);
        let _ = writeln!(text, "{} has less, by {:.2} %.", other.name, 100.0 * less);
    }
    if !open.is_empty() {
        text += "More with --budget.\n";
    }
    if let (Some(most), Some(ratio)) = (record.max_slowdown_ratio, taken.slowdown_ratio)
        && ratio > most
    {
        let _ = writeln!(
            text,
            "No policy here serves the types as evenly as was asked for: slowdowns differ by a factor {}, not {}.",
            number(ratio),
            number(most)
        );
    }
    text
}

/// By how much another one is slower.
fn over(candidate: &Candidate) -> Option<String> {
    match (candidate.outcome, candidate.ratio) {
        (Steadiness::Unstable, _) => Some(format!("{} is unstable", candidate.name)),
        (_, Some(ratio)) if ratio.mean >= 1.0 => Some(format!(
            "{} takes {} times as long",
            candidate.name,
            within(ratio.mean, ratio.half_width)
        )),
        _ => None,
    }
}

/// What is known of its stability.
fn told(stability: Stability) -> String {
    match stability {
        Stability::Seen => "stability: seen in simulation at this load, not proved".into(),
        Stability::Turns(time) => format!(
            "stability: proved, since Σ λ_i/(μ_i c_i) = {} < 1",
            number(time)
        ),
        Stability::Loads => "stability: proved, by the loads ρ_i < 1".into(),
    }
}

/// Mean response times and numbers of the types.
fn by_type(workload: &Workload, chosen: &Chosen, width: usize) -> String {
    let Some(run) = &chosen.run else {
        return String::new();
    };
    let mean = format!("E[T] [{}]", workload.time_unit());
    let mut rows = Table::new(["type", &mean, "E[T]/E[S]", "P95", "E[N]"]);
    for kind in &run.types {
        rows.row([
            kind.name.clone(),
            estimate(kind.mean_response),
            estimate(kind.slowdown),
            kind.percentiles.map_or("–".into(), |p| number(p[1])),
            estimate(kind.mean_number),
        ]);
    }
    rows.row([
        "all".into(),
        estimate(run.mean_response),
        String::new(),
        run.percentiles.map_or("–".into(), |p| number(p[1])),
        estimate(run.mean_number),
    ]);
    rows.within(width) + "\n"
}

/// Seven significant digits: what is exact may be compared with other exact numbers.
fn digits(value: f64) -> String {
    let decimals = (6 - value.abs().log10().floor() as i64).clamp(0, 12) as usize;
    format!("{value:.decimals$}")
}

/// Exact means of MSFQ by its threshold.
pub fn thresholds(workload: &Workload, outlook: &MsfqOutlook, width: usize) -> String {
    let unit = workload.time_unit();
    let names = [outlook.system.light, outlook.system.heavy].map(|i| workload.types()[i].name());
    let header = ["ℓ", "objective", names[0], names[1], "", "approximation"];
    let mut rows = Table::new(header);
    for row in outlook.table() {
        let [light, heavy] = row.response.map(digits);
        rows.row([
            row.threshold.to_string(),
            digits(row.value),
            light,
            heavy,
            if row.is_best { "ℓ*" } else { "" }.into(),
            row.approximation.map_or("not valid".into(), number),
        ]);
    }
    format!(
        "\nMSFQ(ℓ), strict, mean response times [{unit}]: exactly, and the objective by the paper's approximation;\nℓ = 0 is Most Servers First:\n\n{}\n",
        rows.within(width)
    )
}

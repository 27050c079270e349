use super::{Table, below, estimate, number};
use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::simulator::Health;
use crate::multiresource::verbs::Least;

/// What policies may do.
pub(super) fn allowed(preemption: Preemption) -> &'static str {
    match preemption {
        Preemption::None => "without preemption",
        Preemption::Full => "with preemption",
        Preemption::Setup => "with setups",
    }
}

/// That the bound would be higher, and why it is not; empty where it is as high as can be.
fn shortfall(found: &Least) -> String {
    let why = if found.interrupted {
        "interrupted, --time-limit, or sweeps that come no closer"
    } else if found.full {
        "a larger box has more states than --states"
    } else {
        return String::new();
    };
    let other = match found.preemption {
        Preemption::Setup => " That of --preemption full holds, too.",
        _ => "",
    };
    format!("CUT SHORT ({why}): the bound holds, and would be higher.{other}\n")
}

/// The bound, and how far policies are above it.
pub fn optimum(found: &Least, objective: Objective, width: usize) -> String {
    let unit = found.workload.time_unit();
    let (what, symbol) = match objective {
        Objective::Mean | Objective::P99 => ("mean response time", "E[T]"),
        Objective::Weighted => ("mean response time, weighted by load,", "weighted E[T]"),
    };
    let knowing = match found.workload.known() {
        None => "",
        Some(_) => " that knows no more of a job than its type",
    };
    let grown = found.growth.map_or(String::new(), |growth| {
        let percent = number(100.0 * growth);
        format!("; its last growth by half changed {percent} %")
    });
    let counted = match found.preemption {
        Preemption::None => "waiting jobs",
        _ => "jobs",
    };
    let sides: Vec<String> = found.most_jobs.iter().map(usize::to_string).collect();
    let (allowed, low) = (allowed(found.preemption), below(found.lower_bound));
    let text = format!(
        "{}no policy {allowed}{knowing} has a {what} below {low} {unit}\ndynamic program: at most {} {counted}, {} states, {} sweeps, the optimum there between {low} and {}{grown}\n",
        shortfall(found),
        sides.join(" × "),
        found.states,
        found.sweeps,
        number(found.upper_bound_in_box),
    );
    if found.policies.is_empty() {
        return text;
    }
    let mean = format!("{symbol} [{unit}]");
    let mut rows = Table::new(["policy, simulated", &mean, "over the bound"]);
    for distance in &found.policies {
        let response = match distance.health {
            Health::Unstable => "unstable".into(),
            Health::Unsettled => "unsettled".into(),
            Health::Settled => estimate(distance.response),
        };
        let over = distance.over.map_or("–".into(), beyond);
        rows.row([distance.policy.clone(), response, over]);
    }
    format!("{text}\n{}", rows.within(width))
}

/// So far above a bound; below it by chance.
pub(super) fn beyond(fraction: f64) -> String {
    // A little below is no more than zero: `-0.0` would say less.
    format!("{:+.1} %", (1000.0 * fraction).round() / 10.0 + 0.0)
}

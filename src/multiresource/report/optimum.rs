use super::{Table, below, estimate, number};
use crate::multiresource::artifact::{Objective, Preemption};
use crate::multiresource::optimum::Step;
use crate::multiresource::simulator::Health;
use crate::multiresource::verbs::{Distance, Least};

/// How far the dynamic program is.
pub fn optimum_step(step: &Step) -> String {
    let [low, high] = step.bounds.map(number);
    format!(
        "dynamic program: {} states ({:.0} MB), sweep {}, between {low} and {high}",
        step.states,
        step.bytes() / 1e6,
        step.sweeps
    )
}

fn what(objective: Objective) -> &'static str {
    match objective {
        Objective::Mean | Objective::P99 => "mean response time",
        Objective::Weighted => "mean response time, weighted by load,",
    }
}

/// What policies may do.
pub(super) fn told(preemption: Preemption) -> &'static str {
    match preemption {
        Preemption::None => "without preemption",
        Preemption::Full => "with preemption",
        Preemption::Setup => "with setups",
    }
}

/// What the dynamic program counts.
fn counted(preemption: Preemption) -> &'static str {
    match preemption {
        Preemption::None => "waiting jobs",
        _ => "jobs",
    }
}

/// That the bound would be higher, and why it is not.
fn shortfall(found: &Least) -> Option<&'static str> {
    match (found.interrupted, found.full) {
        (true, _) => Some("CUT SHORT (interrupted, --time-limit, or sweeps that come no closer)"),
        (_, true) => Some("CUT SHORT (a larger box has more states than --states)"),
        _ => None,
    }
}

/// The bound, and how far policies are above it.
pub fn optimum(found: &Least, objective: Objective, width: usize) -> String {
    let unit = found.workload.time_unit();
    let other = match found.preemption {
        Preemption::Setup => " That of --preemption full holds, too.",
        _ => "",
    };
    let mut text = shortfall(found).map_or(String::new(), |why| {
        format!("{why}: the bound holds, and would be higher.{other}\n")
    });
    let knowing = match found.workload.known() {
        None => "",
        Some(_) => " that knows no more of a job than its type",
    };
    text += &format!(
        "no policy {}{knowing} has a {} below {} {unit}\n",
        told(found.preemption),
        what(objective),
        below(found.lower_bound)
    );
    let grown = found.growth.map_or(String::new(), |growth| {
        format!(
            "; its last growth by half changed {} %",
            number(100.0 * growth)
        )
    });
    text += &format!(
        "dynamic program: at most {} {}, {} states, {} sweeps, the optimum there between {} and {}{grown}\n",
        sides(found),
        counted(found.preemption),
        found.states,
        found.sweeps,
        below(found.lower_bound),
        number(found.upper_bound_in_box),
    );
    if found.policies.is_empty() {
        return text;
    }
    let mean = format!("{} [{unit}]", symbol(objective));
    let mut rows = Table::new(["policy, simulated", &mean, "over the bound"]);
    for distance in &found.policies {
        let over = distance.over.map_or("–".into(), beyond);
        rows.row([distance.policy.clone(), response(distance), over]);
    }
    format!("{text}\n{}", rows.within(width))
}

fn symbol(objective: Objective) -> &'static str {
    match objective {
        Objective::Mean | Objective::P99 => "E[T]",
        Objective::Weighted => "weighted E[T]",
    }
}

/// The most jobs of each type.
fn sides(found: &Least) -> String {
    let sides = found.most_jobs.iter().map(usize::to_string);
    sides.collect::<Vec<_>>().join(" × ")
}

fn response(distance: &Distance) -> String {
    match distance.health {
        Health::Unstable => "unstable".into(),
        Health::Unsettled => "unsettled".into(),
        Health::Settled => estimate(distance.response),
    }
}

/// So far above a bound; below it by chance.
pub(super) fn beyond(fraction: f64) -> String {
    // A little below is no more than zero: `-0.0` would say less.
    format!("{:+.1} %", (1000.0 * fraction).round() / 10.0 + 0.0)
}

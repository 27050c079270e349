use super::{Table, below, estimate, number};
use crate::multiresource::artifact::Objective;
use crate::multiresource::optimum::Step;
use crate::multiresource::simulator::Health;
use crate::multiresource::verbs::Least;

/// How far the dynamic program is.
pub fn optimum_step(step: &Step) -> String {
    let [low, high] = step.bounds.map(number);
    format!(
        "dynamic program: {} states ({:.0} MB), sweep {}, between {low} and {high}",
        step.states,
        step.bytes() as f64 / 1e6,
        step.sweeps
    )
}

/// The bound, and how far policies are above it.
pub fn optimum(least: &Least, objective: Objective, width: usize) -> String {
    let (unit, found) = (least.workload.time_unit(), &least.report);
    let what = match objective {
        Objective::Mean => "mean response time",
        Objective::Weighted => "mean response time, weighted by load,",
    };
    let mut text = String::new();
    if found.interrupted {
        text += "CUT SHORT (interrupted, or --time-limit): the bound holds, and would be higher.\n";
    }
    text += &format!(
        "no policy without preemption has a {what} below {} {unit}\n",
        below(found.lower_bound)
    );
    let sides = found.box_of_waiting_jobs.iter().map(usize::to_string);
    let grown = found.growth.map_or(String::new(), |growth| {
        format!(
            "; its last growth by half changed {} %",
            number(100.0 * growth)
        )
    });
    text += &format!(
        "dynamic program: at most {} waiting jobs, {} states, {} sweeps, the optimum there between {} and {}{grown}\n",
        sides.collect::<Vec<_>>().join(" × "),
        found.states,
        found.sweeps,
        below(found.lower_bound),
        number(found.upper_bound_in_box),
    );
    if found.policies.is_empty() {
        return text;
    }
    let mean = format!("E[T] [{unit}]");
    let mut rows = Table::new(["policy, simulated", &mean, "over the bound"]);
    for distance in &found.policies {
        let response = match distance.health {
            Health::Unstable => "unstable".into(),
            Health::Unsettled => "unsettled".into(),
            Health::Settled => estimate(distance.response),
        };
        let over = distance
            .over
            .map_or("–".into(), |over| format!("{:+.1} %", 100.0 * over));
        rows.row([distance.policy.clone(), response, over]);
    }
    format!("{text}\n{}", rows.within(width))
}

//! What each family of policies does, for a reader who has never seen it.

use crate::artifact::{
    AdaptiveMsrPolicy, Backfill, Family, MaxWeightPolicy, MsrPolicy, Order, PartitionPolicy,
    Placement, PooledEasyPolicy, PooledPolicy, Preemption, StaticQuickswapPolicy, Switching,
    TdcKnobs, TdcOrder,
};
use crate::workload::Workload;

impl Family {
    /// Says what the policy does, for a reader who has never seen it.
    pub fn words(&self, workload: &Workload) -> String {
        match self {
            Family::FirstFit(_) => "First-Fit, without preemption: whenever there is room, the oldest waiting job that fits starts.".into(),
            Family::MostServersFirst(_) => "Most Servers First, without preemption: whenever there is room, the waiting job that needs most of those that fit starts; need is the dominant share.".into(),
            Family::LeastServersFirst(_) => "Least Servers First, without preemption: whenever there is room, the waiting job that needs least of those that fit starts; need is the dominant share.".into(),
            Family::EasyByMean(_) => "EASY backfilling, without preemption: jobs start in order of arrival; while the oldest waits for room, others pass it that end before it can start or leave it its room, each taken to be as long as the mean of its type.".into(),
            Family::EasyBackfill(_) => "EASY backfilling, without preemption: jobs start in order of arrival; while the oldest waits for room, others pass it that end before it can start or leave it its room, each taken to be as long as its limit.".into(),
            Family::AdaptiveQuickswap(_) => "Adaptive Quickswap, without preemption: the largest jobs first, until others wait in vain.".into(),
            Family::ServerFilling(_) => "ServerFilling, with preemption: of the oldest jobs that need all servers together, those that need most run, each that fits.".into(),
            Family::Msr(policy) => msr(policy, workload),
            Family::StaticQuickswap(policy) => static_quickswap(policy, workload),
            Family::AdaptiveMsr(policy) => adaptive_msr(policy),
            Family::Reserving(policy) => format!(
                "First-Fit with a reservation, without preemption: the oldest waiting job that fits starts. Where the waiting work of a type that does not fit is worth {} times what is wasted until it does, room is kept for one job of it (worth); until that starts, others start that fit beside it, or whose {} is at most {} times what is left of the wait (let in). Then jobs of that type take the places of those that end, until {} times as much work waits of another type with a reservation (exhaust).",
                policy.worth,
                if policy.limits { "limit" } else { "mean size" },
                policy.let_in,
                policy.exhaust
            ),
            Family::Tdc(policy) => tdc(policy.knobs),
            Family::MaxWeight(policy) => format!(
                "MaxWeight, with preemption: of the schedules that there are jobs for, that of the most weight is served; each {}",
                weights(policy, workload)
            ),
            Family::MaxWeightSetup(policy) => format!(
                "MaxWeight with setups: jobs are preempted, and their room is held for a setup of {:.4} {} on average. Of the schedules that there are jobs for, that of the most weight is gone to where the gain outlasts the way there (eagerness {}), by stopping jobs or by waiting for their ends, whichever loses less (haste {}); else what waits starts where it fits. Each {}",
                1.0 / policy.setup_rate,
                workload.time_unit(),
                policy.eagerness,
                policy.haste,
                weights(&policy.weights, workload)
            ),
            Family::Pooled(policy) => pooled(policy, workload),
            Family::PooledEasy(PooledEasyPolicy { limits }) => format!(
                "EASY backfilling over all servers, without preemption: jobs wait in one place and start in order of arrival, where the least room is left. While the oldest fits nowhere, one server is kept for it; others start elsewhere, and there if they end before it can start or leave it its room, each taken to be as long as {}.",
                if *limits { "its limit" } else { "the mean of its type" }
            ),
            Family::Partition(policy) => partition(policy, workload),
            Family::Guarded(policy) => format!(
                "{}\nUnder guard: from {} jobs in the system on, a policy whose stability is proved takes over, until fewer than {} remain. {}",
                policy.rule.words(workload),
                policy.from,
                policy.until,
                Family::from(policy.guard.clone()).words(workload)
            ),
        }
    }
}

fn msr(policy: &MsrPolicy, workload: &Workload) -> String {
    let way = match policy.preemption {
        Preemption::None => {
            "jobs run to their end, and those that the next schedule has no place for are waited for"
        }
        Preemption::Setup => "jobs are preempted, and their room is held for a setup time",
        Preemption::Full => "jobs are preempted at no cost",
    };
    let left = match policy.backfill {
        Backfill::None => "",
        Backfill::FirstFit => "; room that is left is offered to other waiting jobs",
    };
    match policy.order.len() {
        1 => format!("MSR: one schedule serves all types, and is never left{left}."),
        count => format!(
            "MSR: it works on {count} schedules in turn. A clock ends each after an exponential time, on average after {:.4} {} of work; {way}{left}.",
            1.0 / policy.switching_rate,
            workload.time_unit()
        ),
    }
}

fn static_quickswap(policy: &StaticQuickswapPolicy, workload: &Workload) -> String {
    let turn = |i: &usize| {
        let name = workload.types()[*i].name();
        format!("{name} ({})", policy.thresholds[*i])
    };
    let turns: Vec<String> = policy.cycle.iter().map(turn).collect();
    let next = if policy.overlap {
        "as soon as it fits, while the last one drains"
    } else {
        "when the last one has drained"
    };
    format!(
        "Static Quickswap, without preemption: the types have their turns in the order {}. A turn ends when no more jobs of the type are left than its threshold (in brackets), all in service, and another type waits; the next type starts {next}.",
        turns.join(", ")
    )
}

fn adaptive_msr(policy: &AdaptiveMsrPolicy) -> String {
    let Switching {
        waste,
        margin,
        floor,
        patience,
        drain,
        let_in,
    } = policy.switching;
    let ready = if drain > 0.0 {
        format!(
            "; a schedule weighs less by F/(F + {drain} D), where room for what it lacks most takes D and its jobs last for F (drain)"
        )
    } else {
        " and can start a job at once".into()
    };
    let (length, limits) = if policy.limits {
        ("limit", " by the limits of those that run")
    } else {
        ("mean size", "")
    };
    let beside = if let_in > 0.0 {
        format!(
            ", or they fit beside all of the schedule, or their {length} is at most {let_in} times what is left of the wait{limits} (let in)"
        )
    } else {
        String::new()
    };
    format!(
        "Adaptive MSR, without preemption: it works on one schedule of the mix below at a time. It leaves it for the schedule that weighs most by queue lengths when the present one uses no more than {:.0} % of what it could (waste), or when the other weighs more than {} times as much plus {floor} jobs (margin, floor){ready}. While jobs of the schedule wait for room, others start only if what would stay idle weighs less than {patience} jobs (patience){beside}.",
        100.0 * waste,
        1.0 + margin
    )
}

fn tdc(knobs: TdcKnobs) -> String {
    let TdcKnobs {
        exponent,
        favour,
        reserve,
        margin,
        let_in,
        patience,
        order,
    } = knobs;
    let first = match order {
        TdcOrder::Worth => "those of the most urgent type first",
        TdcOrder::Age => "the oldest first",
    };
    format!(
        "TDC (targets, drain, commitment), without preemption: of the sets of jobs that might run it goes to the one that earns most a time, the way there included. A job in service earns its price times the {exponent}th power of the number of its type in the system (exponent), less for large and long jobs (favour {favour}). A set counts for {patience} times as long as the jobs that room is made for last (patience), and another one has to be better by {:.0} % (margin). Jobs start, {first}, if they leave room for {reserve} times what shorter ones bring while they run (reserve), or room is made for them; during a drain, if their mean size is at most {let_in} times what is left of it (let in).",
        100.0 * margin
    )
}

fn weights(policy: &MaxWeightPolicy, workload: &Workload) -> String {
    let pairs = workload.types().iter().zip(&policy.worths);
    let worths: Vec<String> = pairs.map(|(t, c)| format!("{c:.3} {}", t.name())).collect();
    format!(
        "of Q jobs of a type weighs c Q^{}, where c is {}.",
        policy.exponent,
        worths.join(", ")
    )
}

fn pooled(policy: &PooledPolicy, workload: &Workload) -> String {
    let order = match policy.order {
        Order::Fcfs => "the oldest job starts, and none before it",
        Order::Oldest => "the oldest job that fits somewhere starts",
        Order::Largest => "the largest job that fits somewhere starts, by dominant share",
        Order::Smallest => "the smallest job that fits somewhere starts, by dominant share",
    };
    let placement = match policy.placement {
        Placement::First => "on the first server that has room for it",
        Placement::Best => "on the server with the least room left that has room for it",
    };
    let kept = if policy.reserve > 0.0 {
        format!(
            " Room is kept: a job starts only where after it, beside the jobs that are longer than they, at least {} (1 − E[S_j]/E[S_i]) λ_j E[S_j] jobs of each shorter type j still fit on all servers; i is its own type.",
            policy.reserve
        )
    } else {
        String::new()
    };
    let zone = policy.zone.as_ref().map_or(String::new(), |zone| {
        let names: Vec<&str> = zone.types.iter().map(|i| workload.types()[*i].name()).collect();
        let servers: Vec<String> = zone.servers.iter().map(u32::to_string).collect();
        format!(
            " A zone is kept: on the first {} servers, by shape, only jobs of {} start; they start elsewhere, too.",
            servers.join(", "),
            names.join(", ")
        )
    });
    format!(
        "Over all servers, without preemption: jobs wait in one place, and whenever there is room, {order}, {placement}.{kept}{zone}"
    )
}

fn partition(policy: &PartitionPolicy, workload: &Workload) -> String {
    let types = workload.types().iter();
    let nodes: Vec<u32> = types.clone().map(|t| t.nodes()).collect();
    let each = types.zip(policy.jobs(0, &nodes));
    let slots: Vec<String> = each.map(|(t, c)| format!("{c} of {}", t.name())).collect();
    let slots = slots.join(", ");
    match policy.switching_rate {
        None => format!(
            "A partition: each server keeps one schedule, without preemption; jobs wait in one place for a slot of their type, of which there are {slots}."
        ),
        Some(rate) => format!(
            "A partition in {} assignments, without preemption: each server keeps one schedule until a clock (α = {rate} per {}) leads to the next assignment; servers with another schedule there start nothing until they are empty. Jobs wait in one place for a slot of their type; at first there are {slots}.",
            policy.assignments.len(),
            workload.time_unit()
        ),
    }
}

//! What a person should know of a synthesized policy, or why there is none.

use super::{about, attained, rule};
use crate::artifact::Quantity;
use crate::synthesis::{COMPETITORS, Competitor, Made, TUNED};
use crate::workload::{Campaign, Quality, Shortage};
use synth_verb::report::{Table, estimate, number, percent, wrap};

/// Describes a policy: what it attains, what others do, and what it was chosen from.
pub fn synthesized(campaign: &Campaign, synthesized: &Made, width: usize) -> String {
    let others = &synthesized.competitors;
    let rule = rule(&synthesized.artifact.policy.dispatch);
    let simulated = format!(
        "simulated in {} campaigns that decided nothing, 95 % intervals; a heuristic: no optimum is known",
        synthesized.run.campaigns.len()
    );
    let mut text = format!(
        "{}: {rule}\n\n{}\n{}\n",
        about(campaign),
        attained(campaign, &synthesized.run, width),
        wrap(&simulated, width)
    );
    let mut notes = Vec::new();
    let ended = |before: &str| format!("the budget ended before {before}: give a larger --budget");
    if synthesized.cut {
        notes.push(ended("all parameters were tried"));
    }
    if others.is_empty() {
        notes.push(ended("other rules were run beside it"));
    } else {
        text += &format!("\n{}\n", competitors(campaign, others, width));
    }
    let stands = |name: &str| others.iter().any(|other| other.rule == name);
    let taken = COMPETITORS.into_iter().find(|name| !stands(name));
    notes.extend(taken.filter(|_| stands(TUNED)).map(|name| {
        format!("taken is {name}: in other campaigns it was surely better than what tuning found ({TUNED})")
    }));
    notes.extend(others.iter().filter_map(better));
    let in_time =
        [Quantity::ShortJobs, Quantity::LongJobs].map(|own| synthesized.run.estimate(own));
    if in_time.iter().flatten().any(|own| own.mean == 0.0) {
        let none = "NO JOB OF SOME BATCHES WAS DONE IN TIME: set later deadlines, or look at contact, delay and buffer of the hosts.";
        notes.push(none.into());
    }
    let batches = campaign.batches();
    let applications: Vec<usize> = batches.iter().map(|b| b.application).collect();
    let usual = campaign.capacity(&applications).usual;
    let needed: f64 = batches.iter().map(|b| campaign.work(b)).sum();
    notes.push(format!(
        "\nall hosts, on as often as they are and as right as they are, do {} of work a {}, and what there is to do is {} of that\n",
        number(usual),
        campaign.time_unit(),
        percent(needed / (usual * campaign.horizon()))
    ));
    text + &wrap(&notes.join("\n"), width)
}

/// Shows what others do on the same campaigns.
fn competitors(campaign: &Campaign, others: &[Competitor], width: usize) -> String {
    let mut table = Table::new(["beside it", "median makespan, times", "instances, times"]);
    let mut batches = campaign.batches().iter();
    let has_makespan = batches.any(|batch| batch.quality == Quality::Afap);
    for other in others {
        let makespan = match other.makespan {
            None if has_makespan => "not all done".into(),
            found => estimate(found),
        };
        table.row([other.rule.into(), makespan, estimate(other.instances)]);
    }
    table.within(width)
}

/// Returns why a rule that is surely better was not taken.
fn better(other: &Competitor) -> Option<String> {
    let excess = other.excess?;
    let why = match other.rule {
        "literal" => "the workload's `policy` asks for other parameters",
        _ => "no policy file can say it",
    };
    (excess.mean + excess.half_width < 0.0).then(|| {
        format!(
            "{} is surely better here, {} times the median makespan ({} of it and of deadlines in all): {why}",
            other.rule,
            estimate(other.makespan),
            estimate(Some(excess))
        )
    })
}

/// Returns why no rule can do the work.
pub fn impossible(campaign: &Campaign, shortage: &Shortage, width: usize) -> String {
    let unit = campaign.time_unit();
    let words = match shortage {
        Shortage::Never { batch, why } => format!("Batch `{batch}` can never be done: {why}."),
        Shortage::TooMuch {
            batch,
            work,
            most,
            time,
        } => {
            let (what, how, note) = match batch {
                Some(batch) => (
                    format!("Batch `{batch}` can never be done in time: its jobs need"),
                    "with nothing else to do, on as long as their availability allows and in time to report",
                    "",
                ),
                None => (
                    "The hosts can never do all this: all jobs need".into(),
                    "in the mean",
                    " (For streams hosts are on as often as they are, and wrong results do not count; for batches hosts are on at all times.)",
                ),
            };
            format!(
                "{what} {} of work (jobs times quorum times mean size), and all hosts together, {how}, do {} in {} {unit}: {} times too much.{note}",
                number(*work),
                number(*most),
                number(*time),
                number(work / most)
            )
        }
        Shortage::TooLong {
            batch,
            size,
            parts,
            time,
        } => {
            let whats = [
                "until its version is released",
                "on the fastest processors that its quorum needs",
                "while the host is off",
                "until its result is reported",
            ];
            let each = parts.iter().zip(whats).filter(|(time, _)| **time > 0.0);
            let each = each.map(|(time, what)| format!("{} {unit} {what}", number(*time)));
            format!(
                "Batch `{batch}` can never be done in time: a job has {} of work, which takes {} {unit} at least ({}), and there are {} {unit} until its deadline, its bound or the end of the campaign.",
                number(*size),
                number(parts.iter().sum()),
                each.collect::<Vec<_>>().join(" + "),
                number(*time)
            )
        }
    };
    wrap(&words, width)
}

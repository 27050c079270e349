use itertools::Itertools as _;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::agreement::Agreement;
use crate::judge::{
    EstimateAccuracy, JudgedWindow, LogWindows, QueueRule, SelectionCriteria, WaitSummary,
    WaitsAndSizes, WalkForward, baseline_rules, slurm_rules,
};
use crate::slurm::{Effect, SiteResults};
use crate::verbs::SEED;
use synth_slurm::configuration::SlurmSite;
use synth_traces::replay::{Blocks, Interval, LogError, bounded_slowdown};

/// The results of `synth judge`. All times are in seconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Judged {
    /// The path to the log.
    pub file: String,
    /// The number of jobs.
    pub jobs: u64,
    /// Whether there are time limits in the log.
    pub has_limits: bool,
    /// Whether there are users in the log.
    pub has_users: bool,
    /// The fluid bound on the load at this speed.
    pub load: f64,
    /// The criteria that are used to select a rule.
    pub goal: SelectionCriteria,
    /// The windows that the log is divided into.
    pub cut: LogWindows,
    /// The seed for the confidence intervals.
    pub seed: u64,
    /// The results for the current rule, for the rules that were selected, and for the baselines.
    pub rules: Vec<Row>,
    /// Each window and the rule that was selected for it.
    pub windows: Vec<JudgedWindow>,
    /// The guarantees, or `None` if there are none.
    pub promise: Option<Promise>,
    /// The waits for each class of jobs.
    pub classes: Vec<Class>,
    /// The accuracy of each estimate of the job size.
    pub estimates: Vec<EstimateAccuracy>,
    /// A comparison of the replay of the current rule with the log, or `None` if there are no start
    /// times, or if the speed is not 1.
    pub agreement: Option<Agreement>,
    /// The settings that may affect the start of jobs, but are not included in the replay.
    pub not_modeled: Vec<String>,
    /// The arguments for the site as they are typed, if the current rule is its scheduler.
    #[serde(skip)]
    pub(super) site: Option<String>,
    /// Whether the changes of the configuration of the site are advised.
    #[serde(skip)]
    pub(super) is_advised: bool,
}

/// The scheduler of a site and its results, with the arguments for the site as they are typed.
pub(super) struct JudgedSite<'a> {
    pub site: &'a SlurmSite,
    pub results: &'a SiteResults,
    pub typed: String,
}

/// The role of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The rule that is currently used.
    Now,
    /// The rules that were selected for each window using only earlier jobs.
    Chosen,
    /// The order that can be set in Slurm and was best for the jobs before the first window.
    Exportable,
    /// A rule in common use that is used for all windows.
    Hindsight,
    /// A rule that knows the size of each job, which is a baseline that cannot be achieved.
    Yardstick,
    /// The schedule in the log.
    Recorded,
}

/// The results of a rule for all windows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Row {
    /// The name of the rule.
    pub rule: String,
    /// The role of the rule.
    pub role: Role,
    /// The waits of the jobs.
    pub outcome: WaitSummary,
    /// The confidence interval for the mean wait.
    pub wait: Option<Interval>,
    /// The confidence interval for the mean wait relative to the current rule (same blocks).
    pub wait_ratio: Option<Interval>,
    /// The confidence interval for the mean bounded slowdown relative to the current rule.
    pub slowdown_ratio: Option<Interval>,
    #[serde(skip)]
    jobs: WaitsAndSizes,
}

/// The maximum waits that are guaranteed for the windows.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Promise {
    /// The smallest and the largest value of the guarantee.
    pub longest: [f64; 2],
    /// The number of windows with a guarantee.
    pub windows: usize,
    /// The number of windows where the guarantee was met.
    pub kept: usize,
}

/// A class of jobs, which is defined by the quartiles of the demand and of the size.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Class {
    #[serde(skip)]
    pub(super) quarter: usize,
    /// The range of the demand, as a fraction of all servers.
    pub share: [f64; 2],
    /// The range of the size.
    pub size: [f64; 2],
    /// The number of jobs.
    pub jobs: u64,
    /// The mean wait with the current rule.
    pub now: f64,
    /// The mean wait with the rules that were selected.
    pub chosen: f64,
}

impl Judged {
    pub(super) fn of(
        forward: &WalkForward<'_>,
        file: String,
        site: Option<JudgedSite<'_>>,
        listener: &mut dyn FnMut(&str),
    ) -> Result<Self, LogError> {
        let (log, goal) = (forward.log, forward.goal);
        let (windows, served, estimates) = forward.evaluate_selection(&mut |n, count| {
            listener(&format!("selecting the rule of window {n} of {count}"));
        })?;
        listener("replaying rules in common use");
        let now = &goal.now;
        let mut rows = current_and_exportable(forward, site.as_ref().map(|own| own.results))?;
        rows.insert(
            1,
            row("selected in each window".into(), Role::Chosen, served),
        );
        let first = rows.len();
        let is_shown = |own: &(QueueRule, bool)| site.is_some() || *own != (*now, false);
        let others = baseline_rules(log.has_limits).filter(is_shown);
        let others = others.collect_vec().into_par_iter();
        let others = others.map(|(point, sizes)| {
            let (role, knows) = match sizes {
                true => (Role::Yardstick, "+size"),
                false => (Role::Hindsight, ""),
            };
            let served = forward.evaluate_rule(&point, sizes)?;
            Ok(row(point.name() + knows, role, served))
        });
        rows.extend(others.collect::<Result<Vec<Row>, LogError>>()?);
        rows[first..].sort_by(|a, b| {
            let key = |row: &Row| (row.role as u8, row.outcome.mean_wait);
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        rows.extend(recorded(forward));
        set_intervals(forward, &mut rows);
        let best = site.as_ref().and_then(|own| own.results.best.as_ref());
        let effect = best.map(|(effect, _)| effect);
        let exportable = rows.iter_mut().find(|row| row.role == Role::Exportable);
        if let (Some(effect), Some(row)) = (effect, exportable) {
            row.wait_ratio = effect.interval;
        }
        let first = forward.first();
        let is_recorded = forward.windows.speed.ratio() == 1.0;
        let agreement =
            is_recorded.then(|| Agreement::of(log, first, |n| rows[0].jobs[n - first].0));
        Ok(Judged {
            agreement: agreement.flatten(),
            not_modeled: site
                .as_ref()
                .map(|own| own.site.not_modeled.clone())
                .unwrap_or_default(),
            is_advised: effect.is_some_and(Effect::is_sure),
            site: site.map(|own| own.typed),
            classes: classes(forward, &rows),
            promise: promise(&windows, &rows[1].jobs),
            jobs: log.arrivals().len() as u64,
            has_limits: log.has_limits,
            has_users: log.jobs.iter().any(|job| job.user != 0),
            load: log.load() * forward.windows.speed.ratio(),
            file,
            goal,
            cut: forward.windows,
            seed: SEED,
            rules: rows,
            windows,
            estimates,
        })
    }
}

/// Returns the current rule, and the best order that can be set in Slurm if there is one.
fn current_and_exportable(
    forward: &WalkForward<'_>,
    site: Option<&SiteResults>,
) -> Result<Vec<Row>, LogError> {
    let Some(site) = site else {
        let now = &forward.goal.now;
        let mut rows = vec![row(
            now.name(),
            Role::Now,
            forward.evaluate_rule(now, false)?,
        )];
        let best = match forward.log.has_limits {
            true => Some(forward.best_among(&slurm_rules())?.point).filter(|own| own != now),
            false => None,
        };
        if let Some(point) = best {
            let served = forward.evaluate_rule(&point, false)?;
            rows.push(row(point.name(), Role::Exportable, served));
        }
        return Ok(rows);
    };
    let per_second = forward.log.tick.per_second() as f64;
    let first = forward.first();
    let served = |waits: &[f64]| {
        let jobs = forward.log.jobs[first..].iter();
        let pairs = waits[first..].iter().zip(jobs);
        pairs
            .map(|(wait, job)| (*wait, job.size / per_second))
            .collect()
    };
    let best = site.best.iter();
    let best = best.map(|(own, waits)| row(own.what.clone(), Role::Exportable, served(waits)));
    let today = row("slurm".into(), Role::Now, served(&site.today));
    Ok(std::iter::once(today).chain(best).collect())
}

/// Returns the recorded schedule, if it is known for all jobs and if the speed is 1.
fn recorded(forward: &WalkForward<'_>) -> Option<Row> {
    let per_second = forward.log.tick.per_second() as f64;
    let own = forward.log.jobs[forward.first()..].iter();
    let own = own.map(|job| (job.waited / per_second, job.size / per_second));
    let jobs: WaitsAndSizes = own.collect();
    let is_told = jobs.iter().all(|(wait, _)| !wait.is_nan());
    let is_recorded = forward.windows.speed.ratio() == 1.0 && is_told;
    is_recorded.then(|| row("as recorded".into(), Role::Recorded, jobs))
}

fn set_intervals(forward: &WalkForward<'_>, rows: &mut [Row]) {
    let scale = forward.log.tick.per_second() as f64 * forward.windows.speed.ratio();
    let own = forward.log.jobs[forward.first()..].iter();
    let submits: Vec<f64> = own.map(|job| job.submit / scale).collect();
    let ends = [submits.first(), submits.last()];
    let within = ends.map(|own| own.copied().unwrap_or(0.0));
    let longest = rows[..2].iter().map(|row| row.outcome.mean_wait);
    let block = Blocks::length(longest.fold(0.0, f64::max));
    let Some(blocks) = Blocks::draw(&submits, within, block, SEED) else {
        return;
    };
    let means = |row: &Row, of: fn(&(f64, f64)) -> f64| blocks.means(row.jobs.iter().map(of));
    let wait = |(wait, _): &(f64, f64)| *wait;
    let slowdown = |(wait, size): &(f64, f64)| bounded_slowdown(wait + size, *size);
    let now = [means(&rows[0], wait), means(&rows[0], slowdown)];
    for (n, row) in rows.iter_mut().enumerate() {
        // If a row waits for longer than the first two, the blocks are too short for it.
        if Blocks::length(row.outcome.mean_wait) > block {
            continue;
        }
        let own = [means(row, wait), means(row, slowdown)];
        row.wait = Interval::of(own[0].iter().flatten().copied());
        if n > 0 {
            row.wait_ratio = Interval::of_ratio(&own[0], &now[0]);
            row.slowdown_ratio = Interval::of_ratio(&own[1], &now[1]);
        }
    }
}

/// Returns the quartiles of the demand and, in each of them, of the size.
fn classes(forward: &WalkForward<'_>, rows: &[Row]) -> Vec<Class> {
    let jobs = &forward.log.jobs[forward.first()..];
    let held = |n: usize| forward.kinds.most_held(jobs[n].kind);
    let [now, chosen] = [&rows[0].jobs, &rows[1].jobs];
    let mut classes = Vec::new();
    let wide = quartiles((0..now.len()).collect(), held);
    for (quarter, wide) in wide.into_iter().enumerate() {
        for long in quartiles(wide, |n| now[n].1) {
            let ends = |of: &dyn Fn(usize) -> f64| -> [f64; 2] {
                let ends = long.iter().map(|n| of(*n)).minmax().into_option();
                ends.unwrap_or_default().into()
            };
            let mean =
                |of: &[(f64, f64)]| long.iter().map(|n| of[*n].0).sum::<f64>() / long.len() as f64;
            classes.push(Class {
                quarter,
                share: ends(&held),
                size: ends(&|n| now[n].1),
                jobs: long.len() as u64,
                now: mean(now),
                chosen: mean(chosen),
            });
        }
    }
    classes
}

fn promise(windows: &[JudgedWindow], served: &[(f64, f64)]) -> Option<Promise> {
    let first = windows.first()?.jobs[0];
    let promised = windows.iter().filter_map(|own| {
        let longest = own.choice.promised?;
        let jobs = &served[own.jobs[0] - first..own.jobs[1] - first];
        Some((longest, jobs.iter().all(|(wait, _)| *wait <= longest)))
    });
    let promised: Vec<(f64, bool)> = promised.collect();
    let longest = promised.iter().map(|(longest, _)| *longest).minmax();
    Some(Promise {
        longest: longest.into_option()?.into(),
        windows: promised.len(),
        kept: promised.iter().filter(|(_, is_kept)| *is_kept).count(),
    })
}

fn row(rule: String, role: Role, jobs: WaitsAndSizes) -> Row {
    Row {
        rule,
        role,
        outcome: WaitSummary::of(jobs.iter().copied()),
        wait: None,
        wait_ratio: None,
        slowdown_ratio: None,
        jobs,
    }
}

/// Splits jobs at the quartiles of a value into nonempty parts, where equal values stay together.
fn quartiles(jobs: Vec<usize>, of: impl Fn(usize) -> f64) -> Vec<Vec<usize>> {
    let mut values: Vec<f64> = jobs.iter().map(|job| of(*job)).collect();
    values.sort_unstable_by(f64::total_cmp);
    let cuts = [1, 2, 3].map(|quarter| values.get(quarter * values.len() / 4).copied());
    let mut parts = vec![Vec::new(); 4];
    for job in jobs {
        let is_behind = |cut: &&Option<f64>| cut.is_some_and(|cut| cut <= of(job));
        parts[cuts.iter().filter(is_behind).count()].push(job);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::judge::{ChosenRule, QueueRule};

    /// The longest guarantee of all windows would hide that the second one is not met.
    #[test]
    fn guarantees_are_evaluated_per_window() {
        let window = |jobs, promised| JudgedWindow {
            from: 0.0,
            jobs,
            past: 100,
            choice: ChosenRule {
                point: QueueRule::EASY,
                ratio: 1.0,
                promised,
                keeps: true,
                tried: 1,
            },
        };
        let windows = [
            window([5, 6], None),
            window([6, 8], Some(10.0)),
            window([8, 9], Some(2.0)),
        ];
        let served = [(99.0, 1.0), (10.0, 1.0), (0.0, 1.0), (3.0, 1.0)];
        let found = promise(&windows, &served).unwrap();
        assert_eq!((found.windows, found.kept), (2, 1));
        assert_eq!(found.longest, [2.0, 10.0]);
        assert!(promise(&windows[..1], &served).is_none());
    }
}

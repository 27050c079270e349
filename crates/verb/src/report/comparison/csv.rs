//! One number a line.

use super::Besides;
use crate::report::Csv;
use crate::report::plot::Drawn;
use synth_simulation::sweep::{AtLoad, Comparison};
use synth_simulation::{ClassResult, Ending, Estimate, Health, Run};

const HEADER: &str = "load,policy,type,quantity,value,half_width,unit";

/// Writes the numbers of a comparison, one a line: load, policy, type (or `all`), quantity, value, half
/// the width of its 95 % interval (empty where none is known), unit. `stable` is 1 for a policy
/// with means, 0 for an unstable one, and empty where the run was too short to tell;
/// `ratio_to_fastest` is against the fastest policy at that load, with an interval that holds
/// together with the others there.
///
/// # Errors
/// When the text cannot be put together.
pub fn comparison_csv<M, C>(
    besides: &Besides<'_, M, C>,
    comparison: &Comparison<M, C>,
) -> Drawn<String> {
    let mut table = Csv::titled(HEADER.split(','))?;
    for cell in &comparison.cells {
        let Some(run) = cell.run() else { continue };
        let mut lines = Lines::default();
        lines.of_run(besides, run, &comparison.header.workload.time_unit);
        let mut rankings = comparison.rankings.iter();
        let at = rankings.find(|at| at.load.to_bits() == cell.load.to_bits());
        // The fastest makes no pair with itself.
        if let Some(AtLoad { ranking, .. }) = at
            && let Some(fastest) = ranking.order.first()
            && let Some(pair) = ranking.pair(&cell.policy, &fastest.policy)
        {
            lines.of = "all".into();
            let ratio = [pair.ratio.mean, pair.simultaneous_half_width];
            lines.add("ratio_to_fastest", Some(ratio), "1");
        }
        for [of, quantity, value, half_width, unit] in &lines.lines {
            let load = cell.load.to_string();
            table.row([&load, &cell.policy, of, quantity, value, half_width, unit])?;
        }
    }
    table.text()
}

/// Lines of a run: type, quantity, its value, the half-width of its interval, its unit.
#[derive(Default)]
struct Lines {
    /// The type that further lines are about.
    of: String,
    lines: Vec<[String; 5]>,
}

impl Lines {
    /// Adds a value with its half-width: empty where there is none that is finite.
    fn add(&mut self, quantity: &str, number: Option<[f64; 2]>, unit: &str) {
        let [value, half_width] = number.unwrap_or([f64::NAN; 2]).map(|number| {
            let finite = Some(number).filter(|number| number.is_finite());
            finite.map_or(String::new(), |number| number.to_string())
        });
        let (of, quantity, unit) = (self.of.clone(), quantity.into(), unit.into());
        self.lines.push([of, quantity, value, half_width, unit]);
    }

    fn plain(&mut self, quantity: &str, value: Option<f64>, unit: &str) {
        self.add(quantity, value.map(|value| [value, f64::NAN]), unit);
    }

    fn estimate(&mut self, quantity: &str, estimate: Option<Estimate>, unit: &str) {
        self.add(quantity, estimate.map(|e| [e.mean, e.half_width]), unit);
    }

    fn of_run<M, C>(&mut self, besides: &Besides<'_, M, C>, run: &Run<M, C>, time: &str) {
        self.of = "all".into();
        let flag = |is: bool| f64::from(u8::from(is));
        let is_settled = run.health == Health::Settled;
        let stable = (run.health != Health::Unsettled).then(|| flag(is_settled));
        self.plain("stable", stable, "1");
        let is_cut = run.ending == Ending::Interrupted;
        self.plain("interrupted", Some(flag(is_cut)), "1");
        self.plain("events", Some(run.events as f64), "1");
        self.plain("simulated_time", Some(run.simulated_time), time);
        self.plain("warm_up", Some(run.warm_up), time);
        for (quantity, count) in besides.counts {
            self.plain(quantity, Some(count(run) as f64), "1");
        }
        if is_settled {
            let means = [run.mean_response, run.mean_waiting];
            self.times(means, [run.percentiles, run.waiting_percentiles], time);
            self.estimate("weighted_response", run.weighted_response, time);
            self.estimate("mean_number", run.mean_number, "jobs");
            for (quantity, of) in besides.frequencies {
                self.estimate(quantity, of(run), &format!("1/{time}"));
            }
            self.plain("fairness_jain", run.fairness, "1");
            for shares in besides.shares {
                for (part, value) in besides.parts.iter().zip((shares.of)(run)) {
                    let quantity = format!("{}.{part}", shares.quantity);
                    self.plain(&quantity, Some(*value), "1");
                }
            }
        }
        for own in &run.types {
            self.of_type(own, is_settled, time);
        }
    }

    fn times(
        &mut self,
        [response, waiting]: [Option<Estimate>; 2],
        percentiles: [Option<[f64; 3]>; 2],
        unit: &str,
    ) {
        self.estimate("mean_response", response, unit);
        self.estimate("mean_waiting", waiting, unit);
        for (of, values) in ["response", "waiting"].iter().zip(percentiles) {
            for (n, place) in ["p50", "p95", "p99"].iter().enumerate() {
                self.plain(&format!("{of}_{place}"), values.map(|p| p[n]), unit);
            }
        }
    }

    fn of_type<C>(&mut self, own: &ClassResult<C>, is_settled: bool, time: &str) {
        self.of.clone_from(&own.name);
        if is_settled {
            let percentiles = [own.percentiles, own.waiting_percentiles];
            self.times([own.mean_response, own.mean_waiting], percentiles, time);
            self.estimate("slowdown", own.slowdown, "1");
            self.estimate("mean_number", own.mean_number, "jobs");
            self.estimate("mean_in_service", own.mean_in_service, "jobs");
            self.plain("completions", Some(own.completions as f64), "jobs");
        }
        self.plain("left", Some(own.left as f64), "jobs");
    }
}

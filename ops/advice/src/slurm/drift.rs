//! The interval of a ratio of mean waits for a following period of the same length.
//!
//! A bootstrap of the jobs of one period shows how uncertain the ratio of this period is. The ratio
//! of the next period differs from it by more: its jobs are others, and the load and the users
//! change. The difference is modeled as normal with mean 0 and an unknown variance, for which there
//! are three sources of information, combined with a scaled inverse χ² prior as in Gelman et al.
//! (Bayesian Data Analysis, 3rd edition, 2013, section 2.6):
//!
//! - the prior, which grows with the fraction of the waiting time that is moved by the change;
//! - the sampling error of the bootstrap, twice, because the next period has one as well;
//! - the difference between the ratios of the two halves of the log.
//!
//! The predictive distribution is then Student's t, whose degrees of freedom are the sum of all.

use std::collections::BTreeMap;

use synth_simulation::student;
use synth_traces::replay::Interval;

/// The prior variance of the difference if the change moves all waiting time. It was set with
/// 36 pairs of periods of four weeks of HPC2N, KTH-SP2 and Theta, of which 34 then were in the
/// interval.
const PRIOR: f64 = 0.06;
/// The degrees of freedom of the prior, of the bootstrap of at least ten blocks, and of the
/// difference between two halves.
const FREEDOM: [f64; 3] = [5.0, 9.0, 1.0];
/// The distance of the upper end of the one-sided 95 % interval from the ratio, relative to that of
/// [`following`], for 15 degrees of freedom.
pub(super) const ONE_SIDED: f64 = 0.8225;
/// The quantile of the normal distribution that belongs to an [`Interval`].
const NORMAL: f64 = 1.96;

/// The wait of a job with the current configuration and with the change \[s\].
#[derive(Clone, Copy, Debug)]
pub(super) struct PairedWait {
    /// The day of its submission.
    pub day: u64,
    pub today: f64,
    pub changed: f64,
}

/// Returns the ratio of the mean waits, or `None` if no job waits today.
fn ratio(waits: &[PairedWait]) -> Option<f64> {
    let today: f64 = waits.iter().map(|own| own.today).sum();
    let changed: f64 = waits.iter().map(|own| own.changed).sum();
    (today > 0.0).then(|| changed / today)
}

/// Returns the fraction of the waiting time that is moved by the change, where only the sum of each
/// day is considered.
fn moved<'a>(waits: impl Iterator<Item = &'a PairedWait>) -> f64 {
    let mut days: BTreeMap<u64, [f64; 2]> = BTreeMap::new();
    for own in waits {
        let [today, changed] = days.entry(own.day).or_default();
        *today += own.today;
        *changed += own.changed;
    }
    let total: f64 = days
        .values()
        .map(|[today, changed]| today.max(*changed))
        .sum();
    let moved = days
        .values()
        .map(|[today, changed]| (today - changed).abs());
    if total > 0.0 {
        moved.sum::<f64>() / total
    } else {
        0.0
    }
}

/// Returns the 95 % interval of the ratio in a following period that is as long as the period of
/// the jobs that are `judged`. The interval `within` is for these jobs, and the jobs of the `past`
/// are those of the period before. `None` if no job waits today.
pub(super) fn following(
    within: Interval,
    past: &[PairedWait],
    judged: &[PairedWait],
) -> Option<Interval> {
    let own = ratio(judged)?;
    let error = (within.high - within.low) / (2.0 * NORMAL);
    let drift = ratio(past).map(|before| (own - before).powi(2));
    let prior = PRIOR * moved(past.iter().chain(judged));
    let sources = [Some(prior), Some(2.0 * error.powi(2)), drift];
    let sources = sources.into_iter().zip(FREEDOM);
    let known = sources.filter_map(|(variance, freedom)| Some((variance?, freedom)));
    let sums = known.fold([0.0; 2], |[sum, all], (variance, freedom)| {
        [sum + freedom * variance, all + freedom]
    });
    let [sum, freedom] = sums;
    let half = student(0.975, freedom) * (sum / freedom).sqrt();
    Some(Interval {
        low: (own - half).max(0.0),
        high: own + half,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use synth_simulation::Streams;

    fn normal(stream: &mut impl FnMut() -> f64) -> f64 {
        (0..12).map(|_| stream()).sum::<f64>() - 6.0
    }

    /// In each period, the ratio is drawn from a normal distribution, and the jobs have an error of
    /// their own. The interval must contain the ratio of the next period in about 95 % of the cases
    /// for a drift like that of the prior, and an interval of the jobs alone must not.
    #[test]
    fn intervals_contain_the_ratio_of_the_next_period() {
        let mut random = Streams::new(3, 0).arrivals;
        let mut uniform = || random.uniform();
        let (drift, noise, jobs) = (0.08, 0.5, 200);
        let mut period = || {
            let mean = 0.6 + drift * normal(&mut uniform);
            let wait = |n: u64| PairedWait {
                day: n / 15,
                today: 100.0,
                changed: 100.0 * (mean + noise * normal(&mut uniform)).max(0.0),
            };
            (0..jobs).map(wait).collect::<Vec<_>>()
        };
        let half = NORMAL * noise / (jobs as f64).sqrt();
        let (mut inside, mut inside_alone) = (0, 0);
        for _ in 0..1000 {
            let [past, judged, next] = [(); 3].map(|()| period());
            let (own, then) = (ratio(&judged).unwrap(), ratio(&next).unwrap());
            let within = Interval {
                low: own - half,
                high: own + half,
            };
            let wide = following(within, &past, &judged).unwrap();
            inside += usize::from((wide.low..=wide.high).contains(&then));
            inside_alone += usize::from((within.low..=within.high).contains(&then));
        }
        assert!((930..=990).contains(&inside), "{inside}");
        assert!(inside_alone < 650, "{inside_alone}");
    }

    #[test]
    fn one_sided_intervals_have_the_same_level() {
        let ratio = student(0.95, 15.0) / student(0.975, 15.0);
        assert!((ratio - ONE_SIDED).abs() < 1e-4, "{ratio}");
    }

    /// Independent derivation: with 15 degrees of freedom, t = 2.13145. The prior is 0.06 × 0.5,
    /// twice the squared error is 2 × 0.05², and the halves differ by 0.1.
    #[test]
    fn sources_are_weighted_by_their_degrees_of_freedom() {
        let wait = |day, changed| PairedWait {
            day,
            today: 1.0,
            changed,
        };
        let within = Interval {
            low: 0.45 - 0.098,
            high: 0.45 + 0.098,
        };
        let judged = [wait(1, 0.3), wait(2, 0.6)];
        let past = [wait(0, 0.55), wait(0, 0.55)];
        let moved = (0.7 + 0.4 + 2.0 * 0.45) / 4.0;
        let variance: f64 = (5.0 * 0.06 * moved + 9.0 * 2.0 * 0.05_f64.powi(2) + 0.01) / 15.0;
        let half = 2.13145 * variance.sqrt();
        let own = following(within, &past, &judged).unwrap();
        assert!((own.high - 0.45 - half).abs() < 1e-5, "{own:?} {half}");
        assert!((own.low - 0.45 + half).abs() < 1e-5, "{own:?} {half}");
        let unchanged = [wait(0, 1.0); 3];
        let none = Interval {
            low: 1.0,
            high: 1.0,
        };
        assert_eq!(following(none, &unchanged, &unchanged), Some(none));
        let quiet = [PairedWait {
            today: 0.0,
            ..wait(0, 0.0)
        }];
        assert_eq!(following(none, &past, &quiet), None);
    }
}

use crate::workload::{JobType, Workload};
use synth_core::number::Decimal;
use synth_queues::distribution::{ArrivalProcess, CommonModulation};
use synth_simulation::{
    Arrivals, Batches, Modulated, Process, RandomStream, Sampler, numbers, weights,
};

/// All types are drawn as one process if they are Poisson processes or have a common modulation.
pub(super) fn arrivals(workload: &Workload, stream: RandomStream) -> Arrivals {
    let types = workload.types().iter();
    if workload.is_poisson() {
        let rates: Vec<f64> = types.map(JobType::arrival_rate).collect();
        return Arrivals::poisson(&rates, stream);
    }
    match workload.modulation().filter(|m| !m.is_constant()) {
        Some(common) => Arrivals::common(types.map(batches).collect(), flow(common), stream),
        None => Arrivals::mixed(types.map(process), stream),
    }
}

fn flow(common: &CommonModulation) -> Modulated {
    let (rates, initial) = (common.relative_factors(), common.stationary_distribution());
    Modulated::new(rates, &rows(&common.switching), &initial)
}

/// Returns the mean rate of the batches and their distribution, or the rate of single jobs.
fn batches(job_type: &JobType) -> (f64, Option<Batches>) {
    match job_type.arrivals() {
        ArrivalProcess::Batches {
            rate,
            sizes,
            probabilities,
            ..
        } => {
            let weights = weights(probabilities.as_deref(), sizes.len());
            let part = job_type.arrivals().equal_size_fraction();
            let alike = (part > 0.0).then(|| (part, Sampler::of(job_type.size())));
            let batches = Batches::new(sizes.clone(), &weights, alike);
            (rate.value(), Some(batches))
        }
        _ => (job_type.arrival_rate(), None),
    }
}

fn process(job_type: &JobType) -> Process {
    match job_type.arrivals() {
        _ if job_type.is_poisson() => {
            Process::Renewal(Sampler::Exponential(1.0 / job_type.arrival_rate()))
        }
        ArrivalProcess::Renewal {
            interarrival,
            batch,
        } => {
            let batches = Batches::new(vec![*batch], &[1.0], None);
            Process::Batches(batches, Sampler::of(interarrival))
        }
        ArrivalProcess::MarkovModulated { rates, switching } => {
            let initial = job_type.arrivals().stationary_distribution();
            Process::Modulated(Modulated::new(numbers(rates), &rows(switching), &initial))
        }
        ArrivalProcess::Batches { .. } | ArrivalProcess::Poisson { .. } => {
            let (rate, batches) = batches(job_type);
            let interarrival = Sampler::Exponential(1.0 / rate);
            match batches {
                Some(batches) => Process::Batches(batches, interarrival),
                None => Process::Renewal(interarrival),
            }
        }
    }
}

fn rows(matrix: &[Vec<Decimal>]) -> Vec<Vec<f64>> {
    matrix.iter().map(|row| numbers(row)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use statrs::function::erf::erfc;
    use synth_queues::distribution::SizeDistribution;
    use synth_simulation::Streams;

    fn sampler(law: &str) -> (Sampler, SizeDistribution) {
        let text = format!(
            "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{cpu: 1}}}}\njobs:\n  - {{name: a, demand: {{cpu: 1}}, arrival_rate: .1, size: {law}}}\n"
        );
        let workload = Workload::parse(&text, "one").unwrap().workload;
        let size = workload.types()[0].size().clone();
        (Sampler::of(&size), size)
    }

    fn draws(law: &str, count: usize) -> Vec<f64> {
        let sampler = sampler(law).0;
        let mut stream = Streams::new(3, 0).sizes;
        (0..count).map(|_| sampler.draw(&mut stream)).collect()
    }

    type Law = (&'static str, fn(f64) -> f64);

    /// The distribution functions are from textbooks, with parameters that were computed by hand.
    /// The shape of a Weibull distribution is ½, ⅓ and 2 for an scv of 5, 19 and 4/π − 1.
    const LAWS: [Law; 13] = [
        ("{law: exponential, mean: 2}", |x| -(-x / 2.0).exp_m1()),
        ("{law: weibull, mean: 2, scv: 1}", |x| -(-x / 2.0).exp_m1()),
        ("{law: erlang, stages: 2, mean: 1}", |x| {
            1.0 - (1.0 + 2.0 * x) * (-2.0 * x).exp()
        }),
        (
            "{law: hyperexponential, probabilities: [.3, .7], means: [2, .5]}",
            |x| 1.0 - 0.3 * (-x / 2.0).exp() - 0.7 * (-2.0 * x).exp(),
        ),
        // With probability ½, there is one stage of rate 2, and otherwise two of rates 2 and 1.
        ("{law: coxian, means: [.5, 1], onward: [.5]}", |x| {
            let both = 1.0 - 2.0 * (-x).exp() + (-2.0 * x).exp();
            0.5 * -(-2.0 * x).exp_m1() + 0.5 * both
        }),
        // The parameters are σ² = ln 5 and μ = −σ²/2.
        ("{law: lognormal, mean: 1, scv: 4}", |x| {
            let variance = 5.0_f64.ln();
            0.5 * erfc(-(x.ln() + 0.5 * variance) / (2.0 * variance).sqrt())
        }),
        ("{law: weibull, mean: 2, scv: 5}", |x| -(-x.sqrt()).exp_m1()),
        ("{law: weibull, mean: 6, scv: 19}", |x| {
            -(-x.cbrt()).exp_m1()
        }),
        (
            "{law: weibull, mean: .886226925452758, scv: .2732395447351627}",
            |x| -(-x * x).exp_m1(),
        ),
        ("{law: pareto, shape: 1.5, low: 2, high: 200}", |x| {
            (1.0 - (2.0 / x).powf(1.5)) / (1.0 - 1e-3)
        }),
        ("{law: uniform, low: 1, high: 4}", |x| {
            ((x - 1.0) / 3.0).clamp(0.0, 1.0)
        }),
        ("{law: pareto, shape: 1, low: 1, high: 1e6}", |x| {
            (1.0 - 1.0 / x) / (1.0 - 1e-6)
        }),
        // The distribution of ln S is almost uniform.
        ("{law: pareto, shape: 1e-9, low: 1, high: 1e6}", |x| {
            x.ln() / 1e6_f64.ln()
        }),
    ];

    /// The Kolmogorov–Smirnov distance is less than 1.95/√n with a probability of 99.9 %, by the
    /// inequality of Dvoretzky, Kiefer, Wolfowitz and Massart.
    #[test]
    fn sampled_sizes_have_the_distribution_of_their_law() {
        let n = 100_000;
        for (law, distribution) in LAWS {
            let mut sizes = draws(law, n);
            sizes.sort_by(f64::total_cmp);
            let mut furthest = 0.0_f64;
            for (rank, size) in sizes.iter().enumerate() {
                let below = distribution(*size);
                let ranks = [rank, rank + 1].map(|r| r as f64 / n as f64);
                for at in ranks {
                    furthest = furthest.max((below - at).abs());
                }
            }
            assert!(furthest * (n as f64).sqrt() < 1.95, "{law}: {furthest}");
        }
    }

    /// With a probability of 98 %, none of the 3000 counts exceeds 4.5 standard deviations.
    #[test]
    fn empirical_values_are_drawn_with_their_probabilities() {
        let values: Vec<String> = (1..=3000).map(|n| n.to_string()).collect();
        let law = format!("{{law: empirical, values: [{}]}}", values.join(", "));
        let mut counts = vec![0_u32; 3001];
        let draws = draws(&law, 1_000_000);
        draws.iter().for_each(|size| counts[*size as usize] += 1);
        let expected: f64 = 1e6 / 3e3;
        for count in &counts[1..] {
            let away = (f64::from(*count) - expected).abs();
            assert!(away < 4.5 * expected.sqrt(), "{count} for {expected}");
        }
    }

    #[test]
    fn deterministic_sizes_draw_no_random_numbers() {
        for law in [
            "{law: deterministic, mean: 3}",
            "{law: empirical, values: [3]}",
        ] {
            let sampler = sampler(law).0;
            let mut stream = Streams::new(1, 0).sizes;
            assert_eq!(sampler.draw(&mut stream), 3.0);
            assert_eq!(stream.uniform(), Streams::new(1, 0).sizes.uniform());
        }
    }

    #[test]
    fn extreme_laws_stay_in_range() {
        for law in [
            "{law: lognormal, mean: 1e-100, scv: 1e6}",
            "{law: lognormal, mean: 1e100, scv: 1e-6}",
            "{law: weibull, mean: 1e-50, scv: 1e6}",
            "{law: weibull, mean: 1, scv: 1e-6}",
            "{law: pareto, shape: 1e-300, low: 1e-70, high: 1e70}",
            "{law: pareto, shape: 1e9, low: 1, high: 1e70}",
            "{law: pareto, shape: 2, low: 1, high: 1.000000000000001}",
        ] {
            let size = sampler(law).1;
            for x in draws(law, 100_000) {
                assert!(x.is_normal() && x > 0.0, "{law}: {x}");
                if let SizeDistribution::Pareto { low, high, .. } = &size {
                    assert!((low.value()..=high.value()).contains(&x), "{law}: {x}");
                }
            }
        }
    }
}

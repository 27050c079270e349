#![allow(clippy::unwrap_used)]

use nalgebra::DVector;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::program::{self, SolveLimits};
use crate::tests::{model, one_server};
use synth_multiresource::artifact::{Preemption, Route, section_seven};
use synth_multiresource::schedule::{Packing, Schedule, enumerate};
use synth_queues::ctmc;

fn section7() -> Workload {
    model("section7")
}

/// These values for section 7 of the MSR paper at `ρ = 0.9` are from an independent computation.
#[test]
fn matches_the_routes_of_section_seven() {
    let workload = section7();
    for (route, phases, largest) in [
        ("sequential-eager", 9, 0.32),
        ("concurrent-eager", 13, 0.22099),
        ("concurrent-late", 13, 0.14235),
        ("sequential-late", 9, 0.09412),
    ] {
        let policy = section_seven(Preemption::None, route.parse().unwrap(), 0.05);
        let modulation = Modulation::new(&workload, &policy, 1000).unwrap();
        assert_eq!(modulation.phases.len(), phases, "{route}");
        let found = modulation.largest_stable_rate(&workload);
        assert!((found - largest).abs() < 5e-6, "{route}: {found}");
    }
}

#[test]
fn types_become_unstable_at_the_largest_stable_rate() {
    let workload = section7();
    for preemption in [Preemption::None, Preemption::Setup] {
        for route in Route::ALL {
            let at = |rate| {
                Modulation::new(&workload, &section_seven(preemption, route, rate), 1000).unwrap()
            };
            let largest = at(0.01).largest_stable_rate(&workload);
            assert!((at(3.0).largest_stable_rate(&workload) / largest - 1.0).abs() < 1e-10);
            let scaled = at(0.01).at(0.3).mean_schedule.to_vec();
            let mut all = scaled.iter().zip(at(0.3).mean_schedule);
            let is_scaled = all.all(|(a, b)| (a - b).abs() < 1e-13);
            assert!(is_scaled);
            let heaviest = |rate| at(rate).loads(&workload).into_iter().fold(0.0, f64::max);
            assert!(heaviest(largest * (1.0 - 1e-9)) < 1.0, "{route}");
            assert!(heaviest(largest * (1.0 + 1e-9)) > 1.0, "{route}");
        }
    }
}

/// By hand, the sequential eager routes last 1.5 and 37/12, and type 3 is served for `2 + 3/2`.
#[test]
fn mean_schedule_matches_renewal_reward() {
    let rate = 0.1;
    let seven = section_seven(Preemption::None, Route::ALL[0], rate);
    let modulation = Modulation::new(&section7(), &seven, 1000).unwrap();
    let (working, transit) = (2.0 / rate, 1.5 + 37.0 / 12.0);
    assert!((modulation.working_time - working / (working + transit)).abs() < 1e-14);
    let third = (working * 1.0 + 3.5) / (working + transit);
    assert!((modulation.mean_schedule[2] - third).abs() < 1e-14);
    let second = (working * 2.0 + 9.0) / (working + transit);
    assert!((modulation.mean_schedule[1] - second).abs() < 1e-14);
}

fn random_case(seed: u64) -> (Workload, Vec<Schedule>) {
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
    let jobs = [0, 1, 2].map(|i| {
        let (a, b) = (random.random_range(1..5), random.random_range(0..4));
        let (rate, size) = (0.1 + random.random::<f32>(), 0.1 + random.random::<f32>());
        format!("name: t{i}, demand: {{a: {a}, b: {b}}}, arrival_rate: {rate}, mean_size: {size}")
    });
    let workload = one_server("a: 12, b: 10", &jobs);
    let packing = Packing::new(&workload);
    let mut maximal = enumerate(&packing, 10_000).schedules;
    maximal.retain(|u| packing.is_maximal(u));
    let count = maximal.len().min(4);
    let start = random.random_range(0..=maximal.len() - count);
    (workload, maximal[start..start + count].to_vec())
}

fn random_policy(schedules: &[Schedule], preemption: Preemption, route: Route) -> MsrConfig {
    let n = schedules.len();
    MsrConfig {
        schedules: schedules.to_vec(),
        weights: (1..=n)
            .map(|s| 2.0 * s as f64 / (n * (n + 1)) as f64)
            .collect(),
        order: (0..n).collect(),
        ..section_seven(preemption, route, 0.7)
    }
}

#[test]
fn random_loops_have_consistent_chains() {
    for seed in 0..40 {
        let (workload, schedules) = random_case(seed);
        let packing = Packing::new(&workload);
        for preemption in [Preemption::None, Preemption::Setup, Preemption::Full] {
            for route in Route::ALL {
                let policy = random_policy(&schedules, preemption, route);
                let modulation = Modulation::new(&workload, &policy, 10_000).unwrap();
                let graph = chain(&workload, &policy, 10_000).unwrap();
                let rates = graph.map(|_, _| (), |_, step| step.0);
                let mut system = ctmc::generator(&rates).transpose();
                let last = system.nrows() - 1;
                system.row_mut(last).fill(1.0);
                let right = DVector::from_fn(last + 1, |s, _| f64::from(u8::from(s == last)));
                if let Some(dense) = system.lu().solve(&right) {
                    let law = DVector::from_column_slice(
                        modulation.environment.stationary_distribution(),
                    );
                    let distance = (law - dense).amax();
                    let is_same = distance < 1e-12;
                    assert!(is_same, "seed {seed}, {preemption:?} {route}: {distance}");
                }
                for phase in modulation.phases.iter() {
                    let held = phase.slots.iter().zip(&phase.setups);
                    let held: Vec<u32> = held.map(|(c, x)| c + x).collect();
                    let fits = packing.fits(&held);
                    assert!(fits, "seed {seed}, {preemption:?} {route}: {phase:?}");
                }
            }
        }
    }
}

#[test]
fn fast_setups_approach_full_preemption() {
    let (workload, schedules) = random_case(1);
    let full = random_policy(&schedules, Preemption::Full, Route::ALL[0]);
    let mean = Modulation::new(&workload, &full, 100)
        .unwrap()
        .mean_schedule
        .to_vec();
    for i in 0..3 {
        let mixed = full.weights.iter().zip(&full.schedules);
        let mixed: f64 = mixed.map(|(p, u)| p * f64::from(u[i])).sum();
        assert!((mean[i] - mixed).abs() < 1e-14);
    }
    for route in Route::ALL {
        let mut setup = random_policy(&schedules, Preemption::Setup, route);
        setup.setup_rate = Some(1e9);
        let near = Modulation::new(&workload, &setup, 10_000).unwrap();
        assert!(
            near.mean_schedule
                .iter()
                .zip(&mean)
                .all(|(a, b)| (a - b).abs() < 1e-7)
        );
    }
}

#[test]
fn rejects_chains_beyond_the_limit() {
    for route in ["concurrent-late", "concurrent-eager"] {
        let policy = section_seven(Preemption::None, route.parse().unwrap(), 0.05);
        let error = Modulation::new(&section7(), &policy, 12).unwrap_err();
        assert!(error.to_string().contains("more than 12 phases"), "{error}");
        assert!(Modulation::new(&section7(), &policy, 13).is_ok());
    }
}

/// The loops of the 343 979 optimal bases drain 9 to 43 jobs. The value in the paper is 34.
#[test]
fn finds_the_least_drains_of_appendix_j() {
    let workload = model("vms");
    let solved = program::solve(&workload, &SolveLimits::default()).unwrap();
    let mix = reduce_drains(&workload, solved.mixes[0].clone(), &solved.face);
    let load = mix.loads(&workload).into_iter().fold(0.0, f64::max);
    assert!((load / 0.655 - 1.0).abs() < 1e-12, "{load}");
    let found = drains(&mix.schedules, &least_drain_order(&mix.schedules));
    assert_eq!(found, 9);
}

#[test]
fn single_schedule_is_never_left() {
    for preemption in [Preemption::None, Preemption::Setup, Preemption::Full] {
        let mut single = section_seven(preemption, Route::ALL[0], 2.0);
        single.schedules = vec![vec![1, 4, 0]];
        single.weights = vec![1.0];
        single.order = vec![0];
        let modulation = Modulation::new(&section7(), &single, 10).unwrap();
        assert_eq!(modulation.working_time, 1.0);
        assert_eq!(modulation.switching_frequency(), 0.0);
        assert_eq!(modulation.largest_stable_rate(&section7()), f64::INFINITY);
    }
}

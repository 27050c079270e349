//! Whether intervals cover as often as they say.

use super::*;

const MILLION: u64 = 1_000_000;

/// How many of the 95 % intervals of a hundred seeds cover the exact value; eight replications.
/// Shorter runs cover less: they see too few of the rare long queues, or none.
fn covering(
    workload: &Workload,
    contender: &Contender,
    count: u64,
    exact: f64,
    of: impl Fn(&Run) -> Option<Estimate>,
) -> usize {
    let covers = |seed: &u64| {
        let settings = Settings {
            seed: 1000 + seed,
            ..events(count)
        };
        let run = contender.simulate(workload, &settings, quiet).unwrap();
        of(&run).unwrap().covers(exact, 0.95)
    };
    (0..100).filter(covers).count()
}

/// If intervals cover 95 %, fewer than 89 of 100 do with probability .004.
fn assert_covering(found: usize, what: &str) {
    assert!(found >= 89, "{what}: {found} of 100 intervals cover");
}

#[test]
fn intervals_of_a_single_server_cover() {
    let workload = one_type(1, 0.8);
    let number = covering(&workload, &Contender::Fcfs, MILLION, 4.0, |run| {
        run.mean_number
    });
    assert_covering(number, "E[N]");
    let response = covering(&workload, &Contender::Fcfs, MILLION, 5.0, |run| {
        run.mean_response
    });
    assert_covering(response, "E[T]");
}

#[test]
fn intervals_of_many_servers_cover() {
    let exact = 1.0 + erlang_c(8, 7.2) / (8.0 - 7.2);
    let workload = one_type(8, 7.2);
    let response = covering(&workload, &Contender::Fcfs, MILLION, exact, |run| {
        run.mean_response
    });
    assert_covering(response, "E[T]");
}

/// pMSR, α = 2, ρ = .5 and .9: exact mean numbers from an independent analysis.
#[test]
fn intervals_of_section_seven_cover() {
    let policy = section_seven(Preemption::Full, Route::ALL[0], 2.0);
    let policy = Contender::Msr(Box::new(policy));
    for (load, count, exact) in [(0.5, MILLION, 5.2595), (0.9, 3 * MILLION, 36.8107)] {
        let workload = model("section7").scaled(load / 0.9).unwrap();
        let number = covering(&workload, &policy, count, exact, |run| run.mean_number);
        assert_covering(number, &format!("E[N] at {load}"));
    }
}

use super::{ascend, power_ends, relaxation};
use crate::artifact::Rent;
use crate::policy::{Rule, power_prices};
use crate::simulator::{Dividing, execute};
use crate::workload::tests::close;
use crate::workload::{Pool, PoolDocument, Workload};
use synth_core::document::WorkloadDocument as _;

#[test]
fn common_clock_agrees_with_execution() {
    for p in [0.05, 0.5, 0.9, 0.99] {
        let text = format!(
            "kind: malleable\nservers: 100\nspeedup: {{power: {{p: {p}}}}}\nsizes: {{pareto: {{shape: 1.5, count: 60, seed: 5}}}}\n"
        );
        let pool = Pool::sample(&text);
        let mut prices = vec![0.0; 60];
        let from_largest = power_prices(p, &[1.0; 60], 100.0);
        for (i, price) in pool.by_size().into_iter().zip(from_largest) {
            prices[i] = price;
        }
        let by_clock = power_ends(&pool, &prices, p);
        let by_stages = execute(&pool, Dividing::Plan(&Rule::Prices(prices)), false).ends;
        for (clock, stages) in by_clock.into_iter().zip(by_stages) {
            close(clock, stages, 1e-10);
        }
    }
}

#[test]
fn relaxation_matches_a_closed_form() {
    let text = "kind: malleable\nservers: 4\nspeedup: {power: {p: .5}}\narrivals: {rate: 4, mean_size: 1}\n";
    let Workload::Stream(stream) = PoolDocument::parse(text, "here").unwrap().workload else {
        panic!("its jobs arrive")
    };
    // λE[S]k/√k = 4√k = 4.
    close(relaxation(&stream), 1.0, 1e-9);
}

#[test]
fn bound_for_one_job_is_near_its_time_alone() {
    let pool = Pool::sample(
        "kind: malleable\nservers: 9\nspeedup: {power: {p: .5}}\njobs: [{name: a, size: 6}]\n",
    );
    let rents = [1.0, 2.0].map(|until| Rent { until, rent: 0.05 });
    let (least, _) = ascend(&pool, rents.to_vec());
    assert!(least <= 2.0 && least > 1.99, "{least}");
}

use super::{Dividing, execute};
use crate::policy::{Online, Rule, Sharing, prices};
use crate::workload::Pool;
use crate::workload::tests::close;

#[test]
fn cost_of_plans_equals_the_sum_over_prices() {
    let sizes = [9.0, 7.5, 7.5, 4.0, 2.0, 1.0, 0.25];
    for speedup in [
        "{power: {p: .3}}",
        "{power: {p: 1}}",
        "{amdahl: {parallel_fraction: .93}}",
        "{logarithm: {scale: .5}}",
        "{table: [[1, 1], [2, 1.9], [4, 3.3], [8, 4.6], [16, 5]]}",
    ] {
        let pool = Pool::of_sizes(speedup, &sizes, 20.0);
        let prices = prices(&[&pool.curves()[0]; 7], &[1.0; 7], pool.servers());
        let cost: f64 = prices.iter().zip(sizes).map(|(a, x)| a * x).sum();
        let plan = Rule::Prices(prices);
        let ends = execute(&pool, Dividing::Plan(&plan), false).ends;
        close(ends.iter().sum(), cost, 1e-11);
        let online = Sharing::HeSrpt(Online::PLAIN);
        let ends = execute(&pool, Dividing::Sharing(online), false).ends;
        close(ends.iter().sum(), cost, 1e-11);
    }
}

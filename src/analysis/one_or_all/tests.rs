#![allow(clippy::unwrap_used)]
use super::*;

fn queue(servers: usize, threshold: usize, rates: [f64; 2]) -> MsfqQueue {
    let stream = |arrival_rate| Stream {
        arrival_rate,
        service_rate: 1.0,
    };
    MsfqQueue::new(servers, threshold, stream(rates[0]), stream(rates[1])).unwrap()
}

/// k = 32, nine of ten jobs light, all of mean size 1, total rate 6: mean response times of an
/// independent computation.
#[test]
fn one_or_all_at_rate_6() {
    for (threshold, expected) in [(0, 67.8704), (1, 21.2779), (8, 10.6579), (31, 11.4467)] {
        let queue = queue(32, threshold, [5.4, 0.6]);
        let found = queue.means().unwrap().mean_response(&queue);
        assert!((found - expected).abs() < 6e-5, "{threshold}: {found}");
    }
}

use super::*;

const DAY: f64 = 86_400.0;

fn promise(user: u32, limit: f64) -> Promise {
    Promise {
        user,
        limit,
        share: 0.25,
        submitted: 0.0,
    }
}

/// Without limits, without users, and with jobs that end at once.
#[test]
fn estimates_are_positive_finite_and_within_limits() {
    for estimate in [
        Estimate::Limit,
        Estimate::Ratio,
        Estimate::History,
        Estimate::Tree,
    ] {
        let mut estimator = Estimator::new(estimate, DAY, &Learned::default());
        for n in 0..2000_u32 {
            let limit = [f64::INFINITY, 3600.0, 1e-9, 60.0][n as usize % 4];
            let promise = Promise {
                submitted: f64::from(n) * 1000.0,
                ..promise(n % 5, limit)
            };
            let found = estimator.estimate(&promise);
            assert!(
                found > 0.0 && found.is_finite() && found <= limit,
                "{estimate:?} {found}"
            );
            let ran = [0.0, 1e12, 30.0][n as usize % 3];
            estimator.learn(&promise, ran, promise.submitted + ran);
        }
    }
}

use super::*;

#[test]
fn raising_a_threshold_never_adds_a_dispatch_by_a_percentile() {
    let mut stream = Streams::new(3, 0).arrivals;
    for _ in 0..2000 {
        let request = random(&mut stream);
        for (low, high) in [(0.0, 30.0), (30.0, 60.0), (60.0, 99.0)] {
            let by_percentile = |threshold: f64, job: &Candidate| {
                let mut rule = RULE;
                (rule.first_percentile, rule.tight_percentile) = (threshold, threshold);
                let mut decider = Decider {
                    rule: Some(&rule),
                    now: request.now,
                    delay: request.delay,
                    processors: request.processors,
                };
                let found = decider.consider(job, &request.versions, true);
                matches!(found, Verdict::Sent { .. })
            };
            for job in &request.jobs {
                assert!(by_percentile(low, job) || !by_percentile(high, job));
            }
        }
    }
}

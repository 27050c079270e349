use super::*;

/// In an earlier version, the mean could be negative at very low rates because of cancellation.
#[test]
fn means_stay_accurate_at_low_switching_rates() {
    let lines = [
        "name: big, demand: {cpu: 2}, arrival_rate: 4, mean_size: .25",
        "name: small, demand: {cpu: 1}, arrival_rate: 4, mean_size: .25",
    ];
    let workload = parsed("10", &lines);
    for setup_rate in [0.01, 1.0] {
        let mut options = SynthesisOptions::new(Preemption::Setup);
        options.setup_rate = Some(setup_rate);
        synthesized(&workload, &options).artifact.check().unwrap();
    }
    let mean = |rate| {
        let mut options = SynthesisOptions::new(Preemption::Setup);
        options.setup_rate = Some(1.0);
        options.switching_rate = Some(rate);
        options.route = Some(Route::ALL[0]);
        let synthesized = synthesized(&workload, &options);
        synthesized.artifact.check().unwrap();
        claim(&synthesized, Quantity::MeanNumber, None)
            .unwrap()
            .value
    };
    let limit = mean(1e-10);
    let slope = (mean(1e-4) - limit) / 1e-4;
    for rate in [1e-5, 1e-6, 1e-8] {
        let error = (mean(rate) - limit - slope * rate) / limit;
        assert!(error.abs() < 1e-8, "{rate}: {error:e}");
    }
}

#[test]
fn widely_separated_time_scales_are_verified() {
    for exponent in [4, 6] {
        let workload = parsed(
            "4",
            &[
                &format!(
                    "name: a, demand: {{cpu: 1}}, arrival_rate: 1e{exponent}, mean_size: 1e-{exponent}"
                ),
                &format!(
                    "name: b, demand: {{cpu: 4}}, arrival_rate: 3e-{}, mean_size: 1e{exponent}",
                    exponent + 1
                ),
            ],
        );
        for preemption in [Preemption::Full, Preemption::None, Preemption::Setup] {
            let mut options = SynthesisOptions::new(preemption);
            options.setup_rate = (preemption == Preemption::Setup).then_some(2.0);
            options.effort = 0.01;
            synthesized(&workload, &options).artifact.check().unwrap();
        }
    }
    for rate in [3e5, 1e9, 1e12] {
        let mut options = SynthesisOptions::new(Preemption::Full);
        options.switching_rate = Some(rate);
        synthesized(&section7(0.9), &options)
            .artifact
            .check()
            .unwrap();
    }
}

#[test]
fn rejects_too_many_jobs_to_drain() {
    let lines = [
        "name: a, demand: {cpu: 1}, arrival_rate: 95000, mean_size: 1",
        "name: b, demand: {cpu: 99999}, arrival_rate: .01, mean_size: 2",
    ];
    let workload = parsed("100000", &lines);
    let error = synthesize(&workload, &SynthesisOptions::new(Preemption::None)).unwrap_err();
    let is_named = error.to_string().contains("which does not need a route");
    assert!(is_named, "{error}");
}

#[test]
fn selects_frequent_switching_if_it_pays() {
    let lines = [
        "name: long, demand: {cpu: .75}, arrival_rate: .0008, mean_size: 60",
        "name: short, demand: {cpu: 1.875}, arrival_rate: 1.8, mean_size: 1",
    ];
    let workload = parsed("7.5", &lines);
    let mut options = SynthesisOptions::new(Preemption::Setup);
    options.setup_rate = Some(1e4);
    let synthesized = synthesized(&workload, &options);
    synthesized.artifact.check().unwrap();
    let quantity = Quantity::MeanResponse;
    let taken = claim(&synthesized, quantity, None).unwrap().value;
    let rate = synthesized.policy.switching_rate;
    assert!(rate > 1e3, "{rate}");
    for factor in [0.5, 2.0] {
        let options = SynthesisOptions {
            switching_rate: Some(factor * rate),
            ..options.clone()
        };
        let other = self::synthesized(&workload, &options);
        let other = claim(&other, Quantity::MeanResponse, None).unwrap().value;
        assert!(taken < other, "{factor}: {taken} {other}");
    }
}

use super::*;
use rand::{RngExt, SeedableRng};

fn all() -> impl Iterator<Item = Contender> {
    Contender::rules().iter().map(Contender::from)
}

/// Every rule serves as many jobs as it can, so that the queue is M/M/8. With fast clocks, the
/// difference for Randomized Timers is less than 0.1 %. If the sizes are known, the mean is lower.
#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn every_rule_is_erlang_c_for_one_type() {
    let offered = 7.2;
    let exact = 1.0 + erlang_c(8, offered) / (8.0 - offered);
    let workload = one_type(8, offered);
    for contender in all().filter(|c| c.build_policy(&workload.clone().into()).is_ok()) {
        let contender = match contender.name() {
            "randomized-timers" => rule("randomized-timers:1000"),
            _ => contender,
        };
        let run = contender.simulate(&workload, &events(4_000_000), quiet);
        let mean = run.unwrap().mean_response;
        match contender.name() {
            "least-left-first" => assert!(mean.unwrap().mean < exact),
            name => agrees(mean, exact, 0.04, name),
        }
    }
}

/// Known sizes do not change the result, because the rules use them by default.
#[test]
fn rules_use_the_declared_information() {
    let known = |known: &str| {
        let text = powers_of_two().to_yaml();
        let text = text.replace("server:", &format!("known: {known}\nserver:"));
        Workload::parse(&text, "known").unwrap().workload
    };
    let mut settings = events(200_000);
    settings.common_sizes = true;
    for rule in ["easy-backfill", "conservative-backfill"] {
        let mean = |rule: &str, workload: &Workload| {
            let run = self::rule(rule).simulate(workload, &settings, quiet);
            run.map(|run| run.mean_response.unwrap().mean)
        };
        let exact = mean(rule, &powers_of_two()).unwrap();
        assert_eq!(mean(rule, &known("size")).unwrap(), exact, "{rule}");
        assert_eq!(mean(&format!("{rule}:1"), &known("size")).unwrap(), exact);
        let once = known("{limit: {law: deterministic, mean: 1}}");
        assert_eq!(mean(rule, &once).unwrap(), exact, "{rule}");
        let loose = known("{limit: {law: empirical, values: [1, 9]}}");
        assert_ne!(mean(rule, &loose).unwrap(), exact, "{rule}");
        for refused in [known("type"), loose] {
            let error = mean(&format!("{rule}:2"), &refused).unwrap_err();
            let is_named = error.to_string().contains("it needs the sizes");
            assert!(is_named, "{error}");
        }
        let error = mean(rule, &known("type")).unwrap_err();
        assert!(error.to_string().contains("it needs limits"), "{error}");
    }
}

fn powers_of_two() -> Workload {
    let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 16}}\njobs:
  - {name: one, demand: {cpu: 1}, arrival_rate: 3.2, size: {law: erlang, stages: 3, mean: 1}}
  - {name: two, demand: {cpu: 2}, arrival_rate: .8, size: {law: hyperexponential, mean: 2, scv: 4}}
  - {name: eight, demand: {cpu: 8}, arrival_rate: .4, mean_size: 1}\n";
    Workload::parse(text, "powers").unwrap().workload
}

#[test]
#[ignore = "takes over five seconds; CI runs it"]
fn all_work_is_done() {
    let two = model("section7_phases").scaled(0.5).unwrap();
    for workload in [powers_of_two(), two] {
        for contender in all().filter(|c| c.build_policy(&workload.clone().into()).is_ok()) {
            let run = contender.simulate(&workload, &events(2_000_000), quiet);
            let run = run.unwrap();
            let name = contender.name();
            assert_eq!(run.health, Health::Settled, "{name}");
            for (job_type, t) in run.types.iter().zip(workload.types()) {
                agrees(job_type.mean_in_service, t.offered_load(), 0.05, name);
            }
        }
    }
}

fn random_workload(random: &mut impl rand::Rng) -> Workload {
    const LAWS: [&str; 5] = [
        "{law: exponential, mean: 1}",
        "{law: erlang, stages: 4, mean: 2}",
        "{law: hyperexponential, mean: .5, scv: 9}",
        "{law: hyperexponential, probabilities: [.9, .1], means: [.1, 9]}",
        "{law: coxian, means: [1, .2], onward: [.5]}",
    ];
    let resources = random.random_range(1..=3);
    let capacities = (0..resources).map(|_| random.random_range(1..=12));
    let capacities: Vec<u32> = capacities.collect();
    let list = |amounts: &[u32]| -> String {
        let pairs = amounts.iter().enumerate();
        let pairs = pairs.map(|(j, x)| format!("r{j}: {x}"));
        pairs.collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "kind: multiresource\ntime_unit: s\nserver: {{capacity: {{{}}}}}\njobs:\n",
        list(&capacities)
    );
    for i in 0..random.random_range(1..=4) {
        let demand = (capacities.iter()).map(|capacity| random.random_range(0..=*capacity));
        let mut demand: Vec<u32> = demand.collect();
        demand[0] = demand[0].max(1);
        let law = LAWS[random.random_range(0..LAWS.len())];
        let rate = random.random_range(1..=30);
        text += &format!(
            "  - {{name: t{i}, demand: {{{}}}, arrival_rate: .{rate:02}, size: {law}, priority: {i}}}\n",
            list(&demand)
        );
    }
    Workload::parse(&text, "random").unwrap().workload
}

#[test]
fn no_rule_violates_invariants() {
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(7);
    let mut served = vec![0; Contender::rules().len() + 2];
    for seed in 0..60 {
        let workload = random_workload(&mut random);
        let mut settings = one_run(4000);
        settings.seed = seed;
        let inflated = ["easy-backfill:3", "conservative-backfill:3"];
        let inflated = inflated.map(rule);
        for (n, contender) in all().chain(inflated).enumerate() {
            match contender.simulate(&workload, &settings, quiet) {
                Ok(_) => served[n] += 1,
                Err(Failure::Unsuitable { .. }) => {}
                Err(broken) => panic!("{contender:?} on {workload:?}: {broken}"),
            }
        }
    }
    assert!(served.iter().all(|count| *count >= 5), "{served:?}");
}

#[test]
fn unsuitable_rules_give_a_reason() {
    let said = |name: &str, workload: &Workload| {
        let run = rule(name).simulate(workload, &one_run(10), quiet);
        run.unwrap_err().to_string()
    };
    let text = said("server-filling", &model("section7"));
    let is_named = text.contains("one resource, but the workload has 3");
    assert!(is_named, "{text}");
    assert!(text.contains("max-weight"), "{text}");
}

#[test]
fn fleet_rules_match_server_rules_on_one_server() {
    let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 6, gpu: 1}}\njobs:
  - {name: web, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}
  - {name: wide, demand: {cpu: 5}, arrival_rate: .2, mean_size: 2}
  - {name: learn, demand: {cpu: 2, gpu: 1}, arrival_rate: .2, mean_size: 1, priority: 5}\n";
    let fleet = Fleet::parse(text, "one").unwrap().workload;
    let two = text.replace("server: {", "servers:\n  - {count: 2, ");
    let several = Fleet::parse(&two, "two").unwrap().workload;
    let settings = Settings {
        events: 200_000,
        common_sizes: true,
        ..Settings::default()
    };
    // On a fleet, Best-Fit does not define the order of types.
    for rule in Contender::rules()
        .iter()
        .filter(|rule| rule.is_for_fleet && rule.name != "best-fit")
    {
        let own = Contender::from(rule).simulate_on(&fleet, &settings, quiet);
        let own = own.unwrap();
        let policy = (rule.settings)(&several, None).unwrap().build(&fleet);
        let system = || System::of_fleet(&fleet, policy.clocks(), policy.preempts());
        let mut simulation = Simulation::on(&fleet, &system, &*policy, &settings);
        let pooled = simulation.run(&settings, &mut quiet).unwrap();
        assert_eq!(own.mean_response, pooled.mean_response, "{}", rule.name);
        assert_eq!(own.own.utilization, pooled.own.utilization, "{}", rule.name);
    }
    // A list with one server must have the same results as the server itself.
    let list = text.replace("server: {", "servers:\n  - {name: one, ");
    let listed = Fleet::parse(&list, "list").unwrap().workload;
    let few = Settings {
        events: 20_000,
        ..settings
    };
    for rule in all().filter(|rule| rule.build_policy(&fleet).is_ok()) {
        let run = |on: &Fleet| {
            let run = rule.simulate_on(on, &few, quiet).unwrap();
            serde_json::to_string(&run).unwrap()
        };
        assert_eq!(run(&fleet), run(&listed), "{}", rule.name());
    }
}

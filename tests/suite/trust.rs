//! These tests check that wrong values of each kind and changed files are rejected.

use crate::common::errors_after_change as findings;
use crate::common::*;
use serde_json::{Value, json};
use synth::artifact::Grounds;
use synth::document::WorkloadDocument as _;
use synth::multiresource::artifact::{ArtifactError, Checked, Preemption};
use synth::multiresource::synthesis::{SynthesisOptions, synthesize};
use synth::multiresource::workload::FleetDocument;

fn vector(name: &str) -> Value {
    let vector: Value = read_json(format!("tests/conformance/{name}.json"));
    vector["artifact"].clone()
}

fn analysed_policy(load: f64) -> Value {
    let workload = model("section7").scaled(load / 0.9).unwrap();
    let outcome = synthesize(&workload, &SynthesisOptions::new(Preemption::None));
    let artifact = expect_policy(outcome.unwrap()).artifact;
    serde_json::to_value(artifact.sealed()).unwrap()
}

fn number(document: &Value, pointer: &str) -> f64 {
    document.pointer(pointer).unwrap().as_f64().unwrap()
}

fn claim(document: &Value, quantity: &str, of: Option<&str>) -> String {
    let is_it = |c: &Value| c["quantity"] == quantity && c["type"].as_str() == of;
    let place = claims(document).iter().position(is_it);
    format!("/claims/{}", place.unwrap())
}

/// The layout, the order of the keys and the format of the numbers may change.
#[test]
fn reports_a_change_but_not_a_new_layout() {
    let written = vector("adaptive-msr");
    let pretty = serde_json::to_string_pretty(&written).unwrap();
    let mut reversed = String::from("{");
    for (key, field) in written.as_object().unwrap().iter().rev() {
        reversed += &format!("\n{}:{field},", json!(key));
    }
    let reversed = reversed.trim_end_matches(',').to_string() + "}";
    let numbers = pretty.replace("0.5,\n", "5e-1,\n");
    assert_ne!(numbers, pretty);
    for text in [&pretty, &reversed, &numbers] {
        assert!(!Checked::parse(text, "p").unwrap().is_changed());
    }
    let mut changed = written.clone();
    changed["workload"]["source"] = json!("elsewhere");
    let assert_refused = |changed: &Value, all: &[&str]| {
        let refused = Checked::parse(&changed.to_string(), "p").unwrap_err();
        for words in all {
            assert_contains(&refused.to_string(), words);
        }
        assert!(parse_ignoring_digest(changed, "p").unwrap().is_changed());
    };
    let expected = [
        "digest: ",
        "changed after it was written",
        "--accept-changes",
    ];
    assert_refused(&changed, &expected);
    changed.as_object_mut().unwrap().remove("digest");
    assert_refused(&changed, &["digest: absent"]);
}

#[test]
fn reports_each_changed_value() {
    let written = vector("static-quickswap");
    let places = pointers(&written, |value| !value.is_array() && !value.is_object());
    assert!(places.len() > 100);
    for place in places {
        let mut changed = written.clone();
        let leaf = changed.pointer_mut(&place).unwrap();
        *leaf = match &*leaf {
            Value::Number(n) if n.is_u64() => json!(n.as_u64().unwrap() ^ 1),
            Value::Number(n) => json!(f64::from_bits(n.as_f64().unwrap().to_bits() ^ 1)),
            Value::Bool(b) => json!(!b),
            Value::String(text) => json!(format!("{text}x")),
            other => panic!("{other}"),
        };
        let is_reported = match Checked::parse(&changed.to_string(), "p") {
            Ok(_) => panic!("{place} changed, and nothing is told"),
            // Another format or version is reported before the digest is checked.
            Err(ArtifactError::Shape { .. }) => true,
            Err(error) => error.to_string().contains("digest: "),
        };
        assert!(is_reported, "{place}");
    }
}

#[test]
fn commands_accept_a_changed_policy_only_with_an_option() {
    let folder = Folder::new();
    let mut document = vector("msr-full");
    document["workload"]["source"] = json!("by hand");
    let name = folder.write("p.json", &document.to_string());
    let short = "--events 1e4 --replications 2";
    for typed in [
        format!("check {name}"),
        format!("show {name}"),
        format!("simulate {name} {short}"),
        format!("compare --policies {name} --loads .5 models/section7.yaml {short}"),
    ] {
        assert_contains(&stderr(&run_expecting_code(1, &typed)), "--accept-changes");
        run_ok!("{typed} --accept-changes");
    }
    let printed = stdout(&run_ok!("check {name} --accept-changes"));
    assert_contains(&printed, "changed after it was written");
}

#[test]
fn a_check_reports_derived_and_simulated_claims() {
    let checked = Checked::parse(&analysed_policy(0.5).to_string(), "p").unwrap();
    let derived = |g: &Grounds| matches!(g, Grounds::Derived(_));
    assert!(checked.grounds().iter().all(derived));
    let rest = |checked: &Checked, path: &str| {
        let mut noted = checked.other_statements().iter();
        noted.find(|noted| noted.path == path).unwrap().grounds
    };
    assert!(derived(&rest(&checked, "evidence")));
    assert!(matches!(rest(&checked, "tool"), Grounds::Trusted(_)));

    let checked = Checked::parse(&vector("adaptive-msr").to_string(), "p").unwrap();
    // The load and the loads of the three types under the guard are derived.
    let (proved, simulated) = checked.grounds().split_at(4);
    assert!(proved.iter().all(derived));
    assert!(!simulated.is_empty());
    assert!(simulated.iter().all(|g| matches!(g, Grounds::Judged(_))));
    let run = rest(&checked, "evidence.simulation");
    assert!(matches!(run, Grounds::Trusted(_)));
}

#[test]
fn reports_a_policy_without_claims() {
    let folder = Folder::new();
    let mut document = analysed_policy(0.5);
    document["claims"] = json!([]);
    let file = folder.write("p.json", &document.to_string());
    let output = run_ok!("check {file} --accept-changes");
    assert_contains(&stdout(&output), "0 claims about 3 types");
}

/// The proof of the load needs the original schedule.
#[test]
fn rejects_a_schedule_with_a_missing_job() {
    let valid = vector("adaptive-msr");
    let rule = "/policy/guarded/rule/adaptive-msr";
    let mix = &valid["evidence"]["servers"][0]["mix"]["schedules"];
    assert_eq!(valid.pointer(&format!("{rule}/schedules")).unwrap(), mix);
    let text = "/schedules/0/2 | 1 | adaptive-msr.schedules: [0, 0, 2] is missing
        /prices/0 | ×0.999999 | the price of the certificate";
    assert_policy_changes_rejected(&valid, rule, text);
    // An additional schedule is allowed.
    let more = |v: &mut Value| {
        let schedules = v.pointer_mut(&format!("{rule}/schedules")).unwrap();
        schedules.as_array_mut().unwrap().push(json!([0, 3, 0]));
    };
    assert_eq!(findings(&valid, more), [""; 0]);
}

#[test]
fn rejects_an_invalid_guard() {
    let valid = vector("guarded");
    let rule = "/policy/guarded";
    let text = "/until | 12 | policy.guarded.until: 12, expected
        /until | 0 | policy.guarded.until: 0, expected
        /guard/schedules/0/2 | 0 | is served by no schedule
        /guard/backfill | \"first-fit\" | no backfilling
        /guard/weights/0 | 0.9 | guarded.guard.weights
        /guard/schedules/0/2 | 100 | guarded.guard";
    assert_policy_changes_rejected(&valid, rule, text);
    // The load under the guard is a claim about one type and about the given size distributions.
    let load = claim(&valid, "load_under_guard", Some("type-1"));
    let value = number(&valid, &format!("{load}/value"));
    assert!(value > 0.0 && value < 1.0, "{value}");
    let text = "/value | ×0.999999 | .value: 
        /method | \"simulated\" | expected a mean number
        /quantity | \"mean_number\" | of a type under guard
        /holds_for | {} | expected {\"sizes\":\"exponential\"";
    assert_policy_changes_rejected(&valid, &load, text);
    let mut unguarded = vector("first-fit");
    let load_claim = valid.pointer(&load).unwrap().clone();
    unguarded["claims"].as_array_mut().unwrap().push(load_claim);
    let found = findings(&unguarded, |_| ());
    assert!(found[0].contains("no guard"), "{found:#?}");
    // The weights have only a small effect at the high switching rate of the guard.
    let starving = findings(&valid, |v| {
        let guard = v.pointer_mut(&format!("{rule}/guard")).unwrap();
        guard["weights"] = json!([0.999, 0.001]);
        guard["switching_rate"] = json!(1e-3);
    });
    let is_told = starving[0].contains("the guard is unstable: type `type-1`");
    assert!(is_told, "{starving:#?}");
}

#[test]
fn rejects_rules_with_limits_for_a_workload_without_limits() {
    let valid = vector("easy-backfill");
    assert_eq!(findings(&valid, |_| ()), [""; 0]);
    for known in [Value::Null, json!("type")] {
        let forged = findings(&valid, |v| {
            v["workload"]["known"] = known.clone();
            let record: FleetDocument = serde_json::from_value(v["workload"].clone()).unwrap();
            v["workload_digest"] = json!(record.digest());
        });
        let forged = forged.join("\n");
        assert_contains(&forged, "backfilling needs the time limits of jobs");
    }
}

#[test]
fn rejects_impossible_fractions() {
    let mut valid = vector("guarded");
    let claims = valid["claims"].as_array_mut().unwrap();
    let tail = json!({"quantity": "waiting_above", "type": "type-1", "longer_than": 0.5,
        "value": 0.04, "half_width": 1e-3, "unit": "1", "method": "simulated", "holds_for": {}});
    let of_tail = format!("/claims/{}", claims.len());
    claims.push(tail);
    assert_eq!(findings(&valid, |_| ()), [""; 0]);
    let text = "/longer_than | 50.0 | with the mean response time
        /longer_than | -1.0 | expected a positive time
        /value | 1.04 | for a fraction, both from 0 to 1
        /half_width | 1e-9 | the precision possible";
    assert_policy_changes_rejected(&valid, &of_tail, text);
    // A claim about a mean must not have a time.
    let again = findings(&valid, |v| {
        let mean = claim(v, "mean_response", None);
        let mut mean = v.pointer(&mean).unwrap().clone();
        mean["longer_than"] = json!(1.0);
        v["claims"].as_array_mut().unwrap().push(mean);
    });
    assert_contains(&again.join("; "), "longer_than: expected a time for");
}

#[test]
fn rejects_tuning_parameters_out_of_range() {
    for [name, rule, knobs] in rows(
        "adaptive-msr-draining | adaptive-msr/switching | margin floor patience drain let_in
        tdc | guarded/rule/tdc/knobs | exponent patience
        reserving | guarded/rule/reserving | worth exhaust let_in",
    ) {
        let valid = vector(name);
        for knob in words(knobs) {
            let words = format!("{}.{knob}: -1, expected", rule.replace('/', "."));
            let text = format!("/{knob} | -1 | {words}");
            assert_policy_changes_rejected(&valid, &format!("/policy/{rule}"), &text);
        }
    }
    let text = "/cycle | [0, 1, 1] | cycle
        /thresholds/1 | 9 | expected less than";
    let valid = vector("static-quickswap");
    assert_policy_changes_rejected(&valid, "/policy/static-quickswap", text);
}

#[test]
fn rejects_resource_prices_that_are_too_high() {
    let text = "/0 | ×1.001 | suffices to cover the values
        /1 | ×1.001 | suffices to cover the values
        /2 | 1e-3 | suffices to cover the values";
    let place = "/evidence/servers/0/resource_prices";
    assert_policy_changes_rejected(&analysed_policy(0.5), place, text);
}

#[test]
fn rejects_an_error_of_1e_8_if_1e_9_is_claimed() {
    let valid = analysed_policy(0.8);
    for (quantity, of) in [
        ("working_time", None),
        ("switching_frequency", None),
        ("largest_stable_switching_rate", None),
        ("mean_schedule", Some("type-2")),
        ("load", Some("type-3")),
    ] {
        let place = claim(&valid, quantity, of);
        let text = "/value | ×1.00000001 | .value: \n /value | ×0.99999999 | .value: ";
        assert_policy_changes_rejected(&valid, &place, text);
    }
}

#[test]
fn rejects_impossible_simulation_results() {
    let valid = vector("adaptive-msr");
    let response = claim(&valid, "mean_response", None);
    assert_policy_changes_rejected(&valid, &response, "/half_width | 1e-9 | half_width: ");
    // All numbers are scaled by the same factor, so that Little's law still holds.
    let fewer = findings(&valid, |v| {
        let claims = v["claims"].as_array_mut().unwrap().iter_mut();
        for claim in claims.filter(|claim| claim["method"] == "simulated") {
            claim["value"] = json!(claim["value"].as_f64().unwrap() * 0.8);
            claim["half_width"] = json!(claim["half_width"].as_f64().unwrap() * 0.8);
        }
    });
    assert!(!fewer.is_empty());
    let text = " | null | expected its run in `evidence.simulation`
        /replications | 1 | expected at least 2";
    assert_policy_changes_rejected(&valid, "/evidence/simulation", text);
}

/// A mean that is larger than the service time can still be too small near saturation.
#[test]
fn rejects_a_mean_below_the_lower_bound() {
    let quickswap = "models/section7.yaml --preemption none --family quickswap --work 2e7 -q";
    let valid = json(&run_ok!("{quickswap}"));
    assert_eq!(findings(&valid, |_| ()), [""; 0]);
    // Computed by hand at load 0.9, where `C = 10/9` and `Σ y_i²/λ_i = 0.03472 + 0.078125 +
    // 0.27778`. The weight of the waiting jobs is at least nine times the sum minus 1, and the
    // weight of type 3 is 0.5556, so `E[N] ≥ 3.15 + 2.5156/0.5556 = 7.678`.
    let least = 7.678 / 3.15;
    let mean = claim(&valid, "mean_response", None);
    let place = mean.replace("/claims/", "claims[") + "].value";
    let found = findings(&valid, |v| {
        let claim = v.pointer_mut(&mean).unwrap();
        claim["value"] = json!(least - 0.01);
        claim["half_width"] = json!(0.002);
    });
    let finding = found.iter().find(|f| f.starts_with(&place)).unwrap();
    assert_contains(finding, "expected at least 2.437");
}

#[test]
fn rejects_wrong_preemptive_rules() {
    let text = "/max-weight/exponent | 0.0 | expected above 0
        /max-weight/exponent | 5.0 | at most 2
        /max-weight/worths/1 | 1e-300 | and at most 1
        /max-weight/worths/1 | 1.5 | at most 1
        /max-weight/worths | [1.0] | one for each job type
         | {\"server-filling\": {}} | one resource";
    assert_policy_changes_rejected(&vector("max-weight"), "/policy", text);
    let text = "/setup_rate | 0.0 | setup_rate
        /eagerness | -1.0 | eagerness
        /haste | -0.5 | haste
        /weights/exponent | 0.0 | expected above 0";
    let valid = vector("max-weight-setup");
    assert_policy_changes_rejected(&valid, "/policy/max-weight-setup", text);
    // This guard would not wait for the jobs that are in setup.
    let text = "/guard/setup_rate | 20.0 | the setup rate of the rule
        /rule | {\"backfilling\": {\"order\": \"arrival\", \"reservations\": \"none\"}} | the setup rate of the rule";
    assert_policy_changes_rejected(&vector("guarded-setup"), "/policy/guarded", text);
}

/// The mean can be smaller than without preemption, but not smaller than the certificate allows.
#[test]
fn rejects_a_mean_below_the_lower_bound_with_preemption() {
    let weights = vector("max-weight");
    let mean = claim(&weights, "mean_response", None);
    assert_policy_changes_rejected(&weights, &mean, "/value | 0.5 | at least");
}

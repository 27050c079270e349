//! What the checker derives, what it only judges, and what it takes on trust: lies of each kind that
//! must not pass, and files that were changed after they were written.

use std::path::Path;

use crate::common::{as_it_is, code, stderr, stdout, synth};
use serde_json::{Value, json};
use synth::artifact::Grounds;
use synth::multiresource::artifact::{ArtifactError, Checked, Preemption};
use synth::multiresource::synthesis::{Options, Outcome, synthesize};
use synth::multiresource::workload::Workload;

/// The artifact of a conformance vector, as it was written.
fn vector(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");
    let text = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
    let vector: Value = serde_json::from_str(&text).unwrap();
    vector["artifact"].clone()
}

/// An analysed policy of section 7 of the MSR paper at this load.
fn analysed(load: f64) -> Value {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/models/section7.yaml");
    let workload = Workload::read(Path::new(model)).unwrap().workload;
    let workload = workload.scaled(load / 0.9).unwrap();
    match synthesize(&workload, &Options::new(Preemption::None)).unwrap() {
        Outcome::Policy(made) => serde_json::to_value(made.artifact.sealed()).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Everything that is wrong, after a change that is accepted as one.
fn findings(valid: &Value, change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut document = valid.clone();
    change(&mut document);
    match as_it_is(&document, "changed") {
        Ok(_) => Vec::new(),
        Err(ArtifactError::Refused { findings, .. }) => {
            findings.iter().map(ToString::to_string).collect()
        }
        Err(error) => panic!("{error}"),
    }
}

/// That a value at a place is refused, and with what words.
fn is_refused(valid: &Value, pointer: &str, lie: Value, words: &str) {
    let found = findings(valid, |v| *v.pointer_mut(pointer).unwrap() = lie.clone());
    assert!(
        found.iter().any(|f| f.contains(words)),
        "{pointer} = {lie}: expected `{words}`, found {found:#?}"
    );
}

fn number(document: &Value, pointer: &str) -> f64 {
    document.pointer(pointer).unwrap().as_f64().unwrap()
}

/// The place of a claim.
fn claim(document: &Value, quantity: &str, of: Option<&str>) -> String {
    let claims = document["claims"].as_array().unwrap();
    let is_it =
        |c: &Value| c["quantity"] == quantity && c.get("type").and_then(Value::as_str) == of;
    let place = claims.iter().position(is_it);
    format!("/claims/{}", place.unwrap())
}

// The digest.

/// A file may be laid out otherwise, its keys in another order, its numbers written otherwise; but what
/// it says is what was written, or it is told.
#[test]
fn a_change_is_told_and_a_new_layout_is_none() {
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
    let refused = Checked::parse(&changed.to_string(), "p")
        .unwrap_err()
        .to_string();
    for words in [
        "digest: ",
        "changed after it was written",
        "--accept-changes",
    ] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    assert!(as_it_is(&changed, "p").unwrap().is_changed());
    changed.as_object_mut().unwrap().remove("digest");
    let refused = Checked::parse(&changed.to_string(), "p")
        .unwrap_err()
        .to_string();
    assert!(refused.contains("digest: absent"), "{refused}");
    assert!(as_it_is(&changed, "p").unwrap().is_changed());
}

/// Of one leaf after another: every change of a value is told.
#[test]
fn every_changed_value_is_told() {
    let written = vector("static-quickswap");
    fn leaves(value: &Value, here: String, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => {
                let each = items.iter().enumerate();
                each.for_each(|(n, item)| leaves(item, format!("{here}/{n}"), found));
            }
            Value::Object(fields) => {
                let each = fields.iter();
                each.for_each(|(key, item)| leaves(item, format!("{here}/{key}"), found));
            }
            _ => found.push(here),
        }
    }
    let mut places = Vec::new();
    leaves(&written, String::new(), &mut places);
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
        let told = match Checked::parse(&changed.to_string(), "p") {
            Ok(_) => panic!("{place} changed, and nothing is told"),
            // Another format or version is told before the digest is looked at.
            Err(ArtifactError::Shape { .. }) => true,
            Err(error) => error.to_string().contains("digest: "),
        };
        assert!(told, "{place}");
    }
}

/// All verbs that read a policy refuse one that was changed, say how to take it, and then do.
#[test]
fn verbs_take_a_changed_policy_only_when_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.json");
    let name = file.to_str().unwrap();
    let mut document = vector("msr-full");
    document["workload"]["source"] = json!("by hand");
    std::fs::write(&file, document.to_string()).unwrap();
    let model = ["--workload", "models/section7.yaml"];
    let few = ["--events", "1e4", "--replications", "2"];
    for typed in [
        vec!["check", name],
        vec!["show", name],
        [&["simulate", "--policy", name][..], &few].concat(),
        [
            &["compare", "--policies", name, "--loads", ".5"][..],
            &model,
            &few,
        ]
        .concat(),
    ] {
        let refused = synth(&typed);
        assert_eq!(code(&refused), 1, "{typed:?}: {}", stderr(&refused));
        let told = stderr(&refused);
        assert!(told.contains("--accept-changes"), "{typed:?}: {told}");
        let accepted = synth(&[&typed[..], &["--accept-changes"]].concat());
        assert_eq!(code(&accepted), 0, "{typed:?}: {}", stderr(&accepted));
    }
    let told = stderr(&synth(&["check", name, "--accept-changes"]));
    assert!(told.contains("changed after it was written"), "{told}");
}

// What is told of a valid policy.

#[test]
fn a_check_tells_what_was_derived_and_what_was_not() {
    let checked = Checked::parse(&analysed(0.5).to_string(), "p").unwrap();
    let derived = |g: &Grounds| matches!(g, Grounds::Derived(_));
    assert!(checked.grounds().iter().all(derived));
    let rest = |part: &str| {
        let noted = checked.beside_claims().iter();
        let mut noted = noted.filter(|noted| noted.path.contains(part));
        noted.next().map(|noted| noted.grounds).unwrap()
    };
    assert!(derived(&rest("what_if.more_arrivals[1].mean_response")));
    assert!(derived(&rest("what_if.load_of_twice_the_response")));
    assert!(derived(&rest("tuning.curve[3].value")));
    assert!(derived(&rest("growth.steps[0].proof")));
    assert!(matches!(
        rest("growth.steps[0].mean_response"),
        Grounds::Judged(_)
    ));
    assert!(matches!(rest("what_if.setups"), Grounds::Trusted(_)));
    assert!(matches!(rest("provenance.tool"), Grounds::Trusted(_)));

    let checked = Checked::parse(&vector("adaptive-msr").to_string(), "p").unwrap();
    // The load of the workload, and those of three types under guard; the rest is simulated.
    let (proved, simulated) = checked.grounds().split_at(4);
    assert!(proved.iter().all(derived));
    assert!(!simulated.is_empty());
    assert!(simulated.iter().all(|g| matches!(g, Grounds::Judged(_))));
}

/// Without claims nothing is promised, which is told.
#[test]
fn a_policy_without_claims_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.json");
    let mut document = analysed(0.5);
    document["claims"] = json!([]);
    std::fs::write(&file, document.to_string()).unwrap();
    let told = synth(&["check", file.to_str().unwrap(), "--accept-changes"]);
    assert_eq!(code(&told), 0, "{}", stderr(&told));
    let text = stderr(&told);
    assert!(text.contains("nothing is claimed of the policy"), "{text}");
    assert!(stdout(&told).is_empty());
}

// Lies.

/// A working schedule spoilt by one job leaves the rule without what the proof of the load needs.
#[test]
fn a_starved_schedule_is_refused() {
    let valid = vector("adaptive-msr");
    let rule = "/policy/servers/0/rule/guarded/rule/adaptive-msr";
    let mix = &valid["evidence"]["servers"][0]["mix"]["schedules"];
    assert_eq!(valid.pointer(&format!("{rule}/schedules")).unwrap(), mix);
    is_refused(
        &valid,
        &format!("{rule}/schedules/0/2"),
        json!(1),
        "adaptive-msr.schedules: [0, 0, 2] is not among them",
    );
    // Another schedule beside them does no harm.
    let more = |v: &mut Value| {
        let schedules = v.pointer_mut(&format!("{rule}/schedules")).unwrap();
        schedules.as_array_mut().unwrap().push(json!([0, 3, 0]));
    };
    assert_eq!(findings(&valid, more), [""; 0]);
    let price = number(&valid, &format!("{rule}/prices/0"));
    is_refused(
        &valid,
        &format!("{rule}/prices/0"),
        json!(price * (1.0 - 1e-6)),
        "as the certificate prices it",
    );
}

/// What takes over is stable by a derivation of its own, and the numbers of jobs leave it room.
#[test]
fn a_guard_that_does_not_guard_is_refused() {
    let valid = vector("guarded");
    let rule = "/policy/servers/0/rule/guarded";
    for (field, lie, words) in [
        ("until", json!(12), "rule.guarded.until: 12, expected"),
        ("until", json!(0), "rule.guarded.until: 0, expected"),
        ("guard/schedules/0/2", json!(0), "is served by no schedule"),
        ("guard/backfill", json!("first-fit"), "no backfilling"),
        ("guard/weights/0", json!(0.9), "guarded.guard.weights"),
        ("guard/schedules/0/2", json!(100), "guarded.guard"),
    ] {
        is_refused(&valid, &format!("{rule}/{field}"), lie, words);
    }
    // That it is stable is a claim, of each type, of this guard and of these laws.
    let load = claim(&valid, "load_under_guard", Some("type-1"));
    let value = number(&valid, &format!("{load}/value"));
    assert!(value > 0.0 && value < 1.0, "{value}");
    for (field, lie, words) in [
        ("value", json!(value * (1.0 - 1e-6)), ".value: "),
        ("method", json!("simulated"), "expected a mean number"),
        ("quantity", json!("mean_number"), "of a type under guard"),
        (
            "holds_for",
            json!({}),
            "expected {\"sizes\":\"exponential\"",
        ),
    ] {
        is_refused(&valid, &format!("{load}/{field}"), lie, words);
    }
    let mut unguarded = vector("first-fit");
    let told = valid.pointer(&load).unwrap().clone();
    unguarded["claims"].as_array_mut().unwrap().push(told);
    let found = findings(&unguarded, |_| ());
    assert!(found[0].contains("no guard"), "{found:#?}");
    // At the guard's high rate the weights hardly count, since it nearly always drains.
    let starving = findings(&valid, |v| {
        let guard = v.pointer_mut(&format!("{rule}/guard")).unwrap();
        guard["weights"] = json!([0.999, 0.001]);
        guard["switching_rate"] = json!(1e-3);
    });
    assert!(
        starving[0].contains("the guard is unstable: type `type-1`"),
        "{starving:#?}"
    );
}

/// A rule that asks for limits is no policy for a workload without any.
#[test]
fn limits_that_nobody_knows_are_refused() {
    let valid = vector("easy-backfill");
    assert_eq!(findings(&valid, |_| ()), [""; 0]);
    for known in [Value::Null, json!("type")] {
        let forged = findings(&valid, |v| {
            let workload = &mut v["workload"];
            workload["known"] = known.clone();
            let record: synth::multiresource::workload::Record =
                serde_json::from_value(workload.clone()).unwrap();
            let told = record.check().unwrap_err()[0].to_string();
            let digest = told.split("expected ").nth(1).unwrap();
            workload["digest"] = json!(digest.split(' ').next().unwrap());
        });
        assert!(
            forged
                .iter()
                .any(|f| f.contains("easy-backfill asks for the limits of jobs")),
            "{forged:#?}"
        );
    }
}

/// What is promised is about the workload, and what is claimed keeps it.
#[test]
fn a_broken_promise_is_refused() {
    let promised = |within: f64, share: f64, above: f64| {
        let mut artifact = vector("guarded");
        let choice = artifact
            .pointer_mut("/provenance/servers/0/choice")
            .unwrap();
        let promise =
            json!({"type": "type-1", "delay": "waiting", "share": share, "within": within});
        choice["promises"] = json!([promise]);
        choice["candidates"][0]["kept"] = json!(true);
        let claim = json!({"quantity": "waiting_above", "type": "type-1", "longer_than": within,
            "value": above, "half_width": 1e-3, "unit": "1", "method": "simulated", "holds_for": {}});
        artifact["claims"].as_array_mut().unwrap().push(claim);
        artifact
    };
    let sound = promised(0.5, 0.95, 0.04);
    assert_eq!(findings(&sound, |_| ()), [""; 0]);
    let about = |promised: Value| findings(&promised, |_| ()).join("; ");
    assert!(about(promised(0.5, 0.97, 0.04)).contains("promises[0]: is not kept"));
    assert!(about(promised(0.5, 1.5, 0.04)).contains("expected a share in (0, 1)"));
    // Nor does a time make a second claim of a mean.
    let again = findings(&sound, |v| {
        let claims = v["claims"].as_array_mut().unwrap();
        let mean = claims.iter().find(|c| c["quantity"] == "mean_response");
        let mut mean = mean.unwrap().clone();
        mean["longer_than"] = json!(1.0);
        claims.push(mean);
    });
    assert!(
        again
            .join("; ")
            .contains("longer_than: expected a time with")
    );
    assert!(about(promised(50.0, 0.95, 0.04)).contains("by the mean response time"));
    assert!(about(promised(0.5, 0.95, 1.04)).contains("of a fraction at most 1"));
    let choice = "/provenance/servers/0/choice";
    let name = format!("{choice}/promises/0/type");
    is_refused(
        &sound,
        &name,
        json!("type-9"),
        "expected the name of a job type",
    );
    let kept = format!("{choice}/candidates/0/kept");
    is_refused(
        &sound,
        &kept,
        json!(false),
        "expected true where something is promised",
    );
    let time = format!(
        "/claims/{}/longer_than",
        sound["claims"].as_array().unwrap().len() - 1
    );
    is_refused(&sound, &time, json!(-1.0), "expected a positive time");
}

/// What was chosen has the knobs that are recorded.
#[test]
fn changed_knobs_are_refused() {
    let knobs = "candidates[0].knobs";
    let valid = vector("adaptive-msr");
    let switching = "/policy/servers/0/rule/guarded/rule/adaptive-msr/switching";
    for (knob, lie) in [
        ("waste", 0.9),
        ("margin", 7.0),
        ("floor", 1e5),
        ("patience", 3.5),
    ] {
        is_refused(&valid, &format!("{switching}/{knob}"), json!(lie), knobs);
    }
    let valid = vector("adaptive-msr-draining");
    let switching = "/policy/servers/0/rule/adaptive-msr/switching";
    for (knob, lie) in [("drain", 0.0), ("let_in", 0.3)] {
        is_refused(&valid, &format!("{switching}/{knob}"), json!(lie), knobs);
    }
    for knob in ["drain", "let_in"] {
        let range = format!("switching.{knob}: -1, expected");
        is_refused(&valid, &format!("{switching}/{knob}"), json!(-1), &range);
    }
    let valid = vector("static-quickswap");
    let rule = "/policy/servers/0/rule/static-quickswap";
    is_refused(&valid, &format!("{rule}/overlap"), json!(true), knobs);
    is_refused(&valid, &format!("{rule}/cycle"), json!([0, 1, 2]), knobs);
    is_refused(&valid, &format!("{rule}/thresholds/1"), json!(1), knobs);
}

/// Prices of resources are no dearer than what covers the values.
#[test]
fn dear_resource_prices_are_refused() {
    let valid = analysed(0.5);
    let prices = "/evidence/servers/0/resource_prices";
    for j in 0..2 {
        let place = format!("{prices}/{j}");
        let dearer = json!(number(&valid, &place) * 1.001);
        is_refused(&valid, &place, dearer, "would cover the values");
    }
    is_refused(
        &valid,
        &format!("{prices}/2"),
        json!(1e-3),
        "would cover the values",
    );
}

/// Where 1e-9 is promised, 1e-8 is refused: of what follows from the chain and from the certificate.
#[test]
fn an_error_of_1e_8_is_refused_where_1e_9_is_promised() {
    let valid = analysed(0.8);
    for (quantity, of) in [
        ("working_time", None),
        ("switching_frequency", None),
        ("largest_stable_switching_rate", None),
        ("mean_schedule", Some("type-2")),
        ("load", Some("type-3")),
    ] {
        let place = claim(&valid, quantity, of) + "/value";
        let right = number(&valid, &place);
        is_refused(&valid, &place, json!(right * (1.0 + 1e-8)), ".value: ");
        is_refused(&valid, &place, json!(right * (1.0 - 1e-8)), ".value: ");
    }
}

/// What is said of more arrivals, of other rates and routes is derived, and off by 1e-5 refused.
#[test]
fn what_was_tried_and_what_if_are_derived() {
    let valid = analysed(0.5);
    let making = "/provenance/servers/0";
    // About the rates tuned to the values hardly depend on them.
    for (place, off) in [
        ("what_if/more_arrivals/0/mean_response", 1e-5),
        ("what_if/more_arrivals/2/mean_response", 1e-5),
        ("what_if/more_arrivals/1/load", 1e-5),
        ("what_if/load_of_twice_the_response", 1e-5),
        ("tuning/routes/1/value", 1e-5),
        ("tuning/routes/3/value", 1e-5),
        ("tuning/routes/2/switching_rate", 0.05),
        ("tuning/curve/0/value", 1e-5),
        ("tuning/curve/0/switching_rate", 1e-5),
        ("tuning/curve/9/switching_rate", 0.05),
    ] {
        let pointer = format!("{making}/{place}");
        let right = number(&valid, &pointer);
        is_refused(&valid, &pointer, json!(right * (1.0 + off)), "expected");
    }
    // Beyond the largest stable rate there is no value.
    let busy = analysed(0.9);
    let curve = busy.pointer(&format!("{making}/tuning/curve"));
    let last = curve.unwrap().as_array().unwrap().len() - 1;
    let pointer = format!("{making}/tuning/curve/{last}/switching_rate");
    is_refused(&busy, &pointer, json!(1e3), "unstable");
    // A larger server: the load is that of its mix, no lower than its prices allow, and no higher than now.
    for j in 0..2 {
        let proof = format!("/provenance/growth/steps/{j}/proof");
        let pointer = format!("{proof}/load");
        is_refused(&valid, &pointer, json!(0.4), "expected");
        is_refused(&valid, &pointer, json!(0.5001), "expected");
        let pointer = format!("{proof}/bound");
        is_refused(&valid, &pointer, json!(0.51), "expected");
    }
}

/// A mean that no rule can have, and one that is known better than so many jobs can tell.
#[test]
fn impossible_measurements_are_refused() {
    let valid = vector("adaptive-msr");
    let response = claim(&valid, "mean_response", None);
    let lie = |value: f64, half_width: f64| {
        findings(&valid, |v| {
            let claim = v.pointer_mut(&response).unwrap();
            claim["value"] = json!(value);
            claim["half_width"] = json!(half_width);
            v["provenance"]["servers"][0]["choice"]["candidates"][0]["value"] =
                json!({"mean": value, "half_width": half_width});
        })
    };
    let right = number(&valid, &format!("{response}/value"));
    let narrow = lie(right, 1e-9);
    assert!(
        narrow.iter().any(|f| f.contains("half_width: ")),
        "{narrow:#?}"
    );
    // All numbers of the types in proportion, so that sums and Little's law hold.
    let fewer = findings(&valid, |v| {
        let claims = v["claims"].as_array_mut().unwrap().iter_mut();
        for claim in claims.filter(|claim| claim["method"] == "simulated") {
            claim["value"] = json!(claim["value"].as_f64().unwrap() * 0.8);
            claim["half_width"] = json!(claim["half_width"].as_f64().unwrap() * 0.8);
        }
    });
    assert!(!fewer.is_empty());
    let mut without = valid.clone();
    let making = without["provenance"]["servers"][0].as_object_mut().unwrap();
    making.remove("choice");
    let found = findings(&without, |_| ());
    assert!(
        found.iter().any(|f| f.contains("the record of it")),
        "{found:#?}"
    );
}

/// Near saturation jobs wait, whatever the rule: less is refused though every job is served in time.
#[test]
fn a_mean_below_what_every_rule_has_is_refused() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/models/section7.yaml");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.json");
    let name = file.to_str().unwrap();
    let made = synth(&[
        "--workload",
        model,
        "--preemption",
        "none",
        "--family",
        "quickswap",
        "--budget",
        "2e7",
        "--quiet",
        "--output",
        name,
    ]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let valid: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(findings(&valid, |_| ()), [""; 0]);
    // By hand at .9, where C = 10/9 and Σ y_i²/λ_i = .03472 + .078125 + .27778: waiting jobs weigh
    // 9 × that − 1 at least, and one of type 3 weighs .5556: E[N] ≥ 3.15 + 2.5156/.5556 = 7.678.
    let least = 7.678 / 3.15;
    let lie = |v: &mut Value| {
        let claims = v["claims"].as_array_mut().unwrap().iter_mut();
        for claim in claims.filter(|claim| claim["method"] == "simulated") {
            let all = claim.get("type").is_none() && claim["quantity"] == "mean_response";
            if all {
                claim["value"] = json!(least - 0.01);
                claim["half_width"] = json!(0.002);
            }
        }
    };
    let place = claim(&valid, "mean_response", None).replace("/claims/", "claims[") + "].value";
    let found = findings(&valid, lie);
    let told = found.iter().find(|f| f.starts_with(&place)).unwrap();
    assert!(told.contains("expected at least 2.437"), "{told}");
}

/// The record of a choice does not contradict itself.
#[test]
fn a_candidate_that_contradicts_itself_is_refused() {
    let valid = vector("adaptive-msr");
    let of = |n: usize, field: &str| format!("/provenance/servers/0/choice/candidates/{n}/{field}");
    let candidates = &valid["provenance"]["servers"][0]["choice"]["candidates"];
    let all = candidates.as_array().unwrap();
    let last = all.iter().rposition(|c| c["ratio"].is_object()).unwrap();
    let ratio = number(&valid, &of(last, "ratio/mean"));
    assert!(ratio > 1.0);
    let first = number(&valid, &of(0, "value/mean"));
    let by_types = "by the types' mean responses";
    for (n, field, lie, words) in [
        (
            last,
            "ratio/mean",
            json!(5.0 * ratio),
            "by the values it is",
        ),
        (last, "ratio/mean", json!(0.8 / ratio), "ratio: "),
        (last, "value/mean", json!(0.5 * first), "candidates"),
        (0, "fairness", json!(0.5), by_types),
        (0, "slowdown_ratio", json!(1.01), by_types),
        (1, "fairness", json!(1.5), "at most 1"),
        (1, "slowdown_ratio", json!(0.5), "at least 1"),
        (1, "tried", json!(0), "1 at least"),
    ] {
        is_refused(&valid, &of(n, field), lie, words);
    }
}

/// Weights that prove nothing, and rules that do not go with the server.
#[test]
fn lies_about_preemptive_rules_are_refused() {
    let rule = |name: &str| format!("/policy/servers/0/rule/{name}");
    let weights = vector("max-weight");
    let own = rule("max-weight");
    is_refused(
        &weights,
        &format!("{own}/exponent"),
        json!(0.0),
        "expected above 0",
    );
    is_refused(
        &weights,
        &format!("{own}/exponent"),
        json!(5.0),
        "at most 2",
    );
    is_refused(
        &weights,
        &format!("{own}/worths/1"),
        json!(1e-300),
        "at least, at most 1",
    );
    is_refused(
        &weights,
        &format!("{own}/worths/1"),
        json!(1.5),
        "at most 1",
    );
    is_refused(
        &weights,
        &format!("{own}/worths"),
        json!([1.0]),
        "one for each job type",
    );
    // How many resources jobs need.
    let own = "/policy/servers/0/rule";
    let filling = json!({"server-filling": {}});
    is_refused(&weights, own, filling, "one resource");
}

/// Setups without a rate, and guards that would not end what is in setup.
#[test]
fn lies_about_setups_are_refused() {
    let rule = "/policy/servers/0/rule";
    let weights = vector("max-weight-setup");
    let own = format!("{rule}/max-weight-setup");
    for (field, lie, told) in [
        ("setup_rate", 0.0, "setup_rate"),
        ("eagerness", -1.0, "eagerness"),
        ("haste", -0.5, "haste"),
        ("weights/exponent", 0.0, "expected above 0"),
    ] {
        is_refused(&weights, &format!("{own}/{field}"), json!(lie), told);
    }
    let guarded = vector("guarded-setup");
    let guard = format!("{rule}/guarded/guard");
    is_refused(
        &guarded,
        &format!("{guard}/setup_rate"),
        json!(20.0),
        "the setups of the rule",
    );
    let gentle = format!("{rule}/guarded/rule");
    is_refused(
        &guarded,
        &gentle,
        json!({"first-fit": {}}),
        "the setups of the rule",
    );
}

/// With preemption a mean may be less than any rule without it can have, but not less than the certificate allows.
#[test]
fn a_mean_with_preemption_is_bounded_too() {
    let weights = vector("max-weight");
    let mean = claim(&weights, "mean_response", None);
    is_refused(&weights, &format!("{mean}/value"), json!(0.5), "at least");
}

//! End-to-end tests of `synth compare`.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::common::*;
use serde_json::Value;

const SECTION_SEVEN: &str = "compare --workload models/section7.yaml --policies";

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn all_results_come_from_one_run() {
    let folder = Folder::new();
    let policy = folder.policy("section7");
    let rules = format!("fcfs,first-fit,{policy}");
    let [out, csv, html] = folder.paths(["c.json", "c.csv", "c.html"]);
    let files = format!("--output {out} --csv {csv} --html {html}");
    let run = run_ok!("{SECTION_SEVEN} {rules} --loads 0.5,90% --events 5e6 {files}");
    assert!(!folder.path("c.json.partial").exists());
    let table = stdout(&run);
    assert_contains(&table, "section7.json (preempts)");
    assert_contains(&table, "unstable");
    assert!(!table.contains("NaN") && !table.contains("inf"), "{table}");
    let document = folder.json("c.json");
    document_is_sound(&document);
    csv_is_sound(&read_text(csv), &document, &policy);
    page_is_sound(&read_text(html));
}

fn document_is_sound(document: &Value) {
    assert_eq!(document["format"], "synth-comparison");
    assert_eq!(document["interrupted"], false);
    assert_eq!(document["settings"]["seed"], 1);
    assert_eq!(document["cells"].as_array().unwrap().len(), 6);
    let digest = document["workload"]["digest"].as_str().unwrap();
    assert!(digest.starts_with("sha256:"), "{digest}");
    assert!(document["policies"][0]["digest"].is_null());
    assert!(document["policies"][2]["digest"].is_string());
    let [low, high] = [0, 1].map(|n| &document["rankings"][n]);
    assert_eq!(low["pairs"].as_array().unwrap().len(), 3);
    let found = high["order"].as_array().unwrap().len();
    assert_eq!(found, 2, "fcfs is unstable");
    let pair = &high["pairs"][0];
    assert_eq!(pair["slower"], "first-fit");
    let ratio = pair["ratio"]["mean"].as_f64().unwrap();
    assert!(pair["apart"].as_bool().unwrap() && ratio > 2.0, "{pair}");
    let simultaneous = low["pairs"][0]["simultaneous_half_width"].as_f64().unwrap();
    assert!(simultaneous > low["pairs"][0]["ratio"]["half_width"].as_f64().unwrap());
}

fn csv_is_sound(text: &str, document: &Value, policy: &str) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(Into::into).collect();
    let columns = words("load policy type quantity value low high unit");
    assert_eq!(header, columns);
    let lines: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    for line in &lines {
        for number in [&line[0], &line[4], &line[5], &line[6]] {
            let is_number = number.is_empty() || number.parse::<f64>().unwrap().is_finite();
            assert!(is_number, "{line:?}");
        }
    }
    let value = |load: &str, policy: &str, quantity: &str| {
        let all = |l: &&csv::StringRecord| {
            [&l[0], &l[1], &l[2], &l[3]] == [load, policy, "all", quantity]
        };
        let found: Vec<_> = lines.iter().filter(all).collect();
        assert!(found.len() <= 1, "{found:?}");
        found.first().and_then(|line| line[4].parse::<f64>().ok())
    };
    let of_json = document["cells"][0]["run"]["mean_response"]["mean"].as_f64();
    assert_eq!(value("0.5", "fcfs", "mean_response"), of_json);
    assert_eq!(value("0.9", "fcfs", "stable"), Some(0.0));
    assert_eq!(value("0.9", "fcfs", "mean_response"), None);
    let told = value("0.9", policy, "ratio_to_fastest");
    assert_eq!(told, None, "it is the fastest");
    assert!(value("0.9", "first-fit", "ratio_to_fastest").unwrap() > 2.0);
    assert!(value("0.5", policy, "utilization.cpu").is_some());
}

/// The page must be a single file, and each figure must have a title and a description.
fn page_is_sound(page: &str) {
    let page = &page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http://", "https://", "src=", "<script", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"));
    assert!(page.contains("prefers-color-scheme:dark") && page.contains("@media print"));
    let count = |part: &str| page.matches(part).count();
    assert_eq!(count("<figure"), count("role=\"img\""));
    assert_eq!(count("<figure"), count("<desc id="));
    assert_eq!(count("href="), count("href=\"#"));
    // There are five figures of response times, two for each resource and one for each load, and
    // three schedules and types.
    assert_eq!(count("<figure"), 5 + 2 * 3 + 2 + 3 + 3);
    assert!(page.len() < 500_000, "{}", page.len());
    for tag in words("svg figure table caption section details ul dl p h2") {
        let open = count(&format!("<{tag}>")) + count(&format!("<{tag} "));
        assert_eq!(open, count(&format!("</{tag}>")), "{tag}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf,"));
    assert_contains(page, "unstable at 0.9000");
    for word in words("MSER-5 sha256: 'synth compare --workload' Bonferroni") {
        assert_contains(page, word);
    }
}

/// The resumed run must give the same bytes, even if the last line of the file is incomplete.
#[cfg(unix)]
#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn resumes_an_interrupted_comparison() {
    let folder = Folder::new();
    let [whole, cut, page] = folder.paths(["whole.json", "cut.json", "cut.html"]);
    let partial = folder.path("cut.json.partial");
    let options = "--loads .5,.7,.8 --precision 1e-6 --events 3e6 -q";
    let typed = format!("{SECTION_SEVEN} first-fit,fcfs {options} --output");
    run_ok!("{typed} {whole}");

    let mut cutting = command(&format!("{typed} {cut} --html {page}"));
    let cutting = cutting.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = cutting.spawn().unwrap();
    let lines = || fs::read_to_string(&partial).map_or(0, |text| text.lines().count());
    wait_for("finished cell", || lines() >= 2);
    let output = interrupt(child);
    assert_contains(&stdout(&output), "INTERRUPTED");
    let document = folder.json("cut.json");
    assert_eq!(document["interrupted"], true);
    let cells = document["cells"].as_array().unwrap();
    let endings = cells.iter().filter_map(|c| c["run"]["ending"].as_str());
    let endings: Vec<&str> = endings.collect();
    // A cell without results is not stored. Only the last cell can be incomplete.
    assert!((1..=6).contains(&cells.len()), "{endings:?}");
    assert_eq!(endings.len(), cells.len());
    let cut_at = endings.iter().position(|ending| *ending == "interrupted");
    let finished = &endings[..cut_at.unwrap_or(endings.len())];
    let are_whole = finished.iter().all(|ending| *ending == "events");
    assert!(are_whole, "{endings:?}");
    assert!(endings.len() - finished.len() <= 1, "{endings:?}");
    assert!(read_text(page).contains("INTERRUPTED"));

    let typed = format!("{typed} {cut}");
    let refused = run_expecting_code(2, &typed);
    assert_contains(&stderr(&refused), "--resume");
    let refused = run_expecting_code(2, &format!("{typed} --resume --seed 7"));
    assert_contains(&stderr(&refused), "seed: 1 there, 7 here");

    let mut text = read_text(&partial);
    text.push_str("{\"policy\":\"fcfs\",\"load\":0.8,\"run\":{\"se");
    fs::write(&partial, text).unwrap();
    run_ok!("{typed} --resume");
    assert_eq!(fs::read(&cut).unwrap(), fs::read(&whole).unwrap());
    assert!(!partial.exists());
    run_ok!("{typed} --resume");
}

#[cfg(unix)]
#[test]
fn prints_partial_results_of_an_interrupted_simulation() {
    let options = "--events 1e12 --precision 1e-9 --output -";
    let typed = format!("simulate first-fit --workload models/section7.yaml {options}");
    let mut running = command(&typed);
    let running = running.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = running.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(800));
    let output = interrupt(child);
    let document = json(&output);
    assert_eq!(document["run"]["ending"], "interrupted");
    assert_contains(&stderr(&output), "INTERRUPTED");
}

#[test]
fn results_do_not_depend_on_the_number_of_cores() {
    let run = |threads: &str| {
        let typed = format!("{SECTION_SEVEN} fcfs,first-fit --loads .7 --events 1e6 --output -");
        let mut command = command(&typed);
        command.env("RAYON_NUM_THREADS", threads).output().unwrap()
    };
    let (one, two) = (run("1"), run("2"));
    assert_eq!(code(&one), 0, "{}", stderr(&one));
    assert_eq!(one.stdout, two.stdout);
    assert!(stdout(&one).starts_with('{') && stderr(&one).contains("fcfs"));
}

#[test]
fn reports_a_policy_for_other_types_and_continues() {
    let folder = Folder::new();
    let misfit = folder.policy("vms");
    let rules = format!("first-fit,{misfit}");
    let html = folder.path_string("c.html");
    let typed = format!("{SECTION_SEVEN} {rules} --loads .5,.6 --events 6e5 --html {html}");
    let run = run_expecting_code(1, &typed);
    let table = stdout(&run);
    let expected = "At ρ = 0.5 and ρ = 0.6, vms.json: the policy was created for different";
    assert_contains(&table, expected);
    assert_contains(&table, "At ρ = 0.6, only first-fit has a mean");
    assert_contains(&read_text(html), "created for different job types");
    let typed = format!("{SECTION_SEVEN} {misfit} --loads .5");
    run_err(&typed, "no policy can run");
}

#[test]
fn rejects_bad_input_immediately() {
    let folder = Folder::new();
    folder.write("there.json.partial", "{\"format\":\"something else\"}\n");
    let table = include_str!("tables/compare/bad_input.txt");
    let table = table.replace("FOLDER/", &folder.path_string(""));
    for [typed, expected] in rows(&table) {
        run_err(&format!("{SECTION_SEVEN} {typed} --events 1e12"), expected);
    }
    assert_eq!(folder.files().len(), 1, "nothing is left behind");
}

/// This must also work if links are used for the file names.
#[cfg(unix)]
#[test]
fn does_not_overwrite_inputs_or_other_outputs() {
    let folder = Folder::new();
    let policy = folder.policy("section7");
    let workload = folder.path_string("w.yaml");
    fs::copy("models/section7.yaml", &workload).unwrap();
    let [link, x, x_too, partial] = folder.paths(["link", "x", "./x", "x.partial"]);
    fs::write(&x, "").unwrap();
    std::os::unix::fs::symlink("x", &link).unwrap();
    let before = [&policy, &workload].map(|file| fs::read(file).unwrap());
    let comparing = format!("compare --workload {workload} --policies {policy}");
    let making = format!("--workload {workload} --preemption full");
    for option in ["--output", "--csv", "--html"] {
        for read in [&policy, &workload] {
            let typed = format!("{comparing} {option} {read}");
            run_err(&typed, "would be overwritten");
        }
    }
    for outputs in [
        format!("--csv {x} --html {link}"),
        format!("--csv {x} --html {x_too}"),
        format!("--output {x} --csv {partial}"),
    ] {
        run_err(&format!("{comparing} {outputs}"), "a different file");
    }
    let typed = format!("simulate {policy} --output {policy}");
    run_err(&typed, "would be overwritten");
    let typed = format!("{making} --output {workload}");
    run_err(&typed, "would be overwritten");
    let expected = [&policy, &workload].map(|file| fs::read(file).unwrap());
    assert_eq!(before, expected);
    let output = run_ok!("{making} --family msr --work 4e6 -q --output -");
    assert!(stdout(&output).starts_with("{\n  \"format\": \"synth-policy\""));
}

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use super::*;
use synth_core::document::{DocumentError, Pairs, Parsed, WorkloadDocument as _};

mod models;
mod records;
mod written;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn models() -> Vec<PathBuf> {
    let mut models = yaml_files("models");
    models.retain(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        text.contains("kind: multiresource\n")
    });
    models
}

fn yaml_files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    paths.sort();
    paths
}

fn report(error: DocumentError) -> String {
    assert!(matches!(error, DocumentError::Faults { .. }), "{error}");
    error.to_string()
}

fn model(name: &str) -> Workload {
    let path = root().join(format!("models/{name}.yaml"));
    Workload::read(&path).unwrap().workload
}

fn parse(text: &str) -> Workload {
    Workload::parse(text, "t.yaml").unwrap().workload
}

#[test]
fn rejects_the_corpus_of_faulty_workloads() {
    let paths = yaml_files("tests/corpus/workloads");
    assert!(paths.len() > 50, "{} files", paths.len());
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let expected = text.lines().next().unwrap();
        let expected = expected.strip_prefix("# expect: ").unwrap();
        let report = report(Workload::read(&path).unwrap_err());
        let is_told = report.contains(expected);
        assert!(is_told, "{}: expected {expected}\n{report}", path.display());
        let found = report.matches("error: ").count();
        assert_eq!(found, 1, "one fault a file:\n{report}");
        assert!(report.contains("= help: "), "{report}");
        let place = report.split_once(&format!("--> {}:", path.display()));
        let place = place.unwrap().1;
        let line: usize = place.split(':').next().unwrap().parse().unwrap();
        assert!(line > 1 || expected == "the document is empty", "{report}");
    }
}

#[test]
fn rejects_an_empty_document_with_an_example() {
    for text in ["", "\n \n", "\u{feff}", "---\n# x\n...\n"] {
        let report = report(Workload::parse(text, "t.yaml").unwrap_err());
        assert!(report.contains("the document is empty"), "{report}");
        assert!(report.contains("kind: multiresource"), "{report}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Workload::read(Path::new("no/such.yaml")).unwrap_err();
    assert!(error.to_string().contains("no/such.yaml"), "{error}");
    assert!(matches!(error, DocumentError::Io { .. }));
}

const HEAD: &str = "kind: multiresource\ntime_unit: s\n";

#[test]
fn reports_all_faults_with_their_places() {
    for case in include_str!("tests/faults.txt").split("\n\n") {
        let mut parts = case.trim_end().split("\n=> ");
        let [body, places, shown] = [(); 3].map(|()| parts.next().unwrap());
        let error = Fleet::parse(&format!("{HEAD}{body}\n"), "t.yaml").unwrap_err();
        let DocumentError::Faults { report, faults } = error else {
            panic!("{error}")
        };
        let found: Vec<String> = faults.iter().map(|own| own.place.to_string()).collect();
        assert_eq!(found.join(" "), places, "{report}");
        for at in shown.split(' ') {
            assert!(report.contains(&format!("t.yaml:{at}")), "{at}\n{report}");
        }
    }
}

#[test]
fn a_fault_shows_the_line_and_marks_the_value() {
    let text = format!(
        "{HEAD}server: {{capacity: {{cpu: 8}}}}\njobs:\n  - {{name: a, demand: {{cpu: 9}}, arrival_rate: 1, mean_size: 1}}\n"
    );
    let report = report(Workload::parse(&text, "t.yaml").unwrap_err());
    assert_eq!(report, "error: type `a` does not fit on an empty server: it needs 9 of 8 `cpu` on the closest one, `server`
 --> t.yaml:5:29
  |
5 |   - {name: a, demand: {cpu: 9}, arrival_rate: 1, mean_size: 1}
  |                             ^
  |
  = help: lower the demand, raise a capacity, or leave the type out with `arrival_rate: 0`");
}

#[test]
fn omits_idle_types_with_a_warning() {
    let text = format!(
        "{HEAD}server: {{capacity: {{cpu: 8}}}}\njobs:\n  \
         - {{name: huge, demand: {{cpu: 90}}, arrival_rate: 0, mean_size: 1}}\n  \
         - {{name: a, demand: {{cpu: 3}}, arrival_rate: 1, mean_size: 1}}\n"
    );
    let Parsed { workload, warnings } = Workload::parse(&text, "t.yaml").unwrap();
    assert_eq!(workload.types().len(), 1);
    assert_eq!(workload.resources()[0].units(), 2);
    let is_told =
        warnings[0].starts_with("warning: type `huge`") && warnings[0].contains("t.yaml:5:51");
    assert!(is_told, "{}", warnings[0]);
}

#[test]
fn yaml_anchors_repeat_values() {
    let text = format!(
        "{HEAD}server: {{capacity: {{cpu: 8}}}}\njobs:\n  \
         - {{name: a, demand: &d {{cpu: 3}}, arrival_rate: 1, mean_size: 1}}\n  \
         - {{name: b, demand: *d, arrival_rate: 1, size: {{law: exponential, mean: 1}}}}\n"
    );
    let workload = parse(&text);
    assert_eq!(workload.types()[1].demand()[0].value(), 3.0);
    assert_eq!(workload.types()[0].size(), workload.types()[1].size());
}

fn draws(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |n| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    }
}

fn in_units(unit: &str, demands: &[i64], capacity: i64) -> Vec<Vec<u64>> {
    use num_bigint::BigInt;
    use num_rational::BigRational;
    let unit = Decimal::parse(unit).unwrap().exact();
    let text = |n: i64| {
        let x: BigRational = BigRational::from_integer(BigInt::from(n)) * &unit;
        let scaled = (x * BigRational::from_integer(BigInt::from(10).pow(20))).to_integer();
        format!("{scaled}e-20")
    };
    let mut yaml = format!(
        "{HEAD}server: {{capacity: {{cpu: {}, disk: 7}}}}\njobs:\n",
        text(capacity)
    );
    for (i, demand) in demands.iter().enumerate() {
        yaml += &format!(
            "  - {{name: t{i}, demand: {{cpu: {}, disk: 1}}, arrival_rate: 1, mean_size: 1}}\n",
            text(*demand)
        );
    }
    let workload = parse(&yaml);
    let units = workload.types().iter().map(|t| t.units().to_vec());
    let mut units: Vec<Vec<u64>> = units.collect();
    units.push(workload.resources().iter().map(Resource::units).collect());
    units
}

#[test]
fn the_unit_of_measurement_does_not_matter() {
    let mut draws = draws(7);
    let mut draw = |n: u64| i64::try_from(draws(n)).unwrap() + 1;
    for _ in 0..100 {
        let demands: Vec<i64> = (0..4).map(|_| draw(500)).collect();
        let capacity = 500 + draw(10_000);
        let expected = in_units("1", &demands, capacity);
        for unit in ["1e-9", "1e9", ".1", "3", ".001", "0.7"] {
            let found = in_units(unit, &demands, capacity);
            assert_eq!(found, expected, "{demands:?} of {capacity} in {unit}");
        }
    }
    assert_eq!(in_units(".1", &[1], 3), [vec![1, 1], vec![3, 7]]);
}

#[test]
fn units_agree_with_exact_fractions() {
    let workload = parse(&format!(
        "{HEAD}server: {{capacity: {{cpu: 1.05}}}}\njobs:\n  \
         - {{name: a, demand: {{cpu: .1}}, arrival_rate: 1, mean_size: 1}}\n  \
         - {{name: b, demand: {{cpu: .25}}, arrival_rate: 1, mean_size: 1}}\n"
    ));
    let [a, b] = [&workload.types()[0], &workload.types()[1]];
    for u in 0..12_u32 {
        for v in 0..6_u32 {
            let exact = a.demand()[0].exact() * num_bigint::BigInt::from(u)
                + b.demand()[0].exact() * num_bigint::BigInt::from(v);
            let fits = exact <= workload.resources()[0].capacity().exact();
            let whole = u64::from(u) * a.units()[0] + u64::from(v) * b.units()[0];
            assert_eq!(whole <= workload.resources()[0].units(), fits, "{u} {v}");
        }
    }
    assert_eq!([0, 1].map(|i| workload.most_alone(i)), [10, 4]);
}

#[test]
fn scaling_multiplies_only_rates() {
    let workload = model("section7");
    let scaled = workload.scaled(0.5).unwrap();
    let found = scaled.total_arrival_rate();
    assert_eq!(found, 0.5 * workload.total_arrival_rate());
    assert_ne!(scaled.digest(), workload.digest());
    assert_eq!(scaled.scaled(2.0).unwrap(), workload);
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let report = report(workload.scaled(factor).unwrap_err());
        let is_told = report.contains("choose a positive, finite factor");
        assert!(is_told, "{report}");
    }
    for factor in [f64::MAX, f64::from_bits(1)] {
        report(workload.scaled(factor).unwrap_err());
    }
}

#[test]
fn the_digest_ignores_only_layout_and_source() {
    let text = format!(
        "{HEAD}server: {{capacity: {{cpu: 8}}}}\njobs:\n  - {{name: a, demand: {{cpu: .5}}, arrival_rate: 1, mean_size: 1}}\n"
    );
    let digest = parse(&text).digest();
    assert!(digest.len() == 71, "{digest}");
    assert!(digest.starts_with("sha256:"), "{digest}");
    let told = parse(&format!("source: x\n{}", text.replace(".5", "5.0e-1"))).digest();
    assert_eq!(told, digest);
    for (found, changed) in [
        (".5", ".25"),
        ("cpu", "gpu"),
        ("time_unit: s", "time_unit: h"),
        ("name: a", "name: b"),
    ] {
        assert_ne!(
            parse(&text.replace(found, changed)).digest(),
            digest,
            "{changed}"
        );
    }
}

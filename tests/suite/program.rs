//! Tests of `synth export lp`, which writes the linear program of the load.

use crate::common::*;

/// The optimum is compared with the result of another solver in `python/tests/test_program.py`.
#[test]
fn every_entry_is_a_number() {
    for model in ["section7", "fleet", "gangs", "four_types"] {
        let written = stdout(&run_ok!("export lp models/{model}.yaml"));
        let (_, rest) = written.split_once("Subject To\n").unwrap();
        let (rows, _) = rest.split_once("End\n").unwrap();
        let named = rows.lines().filter(|line| line.ends_with(':')).count();
        let (bounds, entries): (Vec<&str>, Vec<&str>) = rows
            .lines()
            .filter(|line| !line.ends_with(':'))
            .partition(|line| line.contains('='));
        assert_eq!(bounds.len(), named, "{model}");
        let value = |line: &&str| {
            let word = line.split_whitespace().next().unwrap();
            word.parse::<f64>().unwrap()
        };
        assert!(entries.iter().map(value).all(f64::is_finite), "{model}");
        assert!(entries.len() > 5, "{model}");
    }
    let refused = run_expecting_code(2, "export lp models/cloud_instances.yaml");
    assert!(all_output(&refused).contains("maximal schedules"));
}

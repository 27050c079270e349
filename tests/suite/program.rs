//! The program of the load, written for other solvers.

use crate::common::*;

/// Both formats say the same numbers: as many constraints as types and shapes, and each entry of one is in the other.
#[test]
fn both_formats_have_the_same_entries() {
    for model in ["section7", "fleet", "gangs", "four_types"] {
        let [lp, mps] = ["lp", "mps"].map(|format| {
            let written = works(&format!("export {format} models/{model}.yaml"));
            stdout(&written)
        });
        let entries = |text: &str, from: &str, to: &str| {
            let (_, rest) = text.split_once(from).unwrap();
            let (own, _) = rest.split_once(to).unwrap();
            own.to_owned()
        };
        let of_lp = entries(&lp, "Subject To\n", "End\n");
        let of_lp = of_lp
            .lines()
            .filter(|line| line.starts_with("  ") && !line.contains('='));
        let mut of_lp: Vec<f64> = of_lp
            .map(|line| number(line.split_whitespace().next()))
            .collect();
        let of_mps = entries(&mps, "COLUMNS\n", "RHS\n");
        let of_mps = of_mps.lines().filter(|line| !line.contains(" load "));
        let mut of_mps: Vec<f64> = of_mps
            .map(|line| number(line.split_whitespace().nth(2)))
            .collect();
        of_lp.sort_by(f64::total_cmp);
        of_mps.sort_by(f64::total_cmp);
        assert_eq!(of_lp, of_mps, "{model}");
        assert!(of_lp.len() > 5, "{model}");
    }
    let refused = ends(2, "export lp models/cloud_instances.yaml");
    assert!(stderr(&refused).contains("maximal schedules"));
}

fn number(word: Option<&str>) -> f64 {
    word.unwrap().parse().unwrap()
}

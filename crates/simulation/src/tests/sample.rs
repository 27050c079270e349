use serde_json::Value;

use crate::sweep::SweepHeader;

#[doc(hidden)]
impl SweepHeader {
    pub fn sample(names: &[&str]) -> SweepHeader {
        let policy = |name: &&str| serde_json::json!({"name": name, "digest": null});
        let policies: Vec<Value> = names.iter().map(policy).collect();
        let header = serde_json::json!({
            "format": "synth-comparison", "version": 1, "tool": "synth", "policies": policies, "loads": [0.5, 0.95],
            "workload": {"file": "a file.yaml", "source": null, "digest": "sha256:0", "time_unit": "s", "load": 0.9},
            "settings": {"seed": 1, "replications": 8, "precision": 0.01, "events": 10, "time_seconds": 1.5},
        });
        serde_json::from_value(header).expect("the JSON is a valid header")
    }
}

use kube::api::DynamicObject;
use serde_json::Value;

use crate::amounts::amounts;
use synth_operator::Amounts;

pub fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Returns the condition with this name if it is true.
pub fn holds<'a>(object: &'a DynamicObject, name: &str) -> Option<&'a Value> {
    let mut conditions = items(&object.data["status"]["conditions"]);
    conditions.find(|own| own["type"] == name && own["status"] == "True")
}

/// Returns the maximum demand of a pod at any time, as it is computed by the kube-scheduler.
pub fn demand(pod: &Value) -> Amounts {
    let mut sidecars = Amounts::default();
    let mut before = Amounts::default();
    for container in items(&pod["initContainers"]) {
        let at_once = sidecars.clone().plus(&requested(container));
        before = before.most(&at_once);
        if container["restartPolicy"] == "Always" {
            sidecars = at_once;
        }
    }
    let containers = items(&pod["containers"]);
    let running = containers.fold(sidecars, |sum, own| sum.plus(&requested(own)));
    running.most(&before).plus(&amounts(&pod["overhead"]))
}

/// Returns the requests of a container. If there is only a limit, the limit is requested.
fn requested(container: &Value) -> Amounts {
    let resources = &container["resources"];
    let mut all = amounts(&resources["limits"]);
    all.0.extend(amounts(&resources["requests"]).0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::NANO;
    use serde_json::json;

    #[test]
    fn demand_is_the_simultaneous_maximum() {
        let cpus = |n: &str| json!({"resources": {"requests": {"cpu": n}}});
        let mut sidecar = cpus("1");
        sidecar["restartPolicy"] = json!("Always");
        let mut pod = json!({
            "initContainers": [cpus("9"), sidecar, cpus("2")],
            "containers": [cpus("3"), {"resources": {"limits": {"cpu": 4, "nvidia.com/gpu": "1"}}}],
            "overhead": {"cpu": "500m"},
        });
        // The demand is 9 at first and 1 + 3 + 4 later. The overhead is added.
        assert_eq!(demand(&pod).get("cpu"), 19 * NANO / 2);
        assert_eq!(demand(&pod).get("nvidia.com/gpu"), NANO);
        pod["initContainers"] = json!([]);
        assert_eq!(demand(&pod).get("cpu"), 15 * NANO / 2);
    }
}

use askama::Template;
use synth_slurm::templates;

use super::export::{amounts, one_line, yaml};
use synth_core::document::filled_in;
use synth_core::number::Decimal;
use synth_multiresource::artifact::Checked;
use synth_multiresource::workload::{Fleet, Resource, Shape};
use synth_operator::common_resource;

/// Returns the name and the contents of each file. The text of the policy is `written`.
///
/// # Errors
/// If the name of the namespace is not valid.
pub fn kueue(
    checked: &Checked,
    written: &str,
    namespace: &str,
) -> Result<Vec<(String, String)>, String> {
    if !is_namespace(namespace) {
        return Err(format!(
            "`{namespace}` is not a valid namespace: use lower-case letters, digits and `-`"
        ));
    }
    let fleet = checked.workload();
    let resources = fleet.envelope().resources().iter();
    let type_rows = fleet.types().iter().map(|job| {
        let pods = match fleet.is_one_server() {
            true => "any".to_owned(),
            false => job.nodes().to_string(),
        };
        [one_line(job.name()), pods, amounts(fleet, job.demand())]
    });
    let shapes = fleet.shapes().iter().enumerate();
    let site = &Site {
        namespace,
        rule: checked.artifact().policy.called(),
        types: type_rows.collect(),
        shapes: shapes.map(|(n, shape)| flavor(fleet, n, shape)).collect(),
        resources: resources.map(Named::new).collect(),
        is_pooled: fleet.is_one_server(),
    };
    let kustomization = include_str!("../templates/kueue/kustomization.yaml");
    let monitor = include_str!("../templates/kueue/podmonitor.yaml");
    filled_in([
        ("README.md", Readme { site }.render()),
        ("queues.yaml", Queues { site }.render()),
        ("jobs/kustomization.yaml", Gate { site }.render()),
        ("controller/kustomization.yaml", Ok(kustomization.into())),
        ("controller/rights.yaml", Rights { site }.render()),
        ("controller/controller.yaml", Controller { site }.render()),
        ("controller/policy.json", Ok(written.to_owned())),
        ("podmonitor.yaml", Ok(monitor.to_owned())),
    ])
}

fn is_namespace(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_inner = |c: char| is_plain(c) || c == '-';
    name.len() <= 63
        && name.chars().all(is_inner)
        && name.starts_with(is_plain)
        && name.ends_with(is_plain)
}

struct Named {
    of: String,
    name: String,
    unit: &'static str,
    is_guess: bool,
}

impl Named {
    fn new(resource: &Resource) -> Self {
        let of = resource.name().to_owned();
        let known = common_resource(&of, ["cpu", "memory", "nvidia.com/gpu"]);
        Named {
            name: match known {
                Some((name, _)) => name.to_owned(),
                None if of.contains('/') => of.clone(),
                None => format!("example.com/{of}"),
            },
            unit: known.map_or("", |own| unit(own.1)),
            is_guess: known.is_none() && !of.contains('/'),
            of,
        }
    }
}

/// Returns the suffix of a unit in Kubernetes, or an empty string if it does not exist.
fn unit(bytes: u64) -> &'static str {
    let [binary, decimal] = [["Ki", "Mi", "Gi", "Ti"], ["k", "M", "G", "T"]];
    let of = |base: u64, units: [&'static str; 4]| {
        let mut pairs = (1..).zip(units);
        let pair = pairs.find(|(n, _)| base.pow(*n) == bytes);
        pair.map(|(_, unit)| unit)
    };
    of(1024, binary).or(of(1000, decimal)).unwrap_or_default()
}

struct Flavor {
    name: String,
    shape: String,
    count: u32,
    /// The capacity of a node, and the total of each resource by its name in Kubernetes.
    each: String,
    quotas: Vec<(String, String)>,
}

fn flavor(fleet: &Fleet, n: usize, shape: &Shape) -> Flavor {
    let word = shape.name().to_ascii_lowercase();
    let word = word.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let word = word.trim_matches('-');
    let quota = |(of, amount): (&Resource, &Decimal)| {
        let of = Named::new(of);
        let all = amount.exact() * num_rational::BigRational::from_integer(shape.count().into());
        let all = Decimal::nearest(&all).map_or_else(|| amount.to_string(), |all| all.to_string());
        (of.name, yaml(&format!("{all}{}", of.unit)))
    };
    let pairs = fleet.envelope().resources().iter().zip(shape.capacity());
    Flavor {
        name: match word {
            "" => format!("shape-{n}"),
            word => word.into(),
        },
        shape: one_line(shape.name()),
        count: shape.count(),
        each: amounts(fleet, shape.capacity()),
        quotas: pairs.map(quota).collect(),
    }
}

struct Site<'a> {
    namespace: &'a str,
    rule: &'a str,
    types: Vec<[String; 3]>,
    shapes: Vec<Flavor>,
    resources: Vec<Named>,
    is_pooled: bool,
}

templates! {
    Readme: "kueue/README.md", site: &'a Site<'a>;
    Queues: "kueue/queues.yaml", site: &'a Site<'a>;
    Gate: "kueue/gate.yaml", site: &'a Site<'a>;
    Rights: "kueue/rights.yaml", site: &'a Site<'a>;
    Controller: "kueue/controller.yaml", site: &'a Site<'a>;
}

use std::collections::HashMap;

use itertools::Itertools as _;

use synth_core::document::Pairs;
use synth_core::number::Decimal;
use synth_multiresource::workload::{
    self, Amount, Fleet, FleetDocument, JobDocument, ShapeDocument,
};

/// The servers on which the jobs of a trace ran, from `--servers` or from the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Servers {
    /// The names of the `R ≥ 1` resources, which are all different.
    pub resources: Vec<String>,
    /// The resources with devices. Demands below 1 are on one device, and others on whole devices.
    pub devices: Vec<String>,
    /// The `H ≥ 1` server shapes.
    pub shapes: Vec<ServerShape>,
}

/// A group of identical servers.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerShape {
    /// The number of servers, ≥ 1.
    pub count: u32,
    /// The capacity of each (R), ≥ 0.
    pub capacity: Vec<Decimal>,
}

impl ServerShape {
    /// Groups servers with the same capacities (R each), in the order in which they are given.
    pub fn group(capacities: impl IntoIterator<Item = Vec<Decimal>>) -> Vec<Self> {
        let mut shapes: Vec<ServerShape> = Vec::new();
        for capacity in capacities {
            match shapes.iter_mut().find(|shape| shape.capacity == capacity) {
                Some(shape) => shape.count += 1,
                None => shapes.push(ServerShape { count: 1, capacity }),
            }
        }
        shapes
    }
}

impl From<&Fleet> for Servers {
    fn from(fleet: &Fleet) -> Self {
        let resources = fleet.envelope().resources().iter();
        let shape = |shape: &workload::Shape| ServerShape {
            count: shape.count(),
            capacity: shape.capacity().to_vec(),
        };
        Servers {
            resources: resources.map(|r| r.name().to_owned()).collect(),
            devices: fleet.devices(),
            shapes: fleet.shapes().iter().map(shape).collect(),
        }
    }
}

impl Servers {
    /// Creates servers that do not have any devices.
    pub fn new(resources: Vec<String>, shapes: Vec<ServerShape>) -> Self {
        Servers {
            resources,
            devices: Vec::new(),
            shapes,
        }
    }

    /// Returns a workload of these types on these servers; other fields are from `head`.
    pub fn workload(&self, head: FleetDocument, jobs: Vec<JobDocument>) -> FleetDocument {
        let amount = |r: usize, amount| Amount::of(amount, self.has_devices(r));
        let shape = |own: &ServerShape| ShapeDocument {
            name: None,
            count: Some(own.count),
            capacity: Pairs::amounts(&self.resources, &own.capacity, amount),
        };
        FleetDocument {
            servers: self.shapes.iter().map(shape).collect(),
            jobs,
            ..head
        }
    }

    /// Returns the given demands (R) together with the names of the resources.
    pub fn demand(&self, demand: &[Decimal]) -> Pairs {
        Pairs::amounts(&self.resources, demand, |_, demand| demand)
    }

    /// Returns `true` if the resource `r` consists of devices.
    pub fn has_devices(&self, r: usize) -> bool {
        self.devices.contains(&self.resources[r])
    }

    /// Returns `true` if a job with this demand (R) on each of `nodes` servers fits on empty ones.
    pub fn hold(&self, demand: &[f64], nodes: u32) -> bool {
        let is_split = |r: usize| demand[r] > 1.0 && demand[r].fract() != 0.0;
        if (0..demand.len()).any(|r| is_split(r) && self.has_devices(r)) {
            return false;
        }
        let fits = |shape: &&ServerShape| {
            let mut pairs = demand.iter().zip(&shape.capacity);
            pairs.all(|(demand, capacity)| *demand <= capacity.value())
        };
        let shapes = self.shapes.iter().filter(fits);
        shapes.map(|shape| u64::from(shape.count)).sum::<u64>() >= u64::from(nodes)
    }

    /// Changes a total demand (R) to the demand per server, rounded up to integers or thousandths.
    pub(super) fn part(&self, demand: &mut [f64], nodes: u32) {
        for (demand, name) in demand.iter_mut().zip(&self.resources) {
            let is_whole = demand.fract() == 0.0 && name != "memory";
            let unit = if is_whole { 1.0 } else { 1000.0 };
            *demand = (*demand * unit / f64::from(nodes)).ceil() / unit;
        }
    }

    /// Returns the smallest number of servers, at least `named` (0 if unknown), that hold a total
    /// demand (R) in equal parts, and the demand on each; `None` if it is not possible.
    pub(super) fn spread(&self, total: &[f64], named: u32) -> Option<(u32, Vec<f64>)> {
        let all: u32 = self.shapes.iter().map(|shape| shape.count).sum();
        let mut fewest = total.iter().enumerate().map(|(j, total)| {
            let shapes = self.shapes.iter().map(|s| (s.capacity[j].value(), s.count));
            least(shapes.sorted_by(|a, b| b.0.total_cmp(&a.0)), *total)
        });
        let fewest = fewest.try_fold(1, |most, own| Some(own?.max(most)))?;
        if named > 0 && fewest > named {
            return None;
        }
        let mut tried = (fewest.max(named)..=all).take(MOST_TRIED);
        tried.find_map(|nodes| {
            let mut demand = total.to_vec();
            self.part(&mut demand, nodes);
            self.hold(&demand, nodes).then_some((nodes, demand))
        })
    }

    /// Returns the total capacity of all servers (R).
    pub fn total(&self) -> Vec<f64> {
        let of = |shape: &ServerShape, j: usize| f64::from(shape.count) * shape.capacity[j].value();
        let total = |j: usize| self.shapes.iter().map(|shape| of(shape, j)).sum();
        (0..self.resources.len()).map(total).collect()
    }

    pub(super) fn unnamed(&self, is_named: &[bool]) -> Option<String> {
        let resources = self.resources.iter().zip(is_named);
        let unnamed = resources.filter(|(_, named)| !**named).map(|own| own.0);
        let is_type = |name: &&String| name.contains(':');
        let (types, unnamed): (Vec<&String>, Vec<&String>) = unnamed.partition(is_type);
        if let [_, ..] = unnamed[..] {
            return Some(format!(
                "no line demands any {}: all jobs are assumed to use none. Remove it from the servers, or check its name in the file",
                unnamed.iter().join(" and no line any ")
            ));
        }
        let all = self.resources.iter().filter(is_type).count();
        (types.len() > 1 && types.len() == all).then(|| format!(
            "no job requests a type ({}): all may run on any. If users request types, list them in AccountingStorageTRES (for example gres/{}), so that sacct reports them",
            types.iter().join(", "), types[0]
        ))
    }

    /// Parses a text such as `40xcpu=96,memory=384;8xcpu=48,gpu:devices=8`. Amounts are 0 by
    /// default, and devices apply to all shapes. The error contains the expected syntax.
    pub fn shapes(text: &str) -> Result<Self, String> {
        let (mut devices, mut shapes) = (Vec::new(), Vec::new());
        for part in text.split(';').filter(|part| !part.trim().is_empty()) {
            let counted = part.split_once('x');
            let counted = counted.and_then(|(n, rest)| Some((n.trim().parse().ok()?, rest)));
            let (count, rest): (u32, &str) = counted.unwrap_or((1, part));
            if count == 0 {
                return Err(wrong_shape(part));
            }
            shapes.push((count, amounts(rest, &mut devices)?));
        }
        if shapes.is_empty() {
            return Err(wrong_shape(text));
        }
        let names = shapes.iter().flat_map(|(_, amounts)| amounts);
        let resources = names.map(|(name, _)| name.clone()).unique().collect_vec();
        let shape = |(count, amounts): (u32, Vec<(String, Decimal)>)| {
            let amounts: HashMap<String, Decimal> = amounts.into_iter().collect();
            let amount = |name| amounts.get(name).copied().unwrap_or(Decimal::ZERO);
            let capacity = resources.iter().map(amount).collect();
            ServerShape { count, capacity }
        };
        let shapes = shapes.into_iter().map(shape).collect();
        Ok(Servers {
            resources,
            devices,
            shapes,
        })
    }
}

const DEVICES: &str = ":devices";

const MOST_TRIED: usize = 256;

/// Capacities are in descending order.
fn least(shapes: impl Iterator<Item = (f64, u32)>, mut amount: f64) -> Option<u32> {
    let mut nodes = 0;
    for (capacity, count) in shapes {
        if amount <= 0.0 {
            break;
        }
        let needed = (amount / capacity).ceil();
        if needed <= f64::from(count) {
            return Some(nodes + needed as u32);
        }
        (nodes, amount) = (nodes + count, amount - capacity * f64::from(count));
    }
    (amount <= 0.0).then_some(nodes)
}

impl std::fmt::Display for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let amounts = |shape: &ServerShape| {
            let pairs = self.resources.iter().zip(&shape.capacity);
            let there = pairs.filter(|(_, amount)| **amount > Decimal::ZERO);
            let devices = |name| match self.devices.contains(name) {
                true => DEVICES,
                false => "",
            };
            let words = there.map(|(name, amount)| format!("{name}{}={amount}", devices(name)));
            words.format(",").to_string()
        };
        if let [shape @ ServerShape { count: 1, .. }] = &self.shapes[..] {
            return f.write_str(&amounts(shape));
        }
        let shapes = self.shapes.iter();
        let shapes = shapes.map(|shape| format!("{}x{}", shape.count, amounts(shape)));
        write!(f, "{}", shapes.format(";"))
    }
}

fn wrong_shape(found: &str) -> String {
    format!(
        "`{found}` is not a valid server shape: write e.g. 40xcpu=96,memory=384;8xcpu=48,gpu=8, or name a file that lists nodes"
    )
}

fn amounts(text: &str, devices: &mut Vec<String>) -> Result<Vec<(String, Decimal)>, String> {
    let mut amounts: Vec<(String, Decimal)> = Vec::new();
    for part in text.split(',') {
        let wrong = |why: &str| format!("`{}` {why}: write e.g. cpu=128,memory=512", part.trim());
        let pair = part.split_once('=');
        let (name, amount) = pair.ok_or_else(|| wrong("has no amount"))?;
        let (name, of_devices) = (name.trim(), name.trim().strip_suffix(DEVICES));
        devices.extend(of_devices.map(str::to_owned));
        let name = of_devices.unwrap_or(name);
        let amount = Decimal::parse(amount.trim()).ok();
        let amount = amount.filter(|amount| *amount > Decimal::ZERO);
        let amount = amount.ok_or_else(|| wrong("is not an amount > 0"))?;
        if name.is_empty() || amounts.iter().any(|(own, _)| own == name) {
            return Err(wrong("has an empty or repeated name"));
        }
        amounts.push((name.into(), amount));
    }
    Ok(amounts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parses_shapes_with_missing_resources() {
        let servers = Servers::shapes("40xcpu=96,memory=384; 8xcpu=48,gpu=8").unwrap();
        assert_eq!(servers.resources, ["cpu", "memory", "gpu"]);
        assert_eq!(
            servers.total(),
            [40.0 * 96.0 + 8.0 * 48.0, 40.0 * 384.0, 64.0]
        );
        assert!(servers.hold(&[48.0, 0.0, 8.0], 1) && servers.hold(&[96.0, 1.0, 0.0], 40));
        assert!(!servers.hold(&[49.0, 0.0, 1.0], 1) && !servers.hold(&[96.0, 1.0, 0.0], 41));
    }

    #[test]
    fn devices_hold_fractions_and_whole_demands() {
        let text = "2xcpu=96,gpu:a100:devices=8;cpu=4,gpu:a100=2";
        let servers = Servers::shapes(text).unwrap();
        assert_eq!(
            (servers.has_devices(0), servers.has_devices(1)),
            (false, true)
        );
        assert!(servers.hold(&[1.5, 0.6], 3) && servers.hold(&[1.5, 8.0], 2));
        assert!(!servers.hold(&[1.5, 1.5], 1) && !servers.hold(&[1.0, 9.0], 1));
        let shown = servers.to_string();
        assert_eq!(
            Servers::shapes(&shown).unwrap(),
            Servers {
                devices: vec!["gpu:a100".into(); 2],
                ..servers
            }
        );
    }

    #[test]
    fn spreads_jobs_over_as_few_servers_as_possible() {
        let servers = Servers::shapes("4xcpu=64,memory=256;2xcpu=64,memory=1024").unwrap();
        let of = |total: [f64; 2], named| servers.spread(&total, named);
        assert_eq!(of([200.0, 10.0], 0), Some((4, vec![50.0, 2.5])));
        assert_eq!(of([384.0, 10.0], 0), Some((6, vec![64.0, 1.667])));
        assert_eq!(of([385.0, 10.0], 0), None);
        // Two of the three servers would have to be large, so equal parts need more servers.
        assert_eq!(of([48.0, 1200.0], 3), Some((5, vec![10.0, 240.0])));
        assert_eq!(of([48.0, 2500.0], 3), None);
        assert_eq!(of([0.0, 0.0], 0), Some((1, vec![0.0, 0.0])));
    }

    #[test]
    fn rejects_invalid_capacities() {
        for text in ["", "cpu", "cpu=0", "cpu=-1", "cpu=x", "cpu=1,cpu=2", "=4"] {
            assert!(
                Servers::shapes(text).unwrap_err().contains("write e.g."),
                "{text}"
            );
        }
        for text in ["", "0xcpu=4", "4xcpu"] {
            assert!(Servers::shapes(text).is_err(), "{text}");
        }
    }
}

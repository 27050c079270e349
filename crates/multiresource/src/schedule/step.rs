use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

use crate::workload::{Fleet, JobType};
use synth_core::number::Decimal;

const VISITS: u32 = 200_000;

/// Returns the smallest amount of resource j that changes the schedulable set if it is added to
/// each server of shape h. If there are many schedules, it may not be the smallest. It is a whole
/// number for a counted resource, otherwise at least a hundredth of the capacity. If no amount
/// changes anything, it is one unit or a hundredth, respectively. `None` if no type demands the
/// resource or the shape has none.
pub fn smallest_step(fleet: &Fleet, h: usize, j: usize) -> Option<Decimal> {
    let capacity = fleet.shapes()[h].capacity()[j];
    let unit = unit(fleet, j).filter(|_| !capacity.is_zero())?;
    let units = fleet.units(h);
    let mut walk = Walk::new(fleet.types(), &units, j);
    walk.visit(0, &mut units.clone());
    let needed = walk.least.map_or_else(BigRational::zero, |excess| {
        unit * BigInt::from(units[j] + excess) - capacity.exact()
    });
    Decimal::nearest(&if is_counted(fleet, h, j) {
        needed.ceil().max(BigRational::one())
    } else {
        needed.max(capacity.exact() / BigInt::from(100))
    })
}

/// The maximum number of steps in the capacity when different sizes are compared.
const STEPS: u32 = 128;

/// Returns the amount of which all sizes of resource j for a server of shape h are multiples: the
/// unit of the demands (or 1, if the resource is counted and the unit is not a whole number), or a
/// multiple of it if there would be too many steps. `None` as for [`smallest_step`].
pub fn size_step(fleet: &Fleet, h: usize, j: usize) -> Option<Decimal> {
    let capacity = fleet.shapes()[h].capacity()[j];
    let unit = unit(fleet, j)?;
    let unit = match is_counted(fleet, h, j) {
        true if !unit.is_integer() => BigRational::one(),
        _ => unit,
    };
    let several = (capacity.exact() / (&unit * BigInt::from(STEPS))).floor();
    let step = Decimal::nearest(&(unit * several.max(BigRational::one())));
    step.filter(|step| capacity >= *step)
}

/// Returns the largest amount of resource j such that all demands are integer multiples of it.
fn unit(fleet: &Fleet, j: usize) -> Option<BigRational> {
    let demanding = fleet.types().iter().find(|kind| kind.units()[j] > 0)?;
    Some(demanding.demand()[j].exact() / BigInt::from(demanding.units()[j]))
}

/// Returns `count` times `step`.
pub fn steps(step: Decimal, count: u64) -> Option<Decimal> {
    Decimal::nearest(&(step.exact() * BigInt::from(count)))
}

/// Returns whether a resource is counted in whole units. A capacity of 1 with fractional demands is
/// the share of a machine.
fn is_counted(fleet: &Fleet, h: usize, j: usize) -> bool {
    let capacity = fleet.shapes()[h].capacity()[j];
    let is_whole = |amount: &Decimal| amount.exact().is_integer();
    let demands = || fleet.types().iter().map(|kind| &kind.demand()[j]);
    is_whole(&capacity) && (capacity > Decimal::ONE || demands().all(is_whole))
}

/// A search for the smallest load of resource j that exceeds its capacity.
struct Walk<'a> {
    /// The demands (K × R) of the types that need resource j, sorted by this demand relative to the
    /// other resources. The last types are counted up first, because they soon exceed the capacity.
    demands: Vec<&'a [u64]>,
    j: usize,
    /// The smallest excess over the capacity.
    least: Option<u64>,
    visits: u32,
}

impl<'a> Walk<'a> {
    fn new(types: &'a [JobType], capacity: &'a [u64], j: usize) -> Self {
        let demands = types.iter().map(JobType::units);
        let mut demands: Vec<&[u64]> = demands.filter(|units| units[j] > 0).collect();
        let share = |units: &[u64], r: usize| match units[r] {
            0 => 0.0,
            units => units as f64 / capacity[r].max(1) as f64,
        };
        let ratio = |units: &[u64]| {
            let others = (0..capacity.len()).filter(|r| *r != j);
            share(units, j) / others.map(|r| share(units, r)).fold(0.0, f64::max)
        };
        demands.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        Walk {
            demands,
            j,
            least: None,
            visits: 0,
        }
    }

    /// Visits all counts of type k that the other resources allow, and then the later types.
    fn visit(&mut self, k: usize, free: &mut [u64]) {
        let Some(&demand) = self.demands.get(k) else {
            return;
        };
        let mut taken = 0;
        loop {
            self.visits += 1;
            self.visit(k + 1, free);
            let is_over = self.visits >= VISITS || self.least == Some(1);
            let mut others = (0..free.len()).filter(|r| *r != self.j);
            if is_over || !others.all(|r| demand[r] <= free[r]) {
                break;
            }
            if let Some(excess) = demand[self.j].checked_sub(free[self.j]).filter(|x| *x > 0) {
                self.least = Some(self.least.map_or(excess, |least| least.min(excess)));
                break;
            }
            free.iter_mut().zip(demand).for_each(|(r, d)| *r -= d);
            taken += 1;
        }
        let pairs = free.iter_mut().zip(demand);
        pairs.for_each(|(r, d)| *r += d * taken);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn fleet(capacity: &str, demands: &[&str]) -> Fleet {
        let jobs = demands.iter().enumerate().map(|(i, demand)| {
            format!("  - {{name: t{i}, demand: {{{demand}}}, arrival_rate: 1, mean_size: .01}}\n")
        });
        let text = format!(
            "kind: multiresource\ntime_unit: s\nserver:\n  capacity: {{{capacity}}}\njobs:\n{}",
            jobs.collect::<String>()
        );
        Fleet::parse(&text, "test").unwrap().workload
    }

    fn step(capacity: &str, demands: &[&str]) -> f64 {
        let step = smallest_step(&fleet(capacity, demands), 0, 0);
        step.unwrap().value()
    }

    #[test]
    fn size_steps_by_hand() {
        for (capacity, demands, expected) in [
            ("r: 8", &["r: 1", "r: 4"][..], 1.0),
            ("r: 8", &["r: .5"], 1.0),
            ("r: 128", &["r: 8", "r: 12"], 4.0),
            ("r: 1", &["r: .25"], 0.25),
            ("r: 1280", &["r: 1", "r: 7"], 10.0),
        ] {
            let step = size_step(&fleet(capacity, demands), 0, 0);
            assert_eq!(step.unwrap().value(), expected, "{capacity}");
        }
    }

    #[test]
    fn steps_by_hand() {
        assert_eq!(step("cpu: 8", &["cpu: 1"]), 1.0);
        assert_eq!(step("cpu: 8", &["cpu: .5"]), 1.0);
        // Jobs of 8 and 12 GiB use multiples of 4, so the next load is 132 after both 128 and 130.
        assert_eq!(step("mem: 128", &["mem: 8", "mem: 12"]), 4.0);
        assert_eq!(step("mem: 130", &["mem: 8", "mem: 12"]), 2.0);
        // The share of a machine can be any number; four of these jobs need 1.2.
        assert!((step("share: 1", &["share: .3"]) - 0.2).abs() < 1e-12);
        assert_eq!(step("gpu: 1", &["gpu: 1"]), 1.0);
        // With cores for only two jobs, more memory does not help. Three jobs need 12 GiB.
        assert_eq!(step("mem: 10, cpu: 2", &["mem: 4, cpu: 1"]), 1.0);
        assert_eq!(step("mem: 10, cpu: 3", &["mem: 4, cpu: 1"]), 2.0);
    }
}

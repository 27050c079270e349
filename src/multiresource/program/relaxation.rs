//! The program with some resources relaxed: schedules are whole in a few of them, and use at most
//! all of the others *on average over the mix*. Its pricing is a table ([`super::table`]), always
//! solved to the end, so that it has an optimum with a proof in a fraction of the time; and what
//! bounds it bounds the program, too:
//!
//! ```text
//! t ≤ Σ_h n_h ( max_u Σ_i (v_i − w_h·D_i) u_i + w_h·P_h ),   v, w ≥ 0,  Σ_i b_i v_i = 1
//! ```
//!
//! with the maximum over whole numbers u that fit in the resources kept (Geoffrion, "Lagrangean
//! relaxation for integer programming", Mathematical Programming Study 2, 1974). Where jobs are
//! small next to a resource, nothing is lost by pricing it; where they are not, its units are
//! few, and it is kept. Prices between the master's and the best so far stabilize the bound
//! (Wentges, International Transactions in Operational Research 4, 1997).

use std::time::Instant;

use super::master::{Master, Primal};
use super::problem::{Column, Problem};
use super::solution::MET;
use super::table::Table;
use super::{ProgramError, Relaxed};
use crate::multiresource::schedule::worth;

/// Entries of a table, and additions that one pricing may take: in the first relaxation, and in a
/// second one where the first does not prove enough.
pub(super) const SIZES: [(usize, usize); 2] = [(40_000, 4_000_000), (400_000, 40_000_000)];

/// The weight of the best prices so far in those that are tried first.
const STAY: f64 = 0.8;

/// Prices that prove a bound.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// What a running job of each type is worth (K), `Σ_i b_i v_i = 1`.
    pub values: Vec<f64>,
    /// Of each site (H).
    pub sites: Vec<SiteBound>,
    /// No mix has a t above this.
    pub t: f64,
    /// Columns found on the way that are schedules, since they fit.
    pub columns: Vec<Column>,
}

/// How the schedules of one site are bounded.
#[derive(Clone, Debug)]
pub(super) struct SiteBound {
    /// What is kept whole, and the prices of the rest.
    pub relaxed: Relaxed,
    /// No schedule on a server is worth more.
    pub worth: f64,
}

/// The best bound by relaxation that is found before the deadline, from columns that fit; it
/// stops early at `target`, a t that is known to be reached. `None` where tables of this size
/// cannot be made.
pub(super) fn bound(
    problem: &Problem,
    columns: &[Column],
    size: (usize, usize),
    target: f64,
    deadline: Instant,
) -> Result<Option<Bound>, ProgramError> {
    let Some(tables) = tables(problem, size) else {
        return Ok(None);
    };
    let rest: Vec<Vec<usize>> = tables.iter().map(|table| table.rest.clone()).collect();
    let mut master = Master::new(problem, &rest)?;
    master.add(columns.to_vec())?;
    let mut relaxation = Relaxation {
        problem,
        tables,
        master,
        best: None,
        worths: Vec::new(),
    };
    while Instant::now() < deadline && relaxation.round(target)? {}
    let best = relaxation.best.as_ref();
    Ok(best.map(|(prices, t)| Bound {
        sites: relaxation.site_bounds(prices),
        values: prices.values.clone(),
        t: *t,
        columns: relaxation.fitting(columns.len()),
    }))
}

/// One a site; `None` where some site has no resource of few enough units.
pub(super) fn tables(
    problem: &Problem,
    (rooms, additions): (usize, usize),
) -> Option<Vec<Table<'_>>> {
    let rooms = rooms.min(additions / problem.types());
    let sites = problem.sites.iter();
    let tables = sites.map(|site| Table::new(site, &problem.offered, rooms));
    tables
        .map(|table| (!table.whole.is_empty()).then_some(table))
        .collect()
}

struct Relaxation<'a> {
    problem: &'a Problem,
    tables: Vec<Table<'a>>,
    master: Master<'a>,
    /// The prices with the least bound so far, and that.
    best: Option<(Prices, f64)>,
    /// What no schedule on a server of each site is worth more than, at these.
    worths: Vec<f64>,
}

#[derive(Clone)]
struct Prices {
    /// K.
    values: Vec<f64>,
    /// By site and resource of its table's rest, of the whole capacity.
    resources: Vec<Vec<f64>>,
}

impl Relaxation<'_> {
    /// One master and its pricing; `false` when it is solved, or the target met.
    fn round(&mut self, target: f64) -> Result<bool, ProgramError> {
        let primal = self.master.solve()?;
        let reached = primal.value.max(target);
        let out = Prices::of(&primal);
        let mut stay = STAY;
        loop {
            let prices = self.between(&out, stay);
            let Some((worths, columns)) = self.priced(&prices) else {
                return Ok(false);
            };
            let sites = self.problem.sites.iter().zip(&worths);
            let t: f64 = sites.map(|(site, worth)| site.count * worth).sum();
            let least = match &self.best {
                Some((_, least)) if *least <= t => *least,
                _ => {
                    self.best = Some((prices, t));
                    self.worths = worths;
                    t
                }
            };
            if reached >= least * (1.0 - MET) {
                return Ok(false);
            }
            let better = columns
                .into_iter()
                .filter(|column| self.gain(column, &out, &primal) > 0.0);
            if self.master.add(better.collect())? > 0 {
                return Ok(true);
            }
            if stay == 0.0 {
                return Ok(false);
            }
            stay = (1.0 - 2.0 * (1.0 - stay)).max(0.0);
        }
    }

    /// Prices on the way from the master's to the best so far.
    fn between(&self, out: &Prices, stay: f64) -> Prices {
        let fluid = || Prices {
            values: self.problem.fluid_values(),
            resources: out.resources.clone(),
        };
        let centre = self.best.as_ref().map_or_else(fluid, |(p, _)| p.clone());
        let mix = |a: &[f64], b: &[f64]| -> Vec<f64> {
            let pairs = a.iter().zip(b);
            pairs.map(|(a, b)| stay * a + (1.0 - stay) * b).collect()
        };
        Prices {
            values: mix(&centre.values, &out.values),
            resources: centre
                .resources
                .iter()
                .zip(&out.resources)
                .map(|(a, b)| mix(a, b))
                .collect(),
        }
    }

    /// What a server of each site is worth at most by these prices, and the column that attains it;
    /// `None` where a type with value demands none of the resources kept whole.
    fn priced(&self, prices: &Prices) -> Option<(Vec<f64>, Vec<Column>)> {
        let (mut worths, mut columns) = (Vec::new(), Vec::new());
        for (h, table) in self.tables.iter().enumerate() {
            let (worth, schedule) = table.best(&self.reduced(h, prices))?;
            let priced: f64 = prices.resources[h].iter().sum();
            // Sums of some hundred terms round by 1e-14 or so.
            worths.push((worth + priced) * (1.0 + 1e-13));
            columns.push(Column { site: h, schedule });
        }
        Some((worths, columns))
    }

    /// `v_i − w·D_i` for the types of a site.
    fn reduced(&self, h: usize, prices: &Prices) -> Vec<f64> {
        let site = &self.problem.sites[h];
        let cost = |place: usize| -> f64 {
            let priced = self.tables[h].rest.iter().zip(&prices.resources[h]);
            priced.map(|(&j, w)| w * site.share(place, j)).sum()
        };
        let values = self.problem.local(h, &prices.values).into_iter();
        values
            .enumerate()
            .map(|(place, v)| v - cost(place))
            .collect()
    }

    /// By how much a column is worth more than the master asks of its site, relatively.
    fn gain(&self, column: &Column, out: &Prices, primal: &Primal) -> f64 {
        let reduced = self.reduced(column.site, out);
        worth(&column.schedule, &reduced) - primal.bars[column.site] * (1.0 + MET)
    }

    /// Those of the columns found that fit.
    fn fitting(&self, known: usize) -> Vec<Column> {
        let found = self.master.columns()[known..].iter();
        let fits = |column: &&Column| {
            let site = &self.problem.sites[column.site];
            site.packing.fits(&column.schedule)
        };
        found.filter(fits).cloned().collect()
    }

    fn site_bounds(&self, prices: &Prices) -> Vec<SiteBound> {
        let tables = self.tables.iter().zip(&prices.resources).zip(&self.worths);
        let of = |((table, prices), worth): ((&Table, &Vec<f64>), &f64)| {
            let capacity = table.capacity();
            let mut of_units = vec![0.0; capacity.len()];
            for (&j, price) in table.rest.iter().zip(prices) {
                of_units[j] = price / capacity[j] as f64;
            }
            SiteBound {
                relaxed: table.relaxed(&of_units),
                worth: *worth,
            }
        };
        tables.map(of).collect()
    }
}

impl Prices {
    fn of(primal: &Primal) -> Self {
        Prices {
            values: primal.values.clone(),
            resources: primal.resource_prices.clone(),
        }
    }
}

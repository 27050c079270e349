//! Column generation: a master; columns for it from exchanges and from branch and bound; and a bound
//! from the relaxation where neither finds a column at little cost.

use std::time::Instant;

use super::exchange::Exchange;
use super::master::{Master, Primal};
use super::problem::{Column, Problem, Site};
use super::relaxation;
use super::solution::MET;
use super::table::Table;
use super::{Knapsack, Limits, ProgramError, Relaxed};
use crate::multiresource::schedule::{Schedule, worth};

/// Nodes of the first search of each pricing by branch and bound; a proof that needs more gets more.
const FIRST_LOOK: u64 = 2_000;

/// Columns that the exchanges of one round find at most.
const ENOUGH: usize = 10;

/// Distance from the bound at which the weights are solved anew, to full precision.
const NEAR: f64 = 1e-6;

/// Relative improvement below which a column is not added.
const WORTH: f64 = 1e-11;

/// Prices that prove an upper bound on t.
#[derive(Clone, Debug)]
pub(super) struct Proof {
    /// What a running job of each type is worth (K), `Σ_i b_i v_i = 1`.
    pub values: Vec<f64>,
    /// Prices of the units of each site's resources that cover the values: H × R.
    pub resource_prices: Vec<Vec<f64>>,
    /// The relaxation that bounds each site, or that guided its search, where there was one.
    pub relaxed: Option<Vec<Relaxed>>,
    /// No schedule on a server of each site is worth more (H).
    pub worths: Vec<f64>,
    /// The bound.
    pub t: f64,
}

/// Column generation under way.
pub(super) struct Generation<'a> {
    problem: &'a Problem,
    pub master: Master<'a>,
    /// The best weights, one a column.
    pub weights: Vec<f64>,
    /// The least upper bound on t so far.
    pub proof: Proof,
    pub rounds: usize,
    effort: u64,
    /// Where among the columns in use the next round of exchanges begins.
    turn: usize,
    /// Relaxations solved, and the tables of the last, which guide searches.
    relaxed: usize,
    tables: Vec<Table<'a>>,
    /// Whether the first search has always been complete so far.
    is_small: bool,
}

impl<'a> Generation<'a> {
    /// From columns that serve every type.
    pub fn new(problem: &'a Problem, columns: Vec<Column>) -> Result<Self, ProgramError> {
        let none = vec![Vec::new(); problem.sites.len()];
        let mut master = Master::new(problem, &none)?;
        master.add(columns)?;
        Ok(Generation {
            proof: Proof::fluid(problem),
            problem,
            master,
            weights: Vec::new(),
            rounds: 0,
            effort: FIRST_LOOK,
            turn: 0,
            relaxed: 0,
            tables: Vec::new(),
            is_small: true,
        })
    }

    /// Runs until the optimum is proven or the limits are reached.
    pub fn run(&mut self, limits: &Limits) -> Result<(), ProgramError> {
        let deadline = Instant::now() + limits.time;
        loop {
            self.rounds += 1;
            let mut primal = self.master.solve()?;
            if primal.value >= self.proof.t * (1.0 - NEAR) {
                primal.weights = self.master.polished(primal.weights);
                primal.value = self.master.coverage(&primal.weights);
            }
            self.weights.clone_from(&primal.weights);
            let is_done = Instant::now() >= deadline || self.is_met(&primal);
            if is_done || !self.improve(&primal, limits.nodes, deadline)? {
                break;
            }
        }
        self.weights = self.master.polished(std::mem::take(&mut self.weights));
        Ok(())
    }

    fn is_met(&self, primal: &Primal) -> bool {
        primal.value >= self.proof.t * (1.0 - MET)
    }

    /// Adds columns, from the cheapest source that has any. A small search that is complete has the
    /// best columns; otherwise exchanges come first. `false` when the optimum is proven or no column
    /// is found.
    fn improve(
        &mut self,
        primal: &Primal,
        nodes: u64,
        deadline: Instant,
    ) -> Result<bool, ProgramError> {
        if self.is_small {
            let (columns, exact) = self.priced(primal)?;
            self.is_small = exact;
            if self.is_met(primal) {
                return Ok(false);
            }
            if self.master.add(columns)? > 0 {
                return Ok(true);
            }
            if exact {
                return Ok(false);
            }
        }
        for third in [false, true] {
            let columns = self.exchanged(primal, third);
            if self.master.add(columns)? > 0 {
                return Ok(true);
            }
        }
        loop {
            let (columns, exact) = self.priced(primal)?;
            if self.is_met(primal) {
                return Ok(false);
            }
            if self.master.add(columns)? > 0 {
                return Ok(true);
            }
            if exact || Instant::now() >= deadline {
                return Ok(false);
            }
            if let Some(size) = relaxation::SIZES.get(self.relaxed) {
                self.relaxed += 1;
                let columns = self.relax(primal, *size, deadline)?;
                if self.is_met(primal) {
                    return Ok(false);
                }
                // Where tables of this size cannot be made, searches go on without them.
                self.tables = relaxation::tables(self.problem, *size).unwrap_or_default();
                if self.master.add(columns)? > 0 {
                    return Ok(true);
                }
            } else if self.effort >= nodes {
                return Ok(false);
            }
            // No better column was found, but that is not yet a proof: search longer.
            self.effort = (self.effort * 10).min(nodes);
        }
    }

    /// New columns by exchanges in those in use; a round starts where the last one ended.
    fn exchanged(&mut self, primal: &Primal, third: bool) -> Vec<Column> {
        let sites = 0..self.problem.sites.len();
        let values: Vec<Vec<f64>> = sites
            .map(|h| self.problem.local(h, &primal.values))
            .collect();
        let places = self.problem.sites.iter().zip(&values);
        let exchanges: Vec<Exchange> = places
            .map(|(site, values)| Exchange::new(&site.packing, values, third))
            .collect();
        let bars = Self::bars(self.problem, primal);
        let used: Vec<usize> = (0..primal.weights.len())
            .filter(|&s| primal.weights[s] > 0.0)
            .collect();
        let mut found = Vec::new();
        for place in 0..used.len() {
            let Column { site, schedule } =
                &self.master.columns()[used[(self.turn + place) % used.len()]];
            let improved = exchanges[*site].improved(schedule);
            let worth = |u: &Schedule| worth(u, &values[*site]) > bars[*site] * (1.0 + WORTH);
            found.extend(improved.filter(worth).map(|schedule| Column {
                site: *site,
                schedule,
            }));
            if found.len() == ENOUGH {
                self.turn += place + 1;
                break;
            }
        }
        found
    }

    /// Columns by branch and bound, and whether the search was complete; improves the bound.
    fn priced(&mut self, primal: &Primal) -> Result<(Vec<Column>, bool), ProgramError> {
        let bars = Self::bars(self.problem, primal);
        let (mut columns, mut exact, mut t) = (Vec::new(), true, 0.0);
        let (mut resource_prices, mut worths) = (Vec::new(), Vec::new());
        let mut relaxed = Vec::new();
        for (h, site) in self.problem.sites.iter().enumerate() {
            let values = self.problem.local(h, &primal.values);
            let knapsack = Knapsack::new(&site.packing, &values)?;
            let prices = knapsack.resource_prices();
            let table = self.tables.get(h);
            let guide = table.and_then(|table| table.guide(&values, &prices));
            let priced = knapsack.guided(bars[h], self.effort, guide.as_ref());
            relaxed.extend(
                table
                    .filter(|_| guide.is_some())
                    .map(|t| t.relaxed(&prices)),
            );
            t += site.count * priced.bound;
            worths.push(priced.bound);
            exact &= priced.exact;
            let schedules = priced.schedules.into_iter();
            columns.extend(schedules.map(|schedule| Column { site: h, schedule }));
            resource_prices.push(prices);
        }
        if t < self.proof.t {
            self.proof = Proof {
                values: primal.values.clone(),
                resource_prices,
                relaxed: (relaxed.len() == worths.len()).then_some(relaxed),
                worths,
                t,
            };
        }
        Ok((columns, exact))
    }

    /// Bounds t by a relaxation; returns the columns found that fit.
    fn relax(
        &mut self,
        primal: &Primal,
        size: (usize, usize),
        deadline: Instant,
    ) -> Result<Vec<Column>, ProgramError> {
        let columns = self.master.columns();
        let bound = relaxation::bound(self.problem, columns, size, primal.value, deadline)?;
        let Some(bound) = bound else {
            return Ok(Vec::new());
        };
        if bound.t >= self.proof.t {
            return Ok(bound.columns);
        }
        let prices = |(h, site): (usize, &Site)| {
            let values = self.problem.local(h, &bound.values);
            Ok(Knapsack::new(&site.packing, &values)?.resource_prices())
        };
        let sites = self.problem.sites.iter().enumerate();
        self.proof = Proof {
            resource_prices: sites.map(prices).collect::<Result<_, ProgramError>>()?,
            values: bound.values,
            worths: bound.sites.iter().map(|site| site.worth).collect(),
            relaxed: Some(bound.sites.into_iter().map(|site| site.relaxed).collect()),
            t: bound.t,
        };
        Ok(bound.columns)
    }

    /// What a schedule on each site must be worth more than, scaled so that the sum over the servers is
    /// t: the solver's values satisfy that only within its tolerance.
    fn bars(problem: &Problem, primal: &Primal) -> Vec<f64> {
        let sites = problem.sites.iter().zip(&primal.bars);
        let total: f64 = sites.map(|(site, bar)| site.count * bar).sum();
        let scale = primal.value / total;
        primal.bars.iter().map(|bar| bar * scale).collect()
    }
}

impl Proof {
    /// The relaxation of a site, where there was one.
    pub fn relaxed_site(&self, site: usize) -> Option<Relaxed> {
        self.relaxed.as_ref().map(|sites| sites[site].clone())
    }

    /// Jobs divided into arbitrarily small pieces, each site limited by one resource.
    fn fluid(problem: &Problem) -> Self {
        let values = problem.fluid_values();
        let mut t = 0.0;
        let (mut resource_prices, mut worths) = (Vec::new(), Vec::new());
        for (h, site) in problem.sites.iter().enumerate() {
            let local = problem.local(h, &values);
            let price = |j: usize| {
                let types = local.iter().enumerate().filter(|(_, v)| **v > 0.0);
                types
                    .map(|(place, v)| v / site.share(place, j))
                    .fold(0.0, f64::max)
            };
            let capacity = site.packing.capacity();
            let of_all = (0..capacity.len()).map(|j| (j, price(j)));
            let least = of_all.min_by(|a, b| a.1.total_cmp(&b.1));
            let (j, price) = least.expect("a server has a resource");
            t += site.count * price;
            worths.push(price);
            let mut prices = vec![0.0; capacity.len()];
            prices[j] = price / capacity[j] as f64;
            resource_prices.push(prices);
        }
        Proof {
            values,
            resource_prices,
            relaxed: None,
            worths,
            t,
        }
    }
}

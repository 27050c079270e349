//! This module implements column generation. The columns are found by exchanges and by branch and
//! bound, which also gives the bound.

use std::cell::Cell;
use std::time::Instant;

use super::exchange::Exchange;
use super::master::{Master, Primal};
use super::pricing::{Effort, Priced, Search, Tree, efforts};
use super::problem::{Column, Problem};
use super::solution::CLOSED_GAP;
use super::{Knapsack, ProgramError, SolveLimits};
use synth_multiresource::artifact::ShapeValue;
use synth_multiresource::schedule::{Schedule, schedule_value};

/// The number of nodes of the first search in each pricing step. More nodes are used if they are
/// needed for a proof.
const FIRST_LOOK: u64 = 2_000;

/// The maximum number of columns from the exchanges of one round.
const ENOUGH: usize = 10;

/// The relative gap below which the weights are re-solved at full precision.
const NEAR: f64 = 1e-6;

/// A column is only added if the relative improvement is greater than this.
const WORTH: f64 = 1e-11;

/// Prices that prove an upper bound on `t`.
#[derive(Clone, Debug)]
pub(super) struct Proof {
    /// The worth of a running job (K), with `Σ_i b_i v_i = 1`.
    pub values: Vec<f64>,
    /// The worth of a server of each site (H). The search that proves it is only included at the
    /// end of the column generation.
    pub servers: Vec<ShapeValue>,
    /// The search tree that proves the bound of each site (H), if the nodes need different prices.
    trees: Vec<Option<Tree>>,
    pub t: f64,
}

pub(super) struct Generation<'a> {
    problem: &'a Problem,
    pub master: Master<'a>,
    pub weights: Vec<f64>,
    pub proof: Proof,
    pub rounds: usize,
    /// The remaining work, and the deadline.
    left: Cell<u64>,
    deadline: Option<Instant>,
    efforts: &'static [Effort],
    effort: usize,
    /// The offset in the columns in use at which the next round of exchanges starts.
    turn: usize,
    /// Whether the last round of three-type exchanges found the maximum number of columns.
    is_rich: bool,
    /// Whether every first search was complete so far.
    is_small: bool,
}

impl<'a> Generation<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        columns: Vec<Column>,
        limits: &SolveLimits,
    ) -> Result<Self, ProgramError> {
        let mut master = Master::new(problem)?;
        master.add(columns)?;
        Ok(Generation {
            proof: Proof::fluid(problem),
            problem,
            master,
            weights: Vec::new(),
            rounds: 0,
            left: Cell::new(limits.work),
            deadline: Instant::now().checked_add(limits.time),
            efforts: efforts(limits.longer),
            effort: 0,
            turn: 0,
            is_rich: true,
            is_small: true,
        })
    }

    /// Runs until the optimum is proven or a limit is reached.
    pub(super) fn run(&mut self) -> Result<(), ProgramError> {
        loop {
            self.rounds += 1;
            let mut primal = self.master.solve()?;
            if primal.value >= self.proof.t * (1.0 - NEAR) {
                primal.weights = self.master.polished(primal.weights);
                primal.value = self.master.coverage(&primal.weights);
            }
            self.weights.clone_from(&primal.weights);
            if self.is_over() || self.is_met(&primal) || !self.improve(&primal)? {
                break;
            }
        }
        self.weights = self.master.polished(std::mem::take(&mut self.weights));
        self.proof.compact(self.problem);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.left.get() == 0 || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    fn is_met(&self, primal: &Primal) -> bool {
        primal.value >= self.proof.t * (1.0 - CLOSED_GAP)
    }

    /// Adds columns from the cheapest source that has any. If a small search is complete, it has
    /// the best columns. Otherwise, exchanges are tried first. Exchanges with a third type are only
    /// tried before a search as long as they give many columns. Returns `false` if the optimum is
    /// proven or if there are no new columns.
    fn improve(&mut self, primal: &Primal) -> Result<bool, ProgramError> {
        if self.is_small {
            let glimpse = |knapsack: &Knapsack, _: &[f64], bar| knapsack.solve(bar, FIRST_LOOK);
            let (columns, exact) = self.priced(primal, glimpse);
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
        let mut tried = false;
        if self.exchange(primal, false)? > 0 || (self.is_rich && self.exchange(primal, true)? > 0) {
            return Ok(true);
        }
        tried |= self.is_rich;
        loop {
            let (columns, exact) = self.searched(primal);
            if self.is_met(primal) {
                return Ok(false);
            }
            if self.master.add(columns)? > 0 {
                return Ok(true);
            }
            if !tried && self.exchange(primal, true)? > 0 {
                return Ok(true);
            }
            tried = true;
            // No better column was found, but this is not a proof, so the search is repeated with
            // more effort.
            self.effort += 1;
            if exact || self.effort == self.efforts.len() || self.is_over() {
                self.effort = self.effort.min(self.efforts.len() - 1);
                return Ok(false);
            }
        }
    }

    fn exchange(&mut self, primal: &Primal, third: bool) -> Result<usize, ProgramError> {
        let sites = &self.problem.sites;
        let local = |h: usize| self.problem.local(h, &primal.values);
        let values: Vec<Vec<f64>> = (0..sites.len()).map(local).collect();
        let exchange = |h: usize| Exchange::new(&sites[h].packing, &values[h], third);
        let exchanges: Vec<Exchange> = (0..sites.len()).map(exchange).collect();
        let bars = Self::bars(self.problem, primal);
        let used = (0..primal.weights.len()).filter(|&s| primal.weights[s] > 0.0);
        let used: Vec<usize> = used.collect();
        let mut found = Vec::new();
        for place in 0..used.len() {
            let Column(site, schedule) =
                &self.master.columns()[used[(self.turn + place) % used.len()]];
            let improved = exchanges[*site].improved(schedule);
            let worth =
                |u: &Schedule| schedule_value(u, &values[*site]) > bars[*site] * (1.0 + WORTH);
            found.extend(improved.filter(worth).map(|u| Column(*site, u)));
            if found.len() == ENOUGH {
                self.turn += place + 1;
                break;
            }
        }
        if third {
            self.is_rich = found.len() == ENOUGH;
        }
        self.master.add(found)
    }

    fn searched(&mut self, primal: &Primal) -> (Vec<Column>, bool) {
        let (effort, left) = (self.efforts[self.effort], self.left.clone());
        let deadline = self.deadline;
        let search = |knapsack: &Knapsack, values: &[f64], bar: f64| {
            let search = Search::new(knapsack.packing, values, bar);
            let (mut priced, work) = search.run(effort, left.get(), deadline);
            left.set(left.get().saturating_sub(work));
            if priced.tree.is_none() {
                // It would take too long to verify this, so the bound at the prices of the root is
                // used.
                priced.bound = knapsack.relaxed();
            }
            priced
        };
        let found = self.priced(primal, search);
        self.left.set(left.get());
        found
    }

    /// Solves the pricing problem for all sites. Also returns `true` if all searches were complete.
    fn priced(
        &mut self,
        primal: &Primal,
        search: impl Fn(&Knapsack, &[f64], f64) -> Priced,
    ) -> (Vec<Column>, bool) {
        let bars = Self::bars(self.problem, primal);
        let (mut columns, mut all_exact) = (Vec::new(), true);
        let mut proof = Proof {
            values: primal.values.clone(),
            servers: Vec::new(),
            trees: Vec::new(),
            t: 0.0,
        };
        for (h, site) in self.problem.sites.iter().enumerate() {
            let values = self.problem.local(h, &primal.values);
            let knapsack = Knapsack::new(&site.packing, &values);
            let priced = search(&knapsack, &values, bars[h]);
            columns.extend(priced.schedules.into_iter().map(|u| Column(h, u)));
            all_exact &= priced.exact;
            proof.t += site.count * priced.bound;
            proof.trees.push(priced.tree);
            proof.servers.push(ShapeValue {
                worth: priced.bound,
                resource_prices: knapsack.resource_prices(),
                mix: None,
                search: None,
            });
        }
        if proof.t < self.proof.t {
            self.proof = proof;
        }
        (columns, all_exact)
    }

    /// Returns the value that the worth of a new schedule must exceed on each site. The values are
    /// scaled so that the sum over all servers is exactly `t`, because the values of the solver
    /// only satisfy this within its tolerance.
    fn bars(problem: &Problem, primal: &Primal) -> Vec<f64> {
        let sites = problem.sites.iter().zip(&primal.bars);
        let total: f64 = sites.map(|(site, bar)| site.count * bar).sum();
        let scale = primal.value / total;
        primal.bars.iter().map(|bar| bar * scale).collect()
    }
}

impl Proof {
    /// Replaces each search tree with a smaller one that proves the same bound.
    fn compact(&mut self, problem: &Problem) {
        for (h, (site, server)) in problem.sites.iter().zip(&mut self.servers).enumerate() {
            let values = problem.local(h, &self.values);
            let coarser = |tree: Tree| Search::coarser(&tree, &site.packing, &values, server.worth);
            server.search = self.trees[h].take().and_then(coarser);
        }
    }

    /// Returns the fluid bound, where jobs can be divided and each site is limited by one resource.
    fn fluid(problem: &Problem) -> Self {
        let values = problem.fluid_values();
        let (mut t, mut servers) = (0.0, Vec::new());
        for (h, site) in problem.sites.iter().enumerate() {
            let local = problem.local(h, &values);
            let price = |j: usize| {
                let types = local.iter().enumerate().filter(|(_, v)| **v > 0.0);
                let prices = types.map(|(place, v)| v / site.packing.share(place, j));
                prices.fold(0.0, f64::max)
            };
            let capacity = site.packing.capacity();
            let of_all = (0..capacity.len()).map(|j| (j, price(j)));
            let least = of_all.min_by(|a, b| a.1.total_cmp(&b.1));
            let (j, price) = least.expect("a server has a resource");
            t += site.count * price;
            let mut resource_prices = vec![0.0; capacity.len()];
            resource_prices[j] = price / capacity[j] as f64;
            servers.push(ShapeValue {
                worth: price,
                resource_prices,
                mix: None,
                search: None,
            });
        }
        Proof {
            values,
            trees: vec![None; servers.len()],
            servers,
            t,
        }
    }
}

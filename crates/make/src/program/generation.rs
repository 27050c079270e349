//! Column generation, with columns from exchanges and from branch and bound, which gives the bound.

use std::time::Instant;

use super::exchange::Exchange;
use super::master::{Master, Primal};
use super::pricing::{EFFORTS, Effort, Priced, Search, Tree};
use super::problem::{Column, Problem};
use super::solution::CLOSED_GAP;
use super::{Knapsack, ProgramError, SolveLimits};
use synth_multiresource::artifact::ShapeValue;
use synth_multiresource::schedule::{Schedule, schedule_value};

/// The number of nodes of the first search in each pricing step.
const FIRST_LOOK: u64 = 2_000;

/// The maximum number of columns from the exchanges of one round.
const ENOUGH: usize = 10;

/// The relative gap below which the weights are re-solved at full precision.
const NEAR: f64 = 1e-6;

/// The relative gain of an exchange that is needed to add its column.
const WORTH: f64 = 1e-11;

/// Prices that prove an upper bound on `t`.
#[derive(Default)]
pub(super) struct Proof {
    /// The worth of a running job (K), with `Σ_i b_i v_i = 1`.
    pub values: Vec<f64>,
    /// The worth of a server of each site (H). The search that proves it is only added at the end.
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
    left: u64,
    deadline: Option<Instant>,
    efforts: &'static [Effort],
    effort: usize,
    /// The place among the columns in use where the next round of exchanges starts.
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
            left: limits.work,
            deadline: Instant::now().checked_add(limits.time),
            efforts: &EFFORTS[..EFFORTS.len().min(limits.longer.saturating_add(1))],
            effort: 0,
            turn: 0,
            is_rich: true,
            is_small: true,
        })
    }

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
        self.left == 0 || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    fn is_met(&self, primal: &Primal) -> bool {
        primal.value >= self.proof.t * (1.0 - CLOSED_GAP)
    }

    /// Adds columns from the cheapest source that has any: a small search if it is complete,
    /// because it has the best columns, or else exchanges, with a third type only while they give
    /// many. Returns `false` if the optimum is proven or if there are no new columns.
    fn improve(&mut self, primal: &Primal) -> Result<bool, ProgramError> {
        if self.is_small {
            let glimpse = |knapsack: &Knapsack, _: &[f64], bar| knapsack.solve(bar, FIRST_LOOK);
            let (columns, exact) = self.priced(primal, glimpse);
            self.is_small = exact;
            if self.is_met(primal) {
                return Ok(false);
            }
            let has_grown = self.master.add(columns)? > 0;
            if has_grown || exact {
                return Ok(has_grown);
            }
        }
        if self.exchange(primal, false)? > 0 || (self.is_rich && self.exchange(primal, true)? > 0) {
            return Ok(true);
        }
        let mut tried = self.is_rich;
        loop {
            let (columns, exact) = self.searched(primal);
            if self.is_met(primal) {
                return Ok(false);
            }
            let has_grown = self.master.add(columns)? > 0;
            if has_grown || !tried && self.exchange(primal, true)? > 0 {
                return Ok(true);
            }
            tried = true;
            self.effort += 1;
            if exact || self.effort == self.efforts.len() || self.is_over() {
                return Ok(false);
            }
        }
    }

    fn exchange(&mut self, primal: &Primal, third: bool) -> Result<usize, ProgramError> {
        let sites = &self.problem.sites;
        let local = |h: usize| self.problem.local(h, &primal.values);
        let exchange = |h: usize| Exchange::new(&sites[h].packing, local(h), third);
        let exchanges: Vec<Exchange> = (0..sites.len()).map(exchange).collect();
        let bars = Self::bars(self.problem, primal);
        let used = (0..primal.weights.len()).filter(|&s| primal.weights[s] > 0.0);
        let used: Vec<usize> = used.collect();
        let mut found = Vec::new();
        for place in 0..used.len() {
            let Column(site, schedule) =
                &self.master.columns[used[(self.turn + place) % used.len()]];
            let (own, bar) = (&exchanges[*site], bars[*site] * (1.0 + WORTH));
            let is_worth = |u: &Schedule| schedule_value(u, &own.values) > bar;
            let improved = own.improved(schedule).filter(is_worth);
            found.extend(improved.map(|u| Column(*site, u)));
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
        let (effort, deadline) = (self.efforts[self.effort], self.deadline);
        let mut left = self.left;
        let search = |knapsack: &Knapsack, values: &[f64], bar: f64| {
            let search = Search::new(knapsack.packing, values, bar);
            let (mut priced, work) = search.run(effort, left, deadline);
            left = left.saturating_sub(work);
            if priced.tree.is_none() {
                // The tree would take too long to verify.
                priced.bound = knapsack.relaxed();
            }
            priced
        };
        let found = self.priced(primal, search);
        self.left = left;
        found
    }

    /// Solves the pricing problem for all sites. Also returns `true` if all searches were complete.
    fn priced(
        &mut self,
        primal: &Primal,
        mut search: impl FnMut(&Knapsack, &[f64], f64) -> Priced,
    ) -> (Vec<Column>, bool) {
        let bars = Self::bars(self.problem, primal);
        let (mut columns, mut all_exact) = (Vec::new(), true);
        let mut proof = Proof {
            values: primal.values.clone(),
            ..Proof::default()
        };
        for (h, site) in self.problem.sites.iter().enumerate() {
            let values = self.problem.local(h, &primal.values);
            let knapsack = Knapsack::new(&site.packing, &values);
            let priced = search(&knapsack, &values, bars[h]);
            columns.extend(priced.schedules.into_iter().map(|u| Column(h, u)));
            all_exact &= priced.exact;
            proof.add(site.count, priced.bound, knapsack.prices, priced.tree);
        }
        if proof.t < self.proof.t {
            self.proof = proof;
        }
        (columns, all_exact)
    }

    /// Returns the value that the worth of a new schedule must exceed on each site. The solver's
    /// values for all servers only have the sum `t` within its tolerance, so they are scaled.
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
        let mut proof = Proof {
            values: problem.fluid_values(),
            ..Proof::default()
        };
        for (h, site) in problem.sites.iter().enumerate() {
            let local = problem.local(h, &proof.values);
            let price = |j: usize| {
                let types = local.iter().enumerate().filter(|(_, v)| **v > 0.0);
                let prices = types.map(|(place, v)| v / site.packing.share(place, j));
                prices.fold(0.0, f64::max)
            };
            let capacity = site.packing.capacity();
            let of_all = (0..capacity.len()).map(|j| (j, price(j)));
            let least = of_all.min_by(|a, b| a.1.total_cmp(&b.1));
            let (j, price) = least.expect("a server has a resource");
            let mut resource_prices = vec![0.0; capacity.len()];
            resource_prices[j] = price / capacity[j] as f64;
            proof.add(site.count, price, resource_prices, None);
        }
        proof
    }

    fn add(&mut self, count: f64, worth: f64, resource_prices: Vec<f64>, tree: Option<Tree>) {
        self.t += count * worth;
        self.trees.push(tree);
        self.servers.push(ShapeValue {
            worth,
            resource_prices,
            mix: None,
            search: None,
        });
    }
}

use crate::configuration::{Association, PrioritySettings};

/// The tree of accounts and users with their usage (`fair_tree.c` in Slurm).
#[derive(Clone, Debug)]
pub(super) struct FairShare {
    parents: Vec<Option<usize>>,
    /// The nearest parent with its own shares. Accounts with `fairshare=parent` are skipped.
    above: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    roots: Vec<usize>,
    is_user: Vec<bool>,
    /// The shares as a fraction of all siblings, or `None` if the shares of the parent are used.
    shares: Vec<Option<f64>>,
    /// The usage of the association and all associations below it, after the decay \[CPU s\].
    usage: Vec<f64>,
    users: usize,
}

impl FairShare {
    pub(super) fn new(associations: &[Association]) -> Self {
        let parents = Association::parents(associations);
        let is_through = |n: &usize| associations[*n].shares.is_none() && parents[*n].is_some();
        let nearest = |parent: &Option<usize>| {
            let mut up = std::iter::successors(*parent, |n| parents[*n]);
            up.find(|n| !is_through(n))
        };
        let above: Vec<Option<usize>> = parents.iter().map(nearest).collect();
        let mut children = vec![Vec::new(); associations.len()];
        let mut roots = Vec::new();
        for (n, parent) in above.iter().enumerate() {
            if associations[n].user.is_none() && is_through(&n) {
                continue;
            }
            match parent {
                Some(parent) => children[*parent].push(n),
                None => roots.push(n),
            }
        }
        let mut shares = vec![None; associations.len()];
        for siblings in children.iter().chain([&roots]) {
            let raw = |n: &usize| associations[*n].shares;
            let all: u64 = siblings.iter().filter_map(raw).sum();
            for n in siblings {
                shares[*n] = raw(n).map(|own| own as f64 / (all as f64).max(1.0));
            }
        }
        let is_user: Vec<bool> = associations.iter().map(|own| own.user.is_some()).collect();
        FairShare {
            users: is_user.iter().filter(|is_user| **is_user).count(),
            usage: associations.iter().map(|own| own.usage).collect(),
            parents,
            above,
            children,
            roots,
            is_user,
            shares,
        }
    }

    pub(super) fn fade(&mut self, left: f64) {
        self.usage.iter_mut().for_each(|usage| *usage *= left);
    }

    pub(super) fn add(&mut self, association: usize, used: f64) {
        let mut at = Some(association);
        while let Some(n) = at {
            self.usage[n] += used;
            at = self.parents[n];
        }
    }

    /// Returns the factor of each association in [0, 1]. In the Fair Tree it is 0 for accounts.
    pub(super) fn factors(&self, priority: &PrioritySettings) -> Vec<f64> {
        if !priority.is_fair_tree {
            let factor = |n| match self.effective(n) {
                [used, share] if share > 0.0 => 0.5_f64.powf(used / share / priority.dampening),
                _ => 0.0,
            };
            return (0..self.usage.len()).map(factor).collect();
        }
        let mut factors = vec![0.0; self.usage.len()];
        let mut ranks = Ranks {
            rank: self.users,
            untied: self.users,
        };
        // If there is a single root account, it does not compete with any other account.
        let top = match self.roots[..] {
            [root] if !self.is_user[root] => self.children[root].clone(),
            _ => self.roots.clone(),
        };
        self.rank(&top, false, &mut ranks, &mut factors);
        factors
    }

    fn total(&self) -> f64 {
        self.roots.iter().map(|root| self.usage[*root]).sum()
    }

    /// Returns the effective usage, which includes the other members of an account in proportion to
    /// the shares, and the shares as fractions of the total (`_set_usage_efctv` and
    /// `priority_p_calc_fs_factor` in `priority_multifactor.c`).
    fn effective(&self, n: usize) -> [f64; 2] {
        let all = self.total();
        let used = if all > 0.0 { self.usage[n] / all } else { 0.0 };
        let is_root =
            |n: &usize| matches!(self.roots[..], [root] if root == *n && !self.is_user[root]);
        let above = self.above[n].filter(|parent| !is_root(parent));
        match (above, self.shares[n]) {
            _ if is_root(&n) => [1.0, 1.0],
            (None, Some(share)) => [used, share],
            (None, None) => [1.0, 1.0],
            (Some(parent), None) => self.effective(parent),
            (Some(parent), Some(share)) => {
                let [of_parent, part] = self.effective(parent);
                [used + (of_parent - used) * share, part * share]
            }
        }
    }

    /// Returns the ratio of share to usage. Siblings are sorted by it in descending order.
    fn level(&self, n: usize) -> f64 {
        let Some(share) = self.shares[n] else {
            return if self.is_user[n] { f64::INFINITY } else { -1.0 };
        };
        let of_parent = self.above[n].map_or_else(|| self.total(), |parent| self.usage[parent]);
        if share == 0.0 {
            0.0
        } else if of_parent == 0.0 || self.usage[n] == 0.0 {
            f64::INFINITY
        } else {
            share / (self.usage[n] / of_parent)
        }
    }

    /// Assigns ranks to users in depth-first order, starting at the account of the highest level.
    fn rank(&self, siblings: &[usize], is_tied: bool, ranks: &mut Ranks, factors: &mut [f64]) {
        let mut order: Vec<(f64, usize)> = siblings.iter().map(|n| (self.level(*n), *n)).collect();
        // If the levels are equal, users precede accounts.
        order.sort_by(|a, b| {
            let by_level = b.0.total_cmp(&a.0);
            by_level.then_with(|| self.is_user[b.1].cmp(&self.is_user[a.1]))
        });
        let mut before: Option<f64> = None;
        for (level, n) in order {
            let tied = before.map_or(is_tied, |before| before == level);
            before = Some(level);
            if self.is_user[n] {
                if !tied {
                    ranks.rank = ranks.untied;
                }
                factors[n] = ranks.rank as f64 / self.users as f64;
                ranks.untied -= 1;
                continue;
            }
            // Contrary to a comment in its source, Slurm does not merge accounts of equal levels.
            self.rank(&self.children[n], tied, ranks, factors);
        }
    }
}

struct Ranks {
    rank: usize,
    /// The rank of the user if there are no ties.
    untied: usize,
}

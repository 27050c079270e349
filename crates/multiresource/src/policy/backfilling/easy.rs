use super::choices::Backfilling;
use super::estimator::LearnedRuntimes;
use super::queue::Queue;
use super::reservations::Reservations;
use super::running::Waiting;
use crate::policy::capacity::{covers, reduce};
use crate::policy::{Event, Information, Job, Policy, System};

/// EASY backfilling. Jobs start in queue order until the head of the queue does not fit. The
/// *shadow time* is the earliest time at which all resources of the head are expected to be free.
/// Other jobs that fit then start in queue order if they are expected to end by the shadow time, or
/// if they only use capacity that the head does not need at that time. The source is Lifka, "The
/// ANL/IBM SP scheduling system", JSSPP 1995, as described by Mu'alem and Feitelson, IEEE TPDS
/// 12(6), 2001, section 2, for one resource and in the order of arrival. Our extension to several
/// resources uses the remaining capacity of each. A job that is expected to end exactly at the
/// shadow time frees its capacity then. Jobs that exceed their estimate are not killed. On a fleet,
/// the rule reserves the servers on which the head is expected to fit first, and starts other jobs
/// in queue order on the other servers. A job of one server can also start on a reserved one if the
/// rule above allows it. If the head is blocked, an arrival takes `O(R + log n)`, a completion
/// `O(R · running)` to compute the shadow time, and a start `O(K log n)`. For a new head, all
/// servers are searched in `O(N log N)`.
#[derive(Clone, Debug)]
pub(super) struct Easy<Q> {
    queue: Q,
    choices: Backfilling,
    servers: usize,
    head: Option<(usize, u64)>,
    shadow: f64,
    /// The first `reserved` entries belong to the head; the others are buffers.
    reservations: Vec<Reservation>,
    reserved: usize,
    freed: Vec<usize>,
    team: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct Reservation {
    from: f64,
    server: usize,
    /// The capacity of each resource that the head does not need at that time.
    extra: Vec<u64>,
}

impl<Q: Queue> Easy<Q> {
    pub(super) fn new(choices: Backfilling, queue: Q, servers: usize) -> Self {
        Easy {
            queue,
            choices,
            servers,
            head: None,
            shadow: 0.0,
            reservations: vec![Reservation::default(); servers],
            reserved: 0,
            freed: Vec::new(),
            team: Vec::new(),
        }
    }

    fn go_on(&mut self, system: &mut System) {
        self.queue.restore_order(system);
        while let Some(head) = self.queue.first(system) {
            // A new head may start on the servers of the previous one.
            if self.servers > 1 && self.head.is_some_and(|(own, _)| own != head) {
                self.release(system);
            }
            if !self.fits_head(head, system) {
                match self.choices.reservations {
                    Reservations::None if !self.queue.is_overdue(head) => self.release(system),
                    _ => self.reserve(head, system),
                }
                if self.choices.reservations != Reservations::Strict {
                    self.backfill(None, system);
                }
                return;
            }
            self.release(system);
            self.queue.start_first(head, &self.team, system);
        }
        self.release(system);
    }

    fn fits_head(&mut self, head: usize, system: &System) -> bool {
        let (team, nodes) = (&mut self.team, system.nodes(head));
        team.clear();
        if self.servers == 1 {
            team.push(0);
            return system.fits_on(head, 0);
        }
        if self.head.is_some_and(|(own, _)| own == head) {
            let own = self.reservations[..self.reserved].iter();
            let servers = own.map(|own| own.server);
            team.extend(servers.filter(|n| system.fits_on(head, *n)));
        }
        let own = team.len();
        let is_last = |n| {
            team.push(n);
            team.len() == nodes
        };
        let found = own == nodes || system.any_server(head, is_last);
        self.team.rotate_left(own);
        found
    }

    fn release(&mut self, system: &mut System) {
        self.head = None;
        for own in &self.reservations[..self.reserved] {
            system.lock(own.server, false);
        }
        self.reserved = 0;
    }

    fn reserve(&mut self, head: usize, system: &mut System) {
        let Some(number) = self.queue.number(head, system) else {
            return;
        };
        self.team.clear();
        if self.servers > 1 && self.head.is_some_and(|(_, own)| own == number) {
            let own = self.reservations[..self.reserved].iter();
            self.team.extend(own.map(|own| own.server));
            self.team.extend(&self.freed);
            self.team.sort_unstable();
            self.team.dedup();
        } else {
            self.team.extend(0..self.servers);
        }
        self.release(system);
        let mut found = 0;
        for &server in &self.team {
            let own = &mut self.reservations[found];
            own.server = server;
            let running = self.queue.running();
            let from = running.earliest_fit(head, server, &mut own.extra, system);
            own.from = from.max(system.now());
            found += usize::from(own.from.is_finite());
        }
        let nodes = system.nodes(head);
        if found < nodes {
            return;
        }
        let found = &mut self.reservations[..found];
        found.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.server.cmp(&b.server)));
        self.shadow = found[nodes - 1].from;
        self.reserved = nodes;
        self.head = Some((head, number));
        for own in &mut found[..nodes] {
            for (extra, d) in own.extra.iter_mut().zip(system.demand(head)) {
                // This is only less than the demand if others use the capacity.
                *extra = extra.saturating_sub(*d);
            }
            system.lock(own.server, true);
        }
    }

    /// Starts the jobs that are allowed to pass the head, of type `only` if it is set.
    fn backfill(&mut self, only: Option<usize>, system: &mut System) {
        // A single server that is reserved is the only one.
        let is_elsewhere = self.reserved == 0 || self.servers > 1;
        while is_elsewhere
            && let Some(i) = self.queue.first_fitting(system)
            && system.find_servers(i, &mut self.team)
        {
            self.queue.start_first(i, &self.team, system);
        }
        while let Some((next, k)) = self.next_on_reserved(only, system) {
            let own = &mut self.reservations[k];
            self.queue.start(next, &[own.server], system);
            if next.estimate > self.shadow - system.now() {
                reduce(&mut own.extra, system.demand(next.job_type));
            }
            // Only one job is new, so no other job can start.
            if only.is_some() {
                return;
            }
        }
    }

    fn next_on_reserved(&self, only: Option<usize>, system: &System) -> Option<(Waiting, usize)> {
        let mut next: Option<((Q::Rank, u64), Waiting, usize)> = None;
        for (k, own) in self.reservations[..self.reserved].iter().enumerate() {
            let mut types = system.queued();
            // There is only one call of this function, so that it is inlined into the loop.
            while let Some(i) = only.or_else(|| types.next()) {
                if system.fits_on(i, own.server) && system.nodes(i) == 1 {
                    let first = self.queue.first_key(i, system);
                    if next.is_none_or(|(key, ..)| first < key)
                        && let Some(waiting) =
                            self.queue.first_within(i, self.limit(i, own, system))
                        && let key = self.queue.key(&waiting)
                        && next.is_none_or(|(least, ..)| key < least)
                    {
                        next = Some((key, waiting, k));
                    }
                }
                if only.is_some() {
                    break;
                }
            }
        }
        next.map(|(_, waiting, k)| (waiting, k))
    }

    #[inline]
    fn limit(&self, i: usize, own: &Reservation, system: &System) -> f64 {
        if covers(&own.extra, system.demand(i)) {
            f64::MAX
        } else {
            self.shadow - system.now()
        }
    }
}

impl<Q: Queue> Policy for Easy<Q> {
    fn information(&self) -> Information {
        self.queue.knows()
    }

    fn begin(&mut self, system: &mut System) {
        system.set_placement(self.choices.placement);
    }

    fn react(&mut self, event: Event, system: &mut System) {
        self.note(event, system);
        match (event, self.head) {
            // The head and the shadow time have not changed, so only the new job can start.
            (Event::Arrival(i), Some(head)) if self.queue.keeps_head(i, head, system) => {
                if self.choices.reservations != Reservations::Strict {
                    self.backfill(Some(i), system);
                }
            }
            (Event::Arrival(_) | Event::Completion(_), _) => self.decide(system),
            (Event::Clock(_), _) => {}
        }
    }

    fn decides_on_state(&self) -> bool {
        self.servers == 1 || Q::DECIDES_ONCE
    }

    fn note(&mut self, event: Event, system: &mut System) {
        if self.servers > 1 && matches!(event, Event::Completion(_)) {
            self.freed.extend(system.freed());
        }
        self.queue.look(event, system);
    }

    fn decide(&mut self, system: &mut System) {
        self.go_on(system);
        self.freed.clear();
    }

    fn ahead(&self, i: usize, job: Job) -> Option<usize> {
        self.queue.ahead(i, job)
    }

    fn learned(&self) -> Option<LearnedRuntimes> {
        self.queue.learned()
    }

    fn let_go(&mut self, system: &mut System) {
        self.release(system);
    }

    fn take_over(&mut self, system: &mut System) {
        self.begin(system);
        self.queue.running().forget();
        self.changed(system);
    }

    fn changed(&mut self, system: &mut System) {
        self.release(system);
        self.queue.rebuild(system);
        self.decide(system);
    }
}

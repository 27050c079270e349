//! Arrivals from a record instead of from laws.

use super::*;
use crate::simulation::Arrival;

/// Jobs by arrival time, class and size.
struct Script(Vec<(f64, u32, f64)>);

impl ArrivalSource for Script {
    const RECORDED: bool = true;

    fn fill(&mut self, arrivals: &mut [Arrival], sizes: &mut [f64]) -> usize {
        let count = arrivals.len().min(self.0.len());
        for (n, (time, class, size)) in self.0.drain(..count).enumerate() {
            arrivals[n] = Arrival { time, class };
            sizes[n] = size;
        }
        count
    }
}

/// Two servers, and types that need one or both of them; sizes of `b` are always 2.
fn workload() -> Workload {
    let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 2}}\njobs:\n  \
        - {name: a, demand: {cpu: 1}, arrival_rate: .5, mean_size: 1}\n  \
        - {name: b, demand: {cpu: 2}, arrival_rate: .1, size: {law: deterministic, mean: 2}}\n";
    Workload::parse(text, "recorded").unwrap().workload
}

/// By type, the response times that a watcher of departures saw.
fn responses(jobs: &[(f64, u32, f64)], policy: impl Policy + Clone + Send) -> Vec<(usize, f64)> {
    let seen = Arc::<Mutex<Vec<(usize, f64)>>>::default();
    let witness = Departures {
        policy,
        waiting: Vec::new(),
        seen: Arc::clone(&seen),
    };
    let settings = one_run(1_000_000);
    let source = |_| Script(jobs.to_vec());
    let run = simulate_arrivals(&workload(), source, witness, &settings, quiet).unwrap();
    assert_eq!(run.ending, Ending::ArrivalsEnded);
    assert_eq!(run.own.counters.arrivals, jobs.len() as u64);
    assert_eq!(run.own.counters.completions, jobs.len() as u64);
    assert_eq!(run.events, 2 * jobs.len() as u64);
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[derive(Clone)]
struct Departures<P> {
    policy: P,
    /// Number, type and arrival of the jobs in the system.
    waiting: Vec<(u64, f64)>,
    seen: Arc<Mutex<Vec<(usize, f64)>>>,
}

impl<P: Policy> Policy for Departures<P> {
    fn react(&mut self, event: Event, system: &mut System) {
        match event {
            Event::Arrival(i) => {
                let job = system.youngest(i).unwrap();
                self.waiting.push((job.number, job.arrived));
            }
            Event::Completion(i) => {
                let ended = |(number, _): &(u64, f64)| *number == system.ended();
                let place = self.waiting.iter().position(ended).unwrap();
                let (_, arrived) = self.waiting.remove(place);
                let mut seen = self.seen.lock().unwrap();
                seen.push((i, system.now() - arrived));
            }
            Event::Clock(_) => {}
        }
        self.policy.react(event, system);
    }
}

/// By hand. FCFS: the wide job waits for both servers until 4, and the narrow one behind it until
/// 6; First-Fit lets that one pass.
#[test]
fn recorded_jobs_are_served_as_they_come() {
    let jobs = [
        (1.0, 0, 3.0),
        (2.0, 1, f64::NAN),
        (2.5, 0, 1.0),
        (20.0, 0, 0.5),
    ];
    let fcfs = [(0, 3.0), (1, 4.0), (0, 4.5), (0, 0.5)];
    assert_eq!(responses(&jobs, Fcfs), fcfs);
    let first_fit = [(0, 1.0), (0, 3.0), (1, 4.0), (0, 0.5)];
    assert_eq!(responses(&jobs, FirstFit), first_fit);
}

/// More jobs than are drawn at once, two at each time: every one is served in its order.
#[test]
fn a_long_record_is_read_to_its_end() {
    let job = |n: u32| (f64::from(n / 2), 0, 0.25);
    let jobs: Vec<_> = (0..1001).map(job).collect();
    let seen = responses(&jobs, Fcfs);
    assert_eq!(seen, vec![(0, 0.25); 1001]);
}

/// Clocks that ring forever do not keep a run alive; a job that is never started is left.
#[test]
fn a_run_ends_with_its_record() {
    #[derive(Clone)]
    struct Idle(usize);
    impl Policy for Idle {
        fn clocks(&self) -> usize {
            self.0
        }
        fn begin(&mut self, system: &mut System) {
            (0..self.0).for_each(|clock| system.set_clock(clock, 1.0));
        }
        fn react(&mut self, _: Event, _: &mut System) {}
    }
    let run = |policy: Idle, jobs: &[(f64, u32, f64)]| {
        let source = |_| Script(jobs.to_vec());
        let settings = one_run(10_000);
        simulate_arrivals(&workload(), source, policy, &settings, quiet).unwrap()
    };
    assert_eq!(run(Idle(1), &[]).ending, Ending::ArrivalsEnded);
    let left = run(Idle(0), &[(1.0, 0, 1.0)]);
    assert_eq!(
        (left.ending, left.types[0].left),
        (Ending::ArrivalsEnded, 1)
    );
    assert_eq!(left.simulated_time, 1.0);
    assert_eq!(run(Idle(1), &[(1.0, 0, 1.0)]).ending, Ending::Events);
}

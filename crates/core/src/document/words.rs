//! Words that other programs and papers have for the keys of documents: no spelling of one is near to the key.

use super::fault::{Place, Step};

/// A line for keys that have the same words: the keys, and what they are called elsewhere. A word may stand for several
/// keys: the first of them that is allowed at a place is meant.
const ELSEWHERE: &str = "\
servers server hosts nodes = server servers node nodes machine machines host hosts workers cluster \
    pool computers
capacity = resources allocatable size limits total has
count = number replicas copies quantity amount n num nodes machines servers hosts
cores = cpu cpus vcpu vcpus processors threads ncpus
gpus = gpu accelerators accelerator cards
rate = speed mu μ lambda λ arrival_rate service_rate frequency intensity
speed = rate mu μ flops performance
buffer = queue cache work_buffer
availability = uptime on_off
jobs classes batches types = job jobs class classes type types job_types job_classes tasks task \
    pods batch batches requests workloads applications
jobs = count number n
applications = apps programs app
application = app program
processor = type device hardware platform
instances = replicas copies replication
demand = resources requests request needs need requirements requires limits demands
arrival_rate = rate lambda λ frequency intensity arrival throughput per_second qps
arrivals = arrival_process process interarrival interarrivals
mean_size size = duration runtime run_time service service_time time length mean mean_duration \
    mean_runtime mean_service_time holding_time execution_time seconds
size = mean_size work law distribution sizes
sizes = values batch_sizes
limit = time_limit walltime timelimit timeout max_runtime
weight = priority importance cost
priority = importance priorities priority_class
cap = max_servers limit parallelism max_parallelism max most
speedup = scaling scalability speed
deadline = due until time_limit
submitted = arrival arrives start at release
horizon = duration until end length time
law = distribution dist type family
process = law type distribution kind
mean = average expectation value expected avg
scv = c2 cv2 squared_cv
low = min minimum from lower a
high = max maximum to upper b
shape = alpha α k
stages = phases k order
probabilities = weights probs p
switching = generator transitions q
exponential = exp memoryless markovian
deterministic = constant fixed const degenerate
empirical = discrete histogram trace
markov-modulated = mmpp
time_unit = unit units time timeunit
start_latency = dead_time startup startup_time cold_start boot_time
source = description comment title reference origin metadata
name = id label key title
cpu cpus vcpu = cpu cpus core cores vcpu vcpus processors threads
memory mem ram = memory mem ram
gpu = accelerators accelerator cards";

/// Words for features that no key here describes: how they are expressed instead, or that they are out of scope.
const INSTEAD: &str = "\
priority priorities = it is a key of the entries of `jobs` of `kind: multiresource`
weight weights importance cost = jobs have no weights: `priority` ranks types; `--objective weighted` counts jobs by their work
class qos service_class = each entry of `jobs` is a class: `name` names it, and `priority` ranks it
patience abandon abandonment reneging balking impatience = jobs wait until they run: abandonment and balking are out of scope
max_queue queue_limit queue_size queue_capacity max_waiting buffer = queues have no limit: lost or blocked jobs are out of scope
retry retries max_retries backoff failures failure_rate = a job runs once, to its end: add retries to `arrival_rate`; failures are out of scope
depends_on dependencies dependency after = jobs are independent of each other: workflows are out of scope
affinity node_affinity node_selector constraints taints tolerations = a job runs wherever its demand fits: give the servers it needs a resource of their own, such as `ssd: 100`, and demand 1 of it
anti_affinity pod_anti_affinity topology_spread spread = give each server 1 of a resource of its own, and demand it: then no two of these jobs share a server
preemptible preemptable preemption interruptible spot = preemption is an option of the commands, for all types alike: `--preemption none`, `full` or `setup`
replicas instances pods copies = parts that start together on several servers are `nodes`; parts that start apart are jobs of their own: raise `arrival_rate`
max_running max_concurrent concurrency quota licenses = on one server a cap on running jobs is a resource: `capacity: {quota: 4}`, and `demand: {quota: 1}`
deadline due due_date slo target = a promise about waits is an option: `--slo 'TYPE: wait 95 % < 2 h'`
seed objective policy budget events = it is an option of the commands, not part of the workload: see `synth --help`";

/// Keys below which amounts of resources stand by name.
const AMOUNTS: [&str; 2] = ["demand", "capacity"];
/// Keys that are amounts themselves.
const COUNTED: [&str; 3] = ["servers", "cap", "devices"];
/// Resources that are often written one level too high.
const RESOURCES: &str = "cpu cpus core cores vcpu vcpus processors threads memory mem ram gpu gpus \
     disk storage";

/// Returns each key with its words.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = ELSEWHERE.lines().filter_map(|line| line.split_once(" = "));
    lines.flat_map(|(keys, words)| keys.split(' ').map(move |key| (key, words)))
}

/// Returns the one of the names known that a word stands for elsewhere.
pub fn meant<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let found = plain(found);
    let rows = rows().filter(|(_, words)| has(words, &found));
    let mut keys = rows.map(|(key, _)| key).filter(|key| plain(key) != found);
    keys.find_map(|key| known.iter().copied().find(|name| plain(name) == plain(key)))
}

/// Returns how a feature that no key describes is expressed here, or that it is out of scope.
pub(super) fn instead(found: &str) -> Option<&'static str> {
    let squeezed = |word: &str| plain(word).replace('_', "");
    let found = squeezed(found);
    let mut rows = INSTEAD.lines().filter_map(|line| line.split_once(" = "));
    let is_it = |words: &str| words.split(' ').any(|own| squeezed(own) == found);
    rows.find_map(|(words, text)| is_it(words).then_some(text))
}

/// Returns the one of these keys that is another word for one that is known.
pub(super) fn standing_for<'a>(
    known: &str,
    mut keys: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let rows = rows().filter(|(key, _)| *key == known);
    let words: Vec<&str> = rows.map(|(_, words)| words).collect();
    keys.find(|key| words.iter().any(|words| has(words, &plain(key))))
}

/// Returns whether the value at a place is an amount of a resource.
pub(super) fn is_amount(place: &Place) -> bool {
    match place.steps() {
        [.., Step::Key(above), Step::Key(_)] if AMOUNTS.contains(&above.as_str()) => true,
        [.., Step::Key(last)] => COUNTED.contains(&last.as_str()),
        _ => false,
    }
}

/// Returns the one of the keys known below which an amount of this resource is to stand.
pub(super) fn holder<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let is_resource = has(RESOURCES, &plain(found));
    let mut holders = known.iter().copied().filter(|key| AMOUNTS.contains(key));
    holders.next().filter(|_| is_resource)
}

/// Returns whether a word is one of these, which blanks part.
fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|own| own == word)
}

/// Without regard to case, and to what joins words.
fn plain(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_elsewhere_is_the_key_that_is_allowed_here() {
        let job = [
            "name",
            "demand",
            "arrival_rate",
            "arrivals",
            "mean_size",
            "size",
        ];
        for (found, known, key) in [
            ("nodes", &["kind", "servers", "jobs"][..], Some("servers")),
            ("nodes", &["name", "count", "cores"], Some("count")),
            ("machines", &["kind", "hosts", "batches"], Some("hosts")),
            ("jobs", &["servers", "classes"], Some("classes")),
            ("Service-Time", &job, Some("mean_size")),
            ("lambda", &job, Some("arrival_rate")),
            ("rate", &job, Some("arrival_rate")),
            ("cpus", &["count", "cores", "gpus"], Some("cores")),
            ("ram", &["cpu", "memory"], Some("memory")),
            ("nodes", &job, None),
            ("colour", &job, None),
        ] {
            assert_eq!(meant(found, known), key, "{found}");
        }
    }

    #[test]
    fn features_without_a_key_are_explained() {
        for (found, text) in [
            ("patience", "out of scope"),
            ("maxQueue", "queues have no limit"),
            ("anti-affinity", "no two of these jobs share a server"),
            ("preemptible", "--preemption"),
        ] {
            assert!(instead(found).unwrap().contains(text), "{found}");
        }
        assert_eq!(instead("colour"), None);
        let job = ["name", "size", "priority"];
        assert_eq!(meant("importance", &job), Some("priority"));
    }

    #[test]
    fn a_key_of_elsewhere_is_found_for_the_one_that_is_known() {
        let keys = || ["kind", "Tasks", "nodes"].into_iter();
        assert_eq!(standing_for("jobs", keys()), Some("Tasks"));
        assert_eq!(standing_for("servers", keys()), Some("nodes"));
        assert_eq!(standing_for("limit", keys()), None);
    }

    #[test]
    fn amounts_stand_below_their_key() {
        assert_eq!(holder("CPU", &["name", "demand"]), Some("demand"));
        assert_eq!(holder("memory", &["capacity"]), Some("capacity"));
        assert_eq!(holder("memory", &["name", "cores"]), None);
        assert_eq!(holder("weight", &["name", "demand"]), None);
    }
}

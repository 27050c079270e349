use std::collections::HashMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::forecast::{
    Calibration, Draws, ForecastRecord, ForecastSite, Past, PresentJob, Quantiles, Snapshot,
};
use synth_core::document::name_hash;
use synth_core::number::Decimal;
use synth_multiresource::policy::Policy;
use synth_operator::Amounts;
use synth_slurm::commands::{Hold, JobId, NodeRow, NodeState, QueueRow, Slurm, SlurmQueue, expand};
use synth_traces::replay::{Log, ReplayJob};
use synth_traces::trace::{self, ServerShape, Servers, Source, Tick, TraceFormat};
use synth_verb::{VerbResult, refuse};

/// A waiting job, with its wait and the wait if all jobs run until their limits in seconds, or the
/// reason why these are not known.
type Waiting = (QueueRow, Result<(Quantiles, f64), String>);

pub(super) struct Live {
    /// The time of the request, in seconds since 1970 (UTC).
    pub now: i64,
    pub jobs: Vec<Waiting>,
    pub record: Option<ForecastRecord>,
    pub notes: Vec<String>,
}

type Learned = (Calibration, Option<ForecastRecord>);

type Make<'a> = &'a dyn Fn(&ForecastSite) -> Result<Box<dyn Policy>, String>;

/// Returns the CPUs and GPUs of a node or a job. The queue does not show if memory is allocated.
fn counted(amounts: &Amounts, has_gpus: bool) -> Vec<f64> {
    let mut counted = vec![amounts.get("cpu") as f64, amounts.get("gres/gpu") as f64];
    counted.truncate(1 + usize::from(has_gpus));
    counted
}

pub(super) fn live(
    slurm: &Slurm,
    past_log: Option<(&Path, &trace::ReadOptions)>,
    draws: Draws,
    rule: Make<'_>,
    score: &mut dyn FnMut(&Log) -> VerbResult<Learned>,
) -> VerbResult<Live> {
    slurm.site()?;
    let (queue, nodes, starts) = (slurm.queue()?, slurm.nodes()?, slurm.starts()?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64;
    let unread = [queue.unread.note("squeue"), nodes.unread.note("sinfo")];
    let mut notes: Vec<String> = unread.into_iter().flatten().collect();
    let mut rows = nodes.rows.iter();
    let has_gpus = rows.any(|node| node.capacity.get("gres/gpu") > 0);
    let up = nodes_up(&nodes.rows, &queue, has_gpus);
    let mut names = vec!["cpu".to_owned(), "gpu".to_owned()];
    names.truncate(1 + usize::from(has_gpus));
    let decimal = |amount: &f64| Decimal::new(*amount).unwrap_or(Decimal::ZERO);
    let capacity = |own: &(String, Vec<f64>)| own.1.iter().map(decimal).collect();
    let capacities = up.iter().map(capacity);
    let servers = Servers::new(names, ServerShape::group(capacities));
    let partition = &slurm.partition;
    if servers.shapes.is_empty() {
        return refuse(format!(
            "there are no nodes in the partition {partition} that are up and have capacity for its jobs; use `sinfo -p {partition}` for more information"
        ));
    }
    let mut log = past_of(past_log, &servers, up.len(), partition)?;
    let (calibration, record) = match past_log {
        Some(_) => score(&log)?,
        None => {
            notes.push(format!("There is no log of past jobs, so the limits are used as the run times. This means that most jobs will start earlier than this. To get better results, use `--log FILE` with the output of `{} -r {partition}`.", trace::EXPORT));
            Learned::default()
        }
    };
    let mut past = Past::default();
    for (n, job) in log.jobs.iter().enumerate() {
        past.arrive(*job);
        past.ended(n, job.size);
    }
    // The current time, as a submission time in the log.
    let at = log.jobs.last().map_or(0.0, |job| job.submit + 1.0);
    let (mut present, mut jobs) = sorted(queue.rows, &up, &starts, (now, at), &mut log);
    present.sort_by(|a, b| a.0.submit.total_cmp(&b.0.submit));
    if present.iter().any(|own| own.1.is_none()) {
        log.jobs.extend(present.iter().map(|own| own.0));
        let known = (&past, &calibration, draws);
        answer(&mut log, at, present, &up, known, rule, &mut jobs)?;
    }
    Ok(Live {
        now,
        jobs,
        record,
        notes,
    })
}

fn past_of(
    past_log: Option<(&Path, &trace::ReadOptions)>,
    servers: &Servers,
    up: usize,
    partition: &str,
) -> VerbResult<Log> {
    let Some((file, reading)) = past_log else {
        return Ok(Log {
            has_limits: true,
            ..Log::blank(servers.clone(), Tick::Second, TraceFormat::Sacct)
        });
    };
    let mut reading = reading.clone();
    reading.servers = Some(servers.clone());
    // All jobs in the log are from this partition, and some formats do not contain its name.
    reading.partitions.clear();
    let (log, _) = Log::of_source(&Source::named(file), &reading, &mut |_| ())?;
    if log.jobs.len() > 1 && log.load() > MOST_LOAD {
        return refuse(format!(
            "the load of the jobs in the log is {:.2} for the {up} nodes of the partition {partition} that are up; the log must only contain the jobs of this partition, as in the output of `{} -r {partition}`",
            log.load(),
            trace::EXPORT
        ));
    }
    Ok(log)
}

type Here = (ReplayJob, Option<f64>, Vec<String>);

/// Returns the jobs that are relevant, and all waiting jobs, with the reason if they cannot start.
fn sorted(
    mut rows: Vec<QueueRow>,
    up: &[(String, Vec<f64>)],
    starts: &HashMap<JobId, i64>,
    (now, at): (i64, f64),
    log: &mut Log,
) -> (Vec<Here>, Vec<Waiting>) {
    let (mut present, mut jobs) = (Vec::new(), Vec::new());
    rows.sort_by_key(|row| row.key);
    for row in rows {
        let demand = demand_of(&row, &log.servers);
        let fits = log.servers.hold(&demand, row.nodes);
        let mut here = |submitted: i64, started: Option<i64>, places| {
            let at = |time: i64| at - (now - time) as f64;
            let kind = kind(log, &demand, row.nodes);
            let job = job_of(&row, at(submitted.min(now)), kind);
            present.push((job, started.map(at), places));
        };
        if row.has_nodes() {
            let is_up = |place: &String| up.iter().any(|own| own.0 == *place);
            let places = expand(&row.node_list).filter(|own| fits && own.iter().all(is_up));
            if let Some(places) = places {
                let start = starts.get(&row.key.id).map_or(now, |start| now.min(*start));
                here(row.key.submitted.min(start), Some(start), places);
            }
            continue;
        }
        let why = why_not(&row, now).or_else(|| (!fits).then(|| TOO_LARGE.to_owned()));
        if why.is_none() {
            here(row.key.submitted, None, Vec::new());
        }
        jobs.push((row, Err(why.unwrap_or_default())));
    }
    (present, jobs)
}

const MOST_LOAD: f64 = 1.5;

const TOO_LARGE: &str =
    "never: it requests more than the nodes that are up have, or than other partitions leave free";

fn why_not(row: &QueueRow, now: i64) -> Option<String> {
    let is_later = row.eligible.is_some_and(|eligible| eligible > now);
    let why = match row.hold {
        Hold::User => "held: its owner can release it",
        Hold::Admin => "held by an operator",
        Hold::Other => "held by Slurm: its priority is 0",
        Hold::None if row.depends => return Some(format!("waits for other jobs ({})", row.reason)),
        Hold::None if is_later => "its begin time is in the future",
        Hold::None if row.names_nodes => {
            "requests specific nodes or features, which are not modelled"
        }
        Hold::None if row.has_unknown_gres => "requests an unknown amount of generic resources",
        Hold::None => return None,
    };
    Some(why.into())
}

/// Returns the nodes that accept jobs, and the amounts that are available to the partition.
fn nodes_up(nodes: &[NodeRow], queue: &SlurmQueue, has_gpus: bool) -> Vec<(String, Vec<f64>)> {
    let mut own = queue.by_node(|_| true);
    let up = nodes.iter().filter(|node| node.state == NodeState::Up);
    let up = up.map(|node| {
        let mine = own.remove(&node.name).unwrap_or_default();
        let others = node.allocated.clone().less(&mine);
        let there = node.capacity.clone().less(&others);
        (node.name.clone(), counted(&there, has_gpus))
    });
    up.filter(|(_, there)| there[0] > 0.0).collect()
}

fn demand_of(row: &QueueRow, servers: &Servers) -> Vec<f64> {
    let amounts = counted(&row.amounts, servers.resources.len() > 1).into_iter();
    let mut demand: Vec<f64> = amounts
        .map(|own| (own / f64::from(row.nodes)).ceil())
        .collect();
    if row.is_exclusive {
        let cpus = servers.shapes.iter().map(|shape| shape.capacity[0].value());
        demand[0] = cpus.fold(demand[0], f64::max);
    }
    demand
}

/// Returns the index of a demand vector. If it does not exist, it is added.
fn kind(log: &mut Log, demand: &[f64], nodes: u32) -> u32 {
    let mut known = log.vectors.iter().zip(&log.nodes);
    let place = known.position(|(own, count)| **own == *demand && *count == nodes);
    place.unwrap_or_else(|| {
        log.vectors.push(demand.into());
        log.nodes.push(nodes);
        log.vectors.len() - 1
    }) as u32
}

fn job_of(row: &QueueRow, submit: f64, kind: u32) -> ReplayJob {
    let limit = row.time_limit;
    let limit = limit.map_or(f64::INFINITY, |limit| limit.max(1) as f64);
    ReplayJob {
        limit,
        promised: limit,
        user: name_hash(row.user.as_bytes()),
        ..ReplayJob::new(kind, submit, 1.0)
    }
}

fn answer(
    log: &mut Log,
    at: f64,
    present: Vec<Here>,
    up: &[(String, Vec<f64>)],
    (past, calibration, draws): (&Past, &Calibration, Draws),
    rule: Make<'_>,
    jobs: &mut [Waiting],
) -> VerbResult<()> {
    let used: Vec<usize> = log.jobs.iter().map(|job| job.kind as usize).collect();
    let vectors = &log.vectors;
    let holds = |shape: &ServerShape| {
        let capacity = || shape.capacity.iter().map(|own| own.value());
        let fits = |own: &[f64]| own.iter().zip(capacity()).all(|(own, there)| *own <= there);
        used.iter().any(|n| fits(&vectors[*n]))
    };
    log.servers.shapes.retain(holds);
    let site = ForecastSite::of_log(log)?;
    let policy = rule(&site)?;
    let mut order: Vec<&str> = Vec::new();
    for shape in site.fleet.shapes() {
        let alike = up.iter().filter(|(_, there)| {
            let capacity = shape.capacity().iter().map(|own| own.value());
            capacity.eq(there.iter().copied())
        });
        order.extend(alike.map(|(name, _)| &**name));
    }
    let of_name = |name: &String| order.iter().position(|own| own == name);
    let is_fleet = !site.fleet.is_one_server();
    let waits = |n: &usize| present[*n].1.is_none();
    let waiting: Vec<usize> = (0..present.len()).filter(waits).collect();
    let first = log.jobs.len() - present.len();
    let jobs_there = present.into_iter().zip(first..);
    let jobs_there = jobs_there.map(|((job, started, places), number)| {
        let places = places.iter().filter(|_| is_fleet);
        PresentJob {
            job,
            started,
            servers: places.filter_map(of_name).collect(),
            number,
        }
    });
    let moment = Snapshot {
        at,
        jobs: jobs_there.collect(),
        occupied: Vec::new(),
    };
    let drawn = site.forecast(&moment, past, &*policy, &waiting, draws)?;
    let is_known = past.known() > 0;
    let is_open = |own: &&mut Waiting| own.1.as_ref().is_err_and(String::is_empty);
    let open = jobs.iter_mut().filter(is_open);
    for (own, (draws, by_limits)) in open.zip(drawn) {
        let waits = match is_known {
            true => calibration.quantiles(&draws),
            false => Quantiles([by_limits; 3]),
        };
        own.1 = Ok((waits, by_limits));
    }
    Ok(())
}

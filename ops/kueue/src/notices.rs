//! Owners are told why their jobs wait (by Events) and when they will start (by an annotation).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::cluster::Cluster;
use crate::desk::{Concern, Desk, Round};
use crate::metrics::words;
use crate::server::{Server, resource};
use crate::view::{Reference, Uid, Work};
use synth_advice::forecast::OnlineForecasts;
use synth_operator::Timestamps;
use synth_operator::protocol::StartPredictor;

const FORECAST: &str = "synth/forecast";
/// The time after which the same reason is reported again, and the time for a new reason \[s\].
const AGAIN: f64 = 600.0;
const CHANGED: f64 = 30.0;
/// The shortest wait that is reported \[s\].
const SOON: i64 = 10;
/// The time between requests, and the maximum number of requests in the queue. Others are dropped.
const PACE: Duration = Duration::from_millis(200);
const QUEUE: usize = 50;
/// The number of jobs with forecasts, and the time between two forecasts of a job \[s\].
const FORECASTS: usize = 20;
const EACH: f64 = 300.0;
/// The maximum fraction of time spent on forecasts.
const SHARE: f64 = 0.05;
/// A forecast is only written if it has changed by at least this fraction of the wait.
const MOVED: f64 = 0.1;

pub struct Notices {
    server: Server,
    recorder: Recorder,
    send: mpsc::Sender<BoxFuture<'static, ()>>,
    /// The time \[s\] and the key of the last report for each job.
    said: HashMap<Uid, (f64, String)>,
    /// The time of the last forecast \[s\] for each job, and the start that was written.
    forecasts: HashMap<Uid, (f64, Option<f64>)>,
    /// The jobs that have waited for the longest time, and the objects that were submitted.
    next: Vec<(Uid, Reference)>,
    online: OnlineForecasts,
    rested: Instant,
}

impl Notices {
    /// Starts a task that writes in the background. Requests that fail are not repeated.
    pub fn new(server: &Server, identity: &str) -> Self {
        let (send, mut requests) = mpsc::channel::<BoxFuture<'static, ()>>(QUEUE);
        let reporter = Reporter {
            controller: "synth-kueue".into(),
            instance: Some(identity.into()),
        };
        let recorder = Recorder::new(server.client.clone(), reporter);
        let mut pace = interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::spawn(async move {
            while let Some(request) = requests.recv().await {
                pace.tick().await;
                request.await;
            }
        });
        Notices {
            server: server.clone(),
            recorder,
            send,
            said: HashMap::new(),
            forecasts: HashMap::new(),
            next: Vec::new(),
            online: OnlineForecasts::new(1),
            rested: Instant::now(),
        }
    }

    pub fn look(&mut self, desk: &Desk, cluster: &Cluster, round: &Round, at: Timestamps) {
        self.said.retain(|uid, _| cluster.works.contains_key(uid));
        for note in &round.notes {
            let is_public = [Concern::NoType, Concern::OtherGates, Concern::Evicted];
            let work = note.job.as_ref().and_then(|uid| cluster.works.get(uid));
            if let Some(work) = work.filter(|_| is_public.contains(&note.concern)) {
                self.event(work, &format!("{:?}", note.concern), note.text.clone());
            }
        }
        for release in &round.releases {
            let now = desk.operator.scheduler.now();
            self.online.started(&release.job, now);
            let work = cluster.works.get(&release.job);
            if let Some(work) = work.filter(|_| release.job_type.is_some()) {
                let text = "the policy starts this job: its gate is removed";
                self.event(work, "Started", text.into());
            }
        }
        let jobs = desk.operator.jobs.iter();
        let waiting = jobs.filter(|(_, own)| !own.runs());
        let waiting = waiting.filter_map(|(uid, _)| cluster.works.get(uid));
        let waiting = waiting.filter(|work| at.wall - work.created >= SOON);
        let mut waiting: Vec<&Work> = waiting.collect();
        waiting.sort_unstable_by_key(|work| (work.created, work.itself.own.key()));
        let first = waiting.iter().take(FORECASTS);
        let first = first.map(|work| (work.uid().clone(), work.submitted().clone()));
        self.next = first.collect();
        for work in waiting {
            let said = self.said.get(work.uid());
            if self.send.capacity() > 0 && said.is_none_or(|(then, _)| at.now - then > CHANGED) {
                self.say_why(desk, work, at.now);
            }
        }
    }

    fn say_why(&mut self, desk: &Desk, work: &Work, now: f64) {
        let uid = work.uid();
        let Some(waits) = desk.operator.scheduler.waits(uid) else {
            return;
        };
        let doing = waits.doing.clone().unwrap_or_default();
        // If only the numbers are different, the reason is the same.
        let key = format!("{}{}", waits.lacks_capacity, words(&doing));
        let is_said = |own: &(f64, String)| own.1 == key && now - own.0 < AGAIN;
        if self.said.get(uid).is_some_and(is_said) {
            return;
        }
        let name = desk.operator.scheduler.places().type_name(waits.job_type);
        let mut text = format!("waits as `{name}`: {}", waits.describe());
        if !doing.is_empty() {
            text += &format!("; the policy: {doing}");
        }
        self.said.insert(uid.clone(), (now, key));
        self.event(work, "Waits", text);
    }

    fn event(&self, work: &Work, reason: &str, text: String) {
        let on = work.submitted().clone();
        let reference = ObjectReference {
            api_version: Some(on.api_version),
            kind: Some(on.kind),
            name: Some(on.name),
            namespace: Some(on.namespace),
            uid: Some(on.uid.to_string()),
            ..ObjectReference::default()
        };
        let event = Event {
            type_: match reason {
                "NoType" => EventType::Warning,
                _ => EventType::Normal,
            },
            reason: reason.into(),
            note: Some(text),
            action: "Scheduling".into(),
            secondary: None,
        };
        let recorder = self.recorder.clone();
        self.write(async move { drop(recorder.publish(&event, &reference).await) });
    }

    fn write(&self, request: impl Future<Output = ()> + Send + 'static) {
        let _ = self.send.try_send(request.boxed());
    }

    pub fn forecast(&mut self, desk: &Desk, at: Timestamps) {
        let (next, forecasts) = (&self.next, &mut self.forecasts);
        forecasts.retain(|uid, _| next.iter().any(|(own, _)| own == uid));
        let then = |uid: &Uid| forecasts.get(uid).map_or(-EACH, |(then, _)| *then);
        let begin = Instant::now();
        let due = next.iter().find(|(uid, _)| at.now - then(uid) >= EACH);
        let Some((uid, on)) = due.filter(|_| begin >= self.rested) else {
            return;
        };
        let starts = self.online.forecast(&desk.operator.scheduler, uid).ok();
        self.rested = Instant::now() + begin.elapsed().div_f64(SHARE).max(Duration::from_secs(1));
        let said = forecasts.get(uid).and_then(|(_, said)| *said);
        let starts = starts.map(|all| all.map(|start| start * desk.operator.seconds_per_unit));
        let starts = starts.filter(|[_, median, _]| {
            said.is_none_or(|said| (median - said).abs() > MOVED * (said - at.now).abs())
        });
        let median = starts.map(|[_, median, _]| median);
        forecasts.insert(uid.clone(), (at.now, median.or(said)));
        let Some(starts) = starts else { return };
        let time = |start: f64| {
            let seconds = at.wall.saturating_add((start - at.now) as i64);
            let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
            time.to_string()
        };
        let [early, median, late] = starts.map(time);
        let starts = json!({"1 of 10": early, "5 of 10": median, "9 of 10": late});
        let text = json!({"at": time(at.now), "starts": starts}).to_string();
        let patch = json!({"metadata": {"uid": &*on.uid, "annotations": {FORECAST: text}}});
        let kind = resource(&on.api_version, &on.kind);
        let api: Api<DynamicObject> = self.server.objects(Some(&on.namespace), &kind);
        let (name, patch) = (on.name.clone(), Patch::Merge(patch));
        self.write(async move {
            let params = PatchParams::default();
            drop(api.patch_metadata(&name, &params, &patch).await);
        });
    }
}

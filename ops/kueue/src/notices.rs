//! Why jobs wait, where their owners see it: events on what was submitted, and when it will start as an annotation there.

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
use synth_operator::HostMoment;
use synth_operator::protocol::Foresight;

/// When it will start, as one, five and nine of ten such jobs do.
const FORECAST: &str = "synth/forecast";
/// The same is said again after so long \[s\]; something else after this.
const AGAIN: f64 = 600.0;
const CHANGED: f64 = 30.0;
/// Of jobs that wait for less nothing is said \[s\].
const SOON: i64 = 10;
/// Between two that are written; so many wait for that, and others are left out.
const PACE: Duration = Duration::from_millis(200);
const QUEUE: usize = 50;
/// So many jobs are forecast, each this often \[s\].
const FORECASTS: usize = 20;
const EACH: f64 = 300.0;
/// Forecasts take at most this part of the time.
const SHARE: f64 = 0.05;
/// A forecast that moved by less than this part of the wait is not written.
const MOVED: f64 = 0.1;

/// Says why jobs wait.
pub struct Notices {
    server: Server,
    recorder: Recorder,
    /// What is to be written.
    send: mpsc::Sender<BoxFuture<'static, ()>>,
    /// By job: when something was last said of it \[s\], and what it came to.
    said: HashMap<Uid, (f64, String)>,
    /// By job: when it was last forecast \[s\], and the start that was written, if one was.
    forecasts: HashMap<Uid, (f64, Option<f64>)>,
    /// Jobs that have waited longest, and what was submitted.
    next: Vec<(Uid, Reference)>,
    online: OnlineForecasts,
    /// When the next forecast may be computed.
    rested: Instant,
}

impl Notices {
    /// Returns notices that are written in the background; what cannot be written is left out.
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

    /// Says what a round has found, and why the others wait.
    pub fn look(&mut self, desk: &Desk, cluster: &Cluster, round: &Round, at: HostMoment) {
        self.said.retain(|uid, _| cluster.works.contains_key(uid));
        for note in &round.notes {
            let is_public = [Concern::NoType, Concern::OtherGates, Concern::Evicted];
            let work = note.job.as_ref().and_then(|uid| cluster.works.get(uid));
            if let Some(work) = work.filter(|_| is_public.contains(&note.concern)) {
                self.event(work, &format!("{:?}", note.concern), note.text.clone());
            }
        }
        for release in &round.releases {
            self.online
                .started(&release.job, desk.operator.scheduler.now());
            let work = cluster.works.get(&release.job);
            if let Some(work) = work.filter(|_| release.job_type.is_some()) {
                let text = "the policy starts it: its gate is removed";
                self.event(work, "Started", text.into());
            }
        }
        let jobs = desk.operator.jobs.iter();
        let waiting = jobs.filter(|(_, own)| !own.runs());
        let waiting = waiting.filter_map(|(uid, _)| cluster.works.get(uid));
        let mut waiting: Vec<&Work> = waiting
            .filter(|work| at.wall - work.created >= SOON)
            .collect();
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

    /// Says why a job waits, where that is new.
    fn say_why(&mut self, desk: &Desk, work: &Work, now: f64) {
        let uid = work.uid();
        let Some(waits) = desk.operator.scheduler.waits(uid) else {
            return;
        };
        let doing = waits.doing.clone().unwrap_or_default();
        // How many run is no other reason.
        let key = format!("{}{}", waits.is_shut_out, words(&doing));
        let is_said = |own: &(f64, String)| own.1 == key && now - own.0 < AGAIN;
        if self.said.get(uid).is_some_and(is_said) {
            return;
        }
        let name = desk.operator.scheduler.places().type_name(waits.job_type);
        let mut text = format!("waits as `{name}`: {}", waits.place());
        if !doing.is_empty() {
            text += &format!("; the policy: {doing}");
        }
        self.said.insert(uid.clone(), (now, key));
        self.event(work, "Waits", text);
    }

    /// Writes an Event on what was submitted.
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
        // Left out where others wait to be written.
        let _ = self.send.try_send(request.boxed());
    }

    /// Forecasts one of the jobs that have waited longest, if one is due and the last forecast was not just now.
    pub fn forecast(&mut self, desk: &Desk, at: HostMoment) {
        let Notices {
            next, forecasts, ..
        } = self;
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
        let starts = starts.map(|all| all.map(|start| start * desk.operator.second));
        let starts = starts.filter(|[_, median, _]| {
            said.is_none_or(|said| (median - said).abs() > MOVED * (said - at.now).abs())
        });
        let median = starts.map(|[_, median, _]| median);
        forecasts.insert(uid.clone(), (at.now, median.or(said)));
        let Some(starts) = starts else { return };
        let time = |start: f64| {
            let seconds = at.wall.saturating_add((start - at.now) as i64);
            Timestamp::from_second(seconds)
                .unwrap_or(Timestamp::MAX)
                .to_string()
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

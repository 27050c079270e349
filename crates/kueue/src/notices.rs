//! Why jobs wait, where their owners see it: events on what was submitted, and when it will start as an annotation there.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::cluster::Cluster;
use crate::desk::{Concern, Desk, Moment, Round, Stage};
use crate::metrics::words;
use crate::view::{Reference, Uid, Work};
use crate::watch::resource;
use synth_cluster::live::protocol::Foresight;
use synth_trace::forecast::Online;

/// When it will start, as one, five and nine of ten such jobs do.
const FORECAST: &str = "synth/forecast";
/// The same is said again after so long \[s\]; something else after this.
const AGAIN: f64 = 600.0;
const CHANGED: f64 = 30.0;
/// Of jobs that wait for less nothing is said \[s\].
const SOON: i64 = 10;
/// So many events a second, and at most so many at once.
const RATE: f64 = 5.0;
const BURST: f64 = 50.0;
/// So many jobs are forecast, each this often \[s\].
const FORECASTS: usize = 20;
const EACH: f64 = 300.0;
/// Forecasts take at most this part of the time.
const SHARE: f64 = 0.05;
/// A forecast that moved by less than this part of the wait is not written.
const MOVED: f64 = 0.1;

/// What is written on an object.
enum Message {
    Event(Box<(ObjectReference, Event)>),
    Forecast(String, Reference, Value),
}

/// Says why jobs wait.
pub struct Notices {
    send: mpsc::Sender<Message>,
    /// By job: when something was last said of it \[s\], and what it came to.
    said: HashMap<Uid, (f64, String)>,
    /// By job: when it was last forecast \[s\], and the start that was written, if one was.
    forecasts: HashMap<Uid, (f64, Option<f64>)>,
    /// Jobs that have waited longest.
    next: Vec<Work>,
    online: Online,
    /// When the next forecast may be computed.
    rested: Instant,
    tokens: f64,
    last: f64,
}

impl Notices {
    /// Returns notices that are written in the background; what cannot be written is left out.
    pub fn new(client: &Client, identity: &str) -> Self {
        let (send, mut messages) = mpsc::channel(200);
        let reporter = Reporter {
            controller: "synth-kueue".into(),
            instance: Some(identity.into()),
        };
        let (client, recorder) = (client.clone(), Recorder::new(client.clone(), reporter));
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                match message {
                    Message::Event(own) => drop(recorder.publish(&own.1, &own.0).await),
                    Message::Forecast(namespace, on, text) => {
                        let kind = resource(&on.api_version, &on.kind);
                        let api: Api<DynamicObject> =
                            Api::namespaced_with(client.clone(), &namespace, &kind);
                        let patch = Patch::Merge(
                            json!({"metadata": {"uid": &*on.uid, "annotations": {FORECAST: text.to_string()}}}),
                        );
                        drop(
                            api.patch_metadata(&on.name, &PatchParams::default(), &patch)
                                .await,
                        );
                    }
                }
            }
        });
        Notices {
            send,
            said: HashMap::new(),
            forecasts: HashMap::new(),
            next: Vec::new(),
            online: Online::new(1),
            rested: Instant::now(),
            tokens: BURST,
            last: 0.0,
        }
    }

    /// Says what a round has found, and why the others wait.
    pub fn look(&mut self, desk: &Desk, cluster: &Cluster, round: &Round, at: Moment) {
        self.tokens = (self.tokens + RATE * (at.now - self.last)).min(BURST);
        self.last = at.now;
        self.said.retain(|uid, _| cluster.works.contains_key(uid));
        for note in &round.notes {
            let reason = match note.concern {
                Concern::NoType => "NoType",
                Concern::OtherGates => "OtherGates",
                Concern::Evicted => "Evicted",
                _ => continue,
            };
            if let Some(work) = note.job.as_ref().and_then(|uid| cluster.works.get(uid)) {
                self.event(work, reason, note.text.clone());
            }
        }
        let t = desk.scheduler.now();
        for release in &round.releases {
            self.online.started(&release.job, t);
            if let Some(work) = cluster
                .works
                .get(&release.job)
                .filter(|_| release.job_type.is_some())
            {
                self.event(
                    work,
                    "Started",
                    "the policy starts it: its gate is removed".into(),
                );
            }
        }
        let waiting = desk
            .jobs
            .iter()
            .filter(|(_, own)| matches!(own.stage, Stage::Waiting(_)));
        let waiting = waiting.filter_map(|(uid, _)| cluster.works.get(uid));
        let mut waiting: Vec<&Work> = waiting
            .filter(|work| at.wall - work.created >= SOON)
            .collect();
        waiting.sort_unstable_by_key(|work| (work.created, &work.namespace, &work.own.name));
        self.next = waiting
            .iter()
            .take(FORECASTS)
            .map(|work| (*work).clone())
            .collect();
        for work in waiting {
            if self.tokens >= 1.0
                && self
                    .said
                    .get(&work.own.uid)
                    .is_none_or(|(then, _)| at.now - then > CHANGED)
            {
                self.say_why(desk, work, at.now);
            }
        }
    }

    /// Says why a job waits, where that is new.
    fn say_why(&mut self, desk: &Desk, work: &Work, now: f64) {
        let uid = &work.own.uid;
        let Some(waits) = desk.scheduler.waits(uid) else {
            return;
        };
        let doing = waits.doing.clone().unwrap_or_default();
        // How many run is no other reason.
        let key = format!("{}{}", waits.is_shut_out, words(&doing));
        if self
            .said
            .get(uid)
            .is_some_and(|(then, said)| *said == key && now - then < AGAIN)
        {
            return;
        }
        let name = desk.scheduler.places().type_name(waits.job_type);
        let of = if waits.is_of_all { "" } else { " of its type" };
        let text = match (waits.is_shut_out, waits.ahead) {
            (true, _) => {
                format!("waits as `{name}`: others use the room that it needs, or nodes are closed")
            }
            (_, 0) => format!("waits as `{name}`: it is the next{of}"),
            (_, 1) => format!("waits as `{name}`: 1 job{of} is before it"),
            (_, ahead) => format!("waits as `{name}`: {ahead} jobs{of} are before it"),
        };
        let text = if doing.is_empty() {
            text
        } else {
            format!("{text}; the policy: {doing}")
        };
        self.said.insert(uid.clone(), (now, key));
        self.event(work, "Waits", text);
    }

    fn event(&mut self, work: &Work, reason: &str, text: String) {
        if self.tokens < 1.0 {
            return;
        }
        self.tokens -= 1.0;
        let on = work.owners.first().unwrap_or(&work.own);
        let reference = ObjectReference {
            api_version: Some(on.api_version.clone()),
            kind: Some(on.kind.clone()),
            name: Some(on.name.clone()),
            namespace: Some(work.namespace.clone()),
            uid: Some(on.uid.to_string()),
            ..ObjectReference::default()
        };
        let type_ = if reason == "NoType" {
            EventType::Warning
        } else {
            EventType::Normal
        };
        let event = Event {
            type_,
            reason: reason.into(),
            note: Some(text),
            action: "Scheduling".into(),
            secondary: None,
        };
        let _ = self
            .send
            .try_send(Message::Event(Box::new((reference, event))));
    }

    /// Forecasts one of the jobs that have waited longest, if one is due and the last forecast was not just now.
    pub fn forecast(&mut self, desk: &Desk, at: Moment) {
        let there: HashSet<&Uid> = self.next.iter().map(|work| &work.own.uid).collect();
        self.forecasts.retain(|uid, _| there.contains(uid));
        let is_due = |work: &&Work| {
            self.forecasts
                .get(&work.own.uid)
                .is_none_or(|(then, _)| at.now - then >= EACH)
        };
        let begin = Instant::now();
        let Some(work) = self
            .next
            .iter()
            .find(is_due)
            .filter(|_| begin >= self.rested)
        else {
            return;
        };
        let uid = &work.own.uid;
        let starts = self.online.forecast(&desk.scheduler, uid).ok();
        self.rested = Instant::now() + begin.elapsed().div_f64(SHARE).max(Duration::from_secs(1));
        let median = starts.map(|[_, median, _]| median * desk.second());
        let said = self.forecasts.get(uid).and_then(|(_, said)| *said);
        let has_moved = |median: f64| {
            said.is_none_or(|said| (median - said).abs() > MOVED * (said - at.now).abs())
        };
        let is_new = median.is_some_and(has_moved);
        self.forecasts
            .insert(uid.clone(), (at.now, if is_new { median } else { said }));
        if let Some(starts) = starts.filter(|_| is_new) {
            let now = Timestamp::now();
            let time = |start: f64| {
                let wait = SignedDuration::try_from_secs_f64(start * desk.second() - at.now);
                format!(
                    "{:.0}",
                    now.saturating_add(wait.unwrap_or_default()).unwrap_or(now)
                )
            };
            let [early, median, late] = starts.map(time);
            let starts = json!({"1 of 10": early, "5 of 10": median, "9 of 10": late});
            let text = json!({"at": format!("{now:.0}"), "starts": starts});
            let on = work.owners.first().unwrap_or(&work.own).clone();
            let _ = self
                .send
                .try_send(Message::Forecast(work.namespace.clone(), on, text));
        }
    }
}

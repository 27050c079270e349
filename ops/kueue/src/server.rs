use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kube::api::ApiResource;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{DynamicResourceScope, GroupVersionKind};
use kube::{Api, Client, Config, Resource};
use tokio::time::timeout;
use tower::util::MapResponseLayer;

use crate::metrics::Metrics;
use crate::setup::Setup;

pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub struct Server {
    pub client: Client,
    pub url: String,
    pub metrics: Arc<Mutex<Metrics>>,
}

impl Server {
    /// Connects with the given options, or else as kubectl does, or with a pod's service account.
    pub async fn of(setup: &Setup) -> Result<Self, String> {
        let config = match &setup.kubeconfig {
            Some(path) => {
                let read = Kubeconfig::read_from(path)
                    .map_err(|why| format!("cannot read {}: {why}", path.display()))?;
                Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
                    .await
                    .map_err(|why| why.to_string())
            }
            None => Config::infer().await.map_err(|why| why.to_string()),
        };
        let config =
            config.map_err(|why| format!("{why}: specify a kubeconfig with --kubeconfig"))?;
        let url = config.cluster_url.to_string();
        let metrics: Arc<Mutex<Metrics>> = Arc::default();
        let counted = Arc::clone(&metrics);
        let layer = MapResponseLayer::new(move |answer: http::Response<_>| {
            locked(&counted).answered(answer.status().as_u16());
            answer
        });
        let builder = ClientBuilder::try_from(config).map_err(|why| why.to_string())?;
        Ok(Server {
            client: builder.with_layer(&layer).build(),
            url,
            metrics,
        })
    }

    pub fn objects<K>(&self, namespace: Option<&str>, kind: &ApiResource) -> Api<K>
    where
        K: Resource<DynamicType = ApiResource, Scope = DynamicResourceScope>,
    {
        match namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, kind),
            None => Api::all_with(self.client.clone(), kind),
        }
    }

    pub fn metrics(&self) -> MutexGuard<'_, Metrics> {
        locked(&self.metrics)
    }
}

#[derive(Debug)]
pub struct Refused {
    /// The code of the answer, or 0 if there was no answer.
    pub code: u16,
    pub text: String,
}

impl Refused {
    pub fn new(code: u16, text: String) -> Self {
        Refused { code, text }
    }

    /// Returns `true` if the API server has rejected the request. Otherwise it may succeed later.
    pub fn is_final(&self) -> bool {
        (400..500).contains(&self.code) && self.code != 429
    }
}

impl From<&kube::Error> for Refused {
    fn from(why: &kube::Error) -> Self {
        if let kube::Error::Api(status) = why {
            let help = match status.code {
                403 => ": add that verb to its role",
                _ => "",
            };
            return Refused::new(status.code, format!("{}{help}", status.message));
        }
        let (mut text, mut next) = (why.to_string(), why.source());
        while let Some(cause) = next {
            if !text.ends_with(&cause.to_string()) {
                text = format!("{text}: {cause}");
            }
            next = cause.source();
        }
        Refused::new(0, text)
    }
}

pub async fn answer<T>(
    limit: Duration,
    request: impl Future<Output = kube::Result<T>>,
) -> Result<T, Refused> {
    match timeout(limit, request).await {
        Ok(answer) => answer.map_err(|why| Refused::from(&why)),
        Err(_) => Err(Refused::new(0, format!("no answer within {limit:?}"))),
    }
}

pub fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

/// Locks a mutex. It can be used after a panic, because each change leaves it in a valid state.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use kube::client::Body;
    use serde_json::{Value, json};
    use tower::{BoxError, service_fn};

    /// Returns an API server with these answers to a method and URL. If there is no answer, the
    /// connection is refused. A watch has no events and does not end.
    pub fn fake(answers: impl FnMut(&str) -> Option<(u16, Value)> + Send + 'static) -> Server {
        let answers = Arc::new(Mutex::new(answers));
        let service = service_fn(move |request: http::Request<Body>| {
            let line = format!("{} {}", request.method(), request.uri());
            let answer = (*locked(&answers))(&line);
            async move {
                let (code, body) = answer.ok_or_else(|| BoxError::from("connection refused"))?;
                if line.contains("watch=true") && body.is_null() {
                    std::future::pending::<()>().await;
                }
                let answer = http::Response::builder().status(code);
                Ok::<_, BoxError>(answer.body(Body::from(body.to_string().into_bytes()))?)
            }
        });
        Server {
            client: Client::new(service, "default"),
            url: "https://there/".into(),
            metrics: Arc::default(),
        }
    }

    pub fn refusal(code: u16, message: &str) -> Value {
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Any", "message": message, "code": code})
    }
}

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::metrics::Metrics;
use crate::server::locked;

pub async fn serve(address: SocketAddr, metrics: Arc<Mutex<Metrics>>) -> Result<(), String> {
    let listener = TcpListener::bind(address).await.map_err(|why| {
        format!("cannot listen on {address}: {why}; use --listen to choose another address")
    })?;
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                sleep(Duration::from_millis(100)).await;
                continue;
            };
            let metrics = Arc::clone(&metrics);
            // If a client does not send anything, it is disconnected.
            tokio::spawn(timeout(Duration::from_secs(5), answer(stream, metrics)));
        }
    });
    Ok(())
}

async fn answer(mut stream: TcpStream, metrics: Arc<Mutex<Metrics>>) -> std::io::Result<()> {
    let mut text = [0; 4096];
    let mut read = 0;
    while read < text.len() && !text[..read].windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut text[read..]).await? {
            0 => return Ok(()),
            more => read += more,
        }
    }
    let head = String::from_utf8_lossy(&text[..read]);
    let mut words = head.split([' ', '?']);
    let is_get = words.next() == Some("GET");
    let path = words.next().filter(|_| is_get);
    let (code, body) = {
        let mut metrics = locked(&metrics);
        match path {
            Some("/metrics") => ("200 OK", metrics.text()),
            Some("/healthz") if metrics.is_healthy() => ("200 OK", "ok\n".into()),
            Some("/readyz") if metrics.is_ready => ("200 OK", "ok\n".into()),
            Some("/healthz" | "/readyz") => ("503 Service Unavailable", "not now\n".into()),
            _ => (
                "404 Not Found",
                "see /metrics, /healthz and /readyz\n".into(),
            ),
        }
    };
    let answer = format!(
        "HTTP/1.1 {code}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await
}

//! Creates thread pools after a fork, because a child would wait for the global threads forever.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process of the global pool, or 0.
static OWNER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The pool of a thread. The threads of the pool end when this thread ends.
    static POOL: OnceCell<ThreadPool> = const { OnceCell::new() };
}

/// If the global pool belongs to another process, creates a pool for the current thread.
///
/// The current thread is part of this pool, so it works itself and can call the signal handlers of
/// Python. If no more threads can be created, it is the only thread.
pub fn of_this_process() {
    let own = std::process::id();
    let owner = OWNER.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed);
    if owner.is_ok() || owner == Err(own) || rayon::current_thread_index().is_some() {
        return;
    }
    let pool = |count| {
        let pool = ThreadPoolBuilder::new().use_current_thread();
        pool.num_threads(count).build()
    };
    if let Ok(pool) = pool(0).or_else(|_| pool(1)) {
        POOL.with(|own| drop(own.set(pool)));
    }
}
